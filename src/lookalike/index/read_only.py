"""An index that was opened to be read, and is to be changed."""

from lookalike.base.errors import OutputError
from lookalike.base.wording import setting

__all__ = ["unchangeable"]


def unchangeable(address: str) -> OutputError:
    """Give what is raised then."""
    return OutputError(
        f"{address} was opened with {setting('read_only')}, and is not changed: open it without"
    )
