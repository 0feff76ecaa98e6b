"""Shingles: every hash and every set as the twins define them, on any text and any piece of it."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike import shingle, textbook
from lookalike.errors import SettingsError
from lookalike.kernels.jit import INTERPRETED
from lookalike.minhash import sign_texts
from lookalike.shingle import Sets, Shingling, element_sets, ignoring, shingle_hashes
from lookalike.threads import in_order, pieces
from making import documents_of
from texts import EVERY_OPTION, all_texts, any_text, documents

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
        bags = element_sets(found, Shingling("chars", 2, multiset=True))
        assert bags.sizes().tolist() == [4, 6]
        again = twins.mix(ab + twins.GOLDEN)
        assert set(bags[1].tolist()) == {*sets[1].tolist(), again}

    def test_a_text_without_words_is_one_shingle_of_its_characters(self):
        found = documents_of(["?!", "…", "?! ?!"])
        expected = [twins.char_hashes(text, len(text)) for text in all_texts(found)]
        assert rows_of(shingle_hashes(found, Shingling("words", 1))) == expected


class TestWordsByEightBytes:
    """The tokeniser reads eight bytes at once where they are ASCII; a word may end anywhere."""

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

    @given(st.lists(any_text, max_size=8), st.integers(1, 4))
    def test_a_document_never_reads_into_the_next(self, texts, k):
        # The same documents with others before and after them have the same hashes.
        among = [one for text in texts for one in ("abc", text, "défg123456789")]
        alone = shingle_hashes(documents_of(texts), Shingling("words", k))
        assert rows_of(shingle_hashes(documents_of(among), Shingling("words", k)))[1::3] == rows_of(
            alone
        )


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
            patch.setattr(shingle, "PIECE", piece)
            chosen = np.array(rows, np.int64)
            some = element_sets(documents_of(texts), kind, rows=chosen, threads=threads)
            every = element_sets(documents_of(texts), kind, threads=threads)
        expected = sets_by_twin(texts, "chars", 2, multiset)
        assert rows_of(every) == expected
        assert rows_of(some) == [expected[row] for row in rows]
        assert (some.elements.dtype, some.offsets.dtype) == (np.uint64, np.int64)

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
        bags = element_sets(found, Shingling.parse(spec, multiset=True))
        listed = [
            textbook.shingles(textbook.canonical(text), kind.size, kind.unit) for text in texts
        ]

        def similarity(sets: Sets, a: int, b: int) -> float:
            return textbook.jaccard(set(sets[a].tolist()), set(sets[b].tolist()))

        for a, b in combinations(range(len(texts)), 2):
            assert similarity(sets, a, b) == textbook.jaccard(set(listed[a]), set(listed[b]))
            expected = textbook.multiset_jaccard(Counter(listed[a]), Counter(listed[b]))
            assert similarity(bags, a, b) == expected


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


class TestPieces:
    @given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 30))
    def test_pieces_follow_each_other_and_hold_as_much_as_they_may(self, weights, most):
        found = list(pieces(np.array(weights, np.int64), most))
        assert [row for piece in found for row in range(len(weights))[piece]] == [
            *range(len(weights))
        ]
        for piece in found:
            assert len(weights[piece]) == 1 or sum(weights[piece]) <= most
            assert piece.stop == len(weights) or sum(weights[piece.start : piece.stop + 1]) > most

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_results_come_in_the_order_of_the_pieces(self, threads):
        assert list(in_order(lambda item: -item, range(50), threads)) == [
            -item for item in range(50)
        ]

    @pytest.mark.parametrize("threads", [1, 4])
    def test_a_failure_in_a_piece_is_raised_in_its_turn(self, threads):
        results = in_order(lambda item: 6 // (3 - item), range(50), threads)
        assert [next(results) for _ in range(3)] == [2, 3, 6]
        with pytest.raises(ZeroDivisionError):
            next(results)


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
        with pytest.raises(SettingsError, match=f"shingle '{spec}' is not understood: use chars:K"):
            Shingling.parse(spec)

    def test_units_and_sizes_that_cannot_be_are_refused(self):
        with pytest.raises(
            SettingsError, match="shingle unit 'lines' is unknown: use chars or words, or tokens"
        ):
            Shingling("lines", 5)
        for size in (0, -1, 2.0, True, "5", None):
            with pytest.raises(SettingsError, match=r"shingle size .*: use a whole number from 1"):
                Shingling("chars", size)
        with pytest.raises(SettingsError, match="shingles of 2 tokens: a token is a shingle by"):
            Shingling("tokens", 2)
