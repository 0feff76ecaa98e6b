"""Text to canonical text: what two documents must share to count as the same.

By default Unicode NFC, lower case, every run of white space one blank, and none at the ends.
Canonical documents stand one after the other in one buffer of UTF-8, as in Arrow's own columns.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.errors import InvalidTextError, SettingsError, SourceError
from lookalike.base.wording import setting
from lookalike.kernels import normalise as kernels
from lookalike.text import unicode

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = [
    "Canonical",
    "Normalisation",
    "canonical_text",
    "fingerprints_of",
    "normalisation_arguments",
    "normalise",
    "normalise_text",
]

_ACCENTS = (
    *range(0x0300, 0x0370),
    *range(0x1AB0, 0x1B00),
    *range(0x1DC0, 0x1E00),
    *range(0x20D0, 0x2100),
    *range(0xFE20, 0xFE30),
)
# The marks of Indic scripts, Hebrew, Arabic and kana are not here: there they carry the sound.
_WITHOUT_ACCENTS = dict.fromkeys(_ACCENTS)


@dataclass(frozen=True)
class Normalisation:
    """What is made equal before documents are compared.

    Stripped punctuation (symbols too) and digits count as a blank.
    """

    keep_case: bool = False
    strip_accents: bool = False
    strip_punctuation: bool = False
    strip_digits: bool = False
    raw: bool = False
    """The text as it is; the other options then do nothing and must be off."""

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        others = self.keep_case, self.strip_accents, self.strip_punctuation, self.strip_digits
        if self.raw and any(others):
            raise SettingsError(
                f"{setting('normalise', 'none')} leaves the text as it is and takes no other option"
            )

    @classmethod
    def parse(cls, spec: str) -> Normalisation:
        """Read `default`, `none`, or a list such as `keep-case,strip-accents,strip-digits`."""
        fields = {
            "keep-case": "keep_case",
            "strip-accents": "strip_accents",
            "strip-digits": "strip_digits",
            "strip-punctuation": "strip_punctuation",
            "none": "raw",
        }
        names = [name for name in spec.replace(" ", "").split(",") if name not in ("", "default")]
        for name in names:
            if name not in fields:
                raise SettingsError(
                    f"{setting('normalise', name)} is unknown: use default, none, or some of "
                    f"{', '.join(sorted(set(fields) - {'none'}))}, with commas between"
                )
        return cls(**{fields[name]: True for name in names})

    def __str__(self) -> str:
        """Write the options as `parse` reads them."""
        if self.raw:
            return "none"
        names = ("keep_case", "strip_accents", "strip_punctuation", "strip_digits")
        chosen = [name.replace("_", "-") for name in names if getattr(self, name)]
        return ",".join(chosen) or "default"


@dataclass(frozen=True)
class Canonical:
    """Canonical documents, as UTF-8 one after the other, with the fingerprint of each."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    fingerprints: NDArray[np.uint64]
    characters: NDArray[np.int64] | None = None
    """Of each text as it was given, where `normalise` counted them."""

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.offsets) - 1

    def text(self, row: int) -> str:
        """Give one document's canonical text."""
        return bytes(self.data[self.offsets[row] : self.offsets[row + 1]]).decode()

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the bytes of some documents."""
        return self.offsets[rows + 1] - self.offsets[rows]

    def chosen(self, rows: NDArray[np.int64], most: int | None = None) -> Canonical:
        """Give some of the documents, in the given order, or at most so many bytes of each."""
        starts, lengths = self.offsets[rows], self.lengths(rows)
        if most is not None:
            lengths = np.minimum(lengths, most)
        offsets = np.append(0, np.cumsum(lengths))
        data = np.empty(int(offsets[-1]), np.uint8)
        kernels.gather(self.data, starts, offsets, data)
        return Canonical(data, offsets, self.fingerprints[rows])

    def part(self, rows: NDArray[np.int64]) -> tuple[Canonical, NDArray[np.int64]]:
        """Give documents among which the wanted ones are, and their rows there."""
        return self, rows

    @classmethod
    def joined(cls, parts: list[Canonical]) -> Canonical:
        """Put several one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = [np.diff(part.offsets) for part in parts]
        return cls(
            np.concatenate([np.empty(0, np.uint8), *(part.data for part in parts)]),
            np.concatenate([np.zeros(1, np.int64), *lengths]).cumsum(),
            np.concatenate([np.empty((0, 2), np.uint64), *(p.fingerprints for p in parts)]),
        )


