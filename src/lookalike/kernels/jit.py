"""The decorators of all kernels, and the instructions of the machine that Python cannot say.

Nothing here loads Numba. A kernel does when it is first called, so that what needs no compiled
code needs no compiler: plans, curves, help.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any

from lookalike.base.memory import address_limit, check_address_space

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = [
    "INTERPRETED",
    "Instruction",
    "Kernel",
    "inner",
    "instruction",
    "kernel",
    "load_if_limited",
    "multiply_high",
    "ones",
    "trailing_zeros",
]

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")
"""Whether kernels run as plain Python, by NUMBA_DISABLE_JIT: slow, and seen by coverage."""


def _compiling() -> ModuleType:
    """Load the compiler, if there is memory for it: without, it would end the process."""
    if "lookalike.kernels.compiling" not in sys.modules:
        check_address_space()
    from lookalike.kernels import compiling

    return compiling


def load_if_limited() -> None:
    """Load the compiler before a job takes memory, where the address space has a limit.

    Elsewhere it is loaded when a kernel is first called.
    """
    if not INTERPRETED and address_limit() is not None:
        _compiling()


class Kernel:
    """A function that is compiled on its first call."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        """Take a function, and what Numba is to know of it."""
        update_wrapper(self, function)
        self.py_func, self.options = function, options

    @property
    def dispatcher(self) -> Any:
        """Numba's function, which compiles or loads the code for the arguments it is given."""
        dispatcher = self.__dict__.get("_dispatcher")
        if dispatcher is None:
            # Of two threads that make it at once, both take the first one's.
            dispatcher = self.__dict__.setdefault("_dispatcher", _compiling().dispatcher(self))
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of a name that a kernel uses."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled code."""
        # Not by the property, which would take longer than some kernels do.
        dispatcher = self.__dict__.get("_dispatcher") or self.dispatcher
        return dispatcher(*arguments)


class Instruction:
    """A function of the machine, as kernels call it.

    Its definition for Numba stands by the same name in `kernels.native`, in a module that is named
    as the one that it is in.
    """

    def __init__(self, module: str, name: str) -> None:
        """Name an instruction, and the module that has it."""
        package, _, place = module.rpartition(".")
        self.home, self.name = f"{package}.native.{place}", name

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba asks of a name that a kernel uses."""
        return _compiling().type_of_instruction(self)


class _PythonInstruction(Instruction):
    """An instruction that is told in Python, which can call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__module__, function.__name__)
        update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call, keep the result on disk, and let other threads run meanwhile."""
    return function if INTERPRETED else Kernel(function, nogil=True)


def inner(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it.

    Python cannot call it: what lets Python in takes a third of the time to compile.
    """
    if INTERPRETED:
        return function
    return Kernel(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def instruction(function: Callable[..., Any]) -> Any:
    """Let kernels call what is here told in Python, and done by the machine."""
    return function if INTERPRETED else _PythonInstruction(function)


@instruction
def multiply_high(x: Any, y: Any) -> Any:
    """Give the upper 64 bits of the product of two 64-bit words."""
    return type(x)((int(x) * int(y)) >> 64)


@instruction
def trailing_zeros(x: Any) -> Any:
    """Count the zero bits below the lowest one of a 64-bit word, all 64 where there is none."""
    return type(x)((int(x) & -int(x)).bit_length() - 1 if x else 64)


@instruction
def ones(x: Any) -> Any:
    """Count the bits that are 1 of a word."""
    return int(x).bit_count()
