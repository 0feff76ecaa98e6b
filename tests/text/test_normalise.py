"""Canonical text: what the twin makes of any text, for any column, and no bytes but Unicode's."""

import unicodedata
from dataclasses import asdict
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
import twins
from lookalike.base.errors import InvalidTextError, LookalikeError, SettingsError, SourceError
from lookalike.kernels import normalise as kernels
from lookalike.kernels.jit import INTERPRETED
from lookalike.text import unicode
from lookalike.text.normalise import Canonical, Normalisation, canonical_text, normalise
from text_strategies import (
    EVERY_OPTION,
    NAMES,
    SUBTLE,
    all_texts,
    any_text,
    assigned,
    batches,
    documents,
    from_bytes,
)

pytestmark = pytest.mark.kernels

MEGABYTE = 2_000 if INTERPRETED else 1_000_000
options = st.sampled_from(EVERY_OPTION)

# With strip-accents and strip-punctuation, which leave every letter and the marks of its script.
SCRIPTS = {
    "Arabic": ("اَلْعَرَبِيَّةُ، لُغَةٌ", "اَلْعَرَبِيَّةُ لُغَةٌ"),
    "Bengali": ("বাংলা ভাষা। কো", "বাংলা ভাষা কো"),
    "Chinese": ("中文，没有空格。", "中文 没有空格"),
    "Cyrillic": ("Быстрая Лиса!", "быстрая лиса"),
    "Greek": ("Ὀδυσσεύς, ΟΔΟΣ", "οδυσσευς οδος"),
    "Hebrew": ("שָׁלוֹם, עוֹלָם!", "שָׁלוֹם עוֹלָם"),
    "Hindi": ("हिन्दी भाषा। क़लम", "हिन्दी भाषा क़लम"),
    "Japanese": ("がぎぐ、パピプ。日本語ー", "がぎぐ パピプ 日本語ー"),
    "Korean": ("한국어, 띄어쓰기.", "한국어 띄어쓰기"),
    "Tamil": ("தமிழ் மொழி!", "தமிழ் மொழி"),
    "Thai": ("ภาษาไทย ที่นี่", "ภาษาไทย ที่นี่"),
    "Tibetan": ("བོད་སྐད།", "བོད སྐད"),
}

INVALID = {
    "a stray continuation": b"\x80",
    "two bytes cut short": b"\xc3",
    "three bytes cut short": b"\xe2\x82",
    "four bytes cut short": b"\xf0\x9f\x98",
    "an overlong slash": b"\xc0\xaf",
    "an overlong letter": b"\xc1\x81",
    "three overlong bytes": b"\xe0\x9f\xbf",
    "four overlong bytes": b"\xf0\x8f\xbf\xbf",
    "a high surrogate": b"\xed\xa0\x80",
    "a low surrogate": b"\xed\xbf\xbf",
    "a pair of surrogates": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond the last code point": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "0xFE": b"\xfe",
    "0xFF": b"\xff",
}


def of_type(texts, kind: str) -> pa.Array:
    if kind == "dictionary":
        return pa.array(texts, pa.string()).dictionary_encode()
    return pa.array(texts, getattr(pa, kind)())


def assert_same(one: Canonical, other: Canonical) -> None:
    assert one.data.tobytes() == other.data.tobytes()
    assert np.array_equal(one.offsets, other.offsets)
    assert np.array_equal(one.fingerprints, other.fingerprints)


def decoded(data: bytes) -> tuple[bool, int]:
    """Ask Python's strict decoder whether bytes are UTF-8, and where they stop being it."""
    try:
        data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        return False, error.start
    return True, 0


class Made(NamedTuple):
    out: np.ndarray
    offsets: np.ndarray
    kinds: np.ndarray
    characters: np.ndarray


