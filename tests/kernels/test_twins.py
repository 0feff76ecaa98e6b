"""The twins are checked by hand, by definition and by numbers other code computed.

The long constants come from a separate C program written from docs/hashing.md; those of the
stream are SplitMix64's published ones.
"""

import random
import unicodedata
from fractions import Fraction

import pytest

import twins

EMPTY = 2**32 - 1


def unshift(y: int, by: int) -> int:
    """Undo x ^= x >> by: repeat the shift until it cancels."""
    x = y
    for _ in range(64 // by + 1):
        x = y ^ (x >> by)
    return x


def unmix(x: int) -> int:
    """Undo mix: invert the multiplications and the shifts."""
    x = unshift(x, 31)
    x = x * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    x = unshift(x, 27)
    x = x * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return unshift(x, 30)


def unspread(x: int) -> int:
    """Undo spread."""
    x = unshift(x, 29)
    return unshift(x * pow(0x94D049BB133111EB, -1, 2**64) % 2**64, 32)


class TestCanonical:
    def test_lower_case_single_blanks_and_trimmed_ends_by_default(self):
        assert twins.canonical("  The\tQuick \r\n\n Fox! ") == "the quick fox!"

    def test_composed_and_decomposed_texts_become_the_same(self):
        assert twins.canonical("Cafe\u0301") == twins.canonical("CAFÉ") == "café"

    def test_lower_casing_is_followed_by_composing_again(self):
        assert unicodedata.normalize("NFC", "J\u030c") == "J\u030c"
        assert twins.canonical("J\u030c") == "\u01f0"

    def test_a_capital_sigma_at_the_end_of_a_word_becomes_the_final_one(self):
        assert twins.canonical("ΟΔΟΣ ΟΔΟΣ") == "οδος οδος"

    def test_exactly_the_white_space_property_counts_as_a_blank(self):
        python_white = {chr(c) for c in range(0x110000) if chr(c).isspace()}
        white = {chr(c) for c in range(0x3100) if twins.canonical(f"a{chr(c)}b") == "a b"}
        assert len(white) == 25
        # Python's own idea of white space has four separators more.
        assert python_white - set("\x1c\x1d\x1e\x1f") == white
        assert twins.canonical("a\x1cb\x1dc\x1ed\x1fe") == "a\x1cb\x1dc\x1ed\x1fe"

    def test_zero_width_characters_are_not_blanks(self):
        assert twins.canonical("a\u200bb\ufeffc\u180ed") == "a\u200bb\ufeffc\u180ed"

    def test_kept_case_is_kept(self):
        assert twins.canonical(" The  Fox ", keep_case=True) == "The Fox"

    def test_punctuation_and_symbols_count_as_blanks(self):
        assert twins.canonical("Don't—pay $5+tax!", strip_punctuation=True) == "don t pay 5 tax"
        assert twins.canonical("?!", strip_punctuation=True) == ""

    def test_numbers_of_every_kind_count_as_blanks(self):
        assert twins.canonical("a1b٣c½dⅣe²f", strip_digits=True) == "a b c d e f"

    def test_accents_go_and_marks_of_other_scripts_stay(self):
        assert twins.canonical("Crème Brûlée Ångström Việt", strip_accents=True) == (
            "creme brulee angstrom viet"
        )
        for kept in ("हिन्दी", "שָׁלוֹם", "مُحَمَّد", "がパ", "한국어"):
            expected = unicodedata.normalize("NFC", kept)
            assert twins.canonical(kept, strip_accents=True) == expected

    def test_a_dotted_capital_i_without_accents_is_a_plain_i(self):
        assert twins.canonical("İ") == "i\u0307"
        assert twins.canonical("İ", strip_accents=True) == "i"

    def test_raw_text_is_left_alone_whatever_else_is_asked(self):
        text = "  E\u0301 1!\n"
        assert twins.canonical(text, raw=True) == text
        assert twins.canonical(text, raw=True, strip_digits=True, strip_accents=True) == text

    def test_a_canonical_text_is_its_own_canonical_text(self):
        capitals = [chr(c) for c in range(0x110000) if chr(c).lower() != chr(c)]
        for capital in capitals:
            once = twins.canonical(f"a{capital}\u0301b")
            assert twins.canonical(once) == once


class TestWords:
    def test_a_word_is_a_run_of_letters_marks_and_numbers(self):
        assert twins.words("don't stop_at 3.14, हिन्दी ok") == [
            "don", "t", "stop", "at", "3", "14", "हिन्दी", "ok",
        ]  # fmt: skip

    def test_ideographs_and_kana_are_words_by_themselves(self):
        assert twins.words("abc漢字def カード ひら") == [
            "abc", "漢", "字", "def", "カ", "ー", "ド", "ひ", "ら",
        ]  # fmt: skip

    def test_hangul_is_written_in_words(self):
        assert twins.words("한국어 문서") == ["한국어", "문서"]

    def test_rare_ideographs_and_half_width_kana_are_words_by_themselves(self):
        assert twins.words("㐀\U00020000\uf900ｱｲ") == ["㐀", "\U00020000", "\uf900", "ｱ", "ｲ"]

    def test_the_iteration_mark_and_the_ideographic_zero_are_not_ideographs(self):
        assert twins.words("人々〇") == ["人", "々〇"]

    def test_the_katakana_middle_dot_is_no_word(self):
        assert twins.words("ア・イ") == ["ア", "イ"]

    def test_a_mark_after_an_ideograph_starts_a_run_of_its_own(self):
        assert twins.words("漢\ufe00ab") == ["漢", "\ufe00ab"]

    @pytest.mark.parametrize("text", ["", " ", "?!", "€ + _"])
    def test_a_text_without_letters_marks_or_numbers_has_no_words(self, text):
        assert twins.words(text) == []


class TestMixing:
    def test_the_stream_is_splitmix64(self):
        assert [twins.value(0, i) for i in range(4)] == [
            0xE220A8397B1DCDAF,
            0x6E789E6AA1B965F4,
            0x06C45D188009454F,
            0xF88BB8A8724C81EC,
        ]
        assert [twins.value(1234567, i) for i in range(3)] == [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
        ]

    def test_mix_can_be_undone(self):
        generator = random.Random(1)
        samples = [0, 1, 2**63, 2**64 - 1, *(generator.getrandbits(64) for _ in range(1000))]
        for x in samples:
            assert twins.mix(x) < 2**64
            assert unmix(twins.mix(x)) == x
            assert twins.mix(unmix(x)) == x

    def test_spread_can_be_undone(self):
        generator = random.Random(2)
        samples = [0, 1, 2**32, twins.P - 1, *(generator.getrandbits(64) for _ in range(1000))]
        for x in samples:
            assert twins.spread(x) < 2**64
            assert unspread(twins.spread(x)) == x
            assert twins.spread(unspread(x)) == x


class TestCharacterShingles:
    def test_the_base_is_the_first_of_the_stream_of_0_modulo_p(self):
        assert twins.B == 0xE220A8397B1DCDAF % (2**61 - 1) == 0x220A8397B1DCDB6

    def test_the_polynomial_of_up_to_three_is_the_one_written_out(self):
        b = twins.B
        p = 2**61 - 1
        assert twins.polynomial([5]) == 5
        assert twins.polynomial([5, 7]) == (5 * b + 7) % p
        assert twins.polynomial([5, 7, 11]) == (5 * b * b + 7 * b + 11) % p
        assert twins.polynomial([p]) == 0

    def test_a_window_rolls_on_by_one_multiplication(self):
        text = "rolling hash 滚动"
        k = 5
        fingerprints = [unspread(h) for h in twins.char_hashes(text, k)]
        for i in range(len(text) - k):
            c_out, c_in = ord(text[i]), ord(text[i + k])
            rolled = fingerprints[i] * twins.B + (c_in + 1) - (c_out + 1) * twins.B**k
            assert rolled % (2**61 - 1) == fingerprints[i + 1]

    def test_abcab_has_four_windows_of_two_and_three_shingles(self):
        ab, bc, ca = 0x961F8DE43997A758, 0x68EAA23DE54A6927, 0x65F4CD23A4B4CBF8
        hashes = twins.char_hashes("abcab", 2)
        assert hashes == [ab, bc, ca, ab]
        assert twins.elements(hashes, multiset=False) == {ab, bc, ca}

    def test_a_text_of_k_characters_and_a_shorter_one_are_one_shingle(self):
        assert twins.char_hashes("abc", 3) == twins.char_hashes("abc", 9)
        assert len(twins.char_hashes("abc", 3)) == 1
        assert twins.char_hashes("a", 5) == [twins.spread(ord("a") + 1)]

    def test_an_empty_text_has_no_shingles(self):
        assert twins.char_hashes("", 5) == []

    def test_a_null_character_at_the_front_counts(self):
        assert twins.char_hashes("\0a", 5) != twins.char_hashes("a", 5)

    def test_characters_beyond_the_basic_plane_are_one_code_point(self):
        assert len(twins.char_hashes("😀😀😀", 2)) == 2
        assert twins.char_hashes("😀", 5) == [twins.spread(0x1F600 + 1)]

    def test_single_characters_are_mixed_as_well(self):
        assert twins.char_hashes("ab", 1) == [twins.mix(twins.spread(ord(c) + 1)) for c in "ab"]


class TestWordShingles:
    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            ("a", 0x0D80B22C3C98A8B0),
            ("near", 0x0A4CFDCCD51EFF83),
            ("abcdefgh", 0x12E7E90C461B5767),
            ("duplicates", 0x1B8A27E05231F608),
            ("诗", 0x012D92D108F525A4),
        ],
    )
    def test_a_words_number_is_the_one_another_program_computes(self, word, expected):
        assert twins.word_value(word) == expected

    def test_chunks_are_little_endian_and_the_last_is_padded(self):
        assert twins.chunks(b"") == []
        assert twins.chunks(b"\x01\x02") == [0x0201]
        assert twins.chunks(b"abcdefgh") == [int.from_bytes(b"abcdefgh", "little")]
        assert twins.chunks(b"abcdefghi") == [int.from_bytes(b"abcdefgh", "little"), ord("i")]

    def test_the_words_of_a_shingle_are_joined_by_the_polynomial(self):
        near, duplicates = twins.word_value("near"), twins.word_value("duplicates")
        expected = twins.spread((near * twins.B + duplicates) % (2**61 - 1))
        assert twins.word_hashes("near duplicates", 2) == [expected] == [0xDA14A2682FF1ECA5]

    def test_n_words_have_n_minus_k_plus_1_shingles(self):
        assert len(twins.word_hashes("a rose is a rose is a rose", 4)) == 5
        assert len(set(twins.word_hashes("a rose is a rose is a rose", 4))) == 3

    def test_fewer_than_k_words_are_one_shingle(self):
        assert twins.word_hashes("near duplicates", 5) == twins.word_hashes("near duplicates", 2)

    def test_what_stands_between_words_does_not_matter(self):
        assert twins.word_hashes("near, duplicates!", 2) == twins.word_hashes("near duplicates", 2)

    def test_a_text_without_words_is_one_shingle_of_all_its_characters(self):
        assert twins.word_hashes("?!", 3) == [0xA0668D79D21E574E] == twins.char_hashes("?!", 2)
        assert len(twins.word_hashes("?!?!?!", 1)) == 1

    def test_an_empty_text_has_no_shingles(self):
        assert twins.word_hashes("", 3) == []


