"""What loads Numba: compiled functions, the code of them that is kept, and instructions."""

from __future__ import annotations

import io
import pickle
import sys
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

import llvmlite
import numba
import numpy as np
from numba.core import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.typing.templates import make_intrinsic_template
from numba.extending import typeof_impl
from numba.np import numpy_support

from lookalike.base import notices
from lookalike.kernels import cache

__all__ = ["dispatcher", "type_of_instruction"]


class Kernel(Protocol):
    """What is compiled: a function, and what Numba is to know of it."""

    py_func: Callable[..., Any]
    options: dict[str, Any]


class Instruction(Protocol):
    """What stands in a kernel for code of the machine: where that is, and its name."""

    home: str
    name: str


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


_VARIANT = sys.implementation.cache_tag, getattr(numba.config, "BOUNDSCHECK", None)
"""What may differ from one run to the next, each of which has files of its own."""
_VERSIONS = numba.__version__, llvmlite.__version__, np.__version__
STAMP = repr((cache.SOURCES, _VERSIONS, _VARIANT)).encode()
"""All that compiled code depends on, besides the machine and the types of arguments.

Numba looks at the one file that a function is in, and would go on with what others held before.
"""


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Give the constants of a function without loading the module of Numba's that it is from.

    No compiled code looks at the names of that module; it may load SciPy's linear algebra, which
    takes as long as all the rest of a small job.
    """
    if module in sys.modules or not module.startswith("numba.") or lookup_environment(name):
        return _rebuild_env(module, constants, name)
    made = Environment({"__name__": module})
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


class _Unpickler(pickle.Unpickler):
    """Reads kept code, and loads little for it."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (_rebuild_env.__module__, _rebuild_env.__name__):
            return _environment
        return super().find_class(module, name)


class _CodeCache(_Cache):
    """The compiled code of a function, in a file for each kind of arguments and each machine."""

    def __init__(self, kernel: Kernel, cache_folder: cache.CacheFolder) -> None:
        self._cache_folder, self._folder = cache_folder, cache_folder.path
        code = kernel.py_func.__code__
        self._prefix = f"{Path(code.co_filename).stem}.{code.co_qualname}"
        self._options = sorted(kernel.options.items())

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what is kept without all that Numba needs to compile, which takes twice as long."""
        rtsys.initialize(target_context)
        code = cache.read(self._path(sig, target_context.codegen()), STAMP)
        if code is None:
            notices.compiling.tell(_announcement(self._cache_folder))
            return None
        # Its digest was right, so this program wrote it.
        data = _Unpickler(io.BytesIO(code)).load()
        return CompileResult._rebuild(target_context, *data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, unless it holds addresses of this process."""
        if not data.library.has_dynamic_globals:
            cache.write(self._path(sig, data.codegen), STAMP, dumps(data._reduce()))

    def _path(self, sig: Any, codegen: Any) -> Path:
        key = str(sig), codegen.magic_tuple(), self._options, _VARIANT
        name = blake2b(repr(key).encode(), digest_size=12).hexdigest()
        return self._folder / f"{self._prefix}-{name}.code"

    def enable(self) -> None:
        """Nothing: it is always in use."""

    def disable(self) -> None:
        """Nothing: it is always in use."""

    def flush(self) -> None:
        """Nothing: what is compiled again takes the place of what was kept."""


def dispatcher(kernel: Kernel) -> Any:
    """Give Numba's function of a kernel; where there is a folder for it, its code is kept."""
    compiled = numba.njit(kernel.py_func, **kernel.options)
    cache_folder = cache.cache_folder()
    if (
        cache_folder is not None
        and cache.KERNEL_FOLDER in Path(kernel.py_func.__code__.co_filename).parents
    ):
        compiled._cache = _CodeCache(kernel, cache_folder)
    if cache_folder is None:
        notices.compiling.tell(_announcement(cache_folder))
    return compiled


def _announcement(cache_folder: cache.CacheFolder | None) -> str:
    if cache_folder is None:
        return (
            "Compiling: up to 15 seconds, in every run, as there is no folder to keep compiled "
            "code in; name one that can be written to by NUMBA_CACHE_DIR."
        )
    if not cache_folder.persistent:
        return (
            f"Compiling: up to 15 seconds. Compiled code is kept in {cache_folder.path} only, "
            "which may not last; name another folder by NUMBA_CACHE_DIR."
        )
    return "Compiling what is needed here: up to 15 seconds. It is kept for later runs."


def type_of_instruction(instruction: Instruction) -> Any:
    """Give what Numba is to take an instruction for."""
    definition = getattr(import_module(instruction.home), instruction.name)
    if isinstance(definition, types.Type):
        return definition
    return types.Function(make_intrinsic_template(instruction, definition, instruction.name))
