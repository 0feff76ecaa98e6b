"""mbox: the messages of a mailbox, each after a line that begins with `From `."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.read.blocks import closed
from lookalike.read.document_text import broken
from lookalike.read.fields import Choice, Rows, choose, from_rows, no_vectors
from lookalike.read.files import Unread, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.read.blocks import Block
    from lookalike.read.fields import Path, Piece, ReadOptions
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds

__all__ = ["Messages", "check_begin", "choose_fields", "parse_messages"]

FIELDS = ("text", "subject", "body", "from", "to", "date", "message-id")
"""What is read of a message: `text` is the subject and the body."""
FROM = b"From "
BLOCK_BYTES = 1 << 20
"""Bytes of messages that are read at once: the shortest take far more memory than bytes."""
SEPARATOR = re.compile(rb"\nFrom [^\n]{0,998}\n(?=[!-9;-~]{1,998}[ \t]?:|>From )")
"""With a header after it: a line of a text may begin with that word, too."""
BLANK_LINES = (b"\n\n", b"\n\r\n")
REACH = 2048
"""Bytes in which a separator stands, with what is before and after it."""
QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


@dataclass(frozen=True)
class Messages:
    """Records that begin at a separator at the start of the file or after a blank line."""

    reach: int = REACH
    encoding: str = "utf-8"
    """Of the separators; each message declares its own."""

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole message ends, and how many there are up to there."""
        begins = self._begins(data)
        return (int(begins[-1]), len(begins)) if len(begins) else (0, 0)

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each message ends."""
        return closed(self._begins(data), data)

    def resumes(self) -> bool:
        """The next message begins at the next separator."""
        return True

    def unclosed(self, data: bytes) -> None:
        """A message has no quotes that count."""

    def _begins(self, data: bytes) -> NDArray[np.int64]:
        """Give where messages begin, but for one at the very start."""
        lines = (found.start() + 1 for found in SEPARATOR.finditer(data))
        after_blank = [
            begin for begin in lines if data[max(begin - 3, 0) : begin].endswith(BLANK_LINES)
        ]
        return np.array(after_blank, np.int64)


def check_begin(shard: Shard, head: bytes) -> None:
    """Refuse a file that is no mailbox; an empty one is one without messages."""
    if head and not head.startswith(FROM):
        raise broken(shard.name, "mbox", 'it does not begin with a line "From "')


def choose_fields(shard: Shard, options: ReadOptions) -> Choice:
    """Choose the text, and the id where one is named: no field is taken for it by itself."""
    if options.vector is not None:
        raise no_vectors(shard.name)

    def find(name: str) -> Path | None:
        return (name.lower(),) if name.lower() in FIELDS else None

    try:
        (text, *more), id_path = choose(FIELDS, options, find)
    except SourceError as error:
        raise SourceError(f"{shard.name}: {error.raw}") from None
    columns = {name: find(name) or (name,) for name in options.columns or ()}
    return Choice(text, id_path, "text", columns, more=tuple(more))


def parse_messages(
    shard: Shard, number: int, block: Block, choice: Choice, options: ReadOptions
) -> Piece:
    """Read the documents of a block of messages."""
    rows = Rows(choice, options.columns is None)
    unread: list[Unread] = []
    begin = 0
    for place, end in enumerate(Messages().ends(block.data).tolist(), block.first):
        where = f"{shard.name}:{place}"
        try:
            fields = _fields(block.data[begin:end], where, options.bounds)
            if choice.id is not None and not fields[choice.id[0]]:
                raise SourceError(f"{where}: the id in {quoted(choice.id[0])} is empty")
            rows.add(fields, place, where, shard.label)
        except SourceError as error:
            if not options.skip_bad:
                raise
            unread.append(Unread(shard.name, error.raw))
        begin = end
    return from_rows(rows, number, unread)


def _fields(data: bytes, where: str, bounds: Bounds) -> dict[str, str]:
    from lookalike.read.mail import message_fields

    message = data.partition(b"\n")[2]
    try:
        return message_fields(QUOTED.sub(rb"\1", message), where, bounds)
    except SourceError:
        raise
    except Exception as error:  # a broken message breaks its reader in any way
        reason = one_line(error)[:200]
        raise SourceError(
            f"{where} is a message that cannot be read ({reason}): fix or remove it"
        ) from None
