"""The stream of random words that a seed stands for: the same for ever, on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GOLDEN", "check_seed", "mixed", "random_words"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Give the `mix` of each word, as docs/hashing.md defines it."""
    values = values ^ (values >> np.uint64(30))
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def check_seed(seed: int) -> None:
    """Refuse what is no seed."""
    if not 0 <= seed < 1 << 64:
        raise SettingsError(f"{setting('seed', seed)}: use a whole number from 0 to 2^64 - 1")


def random_words(seed: int, start: int, stop: int) -> NDArray[np.uint64]:
    """Give some words of a seed's stream, from one place up to another."""
    check_seed(seed)
    steps = np.arange(start + 1, stop + 1, dtype=np.uint64)
    return mixed(np.uint64(seed) + steps * GOLDEN)
