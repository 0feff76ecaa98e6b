"""Windows of ASCII text that roll side by side, eight in a vector of the machine.

The windows of a text are cut into eight parts of the same size, and each lane of a vector rolls
through one. Rules are told once, for vectors of the machine and for arrays of eight.

None of these looks whether the bytes are there: the caller does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lookalike.kernels.jit import instruction

__all__ = ["COLUMNS", "LANES", "Factor", "bring_columns", "hashed", "roll_columns", "rolled"]

LANES = 8
COLUMNS = 16
"""Bytes of every part that are brought side by side at a time."""

_PRIME = (1 << 61) - 1
_HALF = (1 << 31) - 1
_WORD = (1 << 32) - 1


class Factor(NamedTuple):
    """A factor below 2^61 in two halves, the lower one of 31 bits; and the upper one twice."""

    low: Any
    high: Any
    twice_high: Any

    @classmethod
    def of(cls, eightfold: Any) -> Factor:
        """Take a vector of one number, given eightfold, apart."""
        high = eightfold >> 34
        return cls((eightfold >> 3) & _HALF, high, high << 1)


def rolled(x: Any, entering: Any, leaving: Any, base: Factor, drop: Factor) -> Any:
    """Give what equals x * base + leaving * drop + entering modulo the prime, and is below 2^63.

    That holds for x below 2^63, the base below 2^58, the drop below 2^61 and digits of 8 bits. Each
    product is of two numbers below 2^32, as machines make them side by side. Those of two upper
    halves stand 62 bits higher, where 2^62 = 2, the mixed ones 31 bits higher: 30 of their own bits
    keep that place, and those above come down 61 bits.
    """
    low, high = x & _HALF, (x >> 31) & _WORD
    mixed = high * base.low + low * base.high + leaving * drop.high
    products = high * base.twice_high + low * base.low + leaving * drop.low
    return products + (mixed >> 30) + ((mixed << 31) & _PRIME) + entering


def hashed(x: Any) -> Any:
    """Make hashes of fingerprints that are not yet reduced: see `spread` in docs/hashing.md."""
    # How often the prime goes into a number is how often 2^61 does, or once more.
    times = (x + (x >> 61) + 1) >> 61
    x = (x + times) & _PRIME
    high = x >> 32
    low = (x ^ high) & _WORD
    factor_high, factor_low = 0x94D049BB, 0x133111EB
    x = low * factor_low + ((low * factor_high + high * factor_low) << 32)
    return x ^ (x >> 29)


@instruction
def bring_columns(data: Any, at: Any, part: Any, out: Any, to: Any) -> None:
    """Write 16 digits of each of eight parts, a byte each, by columns."""
    for lane in range(LANES):
        first = int(at) + lane * int(part)
        digits = data[first : first + COLUMNS] + np.uint8(1)
        out[int(to) + lane : int(to) + lane + LANES * COLUMNS : LANES] = digits


@instruction
def roll_columns(columns: Any, k: Any, count: Any, base: Any, drop: Any, out: Any) -> Any:
    """Write the hashes of so many windows of each part, and give the last fingerprint.

    There are k columns of zeros, and then those of the digits; `base` and `drop` are given
    eightfold. Hash j of a part stands at 8 j and the part's number. The fingerprint is not yet
    reduced.
    """
    factors = [Factor.of(np.full(LANES, word, np.uint64)) for word in (base, drop)]
    digits = columns[: LANES * (2 * k + count - 1)].reshape(-1, LANES).astype(np.uint64)
    x = np.zeros(LANES, np.uint64)
    for j in range(k + count - 1):
        x = rolled(x, digits[j + k], digits[j], *factors)
        window = j - k + 1
        if window >= 0:
            out[LANES * window : LANES * (window + 1)] = hashed(x)
    return x[-1]
