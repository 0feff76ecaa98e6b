"""Blocks of 64 bytes: each bit, each load and each write is what plain Python says of the bytes."""

import unicodedata
from random import Random

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels import blocks
from lookalike.kernels.jit import INTERPRETED
from lookalike.text import unicode

pytestmark = pytest.mark.kernels

EDGES = (
    *(0x00, 0x08, 0x09, 0x0D, 0x0E, 0x1F, 0x20, 0x21, 0x2F, 0x30, 0x39, 0x3A, 0x40, 0x41, 0x5A),
    *(0x5B, 0x60, 0x61, 0x7A, 0x7B, 0x7F, 0x80, 0x81, 0x9F, 0xA0, 0xA1, 0xAF, 0xB0, 0xBF, 0xC0),
    *(0xC1, 0xC2, 0xC3, 0xD0, 0xD1, 0xDF, 0xE0, 0xE2, 0xE3, 0xE4, 0xE9, 0xEA, 0xEC, 0xED, 0xEE),
    *(0xEF, 0xF0, 0xF4, 0xF5, 0xFE, 0xFF),
)
some_bytes = st.one_of(st.integers(0, 255), st.sampled_from(EDGES))
buffers = st.lists(some_bytes, min_size=66, max_size=200).map(bytes)

MEMBERS = {
    "word_bits": lambda byte: chr(byte).isalnum() and byte < 0x80,
    "high_bits": lambda byte: byte > 127,
    "blank_bits": lambda byte: chr(byte) in "\t\n\v\f\r ",
    "lead_bits": lambda byte: byte >> 6 == 0b11,
    "long_bits": lambda byte: byte >> 5 == 0b111,
    "longest_bits": lambda byte: byte >> 4 == 0b1111,
}
READS = {"quiet_pair_bits": 2, "quiet_triple_bits": 3}


def compiled(name: str):
    bits = getattr(blocks, name)

    @numba.njit
    def call(data, at):
        return bits(data, at)

    return call


BITS = {name: compiled(name) for name in (*MEMBERS, *READS)}


@numba.njit
def word_at(data, at):
    return blocks.eight_bytes(data, at)


@numba.njit
def write_at(data, at, out, to, case):
    blocks.write_plain(data, at, out, to, case)


def bits_at(name: str, data: bytes, at: int) -> int:
    return int(BITS[name](np.frombuffer(data, np.uint8), np.uint64(at)))


def plain(byte: int, *, cased: bool) -> int:
    if chr(byte) in "\t\n\v\f\r":
        return ord(" ")
    return byte if cased or byte > 127 else ord(chr(byte).lower())


def never_changes(character: str) -> bool:
    """Ask Python, and the table for what has a part in compositions."""
    record = unicode.code_points()[ord(character)]
    return (
        character.lower() == character
        and not character.isspace()
        and not unicodedata.combining(character)
        and unicodedata.is_normalized("NFC", character)
        and not record & (unicode.COMPLEX | unicode.MARK | unicode.SPACE)
        and record & unicode.LOWER == ord(character)
    )


