"""How similar two documents are, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.read.batches import as_texts
from lookalike.score.jaccard import verify
from lookalike.settings import Settings
from lookalike.text.normalise import Normalisation
from lookalike.text.normalise import normalise as canonicalise
from lookalike.text.passages import Passage, shared_passages
from lookalike.text.shingles import Shingling, element_sets, usual_size

__all__ = ["Comparison", "Containment", "compare"]


class Containment(NamedTuple):
    """Which share of each document's shingles the other has."""

    a_in_b: float
    b_in_a: float


@dataclass(frozen=True)
class Comparison:
    """Two documents, compared exactly on their shingles."""

    similarity: float
    """By the metric: of sets, shingles in both over shingles in either; 0 where one has none."""
    containment: Containment
    shingle: str
    shingles: tuple[int, int]
    """How many distinct shingles each document has."""
    identical: bool
    """Whether the canonical texts are the same."""
    passages: list[Passage]
    normalise: str = "default"
    """What was made equal before."""
    a: str = field(default="", repr=False)
    """The texts themselves."""
    b: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    """How files were read, where a user should know."""


def compare(
    a: str | None,
    b: str | None,
    *,
    shingle: str = "auto",
    multiset: bool = False,
    metric: str = "jaccard",
    weights: str | None = None,
    normalise: str = "default",
    shortest: int = 5,
) -> Comparison:
    """Compare two texts, None being an empty one; passages of `shortest` words or more are listed.

    The metric is `jaccard`, or `cosine` of shingles by their `weights`: counts, binary or log.

    The shingle `auto` is chars:5, or chars:2 for scripts of ideographs or syllables; `find`
    measures its own, and may come to a longer one.
    """
    Settings(shingle=shingle, multiset=multiset, metric=metric, weights=weights)
    options = Normalisation.parse(normalise)
    a, b = "" if a is None else a, "" if b is None else b
    documents = canonicalise(as_texts([a, b], ["a", "b"]), options)
    if shingle == "auto":
        shingling = Shingling("chars", usual_size(documents, np.arange(2)), multiset)
    else:
        shingling = Shingling.parse(shingle, multiset=multiset)
    if shingling.unit == "tokens":
        raise SettingsError(
            f"{setting('shingle', 'tokens')} is for lists of tokens, and these are texts: use "
            "words:1 or the like"
        )
    sets = element_sets(documents, shingling)
    scored = verify(sets, np.array([0]), np.array([1]), threshold=0.0)
    similarity = scored.similarity
    if metric == "cosine":
        from lookalike.score.cosine import cosines_of_weighted_sets
        from lookalike.text.weighted_shingles import Weighting, weighted_sets_of

        weighted_sets = weighted_sets_of(documents, shingling, Weighting(weights or "counts"))
        pair = np.array([0]), np.array([1])
        similarity = cosines_of_weighted_sets(weighted_sets, *pair, threshold=-1.0).similarity
    forward, backward = float(scored.first_in_second[0]), float(scored.second_in_first[0])
    sizes = sets.sizes().tolist()
    first, second = documents.fingerprints
    return Comparison(
        similarity=float(similarity[0]),
        containment=Containment(forward, backward),
        shingle=str(shingling),
        shingles=(sizes[0], sizes[1]),
        identical=bool((first == second).all()),
        passages=shared_passages(a, b, shortest=shortest, options=options),
        normalise=str(options),
        a=a,
        b=b,
    )