def fingerprints_of(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Give the fingerprints of canonical documents, two words each."""
    fingerprints = np.empty((len(offsets) - 1, 2), np.uint64)
    kernels.fingerprints(data, offsets, fingerprints)
    return fingerprints


def normalise(texts: pa.Array, options: Normalisation | None = None) -> Canonical:
    """Make the documents of an Arrow array of strings canonical; a null is an empty document.

    Raises SourceError for the first document that is not valid UTF-8; its `row` says which.
    """
    return _canonical(*_buffers(texts), options or Normalisation())


def normalise_text(text: str, options: Normalisation | None = None) -> Canonical:
    """Make one text canonical, as `normalise` does the one document of an array."""
    try:
        data = np.frombuffer(text.encode(), np.uint8)
    except UnicodeEncodeError as error:
        raise InvalidTextError(0, error.start) from None
    return _canonical(data, np.array([0, len(data)], np.int64), options or Normalisation())


def _canonical(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], options: Normalisation
) -> Canonical:
    result = _normalised(data, offsets, options)
    canonical, canonical_offsets = result.data, result.offsets
    if (by_hand := np.flatnonzero(result.kinds > kernels.SIMPLE)).size:
        decoded = _decoded(data, offsets, by_hand)
        result.characters[by_hand] = [len(text) for text in decoded]
        composed = [_composed(text, options).encode() for text in decoded]
        canonical, canonical_offsets = _filled(result, by_hand, composed, options)
    if options.raw:
        # A copy, so that kernels see one kind of array and are compiled once.
        canonical, canonical_offsets = data.copy(), offsets
    fingerprints = fingerprints_of(canonical, canonical_offsets)
    return Canonical(canonical, canonical_offsets, fingerprints, result.characters)


def canonical_text(text: str, options: Normalisation | None = None) -> str:
    """Give the canonical form of one text."""
    return normalise_text(text, options).text(0)


def _buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the bytes of an Arrow string array, without a copy, and its offsets as int64."""
    import pyarrow as pa

    if texts.type in (pa.string_view(), pa.null()) or pa.types.is_dictionary(texts.type):
        texts = texts.cast(pa.large_string())
    if texts.type not in (pa.string(), pa.large_string()):
        raise SourceError(f"a column of {texts.type} holds no text: give one of strings")
    if texts.null_count:
        texts = texts.fill_null("")
    width = np.int32 if texts.type == pa.string() else np.int64
    _, offset_buffer, data_buffer = texts.buffers()
    if not len(texts) or data_buffer is None:
        return np.frombuffer(b"", np.uint8), np.zeros(len(texts) + 1, np.int64)
    offsets = np.frombuffer(offset_buffer, width)[texts.offset : texts.offset + len(texts) + 1]
    # A slice shares the buffer of the whole column; only its own part may be copied later.
    data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    data.setflags(write=False)
    return data, offsets.astype(np.int64) - offsets[0]


class _Normalised(NamedTuple):
    """What the kernel makes of documents; complex and invalid ones are left empty."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    characters: NDArray[np.int64]


@lru_cache(maxsize=16)
def _ascii(blanks: int, *, cased: bool) -> NDArray[np.uint8]:
    """Give what becomes of each character of ASCII."""
    table = unicode.code_points()[:128]
    points = np.arange(128, dtype=np.uint8)
    lower = points if cased else (table & unicode.LOWER).astype(np.uint8)
    found: NDArray[np.uint8] = np.where(table & blanks, kernels.BLANK, lower)
    return found


def normalisation_arguments(
    options: Normalisation, *, composed: bool = False
) -> tuple[
    NDArray[np.uint32], NDArray[np.uint8], NDArray[np.uint8], np.uint32, np.uint32, bool, bool
]:
    """Give the kernels what they need to know of a normalisation, of texts that may be composed."""
    blanks = unicode.SPACE
    blanks |= unicode.PUNCTUATION if options.strip_punctuation else 0
    blanks |= unicode.NUMBER if options.strip_digits else 0
    trusted = composed or options.raw
    cased = trusted or options.keep_case
    return (
        unicode.code_points(),
        unicode.combining_classes(),
        _ascii(blanks, cased=cased),
        np.uint32(blanks),
        np.uint32(0 if trusted else unicode.COMPLEX | unicode.MARK),
        cased,
        options.strip_accents and not composed,
    )


def _normalised(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    options: Normalisation,
    *,
    composed: bool = False,
) -> _Normalised:
    result = _Normalised(
        np.empty(len(data) + kernels.PADDING_BYTES, np.uint8),
        np.zeros(len(offsets), np.int64),
        np.empty(len(offsets) - 1, np.uint8),
        np.empty(len(offsets) - 1, np.int64),
    )
    kernels.canonical(
        *(data, offsets),
        *normalisation_arguments(options, composed=composed),
        *result,
    )
    return result._replace(data=result.data[: result.offsets[-1]])


def _decoded(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> list[str]:
    texts = []
    for row in rows.tolist():
        try:
            texts.append(data[offsets[row] : offsets[row + 1]].tobytes().decode())
        except UnicodeDecodeError as error:
            raise InvalidTextError(row, error.start) from None
    return texts


def _composed(text: str, options: Normalisation) -> str:
    """Compose and lower-case a text by Python, where no table can do it."""
    text = unicodedata.normalize("NFC", text)
    if options.strip_accents:
        unaccented = unicodedata.normalize("NFD", text).translate(_WITHOUT_ACCENTS)
        text = unicodedata.normalize("NFC", unaccented)
    if not options.keep_case:
        # Lower case can open a composition that capitals do not have: J with a caron.
        text = unicodedata.normalize("NFC", text.lower())
    return text


def _filled(
    result: _Normalised, rows: NDArray[np.int64], composed: list[bytes], options: Normalisation
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Put composed documents in the places that were left empty."""
    bounds = np.cumsum([0, *map(len, composed)], dtype=np.int64)
    late = _normalised(np.frombuffer(b"".join(composed), np.uint8), bounds, options, composed=True)
    lengths = np.diff(result.offsets)
    lengths[rows] = np.diff(late.offsets)
    before = np.split(result.data, result.offsets[rows])
    fillings = np.split(late.data, late.offsets[1:])
    pieces = [piece for both in zip(before, fillings, strict=True) for piece in both]
    return np.concatenate(pieces), np.append(0, np.cumsum(lengths))
