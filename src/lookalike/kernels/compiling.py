"""What loads Numba: compiled functions, the code of them that is kept, and instructions."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.typing.templates import make_intrinsic_template
from numba.extending import typeof_impl
from numba.np import numpy_support

if TYPE_CHECKING:
    from collections.abc import Callable

    from lookalike.kernels.jit import Instruction, Kernel

__all__ = ["dispatcher", "first_run", "type_of_instruction"]

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


_HERE = Path(__file__).parent
_SOURCES = tuple(
    (path.name, path.stat().st_mtime, path.stat().st_size) for path in sorted(_HERE.rglob("*.py"))
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


def dispatcher(kernel: Kernel) -> Any:
    """Give Numba's function of a kernel, the code of which is kept."""
    made = numba.njit(kernel.py_func, **kernel.options)
    made._cache = _Kept(kernel.py_func)
    return made


def first_run(kernel: Kernel) -> bool:
    """Tell whether a kernel will have to be compiled."""
    source = Path(kernel.py_func.__code__.co_filename)
    pattern = f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi"
    folder = Path(kernel.dispatcher.stats.cache_path)
    kept = [path.stat().st_mtime for path in folder.glob(pattern)]
    return not kept or max(kept) < max(changed for _, changed, _ in _SOURCES)


def type_of_instruction(instruction: Instruction) -> Any:
    """Give what Numba is to take an instruction for."""
    definition = getattr(import_module(instruction.home), instruction.name)
    if isinstance(definition, types.Type):
        return definition
    return types.Function(make_intrinsic_template(instruction, definition, instruction.name))
