"""How a file that holds an index begins, for those who must tell it from others."""

__all__ = ["APPLICATION", "HEAD_BYTES", "is_index_head"]

APPLICATION = b"LKAL"
"""What tells a file of SQLite of ours from others."""
SQLITE, PLACE = b"SQLite format 3\0", 68
"""How a file of SQLite begins, and where it says whose it is."""
HEAD_BYTES = 100


def is_index_head(head: bytes) -> bool:
    """Tell an index by the first bytes of its file."""
    return head.startswith(SQLITE) and head[PLACE:].startswith(APPLICATION)
