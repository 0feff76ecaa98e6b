"""What tells an index from documents, for those who must not read it as some."""

__all__ = ["APPLICATION", "HEAD_BYTES", "NO_DOCUMENT", "SERVERS", "Opened", "is_index_head"]

APPLICATION = b"LKAL"
"""What tells a file of SQLite of ours from others."""
SQLITE, PLACE = b"SQLite format 3\0", 68
"""How a file of SQLite begins, and where it says whose it is."""
HEAD_BYTES = 100
SERVERS = ("postgresql://", "postgres://")
"""How the address of an index on a server begins."""
NO_DOCUMENT = (
    "is an index, no document: lookalike index query asks it, and lookalike index export writes "
    "its documents to a file that can be read"
)


class Opened:
    """An index that is open."""

    def made_by(self) -> dict[str, str]:
        """Give what another one is made by that is to be like it."""
        raise NotImplementedError


def is_index_head(head: bytes) -> bool:
    """Tell an index by the first bytes of its file."""
    return head.startswith(SQLITE) and head[PLACE:].startswith(APPLICATION)
