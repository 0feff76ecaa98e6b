"""Text by blocks of 64 bytes: one bit a byte, by the machine's vectors; and loads of 8 bytes.

None of these looks whether the bytes are there: the caller does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from lookalike.kernels.jit import INTERPRETED

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "blank_bits",
    "eight_bytes",
    "high_bits",
    "lead_bits",
    "long_bits",
    "longest_bits",
    "quiet_pair_bits",
    "quiet_triple_bits",
    "word_bits",
    "write_plain",
]

BLOCK = 64

if INTERPRETED:

    def _classifier(is_member: Any, _emit: Any, reads: int = 1, /) -> Any:
        def bits(data: Any, at: Any) -> Any:
            starts = range(int(at), int(at) + reads)
            members = is_member(*(data[start : start + BLOCK] for start in starts))
            return np.uint64(int.from_bytes(np.packbits(members, bitorder="little"), "little"))

        return bits

    def eight_bytes(data: Any, at: Any) -> Any:
        """Read 8 bytes as a little-endian word."""
        return np.uint64(int.from_bytes(data[int(at) : int(at) + 8].tobytes(), "little"))

    def write_plain(data: Any, at: Any, out: Any, to: Any, case: Any) -> None:
        """Write 64 bytes, with the white space of ASCII as blanks and `case` added to capitals."""
        block = data[int(at) : int(at) + BLOCK]
        capitals = _within(block, ord("A"), ord("Z"))
        plain = np.where(_within(block, 0x09, 0x0D), np.uint8(0x20), block + capitals * case)
        out[int(to) : int(to) + BLOCK] = plain

else:
    _VECTOR = ir.VectorType(ir.IntType(8), BLOCK)

    def _all_of(byte: int) -> Any:
        return ir.Constant(_VECTOR, [byte] * BLOCK)

    class _Block:
        """A vector, with the operators that NumPy's arrays have, so that a rule is told once."""

        def __init__(self, builder: Any, value: Any) -> None:
            self.builder, self.value = builder, value

        def __and__(self, other: _Block) -> _Block:
            return _Block(self.builder, self.builder.and_(self.value, other.value))

        def __or__(self, other: _Block) -> _Block:
            return _Block(self.builder, self.builder.or_(self.value, other.value))

        def __sub__(self, byte: int) -> _Block:
            return _Block(self.builder, self.builder.sub(self.value, _all_of(byte)))

        def __lt__(self, byte: int) -> _Block:
            found = self.builder.icmp_unsigned("<", self.value, _all_of(byte))
            return _Block(self.builder, found)

        def __ge__(self, byte: int) -> _Block:
            found = self.builder.icmp_unsigned(">=", self.value, _all_of(byte))
            return _Block(self.builder, found)

    def _address(
        context: Any, builder: Any, signature: Any, arguments: Any, kind: Any, which: int = 0
    ) -> Any:
        array = context.make_array(signature.args[which])(context, builder, arguments[which])
        return builder.bitcast(builder.gep(array.data, [arguments[which + 1]]), kind.as_pointer())

    def _check(data: Any, at: Any) -> None:
        if data.dtype != types.uint8 or data.layout != "C" or at != types.uint64:
            raise numba.TypingError("blocks are read from contiguous bytes, at a uint64")

    def _word(builder: Any, bits: Any) -> Any:
        """Make a word of 64 bits for good: the compiler would carry them on one by one.

        By nothing, said in the assembler's language, it cannot look into what a word comes from.
        """
        kind = ir.FunctionType(bits.type, [bits.type])
        return builder.asm(kind, "", "=r,0", [bits], side_effect=False)

    def _classifier(_is_member: Any, emit: Any, reads: int = 1, /) -> Any:
        @intrinsic
        def bits(_context: Any, data: Any, at: Any) -> Any:
            _check(data, at)

            def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                kind = ir.VectorType(ir.IntType(8), BLOCK)
                blocks = []
                for ahead in range(reads):
                    start = builder.add(arguments[1], ir.Constant(ir.IntType(64), ahead))
                    place = _address(context, builder, signature, (arguments[0], start), kind)
                    blocks.append(builder.load(place, align=1))
                members = emit(builder, *blocks, lambda byte: ir.Constant(kind, [byte] * BLOCK))
                return _word(builder, builder.bitcast(members, ir.IntType(BLOCK)))

            return types.uint64(data, types.uint64), load

        return bits

    @intrinsic
    def eight_bytes(_context: Any, data: Any, at: Any) -> Any:
        """Read 8 bytes as a little-endian word."""
        _check(data, at)

        def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _address(context, builder, signature, arguments, ir.IntType(64))
            return builder.load(place, align=1)

        return types.uint64(data, types.uint64), load

    @intrinsic
    def write_plain(_context: Any, data: Any, at: Any, out: Any, to: Any, case: Any) -> Any:
        """Write 64 bytes, with the white space of ASCII as blanks and `case` added to capitals."""
        _check(data, at)
        _check(out, to)
        if case != types.uint8:
            raise numba.TypingError("what is added to capitals is a uint8")

        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source = _address(context, builder, signature, arguments, _VECTOR)
            target = _address(context, builder, signature, arguments, _VECTOR, which=2)
            block = builder.load(source, align=1)
            capitals = _within(_Block(builder, block), ord("A"), ord("Z")).value
            first = builder.insert_element(_all_of(0), arguments[4], ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
            added = builder.select(
                capitals, builder.shuffle_vector(first, first, zeros), _all_of(0)
            )
            white = _within(_Block(builder, block), 0x09, 0x0D).value
            plain = builder.select(white, _all_of(0x20), builder.add(block, added))
            builder.store(plain, target, align=1)
            return context.get_dummy_value()

        return types.void(data, types.uint64, out, types.uint64, types.uint8), write


def _are_words(block: Any) -> Any:
    letters = (block | 0x20) - np.uint8(ord("a")) < 26
    return letters | (block - np.uint8(ord("0")) < 10)


def _emit_words(builder: Any, block: Any, all_of: Callable[[int], Any]) -> Any:
    folded = builder.or_(block, all_of(0x20))
    letters = builder.icmp_unsigned("<", builder.sub(folded, all_of(ord("a"))), all_of(26))
    numbers = builder.icmp_unsigned("<", builder.sub(block, all_of(ord("0"))), all_of(10))
    return builder.or_(letters, numbers)


word_bits = _classifier(_are_words, _emit_words)
"""Give a bit for each of 64 bytes: 1 for the letters and digits of ASCII; the first is lowest."""

high_bits = _classifier(
    lambda block: block >= 0x80,
    lambda builder, block, all_of: builder.icmp_unsigned(">=", block, all_of(0x80)),
)
"""Give a bit for each of 64 bytes: 1 for those of 128 and more, which are not ASCII."""


def _ruled(rule: Callable[..., Any], reads: int = 1) -> Any:
    def emit(builder: Any, *given: Any) -> Any:
        *blocks, _ = given
        return rule(*(_Block(builder, block) for block in blocks)).value

    return _classifier(rule, emit, reads)


def _within(block: Any, first: int, last: int) -> Any:
    """Tell the bytes from the first to the last; beyond 255 they begin again at 0."""
    return block - first < (last - first) % 256 + 1


def _is(block: Any, byte: int) -> Any:
    return _within(block, byte, byte)


def _are_quiet_pairs(lead: Any, second: Any) -> Any:
    return (
        (_is(lead, 0xC2) & (second >= 0xA1))
        | (_is(lead, 0xC3) & (second >= 0xA0))
        | (_is(lead, 0xD0) & (second >= 0xB0))
        | (_is(lead, 0xD1) & (second < 0xA0))
    )


def _are_quiet_triples(lead: Any, second: Any, third: Any) -> Any:
    kana_or_sign = (
        (_is(second, 0x80) & _within(third, 0x81, 0xA9))
        | _is(second, 0x81)
        | (_is(second, 0x82) & _within(third, 0x9B, 0x98))
        | (second >= 0x83)
    )
    return (
        (_is(lead, 0xE2) & _is(second, 0x80) & _within(third, 0x8B, 0xA7))
        | (_is(lead, 0xE3) & kana_or_sign)
        | _within(lead, 0xE4, 0xE9)
        | (_is(lead, 0xEA) & (second >= 0xB0))
        | _within(lead, 0xEB, 0xEC)
        | (_is(lead, 0xED) & (second < 0xA0))
        | (_is(lead, 0xEF) & _is(second, 0xBC) & (third < 0xA1))
    )


blank_bits = _ruled(lambda block: _within(block, 0x09, 0x0D) | _is(block, 0x20))
"""Give a bit for each of 64 bytes: 1 for the white space of ASCII."""

lead_bits = _ruled(lambda block: block >= 0xC0)
"""Give a bit for each of 64 bytes: 1 for those that begin a character of two bytes or more."""

long_bits = _ruled(lambda block: block >= 0xE0)
"""Give a bit for each of 64 bytes: 1 for those that begin a character of three bytes or more."""

longest_bits = _ruled(lambda block: block >= 0xF0)
"""Give a bit for each of 64 bytes: 1 for those that begin a character of four bytes."""

quiet_pair_bits = _ruled(_are_quiet_pairs, reads=2)
"""Give a bit for each of 64 bytes: 1 where two begin a character that never changes.

Such a one has no lower case, is no blank and no mark, and takes no part in compositions. These are
the small letters and the signs of Latin-1 and of Russian; there are others that are not told.
Reads 65 bytes, and is right where they are valid UTF-8.
"""

quiet_triple_bits = _ruled(_are_quiet_triples, reads=3)
"""Give a bit for each of 64 bytes: 1 where three begin a character that never changes.

These are ideographs, kana, Hangul, quotation marks, dashes, and the signs of Chinese; there are
others that are not told. Reads 66 bytes, and is right where they are valid UTF-8.
"""
