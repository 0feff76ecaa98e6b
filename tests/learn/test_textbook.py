"""The textbook method: its own worked examples, its theorem, and the tables that are shown."""

import ast
import io
import math
import unicodedata
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from lookalike.base.errors import SettingsError
from lookalike.learn import textbook
from lookalike.learn.lesson import lesson
from lookalike.learn.textbook import CharacteristicMatrix, HashFunction, SignatureMatrix

FOUR_ROWS = {"file1": {"s1", "s3"}, "file2": {"s3"}, "file3": {"s1", "s2", "s4"}}
FIVE_ROWS = {"S1": set("ad"), "S2": set("ce"), "S3": set("bde"), "S4": set("acd")}
BOOK_ROWS = FIVE_ROWS | {"S2": set("c")}
# The book counts rows from 0 and hashes them with x + 1 and 3x + 1 modulo 5.
BOOK_FUNCTIONS = (HashFunction(1, 0, 5), HashFunction(3, 3, 5))
FOXES = {
    "a": "The quick brown fox jumps over the lazy dog.",
    "b": "The quick  brown fox JUMPS over the lazy dog!",
    "c": "A slow red hen.",
    "d": "",
}
STORY = "The quick brown fox jumps over the lazy dog, and the dog sleeps on in the sun."
NEAR = {"one.txt": STORY, "two.txt": STORY.replace("sun", "sunny yard")}
EIGHT = {f"a/long/path/to/document-{i}.txt": STORY[i * 4 :] * 40 for i in range(8)}

small_sets = st.dictionaries(
    st.sampled_from(["p", "q", "r", "s"]), st.sets(st.sampled_from("abcde")), min_size=2
)
texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


def walk_fox(documents, **changes):
    chosen: dict[str, Any] = {
        "k": 3,
        "unit": "chars",
        "rows": 2,
        "bands": 4,
        "threshold": 0.6,
        "seed": 1,
    }
    return textbook.walk(documents, **(chosen | changes))


class TestCanonicalTextAndWords:
    def test_canonical_text_is_lower_case_with_single_blanks_and_trimmed(self):
        assert textbook.canonical("\t The\u00a0 QUICK\r\n\u3000fox ") == "the quick fox"

    def test_composed_and_decomposed_accents_are_the_same_text(self):
        composed, decomposed = "Caf\u00e9 \u00c5s", "Cafe\u0301 A\u030as"
        assert composed != decomposed
        assert textbook.canonical(composed) == textbook.canonical(decomposed)

    def test_what_lower_case_makes_composable_is_composed(self):
        assert textbook.canonical("J\u030c") == "\u01f0"

    @given(texts)
    def test_canonical_text_is_its_own_canonical_text_in_nfc(self, text):
        canonical = textbook.canonical(text)
        assert textbook.canonical(canonical) == canonical
        assert unicodedata.is_normalized("NFC", canonical)

    def test_words_are_runs_of_letters_marks_and_numbers(self):
        assert textbook.words("don't stop, route 66_a — naïve x̣") == [
            *("don", "t", "stop", "route", "66", "a", "naïve", "x̣"),
        ]

    def test_every_chinese_ideograph_is_a_word(self):
        assert textbook.words("机器学习2024年，ok") == [*"机器学习", "2024", "年", "ok"]

    def test_every_kana_is_a_word_and_hangul_runs_on(self):
        assert textbook.words("ひらカタｶﾅ 한국어") == [*"ひらカタｶﾅ", "한국어"]


