"""Instructions on one word."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import types

__all__ = ["multiply_high", "ones", "trailing_zeros"]


def multiply_high(_context: Any, x: Any, y: Any) -> Any:
    """Multiply as words of 128 bits."""
    if x != types.uint64 or y != types.uint64:
        raise numba.TypingError("multiply_high takes two uint64")

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(word, wide) for word in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), emit


def trailing_zeros(_context: Any, x: Any) -> Any:
    """Count by one instruction, which knows the word 0."""
    if x != types.uint64:
        raise numba.TypingError("trailing_zeros takes a uint64")

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), emit


def ones(_context: Any, x: Any) -> Any:
    """Count by one instruction."""
    if x not in (types.uint32, types.uint64):
        raise numba.TypingError("ones takes a uint32 or a uint64")

    def emit(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = builder.ctpop(arguments[0])
        return builder.zext(count, ir.IntType(64)) if signature.args[0].bitwidth < 64 else count

    return types.int64(x), emit