def in_kernel(
    rows: list[bytes], *, by_blocks=True, complex_flags=unicode.COMPLEX | unicode.MARK
) -> Made:
    """Call the kernel with the default options, on room that holds something else before."""
    table = unicode.code_points()
    data = np.frombuffer(b"".join(rows), np.uint8)
    made = Made(
        np.full(len(data) + kernels.PADDING_BYTES + 100, 0xAA, np.uint8),
        np.zeros(len(rows) + 1, np.int64),
        np.full(len(rows), 99, np.uint8),
        np.full(len(rows), -1, np.int64),
    )
    kernels.canonical(
        data,
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        table,
        unicode.combining_classes(),
        np.where(table[:128] & unicode.SPACE, 32, table[:128] & unicode.LOWER).astype(np.uint8),
        # With another flag than that of white space, which no code point has, blocks are not used.
        np.uint32(unicode.SPACE | (0 if by_blocks else 1 << 31)),
        np.uint32(complex_flags),
        False,
        False,
        *made,
    )
    return made


# Pieces of which some fill a block, some end one, and some reach over its border.
pieces = st.one_of(
    st.integers(1, 70).map(lambda size: "The quick  Fox\n"[: size % 15] + "x" * (size - size % 15)),
    st.integers(1, 130).map(lambda size: " " * size),
    st.text(" \t\n\v\f\r", max_size=5),
    st.text("\x00aA", max_size=9),
    st.text("абвгдЖЩЁ ", max_size=40),
    st.text("中文字、。，\u3000", max_size=30),
    st.text("éàÉ “”’—…\u00a0", max_size=6),
    st.text("\U0001f600\U00020000\U00010400", max_size=20),
    st.sampled_from([c for c in SUBTLE if assigned(c)]),
)
long_texts = st.lists(pieces, max_size=30).map("".join)

AROUND_BORDERS = [0, 1, 2, *range(28, 34), *range(58, 67), *range(123, 131)]
AROUND_BORDERS = AROUND_BORDERS[::6] if INTERPRETED else AROUND_BORDERS
AT_BORDERS = [
    *(" ", "  ", " \t\r\n ", " " * 64, " " * 129, "\n" + " " * 63, "\x00", "Q", "\x7f", "Zz "),
    *(
        "é",
        "É",
        "Éé",
        "я",
        "Я",
        "ЯЯ",
        "’",
        "—",
        "中",
        "한",
        "か",
        "が",
        "。",
        "，",
        "Ａ",
        "\U0001f600",
    ),
    *("\u00a0", " \u00a0", "\u3000 ", "\u2003\u2009", "\u0334", "\u0334\u0334", "\U00010400"),
    *("e\u0301", "Ⱥ", "ẞ", "Σ", "İ", "\u2126", "か\u3099", "\u1dfa\u0334", "é " * 40, "Я中" * 30),
]


