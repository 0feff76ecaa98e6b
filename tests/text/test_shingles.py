"""Shingles: every hash and every set as the twins define them, on any text and any piece of it."""

import json
import subprocess
import sys
from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.base.errors import SettingsError
from lookalike.kernels import words
from lookalike.kernels.jit import INTERPRETED
from lookalike.learn import textbook
from lookalike.sketches.minhash import sign_texts
from lookalike.text import shingles, unicode
from lookalike.text.shingles import Sets, Shingling, element_sets, ignoring, shingle_hashes
from made_documents import documents_of
from text_strategies import EVERY_OPTION, all_texts, any_text, documents

pytestmark = pytest.mark.kernels

MEGABYTE = 2_000 if INTERPRETED else 1_000_000
TWINS = {"chars": twins.char_hashes, "words": twins.word_hashes}
ASCII_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SEPARATORS = [chr(point) for point in range(128) if chr(point) not in ASCII_WORD]

units = st.sampled_from(["chars", "words"])
sizes = st.integers(1, 30)
many_texts = st.lists(any_text, max_size=6)
# Few letters and short words: shingles repeat, within a document and between two.
repeating = st.text("abé .中", max_size=40)
# Runs that end near the borders of 64 bytes and of a chunk of 8 or 16, and what stands between.
near_borders = st.sampled_from(
    [1, 2, 3, 7, 8, 9, 15, 16, 17, 55, 62, 63, 64, 65, 66, 127, 128, 129]
)
runs = st.builds(
    lambda characters, length: (characters * length)[:length],
    st.sampled_from(["a", "Zb9", "q", " ", ". ", "a ", "bc,", "x-yz "]),
    near_borders | st.integers(1, 140),
)
beyond_ascii = st.text("éя中あー가\u0301½—\U00010400\U0001f600\U00020000", min_size=1, max_size=3)
bordering = st.lists(runs | beyond_ascii, min_size=1, max_size=6).map("".join)


def rows_of(sets: Sets) -> list[list[int]]:
    return [sets[row].tolist() for row in range(len(sets))]


def sets_by_twin(texts, unit, k, multiset) -> list[list[int]]:
    return [sorted(twins.elements(TWINS[unit](text, k), multiset)) for text in texts]


def assert_hashes(texts, unit, *sizes) -> None:
    found = documents_of(texts)
    for k in sizes:
        hashes = rows_of(shingle_hashes(found, Shingling(unit, k)))
        expected = [TWINS[unit](text, k) for text in texts]
        wrong = [text for text, a, b in zip(texts, hashes, expected, strict=True) if a != b]
        assert not wrong, wrong[:5]


def words_found(text, before="", after="") -> list[str]:
    """The words of a text in the middle of a buffer that ends where `after` does."""
    parts = [one.encode() for one in (before, text, after)]
    data = np.frombuffer(b"".join(parts), np.uint8).copy()
    start, size = len(parts[0]), len(parts[1])
    room = np.full(size + 3, 2**64 - 1, np.uint64)
    bounds = np.uint64(start), np.uint64(start + size)
    places = room[: size + 1]
    count = words.word_places(data, *bounds, unicode.code_points(), places)
    assert room[size + 1 :].tolist() == [2**64 - 1] * 2
    return [data[a:b].tobytes().decode() for a, b in places[: 2 * count].reshape(-1, 2).tolist()]


def assert_words(texts) -> None:
    """Compare words and their hashes; each text is a buffer of its own, and one among others."""
    wrong = [text for text in texts if words_found(text) != twins.words(text)]
    assert not wrong, wrong[:5]
    assert_hashes(texts, "words", 1)


def hashes_by_window(parts: list[str], unit: str, k: int) -> list[int]:
    """Ask the twin for each different window once."""
    glue = "" if unit == "chars" else " "
    windows = [glue.join(parts[i : i + k]) for i in range(len(parts) - k + 1)]
    known = {window: TWINS[unit](window, k)[0] for window in set(windows)}
    return [known[window] for window in windows]


