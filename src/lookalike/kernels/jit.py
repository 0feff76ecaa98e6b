"""The one decorator of all kernels, and what the machine does that Python cannot say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

__all__ = ["first_run", "kernel", "multiply_high", "trailing_zeros"]

F = TypeVar("F", bound=Callable[..., Any])

_kernels: list[Any] = []


def kernel(function: F) -> F:
    """Compile on first call, keep the result on disk, and let other threads run meanwhile."""
    compiled = numba.njit(function, nogil=True, cache=True)
    _kernels.append(compiled)
    return compiled  # type: ignore[no-any-return]


def first_run() -> bool:
    """Tell whether kernels will have to be compiled, which takes seconds, before they can run."""
    if numba.config.DISABLE_JIT:
        return False
    for compiled in _kernels:
        source = Path(compiled.py_func.__code__.co_filename)
        pattern = f"{source.stem}.{compiled.py_func.__qualname__}-*.nbi"
        kept = [path.stat().st_mtime for path in Path(compiled.stats.cache_path).glob(pattern)]
        if not kept or max(kept) < source.stat().st_mtime:
            return True
    return False


if numba.config.DISABLE_JIT:

    def multiply_high(x: Any, y: Any) -> Any:
        """Give the upper 64 bits of the product of two 64-bit words."""
        return type(x)((int(x) * int(y)) >> 64)

    def trailing_zeros(x: Any) -> Any:
        """Count the zero bits below the lowest one of a 64-bit word that is not 0."""
        return type(x)((int(x) & -int(x)).bit_length() - 1)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def multiply_high(_context: Any, x: Any, y: Any) -> Any:
        """Give the upper 64 bits of the product of two 64-bit words."""
        if x != types.uint64 or y != types.uint64:
            raise numba.TypingError("multiply_high takes two uint64")

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(word, wide) for word in arguments))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), emit

    @intrinsic  # type: ignore[untyped-decorator]
    def trailing_zeros(_context: Any, x: Any) -> Any:
        """Count the zero bits below the lowest one of a 64-bit word that is not 0."""
        if x != types.uint64:
            raise numba.TypingError("trailing_zeros takes a uint64")

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), emit
