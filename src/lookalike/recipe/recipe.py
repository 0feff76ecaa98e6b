"""The recipe: a value that says how documents become keys, and two of them a score."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike.base.errors import LookalikeError, SettingsError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.candidates.buckets import Layout
from lookalike.candidates.containment import contained
from lookalike.candidates.prefilter import Prefilter
from lookalike.planning.curves import Cascade
from lookalike.recipe import saved
from lookalike.recipe.metrics import Cosine
from lookalike.score.jaccard import Scored
from lookalike.text.documents import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.recipe.form import CanonicalForm
    from lookalike.recipe.metrics import Documents, Join, JoinResources, Metric, Rows, Sides
    from lookalike.score.nearest import Below
    from lookalike.text.normalise import Canonical

__all__ = ["Encoded", "Recipe"]


class Encoded(NamedTuple):
    """What is made of documents, to find the similar ones by."""

    keys: NDArray[np.uint64]
    """Of the bands, a row a band."""
    sketches: NDArray[np.uint32]
    """A row a document."""
    prefilter: NDArray[np.uint32]
    """The bits that are compared before the documents are; a row a document, empty for none."""
    empty: NDArray[np.bool_]
    """Which documents have nothing that counts: they are similar to nothing."""


class Inside(NamedTuple):
    """Pairs of documents of which the first is inside the second."""

    pairs: Scored
    """Their similarity is the share of the first that is in the second, and their
    `first_in_second` the similarity of both."""
    first_sizes: NDArray[np.int64]
    """How many shingles the first of each pair has."""
    second_sizes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a batch of raw documents becomes sketches and band keys, and how candidates are scored.

    A value: it can be pickled, written as JSON and read again, and needs no file and no job. What
    one recipe made is never compared with what another made: `fingerprint` tells them apart.
    """

    form: CanonicalForm
    metric: Metric
    cascade: Cascade | None
    """Of the bands; None where every pair is found by an exact join, without sketches."""
    threshold: float
    most_differing: int = 0
    """The most of the prefilter's bits in which a candidate may differ and still be compared."""
    rows: int = 0
    """Rows, or bits, of a whole sketch."""
    estimated: int = 0
    """Rows, or bits, that scores are estimated from; 0 where they are exact."""

    def canonical(self, documents: pa.Array) -> Canonical:
        """Make canonical documents of an Arrow array of texts, lists of tokens, or vectors."""
        return self.form.canonical(documents)

    def canonical_text(self, text: str) -> Canonical:
        """Make one text canonical."""
        return self.form.canonical_text(text)

    def encode(
        self, documents: Canonical, rows: Rows | None = None, *, words: int | None = None
    ) -> Encoded:
        """Give the keys, the sketches and the prefilter bits of documents, by default of all.

        `words` asks for longer sketches than the keys need, to serve another recipe too.
        """
        rows = np.arange(len(documents), dtype=np.int64) if rows is None else rows
        sketches, empty = self.metric.sketch(documents, rows, max(words or 0, self.words))
        return Encoded(self.keys(sketches), sketches, self.prefilter_bits(sketches), empty)

    def keys(self, sketches: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Give the band keys of sketches, a row a band."""
        return self.metric.keys(sketches, self.layout)

    def prefilter_bits(self, sketches: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Give the bits of sketches that are compared first."""
        return self.metric.prefilter(sketches) if self.prefiltered else sketches[:, :0]

    def prefilter(self, bits: NDArray[np.uint32], threads: int = 1) -> Prefilter:
        """Give what dismisses candidates by the prefilter bits of all documents."""
        return Prefilter(bits, self.most_differing, threads)

    def score(
        self,
        documents: Documents,
        first: Rows,
        second: Rows,
        *,
        rows: Rows | None = None,
        threshold: float | None = None,
        threads: int = 1,
        below: Below | None = None,
    ) -> Scored:
        """Compare pairs of documents exactly, and give those at or above the threshold.

        Pairs are rows of the documents, or with `rows` places in those. `below` hears of the most
        similar of the others.
        """
        rows = np.arange(len(documents), dtype=np.int64) if rows is None else rows
        least = self.threshold if threshold is None else threshold
        return self.metric.compare(documents, rows, first, second, least, threads, below)

    def estimate(
        self,
        sketches: NDArray[np.uint32],
        first: Rows,
        second: Rows,
        *,
        threshold: float | None = None,
        threads: int = 1,
        below: Below | None = None,
    ) -> Scored:
        """Score pairs by their sketches alone, and give those at or above the threshold."""
        least = self.threshold if threshold is None else threshold
        return self.metric.estimate(sketches, self.estimated, first, second, least, threads, below)

    def every(
        self, documents: Documents, rows: Rows, resources: JoinResources, sides: Sides = None
    ) -> Join:
        """Make ready to find every similar pair of places in `rows`.

        With `sides`, the corpora in which each document stands, every pair across the two.
        """
        return self.metric.every(documents, rows, self.threshold, resources, sides)

    def contained(
        self, documents: Documents, rows: Rows, share: float, resources: JoinResources
    ) -> Iterator[Inside]:
        """Give the pairs of places in `rows` of which the second has such a share of the first."""
        shingling = self.metric.shingling
        if shingling is None:
            raise SettingsError("this is for text: these documents are vectors")
        for block in contained(
            Selection(documents, rows),
            shingling,
            threshold=share,
            memory=resources.memory,
            threads=resources.threads,
            progress=resources.progress,
        ):
            unknown = np.zeros(len(block))
            shares = block.containment, block.similarity, unknown
            pairs = Scored(block.inner, block.outer, *shares)
            yield Inside(pairs, block.inner_sizes, block.outer_sizes)

    @property
    def by_sketches(self) -> bool:
        """Whether scores are told from sketches, not from the documents themselves."""
        return self.estimated > 0 or self.metric.estimates

    @property
    def prefiltered(self) -> bool:
        """Whether candidates are dismissed by some bits before the documents are compared."""
        return self.metric.prefiltered

    @property
    def lowest(self) -> float:
        """The smallest similarity that there is."""
        return self.metric.lowest

    @cached_property
    def layout(self) -> Layout:
        """How the cascade is laid out in bands."""
        if self.cascade is None:
            raise SettingsError(f"an exact join has no bands: use {setting('recall', 0.99)}")
        return Layout.of(self.cascade)

    def key_bits(self, documents: int) -> int:
        """Tell how many bits of a key, the lowest, tell the buckets of so many documents apart."""
        return self.metric.key_bits(self.layout, documents)

    @property
    def words(self) -> int:
        """The 32-bit words of a sketch that the keys and estimates need."""
        return self.metric.words(self.rows)

    @property
    def estimated_words(self) -> int:
        """The words of a sketch that estimates need."""
        return self.metric.words(self.estimated)

    @property
    def key_words(self) -> int:
        """The words of a sketch that the keys need."""
        return self.metric.words(self.cascade.rows if self.cascade else 0)

    def stored_words(self, *, kept: bool) -> int:
        """Tell how many words of each sketch are stored: all where they are kept for others."""
        return self.metric.stored(self.rows) if kept else self.metric.always_stored

    @property
    def shingle(self) -> str | None:
        """What a shingle is, as `chars:5`; None for vectors."""
        shingling = self.metric.shingling
        return None if shingling is None else str(shingling)

    @property
    def weights(self) -> str | None:
        """What a shingle counts for; None for sets and for vectors."""
        weighting = self.metric.weighting if isinstance(self.metric, Cosine) else None
        return None if weighting is None or self.shingle is None else weighting.name

    def sketching(self) -> dict[str, Any]:
        """Give all that decides a sketch, as plain values; tables by their digests."""
        return {
            "kind": self.form.kind,
            "normalise": str(self.form.normalisation),
            "counted": self.form.counted,
            **self.metric.decides(),
        }

    def banding(self) -> str:
        """Name what decides the keys of a sketch."""
        return self.metric.banding(self.layout)

    def decides(self) -> dict[str, Any]:
        """Give all that decides a key or a score, as plain values; tables by their digests."""
        return {
            **self.sketching(),
            "threshold": self.threshold,
            "cascade": None if self.cascade is None else str(self.cascade),
            "banding": None if self.cascade is None else self.banding(),
            "most_differing": self.most_differing if self.prefiltered else None,
            "rows": self.rows,
            "estimated": self.estimated,
        }

    @cached_property
    def fingerprint(self) -> str:
        """The name of this recipe in 16 hexadecimal digits: equal ones alike, others not."""
        plain = json.dumps({"format": saved.FORMAT, **self.decides()}, sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        """Tell whether another makes the same of every document."""
        return isinstance(other, Recipe) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """Give what equal recipes have in common."""
        return int(self.fingerprint, 16)

    def dump(self) -> str:
        """Write the recipe as JSON, with every table that decides a sketch."""
        plain = {
            "format": saved.FORMAT,
            "fingerprint": self.fingerprint,
            "form": saved.plain_form(self.form),
            "metric": saved.plain_metric(self.metric),
            "cascade": None if self.cascade is None else str(self.cascade),
            "threshold": self.threshold,
            "most_differing": self.most_differing,
            "rows": self.rows,
            "estimated": self.estimated,
        }
        return json.dumps(plain)

    @classmethod
    def load(cls, text: str | bytes) -> Recipe:
        """Read what `dump` wrote; one of another version, or that was changed since, is refused."""
        try:
            plain = json.loads(text)
            known = plain["format"]
        except (ValueError, KeyError, TypeError):
            raise SourceError(
                "this is not a recipe: give the text that `Recipe.dump` wrote"
            ) from None
        if known != saved.FORMAT:
            raise SourceError(
                f"the recipe is of format {quoted(known)}, and this version reads {saved.FORMAT}: "
                "make it again, or use the version that wrote it"
            )
        try:
            recipe = cls(
                saved.form_of(plain["form"]),
                saved.metric_of(plain["metric"]),
                None if plain["cascade"] is None else Cascade.parse(plain["cascade"]),
                plain["threshold"],
                plain["most_differing"],
                plain["rows"],
                plain["estimated"],
            )
            same = recipe.fingerprint == plain["fingerprint"]
        except (
            LookalikeError,
            AttributeError,
            LookupError,
            OSError,
            TypeError,
            ValueError,
        ) as error:
            raise SourceError(f"the recipe is damaged, {error}: make it again") from None
        if not same:
            raise SourceError("the recipe was changed since it was written: make it again")
        return recipe
