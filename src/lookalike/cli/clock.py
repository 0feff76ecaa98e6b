"""The time that a command takes, from its start to what it says at its end."""

import time

__all__ = ["began", "begin"]

LOADED = time.perf_counter()
"""When the program was loaded, before all that takes time to load."""
_began: list[float] = []


def begin() -> None:
    """Take note that a command begins; the first one of a process began with it."""
    _began[:] = [time.perf_counter() if _began else LOADED]


def began() -> float:
    """Tell when it did."""
    return _began[0] if _began else LOADED