class TestTokens:
    # The first half of a content fingerprint is taken in the same way, and was computed elsewhere.
    @pytest.mark.parametrize(
        ("token", "expected"),
        [("", 0), ("abcdefgh", 0x0ABA0C1030DDE094), ("near duplicates", 0x0A17737467CBE98F)],
    )
    def test_a_tokens_hash_is_the_one_another_program_computes(self, token, expected):
        assert twins.token_hash(token) == expected
        assert twins.content_fingerprint(token)[0] == expected

    def test_a_document_is_its_sorted_hashes_in_eight_bytes_each(self):
        expected = (0x0A17737467CBE98F, 0x0ABA0C1030DDE094)
        tokens = ["abcdefgh", None, "near duplicates", "abcdefgh"]
        document = b"".join(h.to_bytes(8, "little") for h in expected)
        assert twins.token_document(tokens, multiset=False) == document
        assert twins.token_document(tokens, multiset=True) == document + document[8:]
        assert twins.token_document(None, multiset=True) == b""


class TestElements:
    def test_what_is_ignored_is_gone_before_occurrences_are_numbered(self):
        assert twins.elements([5, 7, 5, 7, 7], multiset=False, ignored=frozenset([7])) == {5}
        left = twins.elements([5, 7, 5, 7, 7], multiset=True, ignored=frozenset([7]))
        assert left == twins.elements([5, 5], multiset=True)
        assert len(left) == 2

    def test_a_set_forgets_how_often(self):
        assert len(twins.elements(twins.char_hashes("aaaa", 2), multiset=False)) == 1

    def test_a_multiset_has_one_element_for_every_occurrence(self):
        (h,) = set(twins.char_hashes("aaaa", 2))
        expected = {h, twins.mix(h + twins.GOLDEN), twins.mix(h + 2 * twins.GOLDEN)}
        assert twins.elements(twins.char_hashes("aaaa", 2), multiset=True) == expected
        assert len(expected) == 3

    def test_the_similarity_of_multisets_is_minimum_counts_over_maximum_counts(self):
        three = twins.elements(twins.char_hashes("aaab", 1), multiset=True)
        one = twins.elements(twins.char_hashes("abb", 1), multiset=True)
        assert twins.jaccard(three, one) == Fraction(1 + 1, 3 + 2)
        assert twins.containment(three, one) == Fraction(2, 4)

    def test_similarities_are_shares_of_the_union_and_of_the_first(self):
        assert twins.jaccard({1, 2, 3}, {2, 3, 4, 5}) == Fraction(2, 5)
        assert twins.containment({1, 2, 3}, {2, 3, 4, 5}) == Fraction(2, 3)
        assert twins.containment({2, 3, 4, 5}, {1, 2, 3}) == Fraction(2, 4)

    def test_nothing_is_similar_to_an_empty_document(self):
        assert twins.jaccard(set(), set()) == twins.jaccard(set(), {1}) == 0
        assert twins.containment(set(), {1}) == twins.containment({1}, set()) == 0


