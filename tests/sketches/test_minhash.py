import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike.sketches.minhash
import twins
from lookalike.base.errors import SettingsError
from lookalike.kernels import sketch as kernels
from lookalike.kernels.jit import INTERPRETED
from lookalike.sketches.minhash import (
    hash_functions,
    round_functions,
    sign_sets,
    sign_texts,
    similarity,
)
from lookalike.text.shingles import Sets, Shingling, element_sets
from made_documents import documents_of, sets_of

pytestmark = pytest.mark.kernels

LAST_SEED = 2**64 - 1
# The interpreter's arithmetic warns of wrap-around on threads of its own.
THREADS = (1,) if INTERPRETED else (1, 2, 5)

# Few characters, so that shingles repeat; one to four bytes each, words and what parts them.
texts = st.text(st.sampled_from("aab b1\u00e9\u4e00\u4e8c\u3042\U0001f600.\u0301"), max_size=40)
seeds = st.sampled_from([0, 1, LAST_SEED]) | st.integers(0, LAST_SEED)
words_of_64_bits = st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]) | st.integers(
    0, 2**64 - 1
)
words_of_32_bits = st.sampled_from([0, 1, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1)
shinglings = st.builds(
    Shingling, st.sampled_from(["chars", "words"]), st.integers(1, 6), st.booleans()
)

VERSES = [
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over a lazy dog",
    "",
    "to be or not to be, that is the question: to be, to be, to be",
    "床前明月光 疑是地上霜 举头望明月 低头思故乡",
    "à la claire fontaine m'en allant promener",
    "?!",
    "a",
]


def twin_hashes(text, shingling):
    hashes = twins.char_hashes if shingling.unit == "chars" else twins.word_hashes
    return hashes(text, shingling.size)


def twin_signature(text, shingling, seed, rows):
    elements = twins.elements(twin_hashes(text, shingling), shingling.multiset)
    return twins.signature(elements, seed, rows)


def twins_own(seed):
    """The stream that throws are made of."""
    return (seed + 0xE7037ED1A0B428DB) % 2**64


class TestAgainstTheTwin:
    @given(st.lists(texts, max_size=4), shinglings, seeds, st.integers(1, 200))
    def test_signatures_of_texts_are_those_of_the_definition(self, some, shingling, seed, rows):
        signatures, counts = sign_texts(documents_of(some), shingling, rows=rows, seed=seed)
        assert signatures.dtype == np.uint32
        assert signatures.shape == (len(some), rows)
        assert signatures.tolist() == [twin_signature(t, shingling, seed, rows) for t in some]
        assert counts.tolist() == [len(twin_hashes(t, shingling)) for t in some]

    @given(st.lists(st.sets(words_of_64_bits, max_size=12), max_size=4), seeds, st.integers(1, 200))
    def test_signatures_of_sets_are_those_of_the_definition(self, some, seed, rows):
        signatures = sign_sets(sets_of(some), rows=rows, seed=seed)
        assert signatures.dtype == np.uint32
        assert signatures.shape == (len(some), rows)
        assert signatures.tolist() == [twins.signature(one, seed, rows) for one in some]

    @given(st.lists(texts, max_size=4), shinglings)
    def test_texts_and_their_element_sets_have_the_same_signatures(self, some, shingling):
        documents = documents_of(some)
        signatures, _ = sign_texts(documents, shingling, rows=50, seed=9)
        sets = element_sets(documents, shingling)
        assert np.array_equal(sign_sets(sets, rows=50, seed=9), signatures)

    @pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200])
    @pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 8, 9])
    def test_every_remainder_of_rows_and_of_elements_is_signed(self, rows, size):
        one = {twins.mix(i + 1) for i in range(size)}
        expected = twins.signature(one, 3, rows)
        assert sign_sets(sets_of([one]), rows=rows, seed=3).tolist() == [expected]

    @pytest.mark.parametrize("multiset", [False, True])
    def test_longer_texts_and_larger_sets_are_signed_as_defined(self, multiset):
        generator = np.random.default_rng(12)
        some = ["".join(generator.choice(list("ab c\u00e9"), n)) for n in (43, 44, 45, 46, 600)]
        shingling = Shingling("chars", 3, multiset)
        signatures, _ = sign_texts(documents_of(some), shingling, rows=150, seed=4)
        assert signatures.tolist() == [twin_signature(text, shingling, 4, 150) for text in some]
        sets = [{twins.mix(i) for i in range(size)} for size in (41, 42, 43, 44, 250)]
        expected = [twins.signature(one, 4, 150) for one in sets]
        assert sign_sets(sets_of(sets), rows=150, seed=4).tolist() == expected

    # Sets of fewer than 64 fill empty rows in one way, others in another; of 1,000 and more the
    # first throw leaves hardly a row empty, or none.
    @pytest.mark.parametrize("seed", [0, LAST_SEED])
    @pytest.mark.parametrize("size", [1, 2, 40, 62, 63, 64, 65, 66, 127, 300, 1000, 1500])
    def test_blocks_are_filled_as_defined_whatever_the_size_and_the_rows(self, size, seed):
        one = {twins.value(size, i) for i in range(size)}
        expected = twins.signature(one, seed, 300)
        for rows in (1, 127, 128, 129, 255, 256, 257, 300):
            assert sign_sets(sets_of([one]), rows=rows, seed=seed).tolist() == [expected[:rows]]

    def test_what_is_left_of_one_set_is_in_no_signature_of_the_next(self):
        sizes = [300, 1, 0, 64, 63, 0, 1500, 2, 65]
        some = [{twins.value(size, i) for i in range(size)} for size in sizes]
        expected = [twins.signature(one, 8, 130) for one in some]
        assert sign_sets(sets_of(some), rows=130, seed=8).tolist() == expected

    @pytest.mark.parametrize("size", [63, 64, 1000])
    def test_elements_that_all_fall_in_one_row_leave_the_others_to_their_lines(self, size):
        # The first throw sends each of these to row 77, and the second and the third elsewhere.
        factor, term = twins.value(twins_own(4), 0) | 1, twins.value(twins_own(4), 1)
        inverse = pow(factor, -1, 2**64)
        one = {((77 << 57) + twins.mix(i) % 2**57 - term) * inverse % 2**64 for i in range(size)}
        expected = twins.signature(one, 4, 128)
        assert [i for i, row in enumerate(expected) if row < 2**30] == [77]
        assert sign_sets(sets_of([one]), rows=128, seed=4).tolist() == [expected]
        assert sign_sets(sets_of([one]), rows=77, seed=4).tolist() == [expected[:77]]

    @given(
        st.lists(st.tuples(words_of_64_bits, words_of_64_bits), min_size=3, max_size=3),
        st.lists(st.tuples(words_of_32_bits, words_of_32_bits), max_size=6),
        st.lists(words_of_64_bits, min_size=1, max_size=9),
        st.sampled_from([1, 70]),
    )
    def test_products_wrap_as_whole_numbers_do(self, spread, lines, elements, times):
        lines = [(2**32 - 1, 2**32 - 1), (2**32 - 1, 0), (1, 2**32 - 1), (1, 0), *lines]
        lines += [(2 * i + 1, i) for i in range(128 - len(lines))]
        elements = [*elements, 2**64 - 1] * times
        out = np.empty((1, 128), np.uint32)
        kernels.sign_elements(
            *(np.array(elements, np.uint64), np.array([0, len(elements)])),
            *(np.array(column, np.uint64) for column in zip(*spread, strict=True)),
            *(np.array(column, np.uint32) for column in zip(*lines, strict=True)),
            *(len(elements), out),
        )
        numbers = [{3 * 2**30 + (a * e + b) % 2**32 // 4 for e in elements} for a, b in lines]
        for turn, (factor, term) in enumerate(spread):
            for e in elements:
                thrown = (factor * e + term) % 2**64
                numbers[thrown >> 57].add(turn * 2**30 + thrown % 2**30)
        assert out[0].tolist() == [min(row) for row in numbers]


class TestHashFunctions:
    @given(st.integers(1, 300), seeds)
    def test_factors_are_odd_and_both_come_from_the_seed_s_stream(self, rows, seed):
        a, b = hash_functions(rows, seed)
        assert a.dtype == b.dtype == np.uint32
        assert (a % 2 == 1).all()
        half = 2**32
        assert a.tolist() == [twins.value(seed, 2 * i) % half | 1 for i in range(rows)]
        assert b.tolist() == [twins.value(seed, 2 * i + 1) % half for i in range(rows)]

    @pytest.mark.parametrize("seed", [0, 1, LAST_SEED])
    def test_a_longer_signature_begins_with_the_shorter_one(self, seed):
        shingling = Shingling("chars", 3)
        documents = documents_of(VERSES)
        longest, _ = sign_texts(documents, shingling, rows=300, seed=seed)
        for rows in (1, 31, 32, 33, 100, 127, 128, 129, 256, 257, 299):
            shorter, _ = sign_texts(documents, shingling, rows=rows, seed=seed)
            assert np.array_equal(shorter, longest[:, :rows])

    @given(st.integers(1, 4), seeds)
    def test_three_throws_a_block_come_from_a_stream_of_their_own(self, blocks, seed):
        factors, terms = round_functions(blocks, seed)
        own = twins_own(seed)
        assert factors.dtype == terms.dtype == np.uint64
        assert factors.tolist() == [twins.value(own, 2 * i) | 1 for i in range(3 * blocks)]
        assert terms.tolist() == [twins.value(own, 2 * i + 1) for i in range(3 * blocks)]

    def test_other_seeds_give_other_functions(self):
        firsts = {tuple(a[0] for a in hash_functions(1, seed)) for seed in range(1000)}
        assert len(firsts) == 1000
        assert len({tuple(a[0] for a in round_functions(1, seed)) for seed in range(1000)}) == 1000

    def test_the_first_functions_of_seed_1_never_change(self):
        a, b = hash_functions(4, 1)
        assert a.tolist() == [0x89025CC1, 0xFB32555F, 0xD101B5B9, 0xD7363CA5]
        assert b.tolist() == [0x658EEC67, 0xEE42C90B, 0x90150280, 0x12278575]

    @pytest.mark.parametrize("rows", [0, -1])
    def test_a_signature_without_rows_is_refused(self, rows):
        with pytest.raises(SettingsError, match=f"a signature of {rows} rows: use at least 1"):
            hash_functions(rows, 1)

    def test_nor_are_documents_signed_without_rows(self):
        with pytest.raises(SettingsError, match="a signature of 0 rows: use at least 1"):
            sign_sets(sets_of([{1}]), rows=0, seed=1)
        with pytest.raises(SettingsError, match="a signature of 0 rows: use at least 1"):
            sign_texts(documents_of(["a"]), Shingling("chars", 3), rows=0, seed=1)

    @pytest.mark.parametrize("seed", [-1, 2**64])
    def test_a_seed_that_is_no_64_bit_word_is_refused(self, seed):
        with pytest.raises(SettingsError, match=rf"seed={seed}: .* from 0 to 2\^64 - 1"):
            hash_functions(8, seed)


GOLDEN = [
    (
        "the quick brown fox",
        Shingling("chars", 5),
        1,
        "c7d51fd1 c40285a3 c08307d9 c5cc48bc 27055577 c4c6b6ed c3eb6f55 828daea1",
    ),
    (
        "the quick brown fox",
        Shingling("words", 2),
        1,
        "c3369fd7 c3bc60b5 d8d49971 41fbffd0 d3fedcdf 3356c58f c0396ae0 ceed9b02",
    ),
    (
        "床前明月光 疑是地上霜",
        Shingling("chars", 2),
        0,
        "2b2022ec c5f5ac9e c6814034 c2abd873 dcc638d2 c40fcb19 c1220f7e 68463a8a",
    ),
    (
        "床前明月光 疑是地上霜",
        Shingling("words", 3),
        LAST_SEED,
        "c658cb8e cb972a7a d07d8f47 c2aa9431 cd97fedf 9ee56715 c288b494 c005b6e3",
    ),
    (
        "to be to be to be",
        Shingling("chars", 2),
        1,
        "c3943099 cc2f65ed aad4289e c85b6ba4 c8743d69 ca1b032e c32f43fe c158fb92",
    ),
    (
        "to be to be to be",
        Shingling("chars", 2, multiset=True),
        1,
        "c3943099 0f7c5b6f aad4289e 815fb82c b44aa19e c4ea826b c060efcb c158fb92",
    ),
    (
        "?!",
        Shingling("words", 3),
        7,
        "c858aba7 f8367eed ff0619f2 d49516d0 d05e327d fb07ecf1 f15bf7d0 fc59ecd6",
    ),
    ("", Shingling("chars", 5), 1, " ".join(["ffffffff"] * 8)),
]

GOLDEN_STREAMS = [
    # The last rows of one block and the first of the next: rounds among lines, then rounds alone.
    (40, "c0a02920 c04a92c6 c0e10e21 3f30b094 49f3b1fd a109dfc7 c0439723 c01d056a"),
    (2000, "0fcdfe91 01fe99db 0a26aa04 001da1b3 05fde4e8 0623b545 00958396 03b305a0"),
]


@pytest.mark.parametrize(("text", "shingling", "seed", "rows"), GOLDEN)
def test_signatures_never_change(text, shingling, seed, rows):
    signatures, _ = sign_texts(documents_of([text]), shingling, rows=8, seed=seed)
    assert " ".join(f"{row:08x}" for row in signatures[0]) == rows


@pytest.mark.parametrize(("size", "rows"), GOLDEN_STREAMS)
def test_signatures_of_more_than_one_block_never_change(size, rows):
    one = {twins.value(9, i) for i in range(size)}
    (signature,) = sign_sets(sets_of([one]), rows=132, seed=5)
    assert " ".join(f"{row:08x}" for row in signature[-8:]) == rows


class TestTheSameWhateverTheWay:
    SHINGLINGS = (Shingling("chars", 4, multiset=True), Shingling("words", 2))

    @pytest.mark.parametrize("shingling", SHINGLINGS)
    def test_one_document_at_a_time_or_all_at_once(self, shingling):
        together, counts = sign_texts(documents_of(VERSES), shingling, rows=45, seed=5)
        for row, text in enumerate(VERSES):
            alone, count = sign_texts(documents_of([text]), shingling, rows=45, seed=5)
            assert np.array_equal(alone[0], together[row])
            assert count[0] == counts[row]

    @pytest.mark.parametrize("shingling", SHINGLINGS)
    @pytest.mark.parametrize("threads", THREADS)
    @pytest.mark.parametrize("piece", [1, 7, 50, 1 << 20])
    def test_any_threads_and_any_piece(self, monkeypatch, shingling, threads, piece):
        documents = documents_of(VERSES)
        expected, counts = sign_texts(documents, shingling, rows=45, seed=5)
        monkeypatch.setattr(lookalike.sketches.minhash, "PIECE_BYTES", piece)
        signatures, again = sign_texts(documents, shingling, rows=45, seed=5, threads=threads)
        assert np.array_equal(signatures, expected)
        assert np.array_equal(again, counts)
        monkeypatch.setattr("lookalike.text.shingles.PIECE_BYTES", piece)
        sets = element_sets(documents, shingling, threads=threads)
        assert np.array_equal(sign_sets(sets, rows=45, seed=5), expected)

    @pytest.mark.parametrize("shingling", SHINGLINGS)
    def test_any_order_and_any_choice_of_documents(self, shingling):
        expected, counts = sign_texts(documents_of(VERSES), shingling, rows=45, seed=5)
        generator = np.random.default_rng(11)
        for _ in range(5):
            order = generator.permutation(len(VERSES))
            shuffled = documents_of([VERSES[row] for row in order])
            assert np.array_equal(
                sign_texts(shuffled, shingling, rows=45, seed=5)[0], expected[order]
            )
            chosen = order[: generator.integers(len(VERSES) + 1)]
            signatures, some = sign_texts(
                documents_of(VERSES), shingling, rows=45, seed=5, chosen=chosen
            )
            assert np.array_equal(signatures, expected[chosen])
            assert np.array_equal(some, counts[chosen])

    @pytest.mark.long
    def test_another_process_with_another_hash_seed(self):
        program = (
            "import hashlib, sys, pyarrow as pa, numpy as np\n"
            "from lookalike.text.normalise import normalise\n"
            "from lookalike.sketches.minhash import sign_texts\n"
            "from lookalike.text.shingles import Shingling\n"
            "np.seterr(over='ignore')\n"
            "documents = normalise(pa.array(sys.argv[1:], pa.large_string()))\n"
            "signatures, _ = sign_texts(documents, Shingling('chars', 4), rows=45, seed=5)\n"
            "print(hashlib.sha256(signatures.tobytes()).hexdigest())\n"
        )
        here, _ = sign_texts(documents_of(VERSES), Shingling("chars", 4), rows=45, seed=5)
        for hash_seed in ("0", "4242"):
            there = subprocess.run(
                [sys.executable, "-c", program, *VERSES],
                env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"},
                capture_output=True,
                check=True,
                text=True,
            )
            assert there.stdout.strip() == hashlib.sha256(here.tobytes()).hexdigest()

    @pytest.mark.parametrize("multiset", [False, True])
    def test_the_caller_s_arrays_are_not_changed(self, multiset):
        documents = documents_of(VERSES)
        chosen = np.array([4, 0, 0, 3])
        arrays: list[Any] = [documents.data, documents.offsets, chosen]
        before = [array.copy() for array in arrays]
        shingling = Shingling("chars", 2, multiset)
        sign_texts(documents, shingling, rows=40, seed=1, chosen=chosen)
        for array, copy in zip(arrays, before, strict=True):
            assert np.array_equal(array, copy)
        sets = element_sets(documents, shingling)
        elements, offsets = sets.elements.copy(), sets.offsets.copy()
        sign_sets(sets, rows=40, seed=1)
        assert np.array_equal(sets.elements, elements)
        assert np.array_equal(sets.offsets, offsets)


@given(st.lists(st.text("aab é一.", max_size=40), max_size=5), st.data())
def test_a_multiset_is_signed_as_the_set_of_its_elements(some, data):
    unit, size = data.draw(st.sampled_from(["chars", "words"])), data.draw(st.integers(1, 4))
    shingling = Shingling(unit, size, multiset=True)
    documents = documents_of(some)
    signatures, counts = sign_texts(documents, shingling, rows=20, seed=3)
    hashes = twins.char_hashes if unit == "chars" else twins.word_hashes
    expected = [twins.elements(hashes(text, size), multiset=True) for text in some]
    assert counts.tolist() == [len(one) for one in expected]
    assert np.array_equal(signatures, sign_sets(sets_of(expected), rows=20, seed=3))


class TestNothingToSign:
    @pytest.mark.parametrize("unit", ["chars", "words"])
    @pytest.mark.parametrize("multiset", [False, True])
    def test_a_document_without_shingles_has_the_largest_value_in_every_row(self, unit, multiset):
        shingling = Shingling(unit, 3, multiset)
        signatures, counts = sign_texts(documents_of(["", "abc", ""]), shingling, rows=70, seed=2)
        assert (signatures[[0, 2]] == 2**32 - 1).all()
        assert (signatures[1] != 2**32 - 1).any()
        assert counts.tolist() == [0, 1, 0]
        assert (sign_sets(sets_of([set(), {5}]), rows=70, seed=2)[0] == 2**32 - 1).all()

    def test_no_documents_have_no_signatures(self):
        signatures, counts = sign_texts(documents_of([]), Shingling("chars", 3), rows=7, seed=2)
        assert signatures.shape == (0, 7)
        assert counts.shape == (0,)
        nothing = Sets(np.empty(0, np.uint64), np.zeros(1, np.int64))
        assert sign_sets(nothing, rows=7, seed=2).shape == (0, 7)


class TestSimilarity:
    def test_it_is_the_share_of_equal_rows(self):
        first = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.uint32)
        second = np.array([[1, 2, 3, 5], [8, 7, 6, 5]], np.uint32)
        assert similarity(first, second).tolist() == [0.75, 0.0]
        assert similarity(first, first).tolist() == [1.0, 1.0]
        assert similarity(first[0], second).tolist() == [0.75, 0.0]

    def test_signatures_of_different_length_are_refused(self):
        with pytest.raises(SettingsError, match="of 4 and 5 rows cannot be compared: make both"):
            similarity(np.zeros((2, 4), np.uint32), np.zeros((2, 5), np.uint32))