class TestBits:
    @pytest.mark.long
    @pytest.mark.parametrize("name", MEMBERS)
    @given(buffers)
    def test_every_bit_is_that_of_its_byte_wherever_a_block_begins(self, name, data):
        for at in range(0, len(data) - 63, 5):
            expected = sum(MEMBERS[name](byte) << i for i, byte in enumerate(data[at : at + 64]))
            assert bits_at(name, data, at) == expected

    @pytest.mark.parametrize("name", MEMBERS)
    def test_every_byte_is_told_in_every_place_of_a_block(self, name):
        data = bytes(range(256)) + bytes(64)
        for at in range(256):
            expected = sum(MEMBERS[name](byte) << i for i, byte in enumerate(data[at : at + 64]))
            assert bits_at(name, data, at) == expected

    @pytest.mark.parametrize("name", READS)
    @given(buffers)
    def test_what_is_quiet_depends_on_a_character_alone_and_not_on_its_place(self, name, data):
        size = READS[name]
        for at in (0, len(data) - 63 - size):
            bits = bits_at(name, data, at)
            for i in range(0, 64, 9 if INTERPRETED else 1):
                alone = data[at + i : at + i + size].ljust(66, b"\0")
                assert bits >> i & 1 == bits_at(name, alone, 0) & 1

    @pytest.mark.parametrize(
        ("name", "first", "last"),
        [("quiet_pair_bits", 0x80, 0x7FF), ("quiet_triple_bits", 0x800, 0xFFFF)],
    )
    def test_no_quiet_character_ever_changes(self, name, first, last):
        step = 11 if INTERPRETED else 1
        points = [p for p in range(first, last + 1, step) if not 0xD800 <= p < 0xE000]
        quiet = {p for p in points if bits_at(name, chr(p).encode().ljust(66, b"\0"), 0) & 1}
        assert [hex(p) for p in sorted(quiet) if not never_changes(chr(p))] == []
        assert len(quiet) > 100 // step

    def test_common_text_is_quiet(self):
        for name, text in (
            ("quiet_pair_bits", "àéîõüÿß£°µ«»абвгдежзийклмнопрстуфхцчшщъыьэюяёї"),
            ("quiet_triple_bits", "“quoted”—‘so’…、。「」，！？中文字あいうんアカンー가각힣"),
        ):
            for character in text:
                encoded = character.encode()
                if len(encoded) == READS[name] and character != "ß":
                    assert bits_at(name, encoded.ljust(66, b"\0"), 0) & 1, character

    def test_a_surrogate_is_not_quiet(self):
        for second in range(0xA0, 0xC0):
            data = bytes([0xED, second, 0x80]).ljust(66, b"\0")
            assert bits_at("quiet_triple_bits", data, 0) & 1 == 0


class TestLoadsAndWrites:
    @given(st.binary(min_size=8, max_size=40))
    def test_eight_bytes_are_a_little_endian_word_at_every_place(self, data):
        array = np.frombuffer(data, np.uint8)
        for at in range(len(data) - 7):
            found = int(word_at(array, np.uint64(at)))
            assert found == int.from_bytes(data[at : at + 8], "little")

    @pytest.mark.parametrize("cased", [False, True])
    @given(buffers, st.integers(0, 70), st.data())
    def test_64_bytes_are_written_plain_and_none_around_them(self, cased, data, to, draw):
        at = draw.draw(st.integers(0, len(data) - 64))
        before = bytes(Random(at).randbytes(140))
        out = np.frombuffer(before, np.uint8).copy()
        case = np.uint8(0 if cased else 0x20)
        write_at(np.frombuffer(data, np.uint8), np.uint64(at), out, np.uint64(to), case)
        written = bytes(plain(byte, cased=cased) for byte in data[at : at + 64])
        assert out.tobytes() == before[:to] + written + before[to + 64 :]

    @pytest.mark.parametrize("cased", [False, True])
    def test_every_byte_is_written_plain(self, cased):
        data = bytes(range(256))
        out = np.empty(256, np.uint8)
        for at in range(0, 256, 64):
            place = np.uint64(at)
            case = np.uint8(0 if cased else 0x20)
            write_at(np.frombuffer(data, np.uint8), place, out, place, case)
        assert out.tobytes() == bytes(plain(byte, cased=cased) for byte in data)


@pytest.mark.skipif(INTERPRETED, reason="types are checked when kernels are compiled")
class TestTypes:
    @pytest.mark.parametrize("name", BITS)
    def test_only_contiguous_bytes_at_unsigned_places_are_read(self, name):
        data = np.zeros(200, np.uint8)
        for array, at in (
            (data[::2], np.uint64(0)),
            (data.astype(np.int8), np.uint64(0)),
            (data, np.int64(0)),
        ):
            with pytest.raises(numba.TypingError, match="contiguous bytes, at a uint64"):
                BITS[name](array, at)

    def test_what_is_added_to_capitals_is_a_byte(self):
        data, zero = np.zeros(64, np.uint8), np.uint64(0)
        with pytest.raises(numba.TypingError, match="added to capitals is a uint8"):
            write_at(data, zero, data, zero, np.int64(0x20))