class TestSignatures:
    ABCAB = (0xD3525A41, 0xCD52CF6C, 0xC0A1A95B, 0xC1C742D1)

    def test_the_rows_are_those_another_program_computes(self):
        document = twins.elements(twins.char_hashes("abcab", 2), multiset=False)
        assert twins.signature(document, 7, 4) == list(self.ABCAB)

    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            # The last two rows of one block, and the first four of the next.
            (40, (0xC0E10E21, 0x3F30B094, 0x49F3B1FD, 0xA109DFC7, 0xC0439723, 0xC01D056A)),
            (2000, (0x0A26AA04, 0x001DA1B3, 0x05FDE4E8, 0x0623B545, 0x00958396, 0x03B305A0)),
        ],
    )
    def test_so_are_those_of_the_second_block(self, size, expected):
        document = {twins.value(9, i) for i in range(size)}
        assert twins.signature(document, 5, 132)[126:] == list(expected)

    def test_the_keys_are_those_another_program_computes(self):
        assert twins.band_keys(list(self.ABCAB), 2, 2) == [0x2398601C5C26AECD, 0x2C8D4D06311DD6A0]

    def test_an_element_is_thrown_to_three_rows_and_is_its_line_in_the_others(self):
        element = 0x0123456789ABCDEF
        expected = []
        for i in range(128):
            a = (twins.value(3, 2 * i) % 2**32) | 1
            b = twins.value(3, 2 * i + 1) % 2**32
            expected.append(3 * 2**30 + (0x89ABCDEF * a + b) % 2**32 // 4)
        for throw in (2, 1, 0):  # the first, which is the least, is written last
            factor, term = (twins.value(3 + 0xE7037ED1A0B428DB, 2 * throw + i) for i in (0, 1))
            thrown = ((factor | 1) * element + term) % 2**64
            expected[thrown // 2**57] = throw * 2**30 + thrown % 2**30
        assert twins.signature({element}, 3, 128) == expected
        assert sum(row < 3 * 2**30 for row in expected) == 3

    def test_what_is_thrown_counts_for_less_than_any_later_throw_and_any_line(self):
        few, many = ({twins.value(9, i) for i in range(n)} for n in (40, 2000))
        turns = [row >> 30 for row in twins.signature(few, 1, 128)]
        assert sorted(set(turns)) == [0, 1, 2, 3]
        assert {row >> 30 for row in twins.signature(many, 1, 128)} == {0}
        more = [row >> 30 for row in twins.signature(few | many, 1, 128)]
        assert all(after <= before for after, before in zip(more, turns, strict=True))

    def test_blocks_of_rows_throw_by_themselves(self):
        rows = twins.signature({5}, 1, 384)
        thrown = [
            tuple(i for i in range(128) if rows[block + i] < 3 * 2**30) for block in (0, 128, 256)
        ]
        assert len(set(thrown)) == 3

    def test_a_longer_signature_begins_with_the_shorter_one(self):
        document = {twins.value(9, i) for i in range(20)}
        assert twins.signature(document, 1, 8)[:5] == twins.signature(document, 1, 5)

    def test_the_signature_of_a_union_is_the_minimum_of_the_signatures(self):
        a = {twins.value(9, i) for i in range(20)}
        b = {twins.value(9, i) for i in range(10, 40)}
        rows = zip(twins.signature(a, 1, 16), twins.signature(b, 1, 16), strict=True)
        assert twins.signature(a | b, 1, 16) == [min(pair) for pair in rows]

    def test_an_empty_document_has_the_greatest_value_in_every_row(self):
        assert twins.signature(set(), 1, 3) == [EMPTY] * 3

    def test_equal_rows_estimate_the_similarity(self):
        a = {twins.value(9, i) for i in range(60)}
        b = {twins.value(9, i) for i in range(20, 80)}
        rows = zip(twins.signature(a, 5, 1000), twins.signature(b, 5, 1000), strict=True)
        assert sum(x == y for x, y in rows) / 1000 == pytest.approx(0.5, abs=0.06)

    def test_bands_with_the_same_rows_have_the_same_key(self):
        keys = twins.band_keys([1, 2, 1, 2, 2, 1], 3, 2)
        assert keys[0] == keys[1] != keys[2]

    def test_too_short_a_signature_has_no_keys(self):
        with pytest.raises(ValueError, match="shorter"):
            twins.band_keys([1, 2, 3], 2, 2)


class TestContentFingerprint:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", (0x0000000000000000, 0x68850AC74E2E5A26)),
            ("abcdefgh", (0x0ABA0C1030DDE094, 0x1BE48EFE3D8CB95F)),
            ("near duplicates", (0x0A17737467CBE98F, 0x65C08A3C2002975D)),
        ],
    )
    def test_it_is_the_one_another_program_computes(self, text, expected):
        assert twins.content_fingerprint(text) == expected

    def test_padding_and_null_characters_are_told_apart(self):
        texts = ["a", "a\0", "a\0\0", "", "\0"]
        assert len({twins.content_fingerprint(text) for text in texts}) == len(texts)