class TestShingles:
    def test_abcab_has_the_2_shingles_ab_bc_ca(self):
        assert textbook.shingles("abcab", 2) == ["ab", "bc", "ca", "ab"]
        assert textbook.shingle_set("abcab", 2) == {"ab", "bc", "ca"}

    def test_abcdabd_has_ab_twice_in_its_multiset_and_once_in_its_set(self):
        assert textbook.shingle_set("abcdabd", 2) == {"ab", "bc", "cd", "da", "bd"}
        assert textbook.shingle_multiset("abcdabd", 2) == Counter(ab=2, bc=1, cd=1, da=1, bd=1)

    def test_word_shingles_are_words_in_a_row(self):
        found = textbook.shingles("a rose is a rose", 2, "words")
        assert found == ["a rose", "rose is", "is a", "a rose"]

    def test_chinese_word_shingles_need_no_blanks(self):
        assert textbook.shingles("机器学习", 3, "words") == ["机 器 学", "器 学 习"]

    @pytest.mark.parametrize("unit", ["chars", "words"])
    def test_an_empty_text_has_no_shingles(self, unit):
        assert textbook.shingles("", 3, unit) == []

    def test_a_text_shorter_than_one_shingle_is_one_shingle(self):
        assert textbook.shingles("abc", 5) == ["abc"]
        assert textbook.shingles("two words.", 5, "words") == ["two words"]

    def test_a_text_of_exactly_one_shingle_is_that_shingle(self):
        assert textbook.shingles("abcde", 5) == ["abcde"]

    def test_a_text_without_words_is_one_word_shingle_itself(self):
        assert textbook.shingles("? !", 2, "words") == ["? !"]

    @given(texts.filter(bool), st.integers(1, 6))
    def test_character_shingles_are_as_many_as_there_are_places_to_begin(self, text, k):
        found = textbook.shingles(text, k)
        assert len(found) == max(1, len(text) - k + 1)
        assert all(text[at : at + k] == shingle for at, shingle in enumerate(found))

    def test_a_shingle_of_nothing_or_of_an_unknown_unit_is_refused(self):
        with pytest.raises(SettingsError, match="give a size of 1 or more"):
            textbook.shingles("abc", 0)
        with pytest.raises(SettingsError, match='the unit is "chars" or "words"'):
            textbook.shingles("abc", 2, "lines")


class TestSimilarity:
    def test_empty_is_similar_to_nothing_not_even_to_itself(self):
        empty: set[str] = set()
        assert textbook.jaccard(empty, empty) == textbook.jaccard(empty, {"a"}) == 0
        assert textbook.containment(empty, {"a"}) == textbook.containment({"a"}, empty) == 0
        assert textbook.multiset_jaccard(Counter(), Counter()) == 0

    def test_containment_is_the_share_of_the_first_in_the_second(self):
        assert textbook.containment({"a", "b"}, {"b", "c", "d"}) == 0.5
        assert textbook.containment({"b", "c", "d"}, {"a", "b"}) == pytest.approx(1 / 3)

    def test_multisets_divide_smaller_counts_by_larger_ones(self):
        assert textbook.multiset_jaccard(Counter("aaab"), Counter("aabbc")) == 3 / 6

    @given(st.text("abc"), st.text("abc"))
    def test_multiset_similarity_is_set_similarity_of_numbered_occurrences(self, one, other):
        def numbered(text):
            return {(c, i) for c, count in Counter(text).items() for i in range(count)}

        expected = textbook.jaccard(numbered(one), numbered(other))
        assert textbook.multiset_jaccard(Counter(one), Counter(other)) == expected


class TestCharacteristicMatrix:
    def test_rows_are_sorted_shingles_and_columns_are_documents(self):
        matrix = CharacteristicMatrix.of(FIVE_ROWS)
        assert matrix.shingles == tuple("abcde")
        assert matrix.columns == ("S1", "S2", "S3", "S4")
        assert matrix.cells == (
            (1, 0, 0, 1),
            (0, 0, 1, 0),
            (0, 1, 0, 1),
            (1, 0, 1, 1),
            (0, 1, 1, 0),
        )

    def test_the_five_row_table_has_its_jaccard_similarities(self):
        matrix = CharacteristicMatrix.of(FIVE_ROWS)
        expected = {"12": 0, "13": 1 / 4, "14": 2 / 3, "23": 1 / 4, "24": 1 / 4, "34": 1 / 5}
        found = {x + y: matrix.jaccard(f"S{x}", f"S{y}") for x, y in combinations("1234", 2)}
        assert found == expected

    def test_row_types_are_counted_as_both_first_only_and_second_only(self):
        assert CharacteristicMatrix.of(FIVE_ROWS).row_types("S3", "S4") == (1, 2, 2)

    @given(small_sets)
    def test_counting_rows_gives_the_jaccard_similarity_of_the_sets(self, sets):
        matrix = CharacteristicMatrix.of(sets)
        for one, other in combinations(sets, 2):
            assert matrix.jaccard(one, other) == textbook.jaccard(sets[one], sets[other])


