"""The shipped table of code points, checked one by one against the running Python's."""

import unicodedata
from random import Random

import numpy as np
import pytest

import twins
from lookalike.text import unicode

TABLE = unicode.code_points()
CATEGORIES = np.array([unicodedata.category(chr(point)) for point in range(0x110000)])
KNOWN = np.flatnonzero((TABLE & unicode.ASSIGNED != 0) & ~np.isin(CATEGORIES, ("Cn", "Cs")))
CHARACTERS = [chr(point) for point in KNOWN.tolist()]
CLASSES = np.array([unicodedata.combining(c) for c in CHARACTERS])
KINDS = np.array([category[0] for category in CATEGORIES[KNOWN].tolist()])


def flagged(flag: int) -> np.ndarray:
    return TABLE[KNOWN] & flag != 0


def within(ranges) -> np.ndarray:
    return np.any([(first <= KNOWN) & (last >= KNOWN) for first, last in ranges], axis=0)


def assert_same(table: np.ndarray, python: np.ndarray) -> None:
    differing = KNOWN[table != python]
    assert not differing.size, [f"U+{point:04X}" for point in differing[:20]]


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@pytest.fixture(scope="module")
def complex_by_definition() -> np.ndarray:
    """Flag what a table of single code points cannot lower-case or compose."""
    joining = set()
    for character in CHARACTERS:
        joining.update(unicodedata.normalize("NFD", character)[1:])

    def needs_context(character: str) -> bool:
        lower = character.lower()
        return (
            len(lower) > 1
            or character == "Σ"
            or any(one in joining or composed(one) != one for one in (character, lower))
            or unicodedata.combining(lower) != unicodedata.combining(character)
        )

    return np.array([needs_context(character) for character in CHARACTERS])


@pytest.fixture(scope="module")
def simple() -> list[str]:
    """Give every known character that is not flagged as complex."""
    return [
        c for c, hard in zip(CHARACTERS, flagged(unicode.COMPLEX).tolist(), strict=True) if not hard
    ]


class TestRecords:
    def test_every_character_of_this_python_is_known_unless_python_is_newer(self):
        unknown = np.flatnonzero((CATEGORIES != "Cn") & (TABLE & unicode.ASSIGNED == 0))
        if tuple(map(int, unicodedata.unidata_version.split("."))) <= (15, 1, 0):
            assert not unknown.size
        assert KNOWN.size > 280_000

    def test_the_table_covers_all_of_unicode_and_cannot_be_written_to(self):
        assert TABLE.shape == unicode.combining_classes().shape == (0x110000,)
        assert TABLE.dtype == np.uint32
        assert unicode.combining_classes().dtype == np.uint8
        for table in (TABLE, unicode.combining_classes()):
            with pytest.raises(ValueError, match="read-only"):
                table[0] = 1

    def test_lower_case_is_pythons_wherever_one_code_point_can_say_it(self):
        lower = [c.lower() for c in CHARACTERS]
        alone = [
            low if len(low) == 1 and c != "Σ" else c
            for c, low in zip(CHARACTERS, lower, strict=True)
        ]
        assert_same(TABLE[KNOWN] & unicode.LOWER, np.array([ord(c) for c in alone]))

    def test_complex_is_exactly_what_needs_its_neighbours(self, complex_by_definition):
        assert_same(flagged(unicode.COMPLEX), complex_by_definition)

    def test_combining_classes_are_pythons_and_marks_are_those_that_have_one(self):
        assert_same(unicode.combining_classes()[KNOWN], CLASSES)
        assert_same(flagged(unicode.MARK), CLASSES != 0)

    def test_words_are_made_of_letters_marks_and_numbers(self):
        assert_same(flagged(unicode.WORD), np.isin(KINDS, ("L", "M", "N")))

    def test_numbers_punctuation_and_symbols_are_pythons(self):
        assert_same(flagged(unicode.NUMBER), KINDS == "N")
        assert_same(flagged(unicode.PUNCTUATION), np.isin(KINDS, ("P", "S")))

    def test_ideographs_and_kana_are_words_by_themselves(self):
        ideographs = (CATEGORIES[KNOWN] == "Lo") & within(twins.IDEOGRAPHS)
        kana = (KINDS == "L") & within(twins.KANA)
        assert_same(flagged(unicode.SINGLE), ideographs | kana)
        assert not np.any(flagged(unicode.SINGLE) & ~flagged(unicode.WORD))

    def test_ideographs_kana_and_hangul_syllables_are_dense(self):
        hangul = np.array(
            [unicodedata.name(c, "").startswith("HANGUL SYLLABLE ") for c in CHARACTERS]
        )
        assert hangul.sum() == 11_172
        assert_same(flagged(unicode.DENSE), flagged(unicode.SINGLE) | hangul)

    def test_white_space_is_the_property_of_that_name(self):
        # Python's own has four control characters more, the separators of files and records.
        python = np.array([c.isspace() and c not in "\x1c\x1d\x1e\x1f" for c in CHARACTERS])
        assert_same(flagged(unicode.SPACE), python)
        assert_same(flagged(unicode.SPACE), within(twins.WHITE_SPACE))

    def test_a_code_point_without_a_character_is_nothing_and_its_own_lower_case(self):
        nothing = np.flatnonzero(TABLE & unicode.ASSIGNED == 0)
        assert nothing.size > 800_000
        assert np.array_equal(TABLE[nothing], nothing)