class TestCandidates:
    def test_all_rows_of_one_band_must_agree(self):
        signatures = [[1, 2, 3, 4], [1, 2, 9, 9], [9, 2, 3, 9], [8, 8, 3, 4]]
        assert twins.candidates(signatures, 2, 2) == {(0, 1), (0, 3)}
        assert twins.candidates(signatures, 1, 4) == set()
        one_row_is_enough = {(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)}
        assert twins.candidates(signatures, 4, 1) == one_row_is_enough

    def test_equal_rows_in_different_bands_make_no_candidate(self):
        assert twins.candidates([[1, 2, 3, 4], [3, 4, 1, 2]], 2, 2) == set()

    def test_empty_documents_are_never_candidates(self):
        empty = [EMPTY] * 4
        assert twins.candidates([empty, [1, 2, 3, 4], empty, [1, 2, 5, 6]], 2, 2) == {(1, 3)}

    def test_a_document_with_one_greatest_row_is_not_empty(self):
        assert twins.candidates([[EMPTY, 1], [EMPTY, 2]], 2, 1) == {(0, 1)}


class TestCascade:
    def test_an_and_then_an_or_are_bands(self):
        generator = random.Random(2)
        for _ in range(200):
            a = [generator.randrange(2) for _ in range(12)]
            b = [generator.randrange(2) for _ in range(12)]
            assert twins.cascade_holds(a, b, [("and", 4), ("or", 3)]) == (
                (0, 1) in twins.candidates([a, b], 3, 4)
            )

    def test_an_or_then_an_and_needs_a_row_of_every_group(self):
        steps = [("or", 2), ("and", 2)]
        assert twins.cascade_holds([1, 2, 3, 4], [1, 0, 0, 4], steps)
        assert not twins.cascade_holds([1, 2, 3, 4], [1, 2, 0, 0], steps)

    def test_three_steps_are_taken_from_the_inside_out(self):
        steps = [("and", 2), ("or", 2), ("and", 2)]
        zeros = [0] * 8
        assert twins.cascade_holds(zeros, [0, 0, 1, 1, 1, 1, 0, 0], steps)
        assert not twins.cascade_holds(zeros, [0, 0, 0, 0, 0, 1, 1, 0], steps)

    def test_rows_after_the_cascade_do_not_matter(self):
        assert twins.cascade_holds([1, 2, 3], [1, 2, 9], [("and", 2)])
        assert not twins.cascade_holds([1, 2, 3], [1, 9, 3], [("and", 2)])

    def test_a_cascade_longer_than_the_signature_is_refused(self):
        with pytest.raises(ValueError, match="shorter"):
            twins.cascade_holds([1, 2, 3], [1, 2, 3], [("and", 2), ("or", 2)])