class TestPermutations:
    def test_the_order_4_3_1_2_finds_a_first_1_at_places_2_2_and_1(self):
        matrix = CharacteristicMatrix.of(FOUR_ROWS)
        minhashes = textbook.minhash_by_permutation(matrix, (4, 3, 1, 2))
        assert minhashes == {"file1": 2, "file2": 2, "file3": 1}

    def test_the_order_beadc_finds_the_rows_a_c_b_a(self):
        matrix = CharacteristicMatrix.of(BOOK_ROWS)
        minhashes = textbook.minhash_by_permutation(matrix, (2, 5, 1, 4, 3))
        assert ["beadc"[int(place) - 1] for place in minhashes.values()] == [*"acba"]

    @settings(max_examples=30, deadline=None)
    @given(small_sets)
    def test_over_all_orders_equal_minhashes_are_exactly_as_frequent_as_jaccard_says(self, sets):
        matrix = CharacteristicMatrix.of(sets)
        orders = list(permutations(range(1, len(matrix.cells) + 1)))
        equal: Counter[tuple[str, str]] = Counter()
        for order in orders:
            minhashes = textbook.minhash_by_permutation(matrix, order)
            for one, other in combinations(sets, 2):
                equal[one, other] += minhashes[one] == minhashes[other] < math.inf
        for one, other in combinations(sets, 2):
            union = sets[one] | sets[other]
            exact = Fraction(len(sets[one] & sets[other]), len(union)) if union else Fraction(0)
            assert Fraction(equal[one, other], len(orders)) == exact

    def test_a_column_without_ones_has_an_infinite_minhash(self):
        matrix = CharacteristicMatrix.of({"some": {"a"}, "none": set()})
        assert textbook.minhash_by_permutation(matrix, [1]) == {"some": 1, "none": math.inf}

    @pytest.mark.parametrize("order", [(1, 2, 3), (1, 2, 3, 3), (0, 1, 2, 3)])
    def test_an_order_that_does_not_name_each_row_once_is_refused(self, order):
        with pytest.raises(SettingsError, match="each row from 1 to 4 once"):
            textbook.minhash_by_permutation(CharacteristicMatrix.of(FOUR_ROWS), order)


class TestRowByRow:
    def test_the_book_s_example_goes_through_the_book_s_steps(self):
        steps = list(textbook.row_by_row(CharacteristicMatrix.of(BOOK_ROWS), BOOK_FUNCTIONS))
        no = (math.inf, math.inf)
        assert [step.hashes for step in steps] == [(), (1, 1), (2, 4), (3, 2), (4, 0), (0, 3)]
        assert [tuple(step.signatures.columns.values()) for step in steps] == [
            (no, no, no, no),
            ((1, 1), no, no, (1, 1)),
            ((1, 1), no, (2, 4), (1, 1)),
            ((1, 1), (3, 2), (2, 4), (1, 1)),
            ((1, 0), (3, 2), (2, 0), (1, 0)),
            ((1, 0), (3, 2), (0, 0), (1, 0)),
        ]

    def test_the_share_of_equal_rows_is_the_book_s_estimate(self):
        matrix = CharacteristicMatrix.of(BOOK_ROWS)
        signatures = textbook.signatures_by_hashing(matrix, BOOK_FUNCTIONS)
        assert signatures.similarity("S1", "S4") == 1
        assert signatures.similarity("S1", "S3") == 0.5
        assert signatures.similarity("S1", "S2") == 0

    @given(small_sets, st.integers(0, 2**32))
    def test_it_ends_with_the_smallest_hash_of_each_column_s_rows(self, sets, seed):
        matrix = CharacteristicMatrix.of(sets)
        functions = textbook.hash_functions(6, len(matrix.cells), Random(seed))
        signatures = textbook.signatures_by_hashing(matrix, functions)
        number = {shingle: row for row, shingle in enumerate(matrix.shingles, start=1)}
        for name, has in sets.items():
            expected = [min((h(number[s]) for s in has), default=math.inf) for h in functions]
            assert list(signatures.columns[name]) == expected

    @given(small_sets, st.integers(0, 2**32))
    def test_a_hash_function_says_what_the_permutation_it_stands_for_says(self, sets, seed):
        matrix = CharacteristicMatrix.of(sets)
        rows = len(matrix.cells)
        (h,) = textbook.hash_functions(1, rows, Random(seed))
        order = sorted(range(1, rows + 1), key=h)
        hashes = [math.inf, *sorted(map(h, order))]
        by_hash = textbook.signatures_by_hashing(matrix, [h]).columns
        by_order = textbook.minhash_by_permutation(matrix, order)
        for name, place in by_order.items():
            assert by_hash[name] == (hashes[int(place)] if place < math.inf else math.inf,)

    @given(st.integers(1, 200), st.integers(0, 2**32))
    def test_no_hash_function_sends_two_rows_to_one_number(self, rows, seed):
        for h in textbook.hash_functions(5, rows, Random(seed)):
            assert len({h(row) for row in range(1, rows + 1)}) == rows

    def test_the_prime_is_the_first_one_not_below_the_number(self):
        found = [textbook.prime_at_least(n) for n in (0, 2, 4, 5, 90, 7920)]
        assert found == [2, 2, 5, 5, 97, 7927]

    def test_the_estimate_comes_near_the_similarity_with_many_rows(self):
        matrix = CharacteristicMatrix.of(
            {"one": set(map(chr, range(200))), "other": set(map(chr, range(50, 250)))}
        )
        rows = 4000
        functions = textbook.hash_functions(rows, len(matrix.cells), Random(1))
        signatures = textbook.signatures_by_hashing(matrix, functions)
        assert signatures.similarity("one", "other") == pytest.approx(0.6, abs=0.03)