class TestBlocks:
    @given(st.lists(long_texts, min_size=1, max_size=4), options)
    def test_long_texts_are_as_the_twin_says(self, texts, options):
        found = documents(texts, options)
        expected = [twins.canonical(text, **asdict(options)) for text in texts]
        assert all_texts(found) == expected
        prints = [tuple(row) for row in found.fingerprints.tolist()]
        assert prints == [twins.content_fingerprint(text) for text in expected]
        assert found.characters is not None
        assert found.characters.tolist() == [len(text) for text in texts]

    @given(st.lists(long_texts, min_size=1, max_size=5), st.data())
    def test_what_stands_around_a_slice_does_not_reach_it(self, texts, data):
        start = data.draw(st.integers(0, len(texts) - 1))
        size = data.draw(st.integers(1, len(texts) - start))
        part = normalise(of_type(texts, "string").slice(start, size))
        assert_same(part, documents(texts[start : start + size]))
        assert part.characters is not None
        assert part.characters.tolist() == [len(text) for text in texts[start : start + size]]

    @pytest.mark.parametrize("special", AT_BORDERS, ids=ascii)
    @pytest.mark.parametrize("options", [Normalisation(), Normalisation(keep_case=True)], ids=str)
    def test_every_place_around_a_border_gives_the_same(self, special, options):
        for filling in ("a", "B ", "я"):
            texts = []
            for size in AROUND_BORDERS:
                start = filling * size
                texts += [start + special, start + special + filling * 70, start + special + " c"]
            texts = [*texts, texts[-3], special]
            expected = [twins.canonical(text, **asdict(options)) for text in texts]
            assert all_texts(documents(texts, options)) == expected
            # The last document of a buffer has no bytes behind it that a block could read.
            for text, wanted in list(zip(texts, expected, strict=True))[::7]:
                assert canonical_text(text, options) == wanted

    @given(st.lists(long_texts, min_size=1, max_size=4))
    def test_blocks_and_single_characters_agree_and_write_nothing_behind_the_spare_bytes(
        self, texts
    ):
        rows = [text.encode() for text in texts]
        fast, slow = in_kernel(rows), in_kernel(rows, by_blocks=False)
        assert fast.kinds.tolist() == slow.kinds.tolist()
        assert fast.offsets.tolist() == slow.offsets.tolist()
        size = fast.offsets[-1]
        assert fast.out[:size].tobytes() == slow.out[:size].tobytes()
        simple = fast.kinds <= kernels.SIMPLE
        assert fast.characters[simple].tolist() == slow.characters[simple].tolist()
        assert set(fast.out[-100:].tolist()) == set(slow.out[-100:].tolist()) == {0xAA}

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("", kernels.ASCII),
            (" ", kernels.ASCII),
            ("Abc " * 40, kernels.ASCII),
            ("a" * 64 + "é", kernels.SIMPLE),
            ("\u0334\u0334", kernels.SIMPLE),
            ("\u1dfa" + "a" * 70 + "\u0334", kernels.SIMPLE),
            ("Я" * 70, kernels.SIMPLE),
            ("a" * 99 + "e\u0301", kernels.COMPLEX),
            ("\u1dfa" + "a" * 70 + "\u1dfa\u0334", kernels.COMPLEX),
            ("x" * 61 + "Ⱥ", kernels.COMPLEX),
        ],
    )
    def test_a_document_is_no_more_than_it_must_be(self, text, kind):
        for by_blocks in (True, False):
            made = in_kernel([text.encode(), b"q" * 80], by_blocks=by_blocks)
            assert made.kinds.tolist() == [kind, kernels.ASCII]
            assert not (kind == kernels.COMPLEX and made.offsets[1])

    def test_only_two_letters_have_a_longer_lower_case(self):
        longer = []
        for point in range(0x110000):
            lower = int(unicode.code_points()[point] & unicode.LOWER)
            if not 0xD800 <= point < 0xE000 and len(chr(lower).encode()) > len(chr(point).encode()):
                longer.append(chr(point))
        assert longer == ["Ⱥ", "Ⱦ"]

    @pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
    def test_the_characters_of_the_text_as_it_was_are_counted(self, options):
        texts = ["", " a  b ", "É" * 50, "e\u0301" * 30, None, "中 \U0001f600" * 40, "Ⱥ", "x" * 200]
        found = documents(texts, options)
        assert found.characters is not None
        assert found.characters.tolist() == [len(text or "") for text in texts]

    @given(st.lists(st.text("\x00ab", max_size=70), max_size=12))
    def test_fingerprints_are_as_the_twin_says_whatever_stands_beside(self, texts):
        rows = [text.encode() for text in texts]
        out = np.empty((len(rows), 2), np.uint64)
        bounds = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        data = np.frombuffer(b"".join(rows), np.uint8).copy()
        kernels.fingerprints(data, bounds, out)
        assert [tuple(row) for row in out.tolist()] == list(map(twins.content_fingerprint, texts))

    def test_fingerprints_of_every_two_lengths_side_by_side(self):
        sizes = range(0, 42, 5 if INTERPRETED else 1)
        texts = [("abcdefghijk" * 4)[:size] for a in sizes for b in sizes for size in (a, b)]
        expected = [twins.content_fingerprint(text) for text in texts]
        assert [tuple(row) for row in documents(texts).fingerprints.tolist()] == expected


