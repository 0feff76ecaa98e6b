"""The index that a command is given: named before the sources, and opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.cli.command import Argument, file_name, flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.index.index import Index

__all__ = ["DURABLE", "INDEX", "opened"]

INDEX = Argument(
    "address",
    "A file, as pages.lookalike, or an address, as postgresql://host/database.",
    metavar="INDEX",
    type=file_name(),
)
DURABLE = flag(
    ["--durable"],
    "Wait for the disk at each change, so that even a loss of power takes none of them.",
)


def opened(
    address: str, sources: Sequence[str] = (), *, durable: bool = False, read_only: bool = False
) -> Index:
    """Open an index; where a source is one and it is not, the two were swapped."""
    import lookalike
    from lookalike.base.errors import SettingsError
    from lookalike.index.opening import is_index

    if any(map(is_index, sources)) and not is_index(address):
        raise SettingsError(
            f"{address} is no index, and one is named after it: INDEX comes first, then SOURCE"
        )
    return lookalike.Index(address, durable=durable, read_only=read_only)