class TestHashes:
    @given(many_texts, units, sizes)
    def test_any_texts_have_the_twins_hashes_in_order(self, texts, unit, k):
        assert_hashes(texts, unit, k)

    @given(many_texts, units, sizes, st.sampled_from(EVERY_OPTION))
    def test_so_have_canonical_texts(self, texts, unit, k, options):
        found = documents(texts, options)
        expected = [TWINS[unit](text, k) for text in all_texts(found)]
        assert rows_of(shingle_hashes(found, Shingling(unit, k))) == expected

    @pytest.mark.parametrize("unit", ["chars", "words"])
    def test_texts_of_every_length_around_the_shingle(self, unit):
        texts = ["", "a", "中", "\x00", "?", "?!", " ", "\x00\x00", "é", "\U0001f600"]
        texts += [glue.join("abcdefg"[:n]) for n in range(8) for glue in ("", " ", ". ")]
        texts += ["".join("中文字é\U0001f600a"[:n]) for n in range(7)]
        assert_hashes(texts, unit, *range(1, 10), 30, 999_999)

    @pytest.mark.parametrize("unit", ["chars", "words"])
    def test_u_0000_counts_wherever_it_stands(self, unit):
        texts = ["a", "\x00a", "a\x00", "\x00\x00a", "\x00", "\x00\x00", "a\x00a\x00b"]
        assert_hashes(texts, unit, 1, 2, 3)
        chars = rows_of(shingle_hashes(documents_of(texts), Shingling("chars", 5)))
        assert len({tuple(one) for one in chars}) == len(texts)

    def test_the_letters_of_the_lecture(self):
        ab, bc, ca = (twins.char_hashes(pair, 2)[0] for pair in ("ab", "bc", "ca"))
        found = documents_of(["abcab", "abcdabd"])
        assert rows_of(shingle_hashes(found, Shingling("chars", 2)))[0] == [ab, bc, ca, ab]
        sets = element_sets(found, Shingling("chars", 2))
        assert sets.sizes().tolist() == [3, 5]
        assert sets[0].tolist() == sorted([ab, bc, ca])
        multisets = element_sets(found, Shingling("chars", 2, multiset=True))
        assert multisets.sizes().tolist() == [4, 6]
        again = twins.mix(ab + twins.GOLDEN)
        assert set(multisets[1].tolist()) == {*sets[1].tolist(), again}

    def test_a_text_without_words_is_one_shingle_of_its_characters(self):
        found = documents_of(["?!", "…", "?! ?!"])
        expected = [twins.char_hashes(text, len(text) + 1) for text in all_texts(found)]
        assert rows_of(shingle_hashes(found, Shingling("words", 1))) == expected