class TestTheTwinAgrees:
    @given(any_text, options)
    def test_on_any_text_under_any_options(self, text, options):
        assert canonical_text(text, options) == twins.canonical(text, **asdict(options))

    @given(batches, options)
    def test_on_any_batch_and_on_the_fingerprints(self, texts, options):
        found = documents(texts, options)
        expected = [twins.canonical(text or "", **asdict(options)) for text in texts]
        assert all_texts(found) == expected
        prints = [tuple(row) for row in found.fingerprints.tolist()]
        assert prints == [twins.content_fingerprint(text) for text in expected]

    @pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
    def test_on_every_subtle_character_in_every_position(self, options):
        letters = [c for c in SUBTLE if assigned(c)]
        texts = [
            form.format(c) for c in letters for form in ("{}", "Aa{}", "{}.b", "x{} Q", "7{0}{0}")
        ]
        rng = Random(str(options))
        texts += ["".join(rng.choices(letters, k=12)) for _ in range(100)]
        texts = texts[::7] if INTERPRETED else texts
        expected = [twins.canonical(text, **asdict(options)) for text in texts]
        assert all_texts(documents(texts, options)) == expected

    def test_on_every_code_point_between_letters(self):
        step = 701 if INTERPRETED else 1
        points = [*range(0, 0x3400, step), *range(0x3400, 0x110000, 17 * step)]
        texts = [f"A{chr(point)}B" for point in points if assigned(chr(point))]
        assert all_texts(documents(texts)) == [twins.canonical(text) for text in texts]

    def test_on_marks_in_any_order(self):
        # Marks that compose with nothing still stand in the order of their classes.
        flags = unicode.code_points() & (unicode.MARK | unicode.COMPLEX)
        marks = [chr(point) for point in np.flatnonzero(flags == unicode.MARK).tolist()]
        marks = Random(8).sample([c for c in marks if assigned(c)], 12 if INTERPRETED else 80)
        texts = [f"{a}{before}{b}é" for a in marks for b in marks for before in ("", "x", "я")]
        texts += [
            "\u0334\u0345\u1dfa",
            "q\u1dfa\u0334",
            "\u05b0\u0334",
            "\u0334\u05b0",
            "\u05b0 \u0334",
        ]
        expected = [twins.canonical(text) for text in texts]
        assert all_texts(documents(texts)) == expected
        assert any(a != b for a, b in zip(texts, expected, strict=True))

    @pytest.mark.long
    def test_on_a_document_of_a_megabyte(self):
        rng = Random(5)
        english = ["The", "fox ", "", "\tSaw"]
        mixed = ["Ähre", "ΟΔΟΣ", "cafe\u0301", "ШКОЛА", "日本語", "—", "Ⱥ", "\U0001f600", *english]
        for words, size in ((english, MEGABYTE // 3), (mixed, MEGABYTE // 5)):
            text = " ".join(rng.choices(words, k=size))
            assert len(text.encode()) > MEGABYTE
            found = documents(["before", text, "after"])
            expected = twins.canonical(text)
            assert all_texts(found) == ["before", expected, "after"]
            assert tuple(found.fingerprints[1].tolist()) == twins.content_fingerprint(expected)


class TestColumns:
    TEXTS = (
        "Plain",
        "Straße",
        "Cafe\u0301 ΟΔΟΣ",
        "",
        "  ",
        "a longer one, beyond twelve bytes",
        "Ⱥ" * 9,
    )

    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
    @given(st.lists(any_text, max_size=6))
    def test_every_type_of_string_gives_the_same(self, kind, texts):
        assert_same(normalise(of_type(texts, kind)), documents(texts))

    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
    def test_a_null_is_an_empty_document_in_every_type(self, kind):
        texts = [None, "Aa", None, "É", None]
        assert all_texts(normalise(of_type(texts, kind))) == ["", "aa", "", "é", ""]
        assert all_texts(normalise(of_type([None, None], kind))) == ["", ""]

    @pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
    @given(batches, st.data())
    def test_a_slice_gives_what_its_documents_give_alone(self, kind, texts, data):
        start = data.draw(st.integers(0, len(texts)))
        size = data.draw(st.integers(0, len(texts) - start))
        chosen = data.draw(options)
        part = normalise(of_type(texts, kind).slice(start, size), chosen)
        assert_same(part, documents(texts[start : start + size], chosen))

    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
    @pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
    def test_every_slice_gives_the_same_under_every_option(self, kind, options):
        column = of_type(self.TEXTS, kind)
        for start in range(len(self.TEXTS)):
            part = normalise(column.slice(start, 3), options)
            assert_same(part, documents(self.TEXTS[start : start + 3], options))

    @given(batches, st.lists(st.integers(0, 8), max_size=3), options)
    def test_any_split_into_batches_gives_the_same(self, texts, cuts, options):
        cuts = sorted({0, len(texts), *(cut for cut in cuts if cut <= len(texts))})
        parts = [documents(texts[i:j], options) for i, j in pairwise(cuts)]
        assert_same(Canonical.joined(parts), documents(texts, options))

    def test_no_documents_are_no_error(self):
        assert len(documents([])) == len(Canonical.joined([])) == 0
        assert documents([]).fingerprints.shape == Canonical.joined([]).fingerprints.shape == (0, 2)
        assert len(normalise(pa.array(["a", "é"]).slice(2))) == 0

    @pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
    def test_the_callers_buffers_are_left_alone(self, options):
        column = pa.array([*self.TEXTS, None], pa.string())
        before = [None if one is None else one.to_pybytes() for one in column.buffers()]
        found = normalise(column, options)
        if found.data.size:
            found.data[:] = 0
        after = [None if one is None else one.to_pybytes() for one in column.buffers()]
        assert after == before


class TestLanguages:
    @given(any_text, options)
    def test_composed_and_decomposed_forms_give_the_same(self, text, options):
        forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
        if not options.raw:
            assert canonical_text(forms[0], options) == canonical_text(forms[1], options)

    @given(any_text)
    def test_canonical_text_is_canonical(self, text):
        once = canonical_text(text)
        assert canonical_text(once) == once

    @pytest.mark.parametrize("script", SCRIPTS)
    def test_no_script_is_erased_by_stripping_accents_and_punctuation(self, script):
        text, expected = SCRIPTS[script]
        expected = unicodedata.normalize("NFC", expected)
        options = Normalisation(strip_accents=True, strip_punctuation=True)
        for form in ("NFC", "NFD"):
            assert canonical_text(unicodedata.normalize(form, text), options) == expected
        assert canonical_text(text) == unicodedata.normalize("NFC", text).lower()

    def test_stripped_accents_are_those_of_letters_with_accents(self):
        strip = Normalisation(strip_accents=True)
        assert canonical_text("ÉÀ ñ ç Ǖ ộ ø ł Ёлка Йод ΆΪ", strip) == "ea n c u o ø ł елка иод αι"

    def test_emoji_stay_and_are_symbols(self):
        family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd ❤\ufe0f"
        assert canonical_text(family) == family
        assert canonical_text(family, Normalisation(strip_accents=True)) == family
        strip = Normalisation(strip_punctuation=True)
        assert canonical_text("ab \U0001f44d\U0001f600 cd", strip) == "ab cd"

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("ΟΔΟΣ ΣΟΦΟΣ, Σ. ΑΣ\u0301", "οδος σοφος, σ. ας\u0301"),
            ("İstanbul I ı", "i\u0307stanbul i ı"),
            ("J\u030c", "\u01f0"),
            ("Ⱥ" * 9, "ⱥ" * 9),
            ("STRASSE Straße STRAẞE", "strasse straße straße"),
            ("Å Ω K", "å ω k"),
            ("\u1112\u1161\u11ab", "한"),
            ("a\u0301\u0323", "ạ\u0301"),
            ("a\u3000\u2028\x85 b\x1fc\u200bd", "a b\x1fc\u200bd"),
            (" \t\r\n ", ""),
            ("\x00A\x00", "\x00a\x00"),
        ],
    )
    def test_special_cases(self, text, expected):
        assert canonical_text(text) == expected

    def test_stripped_signs_and_digits_part_what_stood_around_them(self):
        text = "well-known: 3×4=12, Ⅷ½ x²!"
        assert (
            canonical_text(text, Normalisation(strip_punctuation=True)) == "well known 3 4 12 ⅷ½ x²"
        )
        assert canonical_text(text, Normalisation(strip_digits=True)) == "well-known: × = , x !"
        both = Normalisation(strip_punctuation=True, strip_digits=True)
        assert canonical_text(text, both) == "well known x"
        assert canonical_text("12, 3!", both) == ""

    @given(st.lists(any_text, max_size=12))
    def test_fingerprints_are_equal_exactly_where_the_texts_are(self, texts):
        found = documents(texts + texts)
        prints = [tuple(row) for row in found.fingerprints.tolist()]
        assert len(set(prints)) == len(set(all_texts(found)))
        assert prints[: len(texts)] == prints[len(texts) :]

    def test_fingerprints_tell_zeros_lengths_and_orders_apart(self):
        texts = ["\x00" * size for size in range(40)]
        texts += ["abcdefgh12345678", "12345678abcdefgh", "abcdefgh1234567", "abcdefgh1234567\x00"]
        assert len({tuple(row) for row in documents(texts).fingerprints.tolist()}) == len(texts)


