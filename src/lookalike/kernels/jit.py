"""The decorators of all kernels, and what the machine does that Python cannot say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["first_run", "inner", "kernel", "multiply_high", "ones", "trailing_zeros"]


def _spare_linear_algebra() -> None:
    """Load what Numba knows of arrays without SciPy's linear algebra.

    No kernel uses it, and it takes a tenth of a second; Numba looks whether it is there when its
    own module is loaded, and again wherever it is used.
    """
    from numba.np import linalg

    if "numba.np.arraymath" in sys.modules or not hasattr(linalg, "ensure_blas"):
        return
    known, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = known


_spare_linear_algebra()

INTERPRETED = bool(getattr(numba.config, "DISABLE_JIT", False))
"""Whether kernels run as plain Python, by NUMBA_DISABLE_JIT: slow, and seen by coverage."""


_SOURCES = tuple(
    (path.name, path.stat().st_mtime, path.stat().st_size)
    for path in sorted(Path(__file__).parent.glob("*.py"))
)
"""The files that kernels are written in, which call each other's."""


def _kept(compiled: Any) -> Any:
    """Let what was compiled count until any of the files changes.

    Numba looks at the one file that a function is in, and would go on with what others held before.
    """
    if not INTERPRETED:
        compiled._cache._cache_file._source_stamp = _SOURCES
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call, keep the result on disk, and let other threads run meanwhile."""
    return _kept(numba.njit(function, nogil=True, cache=True))


def inner(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it.

    Python cannot call it: what lets Python in takes a third of the time to compile.
    """
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _kept(numba.njit(function, cache=True, **without))


def first_run(compiled: Any) -> bool:
    """Tell whether a kernel will have to be compiled, which takes seconds, before it can run."""
    if INTERPRETED:
        return False
    source = Path(compiled.py_func.__code__.co_filename)
    pattern = f"{source.stem}.{compiled.py_func.__qualname__}-*.nbi"
    kept = [path.stat().st_mtime for path in Path(compiled.stats.cache_path).glob(pattern)]
    return not kept or max(kept) < max(changed for _, changed, _ in _SOURCES)


if INTERPRETED:

    def multiply_high(x: Any, y: Any) -> Any:
        """Give the upper 64 bits of the product of two 64-bit words."""
        return type(x)((int(x) * int(y)) >> 64)

    def trailing_zeros(x: Any) -> Any:
        """Count the zero bits below the lowest one of a 64-bit word, all 64 where there is none."""
        return type(x)((int(x) & -int(x)).bit_length() - 1 if x else 64)

    def ones(x: Any) -> Any:
        """Count the bits that are 1 of a word."""
        return int(x).bit_count()

else:

    @intrinsic
    def multiply_high(_context: Any, x: Any, y: Any) -> Any:
        """Give the upper 64 bits of the product of two 64-bit words."""
        if x != types.uint64 or y != types.uint64:
            raise numba.TypingError("multiply_high takes two uint64")

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(word, wide) for word in arguments))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), emit

    @intrinsic
    def trailing_zeros(_context: Any, x: Any) -> Any:
        """Count the zero bits below the lowest one of a 64-bit word, all 64 where there is none."""
        if x != types.uint64:
            raise numba.TypingError("trailing_zeros takes a uint64")

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), emit

    @intrinsic
    def ones(_context: Any, x: Any) -> Any:
        """Count the bits that are 1 of a word."""
        if x not in (types.uint32, types.uint64):
            raise numba.TypingError("ones takes a uint32 or a uint64")

        def emit(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            count = builder.ctpop(arguments[0])
            return builder.zext(count, ir.IntType(64)) if signature.args[0].bitwidth < 64 else count

        return types.int64(x), emit
