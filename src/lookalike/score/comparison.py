"""How similar two documents are, and where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import setting
from lookalike.read.batches import as_texts
from lookalike.read.tokens import SEQUENCES, are_tokens, from_lists
from lookalike.score.jaccard import verify
from lookalike.settings import Settings
from lookalike.text.normalise import Normalisation
from lookalike.text.normalise import normalise as canonicalise
from lookalike.text.passages import Passage, shared_passages, shared_runs
from lookalike.text.shingles import Shingling, element_sets, usual_size
from lookalike.text.tokens import canonical_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.text.normalise import Canonical

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
    metric: str = "jaccard"
    a: str | list[str] = field(default="", repr=False)
    """The texts, or lists of tokens, themselves."""
    b: str | list[str] = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    """How files were read, where a user should know."""

    def _repr_html_(self) -> str:
        """Show the comparison in a notebook, with the passages that both share folded below."""
        from lookalike.base.html import block, folded, paragraph, table
        from lookalike.base.wording import count, percent, similarity_text

        sizes = " and ".join(f"{one:,}" for one in self.shingles)
        facts = [
            ("similarity", similarity_text(self.similarity)),
            ("of a in b", percent(self.containment.a_in_b)),
            ("of b in a", percent(self.containment.b_in_a)),
            ("shingles", f"{sizes} of {self.shingle}"),
            ("the same text", self.identical),
        ]
        rows = [(n, one.words, self._passage(one)) for n, one in enumerate(self.passages, 1)]
        shared = folded(
            count(len(rows), "shared passage"), table(("passage", "words", "in a"), rows)
        )
        return block(table(("", ""), facts), shared, *map(paragraph, self.notes))

    def _passage(self, passage: Passage) -> str:
        part = self.a[passage.a_start : passage.a_end]
        return part if isinstance(part, str) else " ".join(part)


def compare(
    a: str | Sequence[str] | None,
    b: str | Sequence[str] | None,
    *,
    shingle: str = "auto",
    multiset: bool = False,
    metric: str = "jaccard",
    weights: str | None = None,
    normalise: str = "default",
    shortest: int = 5,
) -> Comparison:
    """Compare two texts, None being an empty one; passages of `shortest` words or more are listed.

    Two lists of tokens are compared by their tokens, as they are.

    The metric is `jaccard`, or `cosine` of shingles by their `weights`: counts, binary or log.

    The shingle `auto` is chars:5, or chars:2 for scripts of ideographs or syllables; `find`
    measures its own, and may come to a longer one.
    """
    Settings(shingle=shingle, multiset=multiset, metric=metric, weights=weights)
    options = Normalisation.parse(normalise)
    if isinstance(a, SEQUENCES) or isinstance(b, SEQUENCES):
        counted = multiset or metric == "cosine"
        pair = _of_tokens(a, b, shingle, normalise, shortest, counted=counted)
    else:
        pair = _of_texts(a, b, shingle, options, shortest)
    documents, shingling = pair.documents, replace(pair.shingling, multiset=multiset)
    sets = element_sets(documents, shingling)
    scored = verify(sets, np.array([0]), np.array([1]), threshold=0.0)
    similarity = scored.similarity
    if metric == "cosine":
        from lookalike.score.cosine import cosines_of_weighted_sets
        from lookalike.text.weighted_shingles import Weighting, weighted_sets_of

        weighted_sets = weighted_sets_of(documents, shingling, Weighting(weights or "counts"))
        places = np.array([0]), np.array([1])
        similarity = cosines_of_weighted_sets(weighted_sets, *places, threshold=-1.0).similarity
    forward, backward = float(scored.first_in_second[0]), float(scored.second_in_first[0])
    sizes = sets.sizes().tolist()
    first, second = documents.fingerprints
    return Comparison(
        similarity=float(similarity[0]),
        containment=Containment(forward, backward),
        shingle=str(shingling),
        shingles=(sizes[0], sizes[1]),
        identical=bool((first == second).all()),
        passages=pair.passages,
        normalise=str(options),
        metric=metric,
        a=pair.a,
        b=pair.b,
    )


class _Pair(NamedTuple):
    """Two documents as they were given, and ready to be compared."""

    a: str | list[str]
    b: str | list[str]
    documents: Canonical
    shingling: Shingling
    passages: list[Passage]


def _of_texts(a: Any, b: Any, shingle: str, options: Normalisation, shortest: int) -> _Pair:
    a, b = "" if a is None else a, "" if b is None else b
    documents = canonicalise(as_texts([a, b], ["a", "b"]), options)
    if shingle == "auto":
        shingling = Shingling("chars", usual_size(documents, np.arange(2)))
    else:
        shingling = Shingling.parse(shingle)
    if shingling.unit == "tokens":
        raise SettingsError(
            f"{setting('shingle', 'tokens')} is for lists of tokens, and these are texts: use "
            "words:1 or the like"
        )
    passages = shared_passages(a, b, shortest=shortest, options=options)
    return _Pair(a, b, documents, shingling, passages)


def _of_tokens(
    a: Any, b: Any, shingle: str, normalise: str, shortest: int, *, counted: bool
) -> _Pair:
    for name, given, usual in (
        ("shingle", shingle, ("auto", "tokens")),
        ("normalise", normalise, ("default",)),
    ):
        if given not in usual:
            raise SettingsError(
                "the documents are lists of tokens, which are compared as they are: leave out "
                f"{setting(name, given)}"
            )
    lists = [one for one in (a, b) if isinstance(one, SEQUENCES)]
    if not are_tokens(lists) and any(np.size(np.asarray(one, object)) for one in lists):
        raise SourceError(
            "lists of numbers are vectors, which compare does not take: give tokens as strings"
        )
    tokens = from_lists([a, b], ["a", "b"])
    first, second = (one or [] for one in tokens.to_pylist())
    documents = canonical_tokens(tokens, multiset=counted)
    passages = shared_runs(first, second, shortest=shortest)
    return _Pair(first, second, documents, Shingling("tokens", 1), passages)