class TestInvalidText:
    @pytest.mark.parametrize("why", INVALID)
    @pytest.mark.parametrize("options", [Normalisation(), Normalisation(raw=True)], ids=str)
    def test_bytes_that_are_not_utf8_are_refused_with_row_and_offset(self, why, options):
        # A document that ends early must not borrow from the next one.
        rows = [b"fine", "é".encode(), b"ab\xc3\xa9" + INVALID[why], b"\x80\x80\x80", b"\xff"]
        for kind in (pa.string(), pa.large_string()):
            with pytest.raises(SourceError, match=r"document 3 is not valid .* at offset 4: .*fix"):
                normalise(from_bytes(rows, kind), options)
            with pytest.raises(LookalikeError) as caught:
                normalise(from_bytes(rows, kind).slice(1), options)
            assert isinstance(caught.value, InvalidTextError)
            assert (caught.value.row, caught.value.offset) == (1, 4)

    @pytest.mark.parametrize("why", INVALID)
    def test_they_are_refused_in_views_and_dictionaries_too(self, why):
        rows = [b"fine", b"a text of more than twelve bytes " + INVALID[why], b"\xbf"]
        view = pa.array(rows, pa.binary_view()).cast(pa.string_view(), safe=False)
        indices = pa.array([0, 1, 0])
        dictionary = pa.DictionaryArray.from_arrays(indices, from_bytes(rows, pa.string()))
        for column in (view, dictionary):
            with pytest.raises(SourceError, match=r"document 2 is not valid .* at offset 33"):
                normalise(column)

    def test_exactly_what_python_decodes_is_accepted(self):
        edges = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xFF)
        every = range(256)
        leads = range(0xDF, 0x100)
        rows = [bytes([a]) for a in every]
        rows += [bytes([a, b]) for a in every for b in every]
        rows += [bytes([a, b, c]) for a in leads for b in every for c in edges]
        rows += [
            bytes([a, b, c, d]) for a in leads for b in edges for c in edges for d in edges[1:9]
        ]
        rng = Random(6)
        parts = [*INVALID.values(), b"a", "é".encode(), "中".encode(), "\U0001f600".encode()]
        rows += [b"".join(rng.choices(parts, [1] * 15 + [30] * 4, k=6)) for _ in range(5_000)]
        rng.shuffle(rows)
        rows = rows[:2_000] if INTERPRETED else rows
        expected = [decoded(row)[0] for row in rows]
        for by_blocks in (True, False):
            made = in_kernel(rows, by_blocks=by_blocks, complex_flags=0)
            assert (made.kinds != kernels.INVALID).tolist() == expected
        assert min(sum(expected), len(rows) - sum(expected)) > 100

    @pytest.mark.parametrize("why", INVALID)
    @pytest.mark.parametrize("before", ["a", "é ", "я", "中", "\U0001f600"])
    def test_they_are_refused_at_every_place_around_a_border(self, why, before):
        unit = len(before.encode())
        for size in AROUND_BORDERS:
            start = before.encode() * (size // unit)
            behind = (b"", b"z", "é".encode() * 40, b" " * 70)[size % 4]
            rows = [b"fine", start + INVALID[why] + behind, b"\x80\x80\x80", b"x" * 70]
            # Refused as well where it is the last of its buffer.
            for column in (from_bytes(rows), from_bytes(rows[:2])):
                with pytest.raises(SourceError) as caught:
                    normalise(column)
                assert isinstance(caught.value, InvalidTextError)
                assert (caught.value.row, caught.value.offset) == (1, len(start))

    def test_a_complex_document_is_refused_for_what_stands_behind(self):
        rows = [b"fine", "e\u0301".encode(), "e\u0301".encode() + b"a" * 100 + b"\xff", b"\xff"]
        for options in (Normalisation(), Normalisation(strip_accents=True)):
            with pytest.raises(SourceError, match=r"document 3 is not valid .* at offset 103"):
                normalise(from_bytes(rows), options)

    @given(st.lists(st.binary(max_size=6), min_size=1, max_size=4))
    def test_any_bytes_are_accepted_or_refused_as_python_does(self, rows):
        column = from_bytes(rows)
        wrong = [(row, decoded(data)[1]) for row, data in enumerate(rows) if not decoded(data)[0]]
        if wrong:
            with pytest.raises(SourceError) as caught:
                normalise(column)
            assert isinstance(caught.value, InvalidTextError)
            assert (caught.value.row, caught.value.offset) == wrong[0]
        else:
            found = normalise(column, Normalisation(raw=True))
            assert all_texts(found) == [row.decode() for row in rows]

    @pytest.mark.parametrize("text", ["ab\ud800", "ab\udfffc", "ab\udcff\ud83d"])
    def test_a_lone_surrogate_in_a_string_is_refused(self, text):
        with pytest.raises(
            SourceError, match="not valid Unicode text at offset 2: it holds a lone surr"
        ):
            canonical_text(text)
        with pytest.raises(
            SourceError, match=r"document 1 holds a lone surrogate .* at character 3"
        ):
            lookalike.find(["fine", text])

    def test_a_search_names_the_document_that_is_no_text(self):
        with pytest.raises(SourceError, match=r"document 1\b.* not valid"):
            lookalike.find(from_bytes([b"fine", b"\xff"]))


class TestOptions:
    @pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
    def test_what_is_written_is_read_back(self, options):
        assert Normalisation.parse(str(options)) == options
        assert Normalisation.parse(f" {str(options).replace(',', ' , ')} ") == options

    def test_options_are_named_as_their_fields(self):
        for name in NAMES:
            assert Normalisation.parse(name.replace("_", "-")) == Normalisation(**{name: True})
        assert Normalisation.parse("none") == Normalisation(raw=True)
        assert Normalisation.parse("") == Normalisation.parse("default") == Normalisation()

    @pytest.mark.parametrize(
        "spec", ["lower", "keep_case", "strip-accents;strip-digits", "None", "raw"]
    )
    def test_an_unknown_option_is_refused_with_the_known_ones(self, spec):
        known = "use default, none, or some of keep-case, strip-accents, strip-digits, strip-punct"
        with pytest.raises(SettingsError, match=rf"normalise='{spec}' is unknown: {known}"):
            Normalisation.parse(spec)

    @pytest.mark.parametrize("name", NAMES)
    def test_none_takes_no_other_option(self, name):
        with pytest.raises(
            SettingsError, match="'none' leaves the text as it is and takes no other"
        ):
            Normalisation(**{"raw": True, name: True})
        with pytest.raises(SettingsError, match="'none' leaves the text as it is"):
            Normalisation.parse(f"none,{name.replace('_', '-')}")
