"""Windows of ASCII text that roll side by side, eight in a vector of the machine.

The windows of a text are cut into eight parts of the same size, and each lane of a vector rolls
through one. Rules are told once, for vectors of the machine and for arrays of eight.

None of these looks whether the bytes are there: the caller does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from lookalike.kernels.jit import INTERPRETED

__all__ = ["COLUMNS", "LANES", "bring_columns", "roll_columns"]

LANES = 8
COLUMNS = 16
"""Bytes of every part that are brought side by side at a time."""

_PRIME = (1 << 61) - 1
_HALF = (1 << 31) - 1
_WORD = (1 << 32) - 1


class _Factor(NamedTuple):
    """A factor below 2^61 in two halves, the lower one of 31 bits; and the upper one twice."""

    low: Any
    high: Any
    twice_high: Any

    @classmethod
    def of(cls, eightfold: Any) -> _Factor:
        """Take a vector of one number, given eightfold, apart."""
        high = eightfold >> 34
        return cls((eightfold >> 3) & _HALF, high, high << 1)


def _rolled(x: Any, entering: Any, leaving: Any, base: _Factor, drop: _Factor) -> Any:
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


def _hashed(x: Any) -> Any:
    """Make hashes of fingerprints that are not yet reduced: see `spread` in docs/hashing.md."""
    # How often the prime goes into a number is how often 2^61 does, or once more.
    times = (x + (x >> 61) + 1) >> 61
    x = (x + times) & _PRIME
    high = x >> 32
    low = (x ^ high) & _WORD
    factor_high, factor_low = 0x94D049BB, 0x133111EB
    x = low * factor_low + ((low * factor_high + high * factor_low) << 32)
    return x ^ (x >> 29)


if INTERPRETED:

    def bring_columns(data: Any, at: Any, part: Any, out: Any, to: Any) -> None:
        """Write 16 digits of each of eight parts, a byte each, by columns."""
        for lane in range(LANES):
            first = int(at) + lane * int(part)
            digits = data[first : first + COLUMNS] + np.uint8(1)
            out[int(to) + lane : int(to) + lane + LANES * COLUMNS : LANES] = digits

    def roll_columns(columns: Any, k: Any, count: Any, base: Any, drop: Any, out: Any) -> Any:
        """Write the hashes of so many windows of each part, and give the last fingerprint."""
        factors = [_Factor.of(np.full(LANES, word, np.uint64)) for word in (base, drop)]
        digits = columns[: LANES * (2 * k + count - 1)].reshape(-1, LANES).astype(np.uint64)
        x = np.zeros(LANES, np.uint64)
        for j in range(k + count - 1):
            x = _rolled(x, digits[j + k], digits[j], *factors)
            window = j - k + 1
            if window >= 0:
                out[LANES * window : LANES * (window + 1)] = _hashed(x)
        return x[-1]

else:
    _BYTE, _INDEX, _NUMBER = ir.IntType(8), ir.IntType(32), ir.IntType(64)
    _DIGITS, _NUMBERS = ir.VectorType(_BYTE, LANES), ir.VectorType(_NUMBER, LANES)
    _ROW = ir.VectorType(_BYTE, COLUMNS)

    class _Lanes:
        """A vector of eight words, with the operators that NumPy's arrays have."""

        def __init__(self, builder: Any, value: Any) -> None:
            self.builder, self.value = builder, value

        @classmethod
        def all_of(cls, builder: Any, number: Any) -> _Lanes:
            """Put one number in all lanes."""
            first = ir.Constant(_INDEX, 0)
            one = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), number, first)
            zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
            return cls(builder, builder.shuffle_vector(one, one, zeros))

        def _by(self, instruction: Any, other: Any) -> _Lanes:
            if isinstance(other, int):
                other = _Lanes(self.builder, ir.Constant(_NUMBERS, [other] * LANES))
            return _Lanes(self.builder, instruction(self.value, other.value))

        def __add__(self, other: Any) -> _Lanes:
            return self._by(self.builder.add, other)

        def __mul__(self, other: Any) -> _Lanes:
            return self._by(self.builder.mul, other)

        def __and__(self, other: Any) -> _Lanes:
            return self._by(self.builder.and_, other)

        def __xor__(self, other: Any) -> _Lanes:
            return self._by(self.builder.xor, other)

        def __lshift__(self, other: Any) -> _Lanes:
            return self._by(self.builder.shl, other)

        def __rshift__(self, other: Any) -> _Lanes:
            return self._by(self.builder.lshr, other)

    def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
        start = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(start, [at]), vector.as_pointer())

    def _riffled(builder: Any, rows: list[Any]) -> list[Any]:
        """Put the elements of the first half of the rows and of the second in turn."""
        riffled, half = [], COLUMNS // 2
        for first, second in zip(rows[: len(rows) // 2], rows[len(rows) // 2 :], strict=True):
            for begin in (0, half):
                turns = [j + k * COLUMNS for j in range(begin, begin + half) for k in (0, 1)]
                mask = ir.Constant(ir.VectorType(_INDEX, COLUMNS), turns)
                riffled.append(builder.shuffle_vector(first, second, mask))
        return riffled

    @intrinsic
    def bring_columns(_context: Any, data: Any, at: Any, part: Any, out: Any, to: Any) -> Any:
        """Write 16 digits of each of eight parts, a byte each, by columns."""
        for array, place in ((data, at), (data, part), (out, to)):
            if (array.dtype, array.layout, place) != (types.uint8, "C", types.uint64):
                raise numba.TypingError("columns are contiguous bytes, at places of uint64")

        def bring(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source, at, part, target, to = arguments
            rows = []
            for _ in range(LANES):
                place = _place(context, builder, signature.args[0], source, at, _ROW)
                rows.append(builder.load(place, align=1))
                at = builder.add(at, part)
            # To riffle all bytes once turns the bits of their places round by one.
            for _ in range(LANES.bit_length() - 1):
                rows = _riffled(builder, rows)
            ones = ir.Constant(_ROW, [1] * COLUMNS)
            for row in rows:
                place = _place(context, builder, signature.args[3], target, to, _ROW)
                builder.store(builder.add(row, ones), place, align=1)
                to = builder.add(to, ir.Constant(_NUMBER, COLUMNS))
            return context.get_dummy_value()

        return types.void(data, at, part, out, to), bring

    @intrinsic
    def roll_columns(
        _context: Any, columns: Any, k: Any, count: Any, base: Any, drop: Any, out: Any
    ) -> Any:
        """Write the hashes of so many windows of each part, and give the last fingerprint.

        There are k columns of zeros, and then those of the digits; `base` and `drop` are given
        eightfold. Hash j of a part stands at 8 j and the part's number. The fingerprint is not yet
        reduced.
        """
        kinds = types.int64, types.int64, types.uint64, types.uint64
        arrays = [(array.dtype, array.layout) for array in (columns, out)]
        if (k, count, base, drop) != kinds or arrays != [(types.uint8, "C"), (types.uint64, "C")]:
            raise numba.TypingError("windows roll over contiguous bytes to uint64, by whole words")

        def roll(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            columns, k, count, base, drop, out = arguments
            factors = [_Factor.of(_Lanes.all_of(builder, word)) for word in (base, drop)]
            eight, one = ir.Constant(_NUMBER, LANES), ir.Constant(_NUMBER, 1)
            state = cgutils.alloca_once(builder, _NUMBERS)
            builder.store(ir.Constant(_NUMBERS, [0] * LANES), state)

            def digits(column: Any) -> _Lanes:
                at = builder.mul(column, eight)
                place = _place(context, builder, signature.args[0], columns, at, _DIGITS)
                return _Lanes(builder, builder.zext(builder.load(place, align=1), _NUMBERS))

            def step(column: Any) -> Any:
                x = _Lanes(builder, builder.load(state))
                entering, leaving = digits(builder.add(column, k)), digits(column)
                x = _rolled(x, entering, leaving, *factors)
                builder.store(x.value, state)
                return x

            before = builder.sub(k, one)
            with cgutils.for_range(builder, before) as loop:
                step(loop.index)
            with cgutils.for_range(builder, count) as loop:
                hashes = _hashed(step(builder.add(loop.index, before)))
                at = builder.mul(loop.index, eight)
                place = _place(context, builder, signature.args[5], out, at, _NUMBERS)
                builder.store(hashes.value, place, align=8)
            return builder.extract_element(builder.load(state), ir.Constant(_INDEX, LANES - 1))

        return types.uint64(columns, *kinds, out), roll
