"""Text by blocks of 64 bytes: one bit a byte, by the machine's vectors; and loads of 8 bytes.

Most rules are told once, for vectors of the machine and for arrays. None of these looks whether the
bytes are there: the caller does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.kernels.jit import instruction

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BLOCK_BYTES",
    "are_blank",
    "are_leads",
    "are_long_leads",
    "are_longest_leads",
    "are_quiet_pairs",
    "are_quiet_triples",
    "blank_bits",
    "eight_bytes",
    "high_bits",
    "lead_bits",
    "long_bits",
    "longest_bits",
    "quiet_pair_bits",
    "quiet_triple_bits",
    "within",
    "word_bits",
    "write_plain",
]

BLOCK_BYTES = 64


def within(block: Any, first: int, last: int) -> Any:
    """Tell the bytes from the first to the last; beyond 255 they begin again at 0."""
    return block - first < (last - first) % 256 + 1


def _is(block: Any, byte: int) -> Any:
    return within(block, byte, byte)


def are_blank(block: Any) -> Any:
    """Tell the white space of ASCII."""
    return within(block, 0x09, 0x0D) | _is(block, 0x20)


def are_leads(block: Any) -> Any:
    """Tell the bytes that begin a character of two bytes or more."""
    return block >= 0xC0


def are_long_leads(block: Any) -> Any:
    """Tell the bytes that begin a character of three bytes or more."""
    return block >= 0xE0


def are_longest_leads(block: Any) -> Any:
    """Tell the bytes that begin a character of four bytes."""
    return block >= 0xF0


def are_quiet_pairs(lead: Any, second: Any) -> Any:
    """Tell where two bytes are a character that never changes: see `quiet_pair_bits`."""
    return (
        (_is(lead, 0xC2) & (second >= 0xA1))
        | (_is(lead, 0xC3) & (second >= 0xA0))
        | (_is(lead, 0xD0) & (second >= 0xB0))
        | (_is(lead, 0xD1) & (second < 0xA0))
    )


def are_quiet_triples(lead: Any, second: Any, third: Any) -> Any:
    """Tell where three bytes are a character that never changes: see `quiet_triple_bits`."""
    kana_or_sign = (
        (_is(second, 0x80) & within(third, 0x81, 0xA9))
        | _is(second, 0x81)
        | (_is(second, 0x82) & within(third, 0x9B, 0x98))
        | (second >= 0x83)
    )
    return (
        (_is(lead, 0xE2) & _is(second, 0x80) & within(third, 0x8B, 0xA7))
        | (_is(lead, 0xE3) & kana_or_sign)
        | within(lead, 0xE4, 0xE9)
        | (_is(lead, 0xEA) & (second >= 0xB0))
        | within(lead, 0xEB, 0xEC)
        | (_is(lead, 0xED) & (second < 0xA0))
        | (_is(lead, 0xEF) & _is(second, 0xBC) & (third < 0xA1))
    )


def _bits(rule: Callable[..., Any], data: Any, at: Any, reads: int = 1) -> Any:
    starts = range(int(at), int(at) + reads)
    members = rule(*(data[start : start + BLOCK_BYTES] for start in starts))
    return np.uint64(int.from_bytes(np.packbits(members, bitorder="little"), "little"))


def _are_words(block: Any) -> Any:
    letters = (block | 0x20) - np.uint8(ord("a")) < 26
    return letters | (block - np.uint8(ord("0")) < 10)


@instruction
def word_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes, the first lowest: 1 for the letters and digits of ASCII."""
    return _bits(_are_words, data, at)


@instruction
def high_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 for those of 128 and more, which are not ASCII."""
    return _bits(lambda block: block >= 0x80, data, at)


@instruction
def blank_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 for the white space of ASCII."""
    return _bits(are_blank, data, at)


@instruction
def lead_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 where a character of two bytes or more begins."""
    return _bits(are_leads, data, at)


@instruction
def long_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 where a character of three bytes or more begins."""
    return _bits(are_long_leads, data, at)


@instruction
def longest_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 where a character of four bytes begins."""
    return _bits(are_longest_leads, data, at)


@instruction
def quiet_pair_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 where two begin a character that never changes.

    Such a one has no lower case, is no blank and no mark, and takes no part in compositions. These
    are the small letters and the signs of Latin-1 and of Russian; there are others that are not
    told. Reads 65 bytes, and is right where they are valid UTF-8.
    """
    return _bits(are_quiet_pairs, data, at, reads=2)


@instruction
def quiet_triple_bits(data: Any, at: Any) -> Any:
    """Give a bit for each of 64 bytes: 1 where three begin a character that never changes.

    These are ideographs, kana, Hangul, quotation marks, dashes, and the signs of Chinese; there are
    others that are not told. Reads 66 bytes, and is right where they are valid UTF-8.
    """
    return _bits(are_quiet_triples, data, at, reads=3)


@instruction
def eight_bytes(data: Any, at: Any) -> Any:
    """Read 8 bytes as a little-endian word."""
    return np.uint64(int.from_bytes(data[int(at) : int(at) + 8].tobytes(), "little"))


@instruction
def write_plain(data: Any, at: Any, out: Any, to: Any, case: Any) -> None:
    """Write 64 bytes, with the white space of ASCII as blanks and `case` added to capitals."""
    block = data[int(at) : int(at) + BLOCK_BYTES]
    capitals = within(block, ord("A"), ord("Z"))
    plain = np.where(within(block, 0x09, 0x0D), np.uint8(0x20), block + capitals * case)
    out[int(to) : int(to) + BLOCK_BYTES] = plain
