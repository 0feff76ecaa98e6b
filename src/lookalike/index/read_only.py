"""An index that was opened to be read, and is to be changed."""

from lookalike.base.errors import OutputError

__all__ = ["unchangeable"]


def unchangeable(address: str) -> OutputError:
    """Give what is raised then, in Python alone: no command opens an index so to change it."""
    return OutputError(f"{address} was opened to be read only: to change it, open it without that")
