"""Windows that roll in a vector of the machine."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types

from lookalike.kernels.lanes import COLUMNS, LANES, Factor, hashed, rolled

__all__ = ["bring_columns", "roll_columns"]

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


def bring_columns(_context: Any, data: Any, at: Any, part: Any, out: Any, to: Any) -> Any:
    """Load a row of each part, and turn rows into columns by shuffling."""
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


def roll_columns(
    _context: Any, columns: Any, k: Any, count: Any, base: Any, drop: Any, out: Any
) -> Any:
    """Roll with the state in a register, a column of digits at a time."""
    kinds = types.int64, types.int64, types.uint64, types.uint64
    arrays = [(array.dtype, array.layout) for array in (columns, out)]
    if (k, count, base, drop) != kinds or arrays != [(types.uint8, "C"), (types.uint64, "C")]:
        raise numba.TypingError("windows roll over contiguous bytes to uint64, by whole words")

    def roll(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, k, count, base, drop, out = arguments
        factors = [Factor.of(_Lanes.all_of(builder, word)) for word in (base, drop)]
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
            x = rolled(x, entering, leaving, *factors)
            builder.store(x.value, state)
            return x

        before = builder.sub(k, one)
        with cgutils.for_range(builder, before) as loop:
            step(loop.index)
        with cgutils.for_range(builder, count) as loop:
            hashes = hashed(step(builder.add(loop.index, before)))
            at = builder.mul(loop.index, eight)
            place = _place(context, builder, signature.args[5], out, at, _NUMBERS)
            builder.store(hashes.value, place, align=8)
        return builder.extract_element(builder.load(state), ir.Constant(_INDEX, LANES - 1))

    return types.uint64(columns, *kinds, out), roll