def symmetric(pairs: dict[tuple[int, int], float]) -> dict[int, dict[int, float]]:
    neighbours: dict[int, dict[int, float]] = {}
    for (i, j), similarity in pairs.items():
        neighbours.setdefault(i, {})[j] = similarity
        neighbours.setdefault(j, {})[i] = similarity
    return neighbours


class TestStar:
    def test_the_end_of_a_chain_is_kept_because_its_neighbour_is_not(self):
        neighbours = symmetric({(0, 1): 0.9, (1, 2): 0.8})
        assert twins.star([0, 1, 2], neighbours) == ([0, 2], {1: (0, 0.9)})

    def test_a_removed_document_names_one_kept_before_it(self):
        neighbours = symmetric({(0, 1): 0.8, (1, 2): 0.9})
        assert twins.star([0, 1, 2], neighbours) == ([0, 2], {1: (0, 0.8)})
        assert twins.star([0, 2, 1], neighbours) == ([0, 2], {1: (2, 0.9)})

    def test_of_equally_similar_kept_documents_the_earliest_is_named(self):
        neighbours = symmetric({(0, 1): 0.8, (1, 2): 0.8})
        assert twins.star([2, 0, 1], neighbours) == ([2, 0], {1: (2, 0.8)})

    def test_the_order_decides_what_is_kept(self):
        neighbours = symmetric({(0, 1): 0.9, (1, 2): 0.8})
        assert twins.star([1, 0, 2], neighbours) == ([1], {0: (1, 0.9), 2: (1, 0.8)})

    def test_documents_without_neighbours_are_kept(self):
        assert twins.star([3, 1, 2], {}) == ([3, 1, 2], {})


class TestComponents:
    def test_chains_are_one_component_and_the_rest_stand_alone(self):
        assert twins.components(6, [(4, 1), (1, 3), (5, 2)]) == [[0], [1, 3, 4], [2, 5]]

    def test_without_pairs_everyone_stands_alone(self):
        assert twins.components(3, []) == [[0], [1], [2]]
        assert twins.components(0, []) == []