class TestPromisesToTheKernels:
    def test_lower_case_grows_by_half_at_most(self):
        def width(points: np.ndarray) -> np.ndarray:
            return 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)

        points = np.arange(0x110000)
        before, after = width(points), width((TABLE & unicode.LOWER).astype(np.int64))
        assert np.all(2 * after <= 3 * before)
        assert np.any(2 * after == 3 * before)

    def test_lower_case_never_changes_what_counts_as_a_blank_or_a_word(self):
        # Canonical text is shingled by the flags of the lower case, blanked by those of the text.
        kept = unicode.WORD | unicode.SINGLE | unicode.SPACE | unicode.PUNCTUATION | unicode.NUMBER
        lower = TABLE[KNOWN] & unicode.LOWER
        assert_same(TABLE[lower] & kept, TABLE[KNOWN] & kept)

    def test_ascii_is_never_complex_and_stays_ascii(self):
        assert not np.any(TABLE[:128] & unicode.COMPLEX)
        assert np.all((TABLE[:128] & unicode.LOWER) < 128)

    def test_simple_characters_are_composed_already_as_is_their_lower_case(self, simple):
        text = "\n".join(simple)
        assert composed(text) == text
        lower = "\n".join(chr(TABLE[ord(c)] & unicode.LOWER) for c in simple)
        assert text.lower() == lower
        assert composed(lower) == lower

    def test_simple_characters_in_any_row_are_lower_cased_one_by_one(self, simple):
        shuffled = Random(1).sample(simple, len(simple))
        lower = "".join(chr(TABLE[ord(c)] & unicode.LOWER) for c in shuffled)
        assert "".join(shuffled).lower() == lower

    def test_no_simple_character_joins_one_before_it(self, simple):
        decomposed = (unicodedata.normalize("NFD", c) for c in CHARACTERS)
        begun = {parts[0] for parts in decomposed if len(parts) > 1}
        openers = sorted(c for c in begun if composed(c) == c and not unicodedata.combining(c))
        syllables = ["가", "각", "힣", "é", "ộ", "Ǖ", "か", "ே"]
        marks = [c for c in simple if unicodedata.combining(c)]
        second = marks + Random(2).sample(simple, 300)
        first = syllables + Random(3).sample(openers, 300)
        text = "\n".join(a + b for a in first for b in second)
        assert composed(text) == text

    def test_simple_marks_in_rising_order_stay_where_they_are(self, simple):
        marks = sorted((c for c in simple if unicodedata.combining(c)), key=unicodedata.combining)
        assert len({unicodedata.combining(c) for c in marks}) > 20
        chosen = Random(4).sample(range(len(marks)), 300)
        pairs = ((marks[i], marks[j]) for i in sorted(chosen) for j in sorted(chosen) if i <= j)
        text = "\n".join("x" + a + b for a, b in pairs)
        assert composed(text) == text