class TestWordsByBlocks:
    """The tokeniser reads 64 bytes at once, of ASCII; a word may begin and end anywhere."""

    lengths = (1, 2, 7, 8, 9, 16, 17, 33) if INTERPRETED else range(1, 41)

    @pytest.mark.parametrize("before", [0, 3, 7] if INTERPRETED else range(9))
    def test_words_of_every_length_at_every_place_before_every_end(self, before):
        ends = [
            "",
            ".",
            " b",
            "é",
            "é b",
            "中",
            "\u0301",
            " 中",
            "\x00",
            *(" " * n for n in range(2, 9)),
        ]
        rng = Random(before)
        texts = [
            "".join(rng.choices(SEPARATORS, k=before)) + "".join(rng.choices(ASCII_WORD, k=n)) + end
            for n in self.lengths
            for end in ends
        ]
        assert_hashes(texts, "words", 1, 2)

    def test_every_two_bytes_of_ascii_side_by_side(self):
        pairs = [chr(a) + chr(b) for a in range(128) for b in range(128)]
        pairs = pairs[::97] if INTERPRETED else pairs
        assert_hashes(
            [f"{'xyz'[: i % 4]}{pair}Q7 tail" for i, pair in enumerate(pairs)], "words", 1
        )

    @given(st.lists(st.sampled_from([*ASCII_WORD, *SEPARATORS]), max_size=80).map("".join))
    def test_any_ascii(self, text):
        assert_hashes([text], "words", 1, 3)

    @given(st.integers(1, 40), st.integers(0, 8), st.sampled_from("éçяع中あ가\u0301\U00010400½²"))
    def test_a_letter_beyond_ascii_right_after_a_run(self, length, before, letter):
        run = "." * before + "a" * length
        assert_hashes([run + letter, run + letter + "b", run + letter + "b" * 9 + " c"], "words", 1)

    @pytest.mark.long
    @pytest.mark.parametrize("border", [64, 128])
    @pytest.mark.parametrize("before", ["words", "separators"])
    def test_words_that_begin_and_end_at_every_byte_around_a_border(self, border, before):
        rng = Random(border)
        filling = "ab c, " if before == "words" else "".join(SEPARATORS)
        texts = []
        for start in (-1, 0, 1) if INTERPRETED else (-64, *range(-18, 3)):
            lead = (filling * 50)[: border + start - 1] + " "
            for length in (1, 8, 9, 17, 64) if INTERPRETED else (*range(1, 20), 63, 64, 65, 129):
                word = "".join(rng.choices(ASCII_WORD, k=length))
                texts += [lead + word + end for end in ("", " ", " b", "--c", "é", "中d")]
        assert_words(texts)

    @pytest.mark.parametrize("offset", [0, 1, 63] if INTERPRETED else [*range(0, 64, 9), 1, 8, 62])
    def test_words_of_1_to_200_bytes(self, offset):
        rng = Random(offset)
        lengths = (1, 8, 16, 17, 64, 200) if INTERPRETED else range(1, 201)
        words = ["".join(rng.choices(ASCII_WORD, k=length)) for length in lengths]
        assert_words([f"{' ' * offset}{word}" for word in words])
        assert_words([f"{' ' * offset}{word}. x" for word in words])
        rng.shuffle(words)
        assert_words([" " * offset + " ".join(words), " " * offset + ".\n".join(words)])

    # Letters, ideographs, kana, Hangul, a mark, numbers, and what is none of these; 2 to 4 bytes.
    @pytest.mark.parametrize("beyond", "éя中あー가\u0301½٣—…\U00010400\U0001f600\U00020000")
    def test_characters_beyond_ascii_at_every_byte_around_a_border(self, beyond):
        texts = []
        for place in (63, 64) if INTERPRETED else (*range(58, 68), *range(124, 131)):
            for lead in (" " * place, "a" * place, ("ab c." * 40)[: place - 1] + "x"):
                texts += [lead + beyond + end for end in ("", "b", " b", "bc" * 40, beyond + "b")]
        assert_words(texts)

    def test_ideographs_and_kana_among_ascii_over_several_blocks(self):
        parts = ["中", "a", "文b", "カード", "c あ", "de中", "\u0301x", " ", "0字9", "・"]
        rng = Random(5)
        counts = [40] if INTERPRETED else range(1, 160)
        assert_words(["".join(rng.choices(parts, k=count)) for count in counts])

    @pytest.mark.parametrize("many", [1, 2, 63, 64, 65, 127, 128, 129, 400])
    def test_punctuation_alone_and_letters_alone(self, many):
        assert_words([one * many for one in (".", " ", "\x7f", "\x00", "—", "。")])
        assert_words([one * many for one in ("a", "Z", "0", "é", "中", "\u0301", "a ", " a")])

    def test_every_single_byte(self):
        assert_words([chr(point) for point in range(128)])
        assert_words([f"{' ' * 63}{chr(point)}{'a' * 3}" for point in range(128)])

    @given(bordering)
    def test_any_text_over_several_blocks(self, text):
        assert_words([text])

    @given(st.lists(bordering, min_size=1, max_size=3), st.integers(1, 3))
    def test_their_shingles_and_neighbours_are_the_twins_too(self, texts, k):
        assert_hashes(texts, "words", k)
        assert_hashes(texts, "chars", k)

    @given(
        bordering,
        st.sampled_from(["", "a", "é", "中", "\U0001f600", " ", "abc" * 50, "x" * 63]),
        st.sampled_from(["", "a", "é", "中", "\u0301", " ", "abc" * 50, "xyz"]),
    )
    def test_a_word_never_runs_on_into_a_neighbour(self, text, before, after):
        assert words_found(text, before, after) == twins.words(text)

    @pytest.mark.parametrize("length", [*range(1, 18), *range(60, 69), 127, 128, 129])
    def test_a_document_of_letters_among_letters_is_one_word(self, length):
        for size in (1, 7, 8, 9, 15, 16, 17, 63, 64, 65):
            assert words_found("a" * length, "b" * size, "c" * size) == ["a" * length]
        texts = ["b" * 65, "a" * length, "c" * 65, "é" * length, "d", "a" * length]
        assert_hashes(texts, "words", 1)

    @given(st.lists(any_text, max_size=8), st.integers(1, 4))
    def test_a_document_never_reads_into_the_next(self, texts, k):
        # The same documents with others before and after them have the same hashes.
        among = [one for text in texts for one in ("abc", text, "défg123456789")]
        alone = shingle_hashes(documents_of(texts), Shingling("words", k))
        assert rows_of(shingle_hashes(documents_of(among), Shingling("words", k)))[1::3] == rows_of(
            alone
        )

    @pytest.mark.skipif(sys.platform == "win32", reason="needs pages that cannot be read")
    def test_nothing_is_read_beyond_either_end_of_the_buffer(self):
        rng = Random(9)
        texts = ["a", "中", ".", "a" * 64, " " * 64, "x y" * 43, "a" * 200, "é" * 40, "ab中"]
        texts += ["".join(rng.choices("abcdef ,é中", k=k)) for k in range(1, 140, 3)]
        texts += ["".join(rng.choices("abcdefgh ", k=k)) for k in range(1, 140, 2)]
        done = subprocess.run(
            [sys.executable, "-c", BETWEEN_FORBIDDEN_PAGES],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        expected = [[twins.word_hashes(text, 1), twins.char_hashes(text, 3)] for text in texts]
        assert json.loads(done.stdout) == [[one, one] for one in expected]


# Both pages around the one that holds the text stop the process when they are touched.
BETWEEN_FORBIDDEN_PAGES = """
import ctypes, json, mmap, sys
import numpy as np
from lookalike.text.normalise import Canonical
from lookalike.text.shingles import Shingling, shingle_hashes
np.seterr(over="ignore")
page = mmap.PAGESIZE
memory = mmap.mmap(-1, 3 * page)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
forbid = ctypes.CDLL(None).mprotect
forbid.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
for at in (address, address + 2 * page):
    if forbid(at, page, 0):
        sys.exit("the page can be read")
allowed = np.frombuffer(memory, np.uint8)[page : 2 * page]
def hashes(place, text):
    place[:] = np.frombuffer(text, np.uint8)
    document = Canonical(place, np.array([0, len(text)]), np.zeros((1, 2), np.uint64))
    kinds = Shingling("words", 1), Shingling("chars", 3)
    return [shingle_hashes(document, kind).elements.tolist() for kind in kinds]
texts = [text.encode() for text in json.load(sys.stdin)]
print(json.dumps([
    [hashes(allowed[: len(text)], text), hashes(allowed[page - len(text) :], text)]
    for text in texts
]))
"""


class TestCharactersInFourChains:
    """Windows of ASCII roll in four chains, each through a quarter; the last takes what is left."""

    @pytest.mark.parametrize("k", [1, 2, 5, 9] if INTERPRETED else [*range(1, 13), 30, 63])
    def test_texts_of_every_remainder_of_four(self, k):
        rng = Random(k)
        ascii_text = "".join(rng.choices([chr(point) for point in range(128)], k=k + 60))
        texts = [ascii_text[:n] for n in range(max(k - 2, 1), k + 18)]
        texts += [ascii_text[: k + n] for n in (31, 32, 33, 34, 35)]
        assert_hashes(texts, "chars", k)

    @pytest.mark.parametrize("k", [1, 5] if INTERPRETED else [1, 2, 5, 9])
    def test_one_character_beyond_ascii_anywhere(self, k):
        texts = [
            "abcdefghijklmnop"[:place] + beyond + "qrstuvwxyz"[:rest]
            for beyond in ("é", "中", "\U0001f600")
            for place in range(9)
            for rest in range(9)
        ]
        assert_hashes(texts, "chars", k)

    @pytest.mark.parametrize("k", [1, 5, 9] if INTERPRETED else range(1, 31))
    def test_the_least_and_the_greatest_bytes_roll_without_overflow(self, k):
        size = 4 * k + 40
        rng = Random(k)
        for text in ("\x7f" * size, "\x00" * size, "".join(rng.choices("\x00\x7f", k=size))):
            found = shingle_hashes(documents_of([text]), Shingling("chars", k))[0].tolist()
            assert found == hashes_by_window(list(text), "chars", k)

    @given(st.text(st.characters(max_codepoint=127), max_size=90), st.integers(1, 40))
    def test_any_ascii(self, text, k):
        assert_hashes([text, "é", text, text[1:]], "chars", k)


class TestSets:
    @given(st.lists(st.one_of(any_text, repeating), max_size=6), units, sizes, st.booleans())
    def test_any_texts_have_the_twins_elements_sorted(self, texts, unit, k, multiset):
        found = element_sets(documents_of(texts), Shingling(unit, k, multiset))
        assert rows_of(found) == sets_by_twin(texts, unit, k, multiset)

    # Worker threads of the interpreter do not inherit what conftest says of wrap-around.
    @pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
    @given(
        st.lists(repeating, min_size=1, max_size=8),
        st.data(),
        st.sampled_from([1, 4]),
        st.sampled_from([1, 7, 64, 1 << 20]),
        st.booleans(),
    )
    def test_rows_threads_and_pieces_change_nothing(self, texts, data, threads, piece, multiset):
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=10))
        kind = Shingling("chars", 2, multiset)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shingles, "PIECE_BYTES", piece)
            chosen = np.array(rows, np.int64)
            some = element_sets(documents_of(texts), kind, rows=chosen, threads=threads)
            every = element_sets(documents_of(texts), kind, threads=threads)
        expected = sets_by_twin(texts, "chars", 2, multiset)
        assert rows_of(every) == expected
        assert rows_of(some) == [expected[row] for row in rows]
        assert some.elements.dtype == np.uint64
        assert some.offsets.dtype == np.int64

    @pytest.mark.parametrize("multiset", [False, True])
    def test_no_documents_and_empty_documents_are_empty_sets(self, multiset):
        kind = Shingling("words", 3, multiset)
        assert len(element_sets(documents_of([]), kind)) == 0
        assert len(element_sets(documents_of(["a"]), kind, rows=np.empty(0, np.int64))) == 0
        assert element_sets(documents_of(["", "", "a", ""]), kind).sizes().tolist() == [0, 0, 1, 0]
        assert len(Sets.joined([])) == len(shingle_hashes(documents_of([]), kind)) == 0

    @pytest.mark.parametrize("language", ["bread", "city-gardens", "german", "chinese", "japanese"])
    @pytest.mark.parametrize("spec", ["chars:5", "chars:9", "words:1", "words:3"])
    def test_similarities_are_the_textbooks(self, sample_documents, language, spec):
        texts = [
            path.read_text("utf-8") for path in sorted((sample_documents / language).iterdir())
        ]
        if len(texts) == 1:
            texts += [texts[0][len(texts[0]) // 3 :], texts[0].replace("。", "、") * 2]
        found = documents(texts)
        kind = Shingling.parse(spec)
        sets = element_sets(found, kind)
        multisets = element_sets(found, Shingling.parse(spec, multiset=True))
        listed = [
            textbook.shingles(textbook.canonical(text), kind.size, kind.unit) for text in texts
        ]

        def similarity(sets: Sets, a: int, b: int) -> float:
            return textbook.jaccard(set(sets[a].tolist()), set(sets[b].tolist()))

        for a, b in combinations(range(len(texts)), 2):
            assert similarity(sets, a, b) == textbook.jaccard(set(listed[a]), set(listed[b]))
            expected = textbook.multiset_jaccard(Counter(listed[a]), Counter(listed[b]))
            assert similarity(multisets, a, b) == expected


class TestIgnored:
    @given(
        st.lists(st.one_of(any_text, repeating), max_size=6),
        units,
        st.integers(1, 4),
        st.booleans(),
        st.data(),
    )
    def test_what_is_ignored_is_in_no_list_no_set_and_no_signature(
        self, texts, unit, k, multiset, data
    ):
        known = sorted({h for text in texts for h in TWINS[unit](text, k)})
        some = data.draw(st.sets(st.sampled_from([0, *known]), min_size=1))
        table = ignoring(np.array(sorted(some), np.uint64))
        kind = Shingling(unit, k, multiset, table)
        found = documents_of(texts)
        listed = [[h for h in TWINS[unit](text, k) if h not in some] for text in texts]
        sets = [twins.elements(TWINS[unit](text, k), multiset, frozenset(some)) for text in texts]
        assert rows_of(shingle_hashes(found, kind)) == listed
        assert rows_of(element_sets(found, kind)) == [sorted(one) for one in sets]
        signatures, counts = sign_texts(found, kind, rows=5, seed=3)
        assert counts.tolist() == [len(one) for one in listed]
        assert signatures.tolist() == [twins.signature(one, 3, 5) for one in sets]

    @pytest.mark.parametrize("multiset", [False, True])
    def test_a_document_of_which_nothing_is_left_is_the_empty_set(self, multiset):
        texts = ["abab", "abc", ""]
        table = ignoring(np.array(twins.char_hashes("aba", 2), np.uint64))
        kind = Shingling("chars", 2, multiset, table)
        assert element_sets(documents_of(texts), kind).sizes().tolist() == [0, 1, 0]
        signatures, counts = sign_texts(documents_of(texts), kind, rows=3, seed=1)
        assert counts.tolist() == [0, 1, 0]
        assert signatures[0].tolist() == signatures[2].tolist() == [2**32 - 1] * 3

    def test_the_ignored_shingles_are_no_part_of_what_a_shingling_is_called(self):
        plain = Shingling("chars", 5)
        ignored = Shingling("chars", 5, ignored=ignoring(np.array([1], np.uint64)))
        assert (ignored, hash(ignored), str(ignored), repr(ignored)) == (
            *(plain, hash(plain), str(plain), repr(plain)),
        )


@pytest.mark.long
class TestLargeDocuments:
    @pytest.mark.parametrize(("unit", "k"), [("chars", 5), ("words", 2)])
    @pytest.mark.parametrize("beyond", [False, True], ids=["ascii", "unicode"])
    def test_a_megabyte_has_the_twins_hashes_and_elements(self, unit, k, beyond):
        rng = Random(7)
        letters = "etaoinSHRDLU09é中я" if beyond else "etaoinSHRDLU09"
        words = ["".join(rng.choices(letters, k=n % 11 + 1)) for n in range(90)]
        text = " ".join(rng.choices(words, k=MEGABYTE // 6))
        assert len(text.encode()) > MEGABYTE
        parts = list(text) if unit == "chars" else twins.words(text)
        expected = hashes_by_window(parts, unit, k)
        found = documents_of(["before", text, "after"])
        assert shingle_hashes(found, Shingling(unit, k))[1].tolist() == expected
        multiset = not beyond
        elements = element_sets(found, Shingling(unit, k, multiset))[1]
        assert elements.tolist() == sorted(twins.elements(expected, multiset))

    @pytest.mark.parametrize(
        ("unit", "repeated"), [("chars", "a"), ("words", "a "), ("chars", "中")]
    )
    def test_one_shingle_repeated_over_a_megabyte_is_a_multiset(self, unit, repeated):
        found = documents_of([repeated * (MEGABYTE // len(repeated.encode()))])
        hashes = shingle_hashes(found, Shingling(unit, 3)).elements.tolist()
        elements = element_sets(found, Shingling(unit, 3, multiset=True))[0]
        assert elements.tolist() == sorted(twins.elements(hashes, True))


class TestParse:
    @pytest.mark.parametrize(
        "spec", ["chars:1", "chars:5", "words:3", " words:12 ", "chars:999999", "tokens", " tokens"]
    )
    def test_what_is_written_is_read_back(self, spec):
        for multiset in (False, True):
            read = Shingling.parse(spec, multiset=multiset)
            assert str(read) == spec.strip()
            assert Shingling.parse(str(read), multiset=multiset) == read
            assert read.multiset is multiset

    @pytest.mark.parametrize(
        "spec",
        [
            *(
                "",
                "5",
                "chars",
                "chars:",
                "chars:0",
                "chars:-1",
                "chars:2.5",
                "chars: 5",
                "Chars:5",
            ),
            *(
                "words:5x",
                "lines:5",
                "words:1000000",
                "chars:5,words:3",
                "auto",
                "tokens:1",
                "token",
            ),
        ],
    )
    def test_anything_else_is_refused_with_what_to_write(self, spec):
        with pytest.raises(SettingsError, match=f"shingle='{spec}' is not understood: use chars:K"):
            Shingling.parse(spec)

    def test_units_and_sizes_that_cannot_be_are_refused(self):
        with pytest.raises(
            SettingsError, match="shingle unit 'lines' is unknown: use chars or words, or tokens"
        ):
            Shingling("lines", 5)  # type: ignore[arg-type]
        for size in (0, -1, 2.0, True, "5", None):
            with pytest.raises(SettingsError, match=r"shingle size .*: use a whole number from 1"):
                Shingling("chars", size)  # type: ignore[arg-type]
        with pytest.raises(SettingsError, match="shingles of 2 tokens: a token is a shingle by"):
            Shingling("tokens", 2)
