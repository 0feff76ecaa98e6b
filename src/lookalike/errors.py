"""Every way in which Lookalike fails on purpose.

    LookalikeError
    ├── SettingsError      a setting that cannot be: what it is, what it may be
    │   └── QuadraticError a banding that would compare nearly every pair
    ├── SourceError        a source that cannot be read: which, and where in it
    │   ├── UnreadableError    it may be read another time: a device or a network fails
    │   └── InvalidTextError   (in `normalise`) a document that is no Unicode text
    ├── OutputError        a result that cannot be written or would not fit
    └── MemoryLimitError   a limit of this process that leaves too little memory to begin

The message of each says what is wrong, where, and what to do, in one line.
"""

__all__ = [
    "LookalikeError",
    "MemoryLimitError",
    "OutputError",
    "QuadraticError",
    "SettingsError",
    "SourceError",
    "UnreadableError",
]


class LookalikeError(Exception):
    """The base of all errors that Lookalike raises on purpose."""


class SettingsError(LookalikeError, ValueError):
    """A setting, or two together, that cannot be."""


class QuadraticError(SettingsError):
    """A banding or cascade that would compare nearly every pair of this corpus."""


class SourceError(LookalikeError):
    """Documents that cannot be read."""


class UnreadableError(SourceError):
    """Documents that cannot be read now, though nothing is wrong with them."""


class OutputError(LookalikeError):
    """Results that cannot be written, or that would not fit in memory."""


class MemoryLimitError(LookalikeError, MemoryError):
    """A limit of this process under which compiled code could not be loaded or run."""