class TestBandsAndCandidates:
    def test_documents_meet_where_they_are_equal_in_all_rows_of_a_band(self):
        signatures = SignatureMatrix({"x": (1, 2, 3, 4), "y": (1, 9, 3, 4), "z": (1, 2, 4, 3)})
        first, second = textbook.split_in_bands(signatures, bands=2, rows=2)
        assert first.buckets == {(1, 2): ("x", "z"), (1, 9): ("y",)}
        assert second.buckets == {(3, 4): ("x", "y"), (4, 3): ("z",)}
        assert textbook.candidates([first, second]) == {("x", "z"): (1,), ("x", "y"): (2,)}

    def test_equal_pieces_in_different_bands_do_not_meet(self):
        signatures = SignatureMatrix({"x": (1, 2), "y": (2, 1)})
        assert textbook.candidates(textbook.split_in_bands(signatures, 2, 1)) == {}

    def test_two_empty_documents_are_neither_similar_nor_candidates(self):
        signatures = SignatureMatrix({"x": (math.inf, math.inf), "y": (math.inf, math.inf)})
        assert signatures.similarity("x", "y") == 0
        assert textbook.candidates(textbook.split_in_bands(signatures, 1, 2)) == {}

    @given(st.lists(st.tuples(*[st.integers(0, 2)] * 6), min_size=2, max_size=5))
    def test_a_candidate_is_any_pair_equal_in_a_whole_band_and_no_other(self, columns):
        names = [f"d{i}" for i in range(len(columns))]
        signatures = SignatureMatrix(dict(zip(names, columns, strict=True)))
        found = textbook.candidates(textbook.split_in_bands(signatures, bands=3, rows=2))
        for (x, one), (y, other) in combinations(signatures.columns.items(), 2):
            shared = tuple(b + 1 for b in range(3) if one[2 * b :][:2] == other[2 * b :][:2])
            assert found.get((x, y), ()) == shared

    def test_bands_that_do_not_fill_the_signature_are_refused(self):
        signatures = SignatureMatrix({"x": (1, 2, 3), "y": (1, 2, 3)})
        with pytest.raises(SettingsError, match="2 bands of 2 rows need 4 minhashes each"):
            textbook.split_in_bands(signatures, 2, 2)
        with pytest.raises(SettingsError, match="0 bands of 3 rows cannot be"):
            textbook.split_in_bands(signatures, 0, 3)


