"""Blocks of 64 bytes in a vector of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba.core import types

from lookalike.kernels import blocks
from lookalike.kernels.blocks import BLOCK_BYTES, within

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

_VECTOR = ir.VectorType(ir.IntType(8), BLOCK_BYTES)


def _all_of(byte: int) -> Any:
    return ir.Constant(_VECTOR, [byte] * BLOCK_BYTES)


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


def _classifier(emit: Callable[..., Any], reads: int = 1) -> Callable[..., Any]:
    def bits(_context: Any, data: Any, at: Any) -> Any:
        _check(data, at)

        def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            loaded = []
            for ahead in range(reads):
                start = builder.add(arguments[1], ir.Constant(ir.IntType(64), ahead))
                place = _address(context, builder, signature, (arguments[0], start), _VECTOR)
                loaded.append(builder.load(place, align=1))
            members = emit(builder, *loaded)
            return _word(builder, builder.bitcast(members, ir.IntType(BLOCK_BYTES)))

        return types.uint64(data, types.uint64), load

    return bits


def _ruled(rule: Callable[..., Any], reads: int = 1) -> Callable[..., Any]:
    def emit(builder: Any, *loaded: Any) -> Any:
        return rule(*(_Block(builder, block) for block in loaded)).value

    return _classifier(emit, reads)


def _emit_words(builder: Any, block: Any) -> Any:
    folded = builder.or_(block, _all_of(0x20))
    letters = builder.icmp_unsigned("<", builder.sub(folded, _all_of(ord("a"))), _all_of(26))
    numbers = builder.icmp_unsigned("<", builder.sub(block, _all_of(ord("0"))), _all_of(10))
    return builder.or_(letters, numbers)


def _emit_high(builder: Any, block: Any) -> Any:
    return builder.icmp_unsigned(">=", block, _all_of(0x80))


word_bits = _classifier(_emit_words)
high_bits = _classifier(_emit_high)
blank_bits = _ruled(blocks.are_blank)
lead_bits = _ruled(blocks.are_leads)
long_bits = _ruled(blocks.are_long_leads)
longest_bits = _ruled(blocks.are_longest_leads)
quiet_pair_bits = _ruled(blocks.are_quiet_pairs, reads=2)
quiet_triple_bits = _ruled(blocks.are_quiet_triples, reads=3)


def eight_bytes(_context: Any, data: Any, at: Any) -> Any:
    """Load a word that need not be aligned."""
    _check(data, at)

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, signature, arguments, ir.IntType(64))
        return builder.load(place, align=1)

    return types.uint64(data, types.uint64), load


def write_plain(_context: Any, data: Any, at: Any, out: Any, to: Any, case: Any) -> Any:
    """Load a vector, choose by two masks, and store it."""
    _check(data, at)
    _check(out, to)
    if case != types.uint8:
        raise numba.TypingError("what is added to capitals is a uint8")

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _address(context, builder, signature, arguments, _VECTOR)
        target = _address(context, builder, signature, arguments, _VECTOR, which=2)
        block = builder.load(source, align=1)
        capitals = within(_Block(builder, block), ord("A"), ord("Z")).value
        first = builder.insert_element(_all_of(0), arguments[4], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK_BYTES), [0] * BLOCK_BYTES)
        added = builder.select(capitals, builder.shuffle_vector(first, first, zeros), _all_of(0))
        white = within(_Block(builder, block), 0x09, 0x0D).value
        plain = builder.select(white, _all_of(0x20), builder.add(block, added))
        builder.store(plain, target, align=1)
        return context.get_dummy_value()

    return types.void(data, types.uint64, out, types.uint64, types.uint8), write
