"""What takes long and is worth a word, told to a program that listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Notice", "compiling"]


class Notice:
    """Something that is said once, to one listener, when it first happens."""

    def __init__(self) -> None:
        """Begin with nobody who listens."""
        self._listener: Callable[[str], None] | None = None

    def listen(self, listener: Callable[[str], None] | None) -> None:
        """Let a function hear the next one, instead of any other."""
        self._listener = listener

    def tell(self, message: str) -> None:
        """Say it to whoever listens, who then has heard it."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener(message)


compiling = Notice()
"""A kernel has to be compiled, which takes seconds."""