class TestTheSCurve:
    def test_twenty_bands_of_five_rows_miss_one_pair_in_3000_at_0_8(self):
        assert textbook.candidate_probability(0.8, 1, 5) == pytest.approx(0.328, abs=5e-4)
        assert textbook.miss_probability(0.8, 20, 5) == pytest.approx(0.000356, abs=5e-7)

    def test_twenty_bands_of_five_rows_take_one_pair_in_20_at_0_3(self):
        assert textbook.candidate_probability(0.3, 1, 5) == pytest.approx(0.00243)
        assert textbook.candidate_probability(0.3, 20, 5) == pytest.approx(0.0475, abs=5e-5)

    def test_twenty_bands_of_five_rows_have_the_book_s_curve(self):
        found = [textbook.candidate_probability(s / 10, 20, 5) for s in range(2, 9)]
        expected = [0.006, 0.047, 0.186, 0.470, 0.802, 0.975, 0.9996]
        assert found == pytest.approx(expected, abs=6e-4)

    def test_the_threshold_is_near_one_over_b_to_one_over_r(self):
        assert textbook.curve_threshold(16, 4) == 0.5
        assert textbook.curve_threshold(20, 5) == pytest.approx(0.549, abs=5e-4)

    @given(st.integers(1, 60), st.integers(1, 12))
    def test_the_probability_at_the_midpoint_is_one_half(self, bands, rows):
        midpoint = textbook.curve_midpoint(bands, rows)
        assert textbook.candidate_probability(midpoint, bands, rows) == pytest.approx(0.5)

    @pytest.mark.long
    def test_candidates_are_as_frequent_as_the_curve_says(self):
        documents = {"one": "".join(map(chr, range(0x4E00, 0x4E50)))}
        documents["other"] = documents["one"][16:] + "".join(map(chr, range(0x5000, 0x5010)))
        walks = [walk_fox(documents, k=1, rows=3, bands=4, seed=seed) for seed in range(400)]
        similarity = walks[0].verification.similarities["one", "other"]
        expected = textbook.candidate_probability(similarity, 4, 3)
        share = sum(bool(walk.candidates) for walk in walks) / len(walks)
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 400))


class TestTheWholeWalk:
    def test_pairs_false_positives_and_false_negatives_are_told_apart_by_name(self):
        matrix = CharacteristicMatrix.of(FIVE_ROWS)
        found = {("S1", "S4"), ("S1", "S2")}
        verified = textbook.verify(matrix, found, threshold=0.25)
        assert verified.pairs == (("S1", "S4"),)
        assert verified.false_positives == (("S1", "S2"),)
        assert verified.false_negatives == (("S1", "S3"), ("S2", "S3"), ("S2", "S4"))

    @settings(deadline=None)
    @given(st.integers(0, 2**32), st.floats(0.05, 1))
    def test_every_candidate_is_verified_and_every_similar_pair_found_or_named_missed(
        self, seed, t
    ):
        walk = walk_fox(FOXES, seed=seed, threshold=t)
        checked = walk.verification
        similar = {pair for pair, exact in checked.similarities.items() if exact >= t}
        assert {*checked.pairs, *checked.false_positives} == set(walk.candidates)
        assert {*checked.pairs, *checked.false_negatives} == similar

    def test_the_same_seed_gives_the_same_walk_and_another_seed_another(self):
        assert walk_fox(FOXES) == walk_fox(FOXES)
        assert walk_fox(FOXES).functions != walk_fox(FOXES, seed=2).functions

    def test_documents_with_one_canonical_text_are_always_found_with_similarity_1(self):
        walk = walk_fox({"x": "Same  Text", "y": " same text"}, threshold=1)
        assert walk.verification.pairs == (("x", "y"),)
        assert walk.verification.similarities["x", "y"] == 1

    def test_an_empty_document_is_never_a_candidate(self):
        walk = walk_fox(FOXES | {"e": " \n"})
        assert not [pair for pair in walk.candidates if {"d", "e"} & set(pair)]

    @pytest.mark.parametrize("threshold", [0, -1, 1.01, math.nan])
    def test_a_threshold_outside_0_to_1_is_refused(self, threshold):
        with pytest.raises(SettingsError, match="give one above 0 and up to 1"):
            walk_fox(FOXES, threshold=threshold)

    def test_the_textbook_uses_the_standard_library_and_the_errors_alone(self):
        tree = ast.parse(Path(textbook.__file__).read_text(encoding="utf-8"))
        plain = {
            alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
        }
        named = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert plain == {"math", "re", "unicodedata"}
        assert {name for name in named if name and "lookalike" in name} == {"lookalike.base.errors"}
        assert not {"numpy", "scipy", "numba", "pyarrow"} & named


