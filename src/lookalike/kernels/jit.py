"""The decorators of all kernels, and what the machine does that Python cannot say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic, typeof_impl
from numba.np import numpy_support

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["first_run", "inner", "kernel", "multiply_high", "ones", "trailing_zeros"]

INTERPRETED = bool(getattr(numba.config, "DISABLE_JIT", False))
"""Whether kernels run as plain Python, by NUMBA_DISABLE_JIT: slow, and seen by coverage."""

_type_of_any = typeof_impl.dispatch(np.ndarray)


@typeof_impl.register(np.ndarray)
def _type_of(array: Any, context: Any) -> Any:
    """Tell the type of an array without loading NumPy's masked arrays, to see that it is none.

    That takes a twentieth of a second; where they are not loaded, there are none.
    """
    plain = array.dtype.kind in "iuf" and array.dtype.isnative
    if not plain or "numpy.ma" in sys.modules:
        return _type_of_any(array, context)
    kind, layout = numpy_support.from_dtype(array.dtype), numpy_support.map_layout(array)
    return types.Array(kind, array.ndim, layout, readonly=not array.flags.writeable)


_SOURCES = tuple(
    (path.name, path.stat().st_mtime, path.stat().st_size)
    for path in sorted(Path(__file__).parent.glob("*.py"))
)
"""The files that kernels are written in, which call each other's."""


class _Kept(FunctionCache):
    """Compiled code on disk, which counts until any of the kernels' files changes.

    Numba looks at the one file that a function is in, and would go on with what others held before.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = _SOURCES

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what is kept without all that Numba needs to compile, which takes twice as long."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _keeping(compiled: Any) -> Any:
    if not INTERPRETED:
        compiled._cache = _Kept(compiled.py_func)
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call, keep the result on disk, and let other threads run meanwhile."""
    return _keeping(numba.njit(function, nogil=True))


def inner(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it.

    Python cannot call it: what lets Python in takes a third of the time to compile.
    """
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _keeping(numba.njit(function, **without))


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
