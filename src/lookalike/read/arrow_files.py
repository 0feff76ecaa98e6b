"""Arrow's own formats, files (Feather among them) and streams: batches, each read by itself."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.read import streams
from lookalike.read.arrow_messages import (
    DICTIONARY,
    MARK,
    ROWS,
    Message,
    buffers_of,
    file_messages,
    stream_messages,
    unpacked_sizes,
)
from lookalike.read.column_batches import check_names, chosen_paths, slices
from lookalike.read.files import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lookalike.read.fields import Choice
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds, Stream

__all__ = ["ArrowTable"]

OLD_FEATHER = b"FEA1"
ERRORS = (OSError, ValueError, IndexError, struct.error, pa.ArrowException)
"""What a broken file may raise."""


def _damaged(shard: Shard, error: Exception) -> SourceError:
    return SourceError(
        f"{shard.name} is not a whole Arrow file or stream: {one_line(error)}; make the file again"
    )


class ArrowTable:
    """The batches of a file or a stream."""

    def __init__(self, shard: Shard, bounds: Bounds | None) -> None:
        """Find the batches; none is read yet. Without bounds, one may take any memory."""
        self.shard = shard
        self._bounds = bounds
        with streams.opened(shard) as stream:
            file = stream.native_file
            try:
                begin = file.read_at(min(len(MARK), shard.size), 0)
                self.is_stream = begin != MARK
                if begin.startswith(OLD_FEATHER):
                    raise SourceError(
                        f"{shard.name} is a Feather file of version 1, which is no longer read: "
                        "write it again with version 2"
                    )
                self._read_messages(file)
                if bounds is not None:
                    self._check_dictionaries(file, bounds)
            except ERRORS as error:
                raise _damaged(shard, error) from None
            stream.check()
        self.rows = sum(batch.rows for batch in self.batches)

    def _read_messages(self, file: Any) -> None:
        listed = stream_messages if self.is_stream else file_messages
        found = list(listed(file, self.shard.size))
        opened = pa.ipc.open_stream if self.is_stream else pa.ipc.open_file
        file.seek(0)
        self.schema: pa.Schema = opened(file).schema
        check_names(self.schema)
        self.batches = [message for message in found if message.kind == ROWS]
        self._dictionaries = [message for message in found if message.kind == DICTIONARY]
        self._schema_length = found[0].length if found and self.is_stream else 0

    def _check_dictionaries(self, file: Any, bounds: Bounds) -> None:
        """Refuse dictionaries that would not fit: all are held to read a batch."""
        sizes = [
            one.length if one.codec is None else sum(unpacked_sizes(file, one))
            for one in self._dictionaries
        ]
        if sum(sizes) > bounds.part:
            raise bounds.too_much(
                f"{self.shard.name} has {size(sum(sizes))} of dictionaries", bounds.part
            )

    @property
    def codec(self) -> str | None:
        """By what batches are packed."""
        return next((batch.codec for batch in self.batches if batch.codec), None)

    def groups(self, first: int) -> Iterator[tuple[int, int, int]]:
        """Give each batch from one on, the rows before it, and its own."""
        start = sum(batch.rows for batch in self.batches[:first])
        for group in range(first, len(self.batches)):
            yield group, start, self.batches[group].rows
            start += self.batches[group].rows

    def stretches(
        self, choice: Choice, group: int, start: int, before: int, at_once: int
    ) -> Iterator[tuple[int, Any]]:
        """Give the columns of each stretch of a batch, and the rows of the file before it."""
        names = sorted({path[0] for path in chosen_paths(choice, self.schema)})
        with streams.opened(self.shard) as stream:
            batch = self.read(stream, group, names)
            for at, rows in slices(batch, start, before, at_once):
                yield at, self._checked(rows)
            stream.check()

    def read(self, stream: Stream, group: int, names: Sequence[str] | None = None) -> Any:
        """Read some columns of a batch, or all."""
        places = range(len(self.schema.names))
        chosen = [place for place in places if names is None or self.schema.names[place] in names]
        message = self.batches[group]
        try:
            file = stream.native_file
            if self._bounds is not None and not self._fits(file, group, chosen, self._bounds):
                file = pa.memory_map(self.shard.path)  # of which the system holds what is in use
            if self.is_stream:
                batch = self._of_stream(file, message, chosen)
            else:
                options = pa.ipc.IpcReadOptions(included_fields=chosen, use_threads=False)
                batch = pa.ipc.open_file(file, options=options).get_batch(group)
            batch.validate()
            if len(batch) != message.rows:
                raise ValueError("a batch has other rows than it says")
        except ERRORS as error:
            raise _damaged(self.shard, error) from None
        if names is None:
            return self._checked(batch)
        return _in_order(batch, [self.schema.names[place] for place in chosen])

    def _fits(self, file: Any, group: int, chosen: Sequence[int], bounds: Bounds) -> bool:
        """Tell whether a batch may be held; refuse one that can be read in no other way."""
        message = self.batches[group]
        if message.length <= bounds.part and message.codec is None:
            return True
        weight = self._weight(file, message, chosen)
        if weight > bounds.part and (message.codec or self.shard.system is not None):
            raise bounds.too_much(
                f"batch {group + 1:,} of {self.shard.name} holds {size(weight)} at once, where it "
                "could be written in smaller batches",
                bounds.part,
            )
        return weight <= bounds.part

    def _weight(self, file: Any, message: Message, chosen: Sequence[int]) -> int:
        """Give the bytes that a batch takes in memory: of the chosen columns, where they tell."""
        packed = message.codec is not None
        sizes = unpacked_sizes(file, message)
        if min(sizes, default=0) < 0:
            raise ValueError("a buffer is shorter than nothing")
        of_columns = [buffers_of(field.type) for field in self.schema]
        if None in of_columns or (self.is_stream and not packed):
            return sum(sizes)
        ends = [0]
        for many in of_columns:
            ends.append(ends[-1] + (many or 0))
        return sum(sum(sizes[ends[place] : ends[place + 1]]) for place in chosen)

    def _of_stream(self, file: Any, message: Message, chosen: Sequence[int]) -> Any:
        """Read a batch of a stream as if it were the only one."""
        rows = _buffer(file, message.offset, message.length)
        if not self._dictionaries and message.codec is None:
            return pa.ipc.read_record_batch(pa.ipc.read_message(rows), self.schema)
        # A dictionary may be replaced by a later one: those before the batch count.
        before = [one for one in self._dictionaries if one.offset < message.offset]
        parts = [file.read_at(self._schema_length, 0)]
        parts += [file.read_at(one.length, one.offset) for one in before]
        whole = pa.BufferReader(b"".join([*parts, rows]))
        options = pa.ipc.IpcReadOptions(included_fields=list(chosen), use_threads=False)
        return pa.ipc.open_stream(whole, options=options).read_next_batch()

    def _checked(self, rows: Any) -> Any:
        """Refuse columns that point to where nothing is: Arrow would follow them."""
        try:
            rows.validate(full=True)
        except pa.ArrowInvalid:
            # Text that is not UTF-8 is wrong in its rows only, and is told there.
            for column in rows.columns:
                _check_places(column, self.shard)
        return rows


def _buffer(file: Any, offset: int, length: int) -> Any:
    file.seek(offset)
    return file.read_buffer(length)


def _in_order(batch: Any, names: Sequence[str]) -> Any:
    """Give the columns as the schema has them: Arrow does, with or without the others."""
    if batch.schema.names == list(names):
        return batch
    return batch.select([name for name in batch.schema.names if name in names])


def _check_places(column: pa.Array, shard: Shard) -> None:
    as_bytes = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    try:
        kind = as_bytes.get(column.type)
        (column if kind is None else column.view(kind)).validate(full=True)
    except pa.ArrowInvalid as error:
        raise _damaged(shard, error) from None