STEPS = [
    "Canonical text",
    "Shingles",
    "Characteristic matrix",
    "Exact similarity",
    "One random permutation",
    "Row by row, with hash functions",
    "Signature matrix",
    "Estimated and exact similarity",
    "Bands and buckets",
    "Candidates",
    "Verified pairs",
    "The S-curve of this banding",
    "What was missed",
    "Another road: the cosine",
    "Estimated and exact angle",
]


def shown(documents, width=80, **changes):
    chosen: dict[str, Any] = {
        "k": 5,
        "unit": "chars",
        "bands": 5,
        "rows": 4,
        "threshold": 0.8,
        "seed": 1,
    }
    output = io.StringIO()
    given_options = chosen | changes
    shingle = f"{given_options.pop('unit')}:{given_options.pop('k')}"
    taught = lesson(documents, shingle=shingle, **given_options)
    taught.show(Console(file=output, width=width))
    return output.getvalue()


def widest(text):
    return max(map(cell_len, text.split("\n")))


class TestWhatIsShown:
    def test_every_step_is_named_in_order(self):
        lines = shown(NEAR).split("\n")
        headings = [line.strip() for line in lines if line[:1].isdigit() and ". " in line[:4]]
        assert headings == [f"{i}. {title}" for i, title in enumerate(STEPS, start=1)]

    @pytest.mark.parametrize("unit", ["chars", "words"])
    def test_eight_documents_fit_in_80_columns(self, unit):
        text = shown(EIGHT, unit=unit, bands=20, rows=5)
        assert widest(text) <= 80
        assert all(f"d{i}  a/long/path/to/document-{i - 1}.txt" in text for i in range(1, 9))

    @pytest.mark.long
    def test_eight_long_documents_with_large_row_numbers_fit_in_80_columns(self):
        words = Random(3).choices(range(10**6), k=12_000)
        documents = {f"d{i}": " ".join(map(str, words[i * 450 : i * 450 + 850])) for i in range(8)}
        text = shown(documents, k=9, bands=2, rows=1)
        assert widest(text) <= 80
        assert "…" not in text
        steps = text[text.index("Row by row") : text.index("Signature matrix")]
        assert [line.count("'") for line in steps.split("\n") if "'" in line] == [2] * 5

    def test_a_wide_console_still_gets_lines_of_80(self):
        assert widest(shown(EIGHT, width=200)) <= 80

    def test_nothing_but_text_reaches_a_pipe(self):
        assert "\x1b" not in shown(NEAR)

    def test_markup_emoji_codes_and_escapes_in_documents_are_shown_as_they_are(self):
        text = shown({"[b]x[/b]": "[red]a[/red] :fox: \x1b[31m", "y\x07": "plain text"})
        assert "[b]x[/b]" in text
        assert "[red]a[/red] :fox: \\x1b[31m" in text
        assert "y\\x07" in text
        assert "\x1b" not in text

    def test_chinese_is_measured_by_the_columns_it_takes(self):
        poem = "白日依山尽黄河入海流欲穷千里目更上一层楼" * 4
        text = shown({"一": poem, "二": poem[5:] + "床前明月光"}, k=2, unit="words")
        assert widest(text) <= 80
        assert "'白 日'" in text

    def test_a_long_text_is_cut_to_50_columns(self):
        assert f"  {STORY.lower()[:47]}...\n" in shown(NEAR)

    def test_a_value_that_a_row_lowers_is_marked(self):
        walk = walk_fox(NEAR, k=5, bands=5, rows=4)
        first = next(
            row for row in shown(NEAR).split("\n") if row.startswith("  1  '") and " h1 " in row
        )
        one, other = walk.matrix.cells[0]
        value = walk.functions[0](1)
        assert first.split()[-2:] == [f"*{value}" if cell else "inf" for cell in (one, other)]

    def test_a_long_signature_is_cut_to_12_rows(self):
        text = shown(NEAR)
        signatures = text[text.index("Signature matrix") : text.index("Estimated and exact")]
        assert "\nh12 " in signatures
        assert "\nh13 " not in signatures
        assert "... and 8 more rows." in signatures

    def test_a_long_matrix_says_how_many_rows_are_left_out(self):
        height = len(textbook.shingle_set(STORY.lower(), 5) | {"x"}) - 1
        text = shown({"one": STORY, "same": STORY})
        assert f"One row for each of {height} different shingles" in text
        assert f"... and {height - 12} more rows." in text

    def test_a_found_pair_carries_its_exact_similarity(self):
        text = shown(NEAR, bands=20, rows=2)
        walk = walk_fox(NEAR, k=5)
        similarity = walk.verification.similarities["one.txt", "two.txt"]
        assert f"d1 d2      {similarity:.4f}  pair" in text
        assert "Nothing was missed: every pair that reaches 0.8 was a candidate." in text

    def test_a_missed_pair_is_shown_with_its_chance_to_be_missed(self):
        text = shown(NEAR, bands=1, rows=40)
        similarity = walk_fox(NEAR, k=5).verification.similarities["one.txt", "two.txt"]
        chance = textbook.miss_probability(similarity, 1, 40)
        assert "None: no two columns are equal in all rows of a band." in text
        assert "There was no candidate to verify." in text
        assert f"{chance:.2g}" in text[text.index("What was missed") :]

    def test_where_no_pair_reaches_the_threshold_there_is_nothing_to_miss(self):
        text = shown({"x": "entirely one thing", "y": "something else again"})
        assert "There was nothing to miss: no pair reaches 0.8." in text

    @pytest.mark.parametrize("count", [0, 1, 9])
    def test_too_few_or_too_many_documents_are_refused_with_their_number(self, count):
        noun = "document" if count == 1 else "documents"
        with pytest.raises(SettingsError, match=f"given {count} {noun} and shows 2 to 8"):
            shown({f"d{i}": "text" for i in range(count)})

    @pytest.mark.long
    @settings(max_examples=40, deadline=None)
    @given(
        st.dictionaries(st.text(max_size=100), st.text(max_size=90), min_size=2, max_size=8),
        st.sampled_from(["chars", "words"]),
        st.integers(1, 4),
    )
    def test_whatever_the_documents_every_step_is_shown_in_80_columns(self, documents, unit, k):
        text = shown(documents, unit=unit, k=k)
        assert widest(text) <= 80
        assert all(title in text for title in STEPS)


