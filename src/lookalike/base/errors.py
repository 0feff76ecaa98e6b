"""Every way in which Lookalike fails on purpose.

    LookalikeError
    ├── SettingsError           a setting that cannot be: what it is, what it may be
    │   └── QuadraticError      a banding that would compare nearly every pair
    ├── SourceError             a source that cannot be read: which, and where in it
    │   ├── BinaryFileError     a file that is named like a text and is none
    │   ├── DamagedError        an index that holds what was never put into it
    │   ├── EncodingError       a file that is in no encoding that is known
    │   ├── InvalidTextError    a document that is no Unicode text
    │   ├── InvalidVectorError  a vector without a direction, or of another length
    │   ├── MissingExtraError   a kind of file that a library is missing for: which extra has it
    │   ├── NoTextError         a document of pages without text, as scans are
    │   └── UnreadableError     it may be read another time: a device or a network fails
    ├── OutputError             a result that cannot be written or would not fit
    ├── SparkError              Spark cannot run the job: no Java, no master, workers that differ
    └── MemoryLimitError        a limit of this process that leaves too little memory to begin

The message of each says what is wrong, where, and what to do, in one line; settings are named in it
by `lookalike.base.wording.setting`.
"""

from collections.abc import Sequence
from typing import Any

from lookalike.base.wording import Message, on_command_line

__all__ = [
    "BinaryFileError",
    "DamagedError",
    "EncodingError",
    "InvalidTextError",
    "InvalidVectorError",
    "LookalikeError",
    "MemoryLimitError",
    "MissingExtraError",
    "NoTextError",
    "OutputError",
    "QuadraticError",
    "SettingsError",
    "SourceError",
    "SparkError",
    "UnreadableError",
]


class LookalikeError(Exception):
    """The base of all errors that Lookalike raises on purpose."""

    result: Any = None
    """What was found, where only the page on it could not be written."""

    def __init__(self, message: str = "") -> None:
        """Keep the message, whose settings are spelled as in Python."""
        super().__init__(Message(message))

    @property
    def raw(self) -> str:
        """The message as other messages quote it, its settings not spelled yet."""
        message: Message = self.args[0]
        return message.raw

    def add(self, more: str) -> None:
        """Say more on the same line."""
        self.args = (Message(f"{self.raw}{more}"),)

    def for_command_line(self) -> str:
        """Give the message with the settings spelled as options."""
        return on_command_line(self.raw)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the message, not what it was made of, which each kind has its own of."""
        return _again, (type(self), self.args), vars(self)


def _again(kind: type[LookalikeError], arguments: tuple[Message]) -> LookalikeError:
    return Exception.__new__(kind, *arguments)


class SettingsError(LookalikeError, ValueError):
    """A setting, or two together, that cannot be."""


class QuadraticError(SettingsError):
    """A banding or cascade that would compare nearly every pair of this corpus."""


class SourceError(LookalikeError):
    """Documents that cannot be read."""


class BinaryFileError(SourceError):
    """A file that is named like a text and is none."""


class DamagedError(SourceError):
    """An index that holds what was never put into it."""


class EncodingError(SourceError):
    """A file of text in no encoding that is known."""


class InvalidTextError(SourceError):
    """A document that holds bytes or code points which are no Unicode text."""

    def __init__(self, row: int, offset: int) -> None:
        """Keep the row of the document and the place in it."""
        super().__init__(
            f"document {row + 1} is not valid Unicode text at offset {offset}: "
            "it holds a lone surrogate or bytes that are not UTF-8; fix or remove it"
        )
        self.row = row
        self.offset = offset
        self.wrong = [(row, f"is not valid UTF-8 at byte {offset + 1}")]


class InvalidVectorError(SourceError):
    """Vectors that have no direction, or another length than the others."""

    def __init__(self, wrong: Sequence[tuple[int, str]]) -> None:
        """Keep the rows of the vectors, in order, and what is wrong with each."""
        row, reason = wrong[0]
        super().__init__(f"vector {row + 1} {reason}: fix or remove it")
        self.wrong = wrong


class MissingExtraError(SourceError):
    """A kind of file for which an optional library is missing."""

    def __init__(self, what: str, extra: str) -> None:
        """Say what needs the extra, and how it is installed."""
        super().__init__(f"{what} need another library: pip install 'lookalike[{extra}]'")
        self.extra = extra


class NoTextError(SourceError):
    """A document whose pages hold no text, as those that were scanned."""


class UnreadableError(SourceError):
    """Documents that cannot be read now, though nothing is wrong with them."""


class OutputError(LookalikeError):
    """Results that cannot be written, or that would not fit in memory."""


class SparkError(LookalikeError):
    """Spark, or a part of it, that cannot run the job."""


class MemoryLimitError(LookalikeError, MemoryError):
    """A limit of this process under which compiled code could not be loaded or run."""
