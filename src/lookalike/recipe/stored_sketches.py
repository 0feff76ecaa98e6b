"""Sketches as they are stored for long: as short as candidates can be judged by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.candidates.buckets import stored_keys
from lookalike.recipe.metrics import Jaccard
from lookalike.recipe.single_text import SingleTexts
from lookalike.sketches.minhash import (
    maybe_similar,
    row_bytes,
    similarity_by_bytes,
    two_bits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lookalike.recipe.recipe import Recipe
    from lookalike.text.normalise import Canonical

__all__ = ["KEY_BITS", "Stored", "StoredSketches"]

KEY_BITS = 48
"""Of a key in a store: of ten million documents with a dozen keys each, two that differ are equal
with a chance of one in two million, and then the sketches tell them apart."""
KEY_BYTES = KEY_BITS // 8
EMPTY, FILLED = np.array([True]), np.array([False])
"""Whether one document has nothing that counts."""
_HALF = 1 << (KEY_BITS - 1)


class Stored(NamedTuple):
    """What is stored of documents, a row each."""

    keys: NDArray[np.int64]
    """Of the bands, a column a band, no two bands with one in common."""
    sketches: NDArray[np.uint8]
    empty: NDArray[np.bool_]
    """Which have nothing that counts: they are similar to nothing."""


@dataclass(frozen=True)
class StoredSketches:
    """Makes what is stored by a recipe, and judges candidates by it."""

    recipe: Recipe

    def __post_init__(self) -> None:
        """Refuse a recipe whose candidates are not told by the keys alone."""
        if self.recipe.cascade is None or self.recipe.layout.filtered:
            raise SettingsError(
                f"an index looks documents up by bands: give {setting('bands')} and "
                f"{setting('rows')}, or a recall below 1"
            )

    def of(self, documents: Canonical) -> Stored:
        """Make what is stored of documents."""
        encoded = self.recipe.encode(documents)
        # Whole numbers of either sign, which stores keep in six bytes.
        keys = stored_keys(encoded.keys, KEY_BITS)
        return self._stored(keys, encoded.sketches, encoded.prefilter, encoded.empty)

    def of_text(self, text: str) -> tuple[Canonical, Stored] | None:
        """Make one text canonical, and what is stored of it, in a third of the time.

        None where the recipe, or the text, is not one of those for which there is a shorter way.
        """
        made = None if self._single_texts is None else self._single_texts.of(text)
        if made is None:
            return None
        empty = EMPTY if made.empty else FILLED
        return made.canonical, self._stored(made.keys, made.signature, made.prefilter, empty)

    @cached_property
    def _single_texts(self) -> SingleTexts | None:
        recipe = self.recipe
        return SingleTexts(recipe, KEY_BITS) if SingleTexts.are_made_by(recipe) else None

    def _stored(
        self,
        keys: NDArray[np.int64],
        signatures: NDArray[np.uint32],
        prefilter: NDArray[np.uint32],
        empty: NDArray[np.bool_],
    ) -> Stored:
        sketches = self._short(signatures, prefilter)
        if self.recipe.by_sketches:
            # There will be no document to make the keys of again.
            sketches = np.concatenate([sketches, _key_bytes(keys)], axis=1)
        return Stored(keys, sketches, empty)

    def again(self, sketches: NDArray[np.uint8], empty: NDArray[np.bool_]) -> Stored:
        """Give what was stored of documents that themselves are not known any more."""
        bands = self.recipe.layout.bands
        rows = sketches[:, sketches.shape[1] - KEY_BYTES * bands :].reshape(-1, bands, KEY_BYTES)
        words = np.zeros((*rows.shape[:2], 8), np.uint8)
        words[:, :, :KEY_BYTES] = rows
        return Stored(words.view("<i8")[:, :, 0].astype(np.int64) - _HALF, sketches, empty)

    def _short(
        self, sketches: NDArray[np.uint32], prefilter: NDArray[np.uint32]
    ) -> NDArray[np.uint8]:
        recipe = self.recipe
        if not recipe.by_sketches:
            return _as_bytes(prefilter)
        if isinstance(recipe.metric, Jaccard):
            return row_bytes(sketches[:, : recipe.estimated])
        return _as_bytes(sketches[:, : recipe.estimated_words])

    def brief(self, sketches: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Give what candidates among very many are dismissed by: as few bytes as tell most."""
        if not self.recipe.by_sketches:
            return sketches
        rows = self._without_keys(sketches)
        return two_bits(rows) if isinstance(self.recipe.metric, Jaccard) else rows

    def maybe_similar(
        self, asked: NDArray[np.uint8], stored: NDArray[np.uint8], threshold: float
    ) -> NDArray[np.int64]:
        """Tell which of many sketches, as `brief` gives them, are not dismissed by that of one.

        Where scores are estimated, none is dismissed that the whole sketches put at the threshold.
        """
        recipe = self.recipe
        if recipe.by_sketches and isinstance(recipe.metric, Jaccard):
            return maybe_similar(_as_words(asked), _as_words(stored), recipe.estimated, threshold)
        first, second = np.zeros(len(stored), np.int64), np.arange(1, len(stored) + 1)
        words = np.concatenate([_as_words(asked), _as_words(stored)])
        if recipe.by_sketches:
            return recipe.estimate(words, first, second, threshold=threshold).second - 1
        differing = recipe.prefilter(words).differing(first, second)
        return np.flatnonzero(differing <= recipe.most_differing)

    def judged(
        self,
        asked: NDArray[np.uint8],
        stored: NDArray[np.uint8],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        threshold: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """Tell which candidates, of a sketch asked for and a stored one, sketches do not dismiss.

        Where scores are estimated, these are the similar ones, and their similarity is told too.
        """
        if self.recipe.by_sketches:
            similarity = self._estimates(asked, stored, first, second)
            passing = np.flatnonzero(similarity >= threshold)
            return passing, similarity[passing]
        bits = np.concatenate([_as_words(asked), _as_words(stored)])
        differing = self.recipe.prefilter(bits).differing(first, second + len(asked))
        return np.flatnonzero(differing <= self.recipe.most_differing), None

    def judged_one(
        self, asked: bytes, stored: Mapping[Any, bytes], threshold: float
    ) -> dict[int, float]:
        """Tell which of a few stored sketches that of one document does not dismiss, as `judged`.

        Where scores are estimated, with their similarity; else with 1.
        """
        if not self.recipe.by_sketches:
            mine, most = int.from_bytes(asked, "little"), self.recipe.most_differing
            return {
                entry: 1.0
                for entry, sketch in stored.items()
                if (mine ^ int.from_bytes(sketch, "little")).bit_count() <= most
            }
        width = len(asked)
        theirs = np.frombuffer(b"".join(stored.values()), np.uint8).reshape(-1, width)
        first, second = np.zeros(len(theirs), np.int64), np.arange(len(theirs))
        mine_too = np.frombuffer(asked, np.uint8).reshape(1, width)
        passing, similarity = self.judged(mine_too, theirs, first, second, threshold)
        entries, shares = [*stored], [] if similarity is None else similarity.tolist()
        return {entries[place]: one for place, one in zip(passing.tolist(), shares, strict=True)}

    def _estimates(
        self,
        asked: NDArray[np.uint8],
        stored: NDArray[np.uint8],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        asked, stored = self._without_keys(asked), self._without_keys(stored)
        if isinstance(self.recipe.metric, Jaccard):
            return similarity_by_bytes(asked[first], stored[second])
        words = np.concatenate([_as_words(asked), _as_words(stored)])
        # Every pair, as each candidate has to be told its similarity.
        scored = self.recipe.estimate(
            words, first, second + len(asked), threshold=self.recipe.lowest
        )
        return scored.similarity

    def _without_keys(self, sketches: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return sketches[:, : sketches.shape[1] - KEY_BYTES * self.recipe.layout.bands]


def _key_bytes(keys: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Give the keys of each document one after the other, in six bytes each."""
    whole = (keys + _HALF).astype("<i8").view(np.uint8).reshape(*keys.shape, 8)
    return np.ascontiguousarray(whole[:, :, :KEY_BYTES]).reshape(len(keys), -1)


def _as_bytes(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(words, "<u4").view(np.uint8).reshape(len(words), -1)


def _as_words(sketches: NDArray[np.uint8]) -> NDArray[np.uint32]:
    width = sketches.shape[1] // 4
    words: NDArray[np.uint32] = np.ascontiguousarray(sketches).view("<u4").reshape(-1, width)
    words = words.astype(np.uint32, copy=False)
    # As what a store gives: kernels would be compiled for both kinds.
    words.setflags(write=False)
    return words