class TestHyperplanes:
    def test_the_angle_of_counts(self):
        a, b = Counter(x=3, y=4), Counter(x=4, y=3)
        assert textbook.angle(a, b) == pytest.approx(math.degrees(math.acos(24 / 25)))
        assert textbook.angle(a, a) == pytest.approx(0, abs=1e-5)
        assert textbook.angle(Counter("ab"), Counter("cd")) == pytest.approx(90)
        assert textbook.angle(Counter(), Counter("cd")) == 90

    def test_a_sketch_has_a_sign_for_each_hyperplane(self):
        normals = [{"x": 1.0, "y": -2.0}, {"x": -1.0, "y": 0.5}, {"x": 0.0, "y": 0.0}]
        assert textbook.sides(Counter(x=1, y=1), normals) == "--+"
        assert textbook.sides(Counter(x=3, y=1), normals) == "+-+"

    def test_the_estimate_is_the_share_of_signs_that_differ(self):
        assert textbook.angle_by_sketches("++--", "++--") == 0
        assert textbook.angle_by_sketches("++--", "+---") == 45
        assert textbook.angle_by_sketches("++--", "--++") == 180

    def test_hyperplanes_part_two_vectors_as_often_as_their_angle_says(self):
        a, b = Counter(x=3, y=1), Counter(x=1, y=2, z=1)
        normals = textbook.random_normals(20_000, {"x", "y", "z"}, Random(3))
        exact = textbook.angle(a, b)
        estimate = textbook.angle_by_sketches(
            textbook.sides(a, normals), textbook.sides(b, normals)
        )
        share = exact / 180
        # Five standard errors: one false alarm in two million, were the seed not fixed.
        assert abs(estimate - exact) < 5 * 180 * math.sqrt(share * (1 - share) / 20_000)

    def test_a_walk_sketches_every_document_by_the_same_hyperplanes(self):
        texts = {"a": "abcab", "b": "abcab", "c": "zzzz"}
        found = textbook.walk(texts, k=2, unit="chars", rows=2, bands=2, threshold=0.5, seed=1)
        assert found.counts["a"] == Counter({"ab": 2, "bc": 1, "ca": 1})
        assert found.sketches["a"] == found.sketches["b"] != found.sketches["c"]
        assert {len(one) for one in found.sketches.values()} == {textbook.HYPERPLANES}
