"""One text that is looked for or added by itself: canonical, and with all that is stored of it.

Of thousands at once, arrays go from step to step. Of one, the steps are one kernel: else what
stands between them would take three times as long as they do. What comes out is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.kernels import normalise, single_text
from lookalike.recipe.metrics import PREFILTER_WORDS, Jaccard
from lookalike.sketches.minhash import functions_of
from lookalike.text.normalise import Canonical, normalisation_arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.recipe.recipe import Recipe

__all__ = ["SingleText", "SingleTexts"]


class SingleText(NamedTuple):
    """A text, and what is made of it."""

    canonical: Canonical
    keys: NDArray[np.int64]
    """As a store has them."""
    signature: NDArray[np.uint32]
    prefilter: NDArray[np.uint32]
    empty: bool
    """It has nothing that counts."""


class SingleTexts:
    """Makes of one text after the other what a recipe says."""

    def __init__(self, recipe: Recipe, key_bits: int) -> None:
        """Take a recipe that `are_made_by` is true of, and the bits of a stored key."""
        metric, layout = recipe.metric, recipe.layout
        shingling, form = metric.shingling, recipe.form
        if shingling is None:
            raise TypeError("these documents are vectors")
        self._words, self._bands = recipe.words, layout.bands
        unit, size, base, drop, _, ignored = shingling.arguments()
        self._arguments = (
            *normalisation_arguments(form.normalisation),
            *(unit, size, base, drop, ignored),
            *functions_of(self._words, metric.seed),
            *(layout.rows, key_bits),
        )

    @staticmethod
    def are_made_by(recipe: Recipe) -> bool:
        """Tell whether a recipe is of texts that are sets, and changes anything of them."""
        return (
            recipe.form.kind == "text"
            and isinstance(recipe.metric, Jaccard)
            and not recipe.metric.shingling.multiset
            and not recipe.form.normalisation.raw
        )

    def of(self, text: str) -> SingleText | None:
        """Make what is stored of a text; None of one that takes more than tables to normalise."""
        try:
            data = np.frombuffer(text.encode(), np.uint8)
        except UnicodeEncodeError:
            return None
        out = np.empty(len(data) + normalise.PADDING_BYTES, np.uint8)
        content = np.empty((1, 2), np.uint64)
        signature = np.empty((1, self._words), np.uint32)
        keys = np.empty((1, self._bands), np.int64)
        prefilter = np.empty((1, PREFILTER_WORDS), np.uint32)
        found = np.empty(3, np.int64)
        made = out, content, signature, keys, prefilter, found
        single_text.sketch_text(data, *self._arguments, *made)
        kind, length, shingles = found.tolist()
        if kind > normalise.SIMPLE:
            return None
        canonical = Canonical(out[:length], np.array([0, length], np.int64), content)
        return SingleText(canonical, keys, signature, prefilter, not shingles)
