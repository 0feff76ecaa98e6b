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
from lookalike.text.alignment import Block, aligned_blocks
from lookalike.text.normalise import Normalisation
from lookalike.text.normalise import normalise as canonicalise
from lookalike.text.passages import Passage, shared_passages, shared_runs
from lookalike.text.shingles import Shingling, element_sets, usual_size
from lookalike.text.tokens import canonical_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical

__all__ = [
    "ComparedPair",
    "Comparison",
    "Comparisons",
    "Containment",
    "compare",
    "compare_all",
]


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

    def aligned(self, passages: Sequence[Passage] | None = None) -> list[Block]:
        """Cut the two texts into pieces that stand beside each other; of lists there are none.

        The passages are all, or some of them in their order.
        """
        if not isinstance(self.a, str) or not isinstance(self.b, str):
            return []
        return aligned_blocks(self.a, self.b, self.passages if passages is None else passages)

    def _repr_html_(self) -> str:
        """Show the comparison in a notebook, with the passages that both share folded below."""
        from lookalike.base.html import block, folded, paragraph, table
        from lookalike.base.wording import count, percent, similarity_text

        sizes = " and ".join(f"{one:,}" for one in self.shingles)
        facts = [
            ("similarity", similarity_text(self.similarity)),
            ("share of a in b", percent(self.containment.a_in_b)),
            ("share of b in a", percent(self.containment.b_in_a)),
            ("shingles", f"{sizes} of {self.shingle}"),
            ("identical", self.identical),
        ]
        rows = [(n, one.words, self._passage(one)) for n, one in enumerate(self.passages, 1)]
        shared = folded(
            count(len(rows), "shared passage"), table(("passage", "words", "in a"), rows)
        )
        return block(table(("", ""), facts), shared, *map(paragraph, self.notes))

    def _passage(self, passage: Passage) -> str:
        part = self.a[passage.a_start : passage.a_end]
        # In one line, as a table has it.
        return " ".join(part.split() if isinstance(part, str) else part)


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
    scored = _score(documents, shingling, metric, weights, (np.array([0]), np.array([1])))
    first, second = documents.fingerprints
    return Comparison(
        similarity=float(scored.similarity[0]),
        containment=Containment(float(scored.forward[0]), float(scored.backward[0])),
        shingle=str(shingling),
        shingles=(scored.sizes[0], scored.sizes[1]),
        identical=bool((first == second).all()),
        passages=pair.passages,
        normalise=str(options),
        metric=metric,
        a=pair.a,
        b=pair.b,
    )


class ComparedPair(NamedTuple):
    """Two of several documents, by their places."""

    a: int
    b: int
    similarity: float
    containment: Containment
    identical: bool


@dataclass(frozen=True)
class Comparisons:
    """Several documents, each compared exactly with each."""

    names: tuple[str, ...]
    shingle: str
    """By which all of them were compared."""
    shingles: tuple[int, ...]
    """How many distinct shingles each document has."""
    pairs: list[ComparedPair]
    """The most similar first, then in the order of the documents."""
    normalise: str = "default"
    metric: str = "jaccard"
    notes: tuple[str, ...] = ()
    """How files were read, where a user should know."""


def compare_all(
    texts: Mapping[str, str | None],
    *,
    shingle: str = "auto",
    multiset: bool = False,
    metric: str = "jaccard",
    weights: str | None = None,
    normalise: str = "default",
) -> Comparisons:
    """Compare named texts, each with each, by one shingle for all; None is an empty text."""
    Settings(shingle=shingle, multiset=multiset, metric=metric, weights=weights)
    options = Normalisation.parse(normalise)
    names, given = [*texts], ["" if text is None else text for text in texts.values()]
    documents = canonicalise(as_texts(given, names), options)
    shingling = replace(_shingling(documents, shingle), multiset=multiset)
    places = np.triu_indices(len(names), 1)
    scored = _score(documents, shingling, metric, weights, places)
    prints = documents.fingerprints
    pairs = [
        ComparedPair(
            a=int(a),
            b=int(b),
            similarity=float(scored.similarity[at]),
            containment=Containment(float(scored.forward[at]), float(scored.backward[at])),
            identical=bool((prints[a] == prints[b]).all()),
        )
        for at, (a, b) in enumerate(zip(*places, strict=True))
    ]
    return Comparisons(
        names=tuple(names),
        shingle=str(shingling),
        shingles=tuple(scored.sizes),
        pairs=sorted(pairs, key=lambda pair: (-pair.similarity, pair.a, pair.b)),
        normalise=str(options),
        metric=metric,
    )


class _Scores(NamedTuple):
    """What pairs of documents have in common, an entry each."""

    similarity: NDArray[np.float64]
    forward: NDArray[np.float64]
    """Which share of the first the second has."""
    backward: NDArray[np.float64]
    sizes: list[int]
    """Distinct shingles of each document."""


def _score(
    documents: Canonical,
    shingling: Shingling,
    metric: str,
    weights: str | None,
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> _Scores:
    sets = element_sets(documents, shingling)
    scored = verify(sets, *places, threshold=0.0)
    similarity = scored.similarity
    if metric == "cosine":
        from lookalike.score.cosine import cosines_of_weighted_sets
        from lookalike.text.weighted_shingles import Weighting, weighted_sets_of

        weighted_sets = weighted_sets_of(documents, shingling, Weighting(weights or "counts"))
        similarity = cosines_of_weighted_sets(weighted_sets, *places, threshold=-1.0).similarity
    sizes = sets.sizes().tolist()
    return _Scores(similarity, scored.first_in_second, scored.second_in_first, sizes)


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
    shingling = _shingling(documents, shingle)
    passages = shared_passages(a, b, shortest=shortest, options=options)
    return _Pair(a, b, documents, shingling, passages)


def _shingling(documents: Canonical, shingle: str) -> Shingling:
    """Give the shingle of texts: as it was asked for, or as is usual for their script."""
    if shingle == "auto":
        return Shingling("chars", usual_size(documents, np.arange(len(documents))))
    shingling = Shingling.parse(shingle)
    if shingling.unit == "tokens":
        raise SettingsError(
            f"{setting('shingle', 'tokens')} is for lists of tokens, and these are texts: use "
            "words:1 or the like"
        )
    return shingling


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
