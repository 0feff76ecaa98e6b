"""Sketches by themselves, as the columns of a table: fingerprints, signatures, hyperplane bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import quoted, setting
from lookalike.planning.bandings import MAX_GIVEN_ROWS
from lookalike.recipe.metrics import Cosine, Fingerprints, Jaccard
from lookalike.settings.options import Drawn, Seeded
from lookalike.sketches import hyperplanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.recipe.recipe import Recipe
    from lookalike.text.normalise import Canonical

__all__ = ["KINDS", "MAX_BITS", "ColumnChoice", "SketchColumns", "check_used"]

KINDS = ("simhash", "minhash", "bits")
MIN_BITS, MAX_BITS = 64, 2048


@dataclass(frozen=True)
class ColumnChoice:
    """Which sketches, and of what length."""

    columns: Sequence[str] | None = None
    """Some of simhash, minhash and bits; by default the first two, or the last for vectors."""
    rows: int = 128
    """Of a minhash signature."""
    bits: int = 256
    """Of hyperplanes; a multiple of 32 from 64 to 2048."""
    multiset: bool = False
    """Signatures count how often a shingle occurs."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", self.columns.replace(",", " ").split())
        for name in self.columns or ():
            if name not in KINDS:
                raise SettingsError(
                    f"column {quoted(name)} is unknown: use some of {', '.join(KINDS)}"
                )
        if self.columns is not None and not self.columns:
            raise SettingsError(f"{setting('columns')} is empty: use some of {', '.join(KINDS)}")
        if not _is_whole(self.rows) or not 1 <= self.rows <= MAX_GIVEN_ROWS:
            raise SettingsError(
                f"{setting('rows', self.rows)}: use a whole number from 1 to "
                f"{MAX_GIVEN_ROWS:,}, as 128"
            )
        object.__setattr__(self, "rows", int(self.rows))
        whole = _is_whole(self.bits)
        if not whole or not MIN_BITS <= self.bits <= MAX_BITS or self.bits % hyperplanes.WORD_BITS:
            raise SettingsError(
                f"{setting('bits', self.bits)}: use a multiple of {hyperplanes.WORD_BITS} from "
                f"{MIN_BITS} to {MAX_BITS:,}, as 256"
            )
        object.__setattr__(self, "bits", int(self.bits))


def check_used(names: Sequence[str], choice: ColumnChoice, weights: str | None, seed: int) -> None:
    """Refuse what is asked of columns that are not made: it would do nothing."""
    for name, given, of in (
        ("rows", choice.rows != Drawn.rows, ("minhash",)),
        ("multiset", choice.multiset, ("minhash",)),
        ("bits", choice.bits != Drawn.bits, ("bits",)),
        ("weights", weights is not None, ("simhash", "bits")),
        ("seed", seed != Seeded.seed, ("minhash", "bits")),
    ):
        if given and not {*of} & {*names}:
            raise SettingsError(
                f"{setting(name)} is for {' and '.join(of)}: name {'one' if of[1:] else 'it'} in "
                f"{setting('columns')}, or leave it out"
            )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class SketchColumns:
    """What a recipe for the cosine makes of documents, column by column."""

    def __init__(self, recipe: Recipe, choice: ColumnChoice, weights: str | None = None) -> None:
        """Take the columns of a choice, by default those that there are for such documents.

        `weights` are those that were asked for.
        """
        metric = recipe.metric
        if not isinstance(metric, Cosine):
            raise SettingsError("sketches are made with the metric cosine")
        names = tuple(choice.columns or (KINDS[:2] if metric.shingling else KINDS[2:]))
        if metric.shingling is None and set(names) != {"bits"}:
            raise SettingsError(
                "simhash and minhash are of text: vectors have bits alone; use "
                f"{setting('columns', 'bits')}"
            )
        check_used(names, choice, weights, metric.seed)
        self.names = names
        self._metric = metric
        self._choice = choice

    def decides(self) -> dict[str, Any]:
        """Give what decides the columns, beside the settings of the sketches, as plain values."""
        plain: dict[str, Any] = {"columns": self.names}
        if "minhash" in self.names:
            plain |= {"rows": self._choice.rows, "multiset": self._choice.multiset}
        if "bits" in self.names:
            plain |= {"bits": self._choice.bits}
        return plain

    def bytes_each(self) -> int:
        """Tell how much the sketches of a document take, some of them twice while they are made."""
        choice = self._choice
        sizes = {"simhash": 8, "minhash": 4 * choice.rows, "bits": choice.bits // 8}
        return 2 * sum(sizes[name] for name in self.names)

    def descriptions(self) -> dict[str, str]:
        """Say what the columns are, for the file."""
        choice, metric = self._choice, self._metric
        sets = "multisets" if choice.multiset else "sets"
        shingling, weights = metric.shingling, metric.weighting.name
        of_bits = "vectors" if shingling is None else f"{weights} of {shingling}"
        every = {
            "simhash": f"64 bits of {weights} of {shingling}",
            "minhash": f"{choice.rows} rows of {sets} of {shingling}, seed {metric.seed}",
            "bits": f"{choice.bits} bits of {of_bits}, seed {metric.seed}",
        }
        return {f"lookalike.{name}": every[name] for name in self.names}

    def make(
        self, name: str, documents: Canonical, rows: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Give a column of some documents, and which of them have nothing that counts."""
        metric, shingling = self._metric, self._metric.shingling
        if name == "bits" or shingling is None:
            return metric.sketch(documents, rows, self._choice.bits // hyperplanes.WORD_BITS)
        if name == "simhash":
            prints = Fingerprints(metric.seed, shingling, metric.weighting)
            words, empty = prints.sketch(documents, rows, prints.always_stored)
            return words.view("<u8").reshape(-1), empty
        sets = Jaccard(replace(shingling, multiset=self._choice.multiset), metric.seed)
        return sets.sketch(documents, rows, self._choice.rows)
