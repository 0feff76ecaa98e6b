"""The time that a command takes, from its start to what it says at its end."""

import time

from lookalike.base.timing import began_at

__all__ = ["began", "begin", "end"]

LOADED = time.perf_counter()
"""When the program was loaded, before all that takes time to load."""
_began: list[float] = []


def begin() -> None:
    """Take note that a command begins; the first one of a process began with it."""
    _began[:] = [time.perf_counter() if _began else LOADED]
    began_at(_began[0])


def end() -> None:
    """Take note that it is over."""
    began_at(None)


def began() -> float:
    """Tell when it did."""
    return _began[0] if _began else LOADED
