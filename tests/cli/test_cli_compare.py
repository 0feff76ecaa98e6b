"""Two texts side by side on a terminal, and the similarities of several."""

import itertools
import json
import random
import re

import pytest
from rich.cells import cell_len

import lookalike
from lookalike.base.wording import similarity_text

A = """\
Of the harbour

The old clock in the market square struck nine, and the pigeons rose all at once
from the roof of the town hall. Nobody looked up.
A ferry leaves the island at half past six.
"""
B = """\
A ferry leaves the island at half past six, as ever.

He wrote: "The old clock in the market square struck nine, and the pigeons rose all
at once from the roof of the town hall." Then he stopped.
"""
AT_80 = """\
similarity  0.7222  (Jaccard, sets of words:1)
a in b      0.8667  (share of a's 30 shingles)
b in a      0.8125  (share of b's 32 shingles)

2 shared passages of 5 words or more:
[1] 9 words; a line 5, b line 1
[2] 23 words; a lines 3-4, b lines 3-4

a  a.txt                                 b  b.txt
───────────────────────────────────────┬───────────────────────────────────────
1 Of the harbour                       ≠ 1 [1 A ferry leaves the island at half
                                       │   past six 1], as ever.
                                       │
                                       │ 3 He wrote:
3 [2 The old clock in the market       = 3 "[2 The old clock in the market
  square struck nine, and the pigeons  │   square struck nine, and the pigeons
  rose all at once from the roof of    │   rose all at once from the roof of
4 the town hall 2].                    │ 4 the town hall 2]."
4 Nobody looked up. [1 A ferry leaves  ≠ 4 Then he stopped.
5 the island at half past six 1].      │
"""
AT_40 = """\
a 1 Of the harbour
b 1 [1 A ferry leaves the island at half
b   past six 1], as ever.
b
b 3 He wrote:
= 3 [2 The old clock in the market
=   square struck nine, and the pigeons
=   rose all at once from the roof of
= 4 the town hall 2].
a 4 Nobody looked up. [1 A ferry leaves
a 5 the island at half past six 1].
b 4 Then he stopped.
"""
MARK = re.compile(r"\[\d+ | \d+\]")


@pytest.fixture
def compared(told, tmp_path, monkeypatch):
    """Give a function that compares texts, in files a.txt, b.txt and so on of this folder."""
    monkeypatch.chdir(tmp_path)

    def compare(*texts, more=("-s", "words:1"), columns=80):
        names = [f"{letter}.txt" for letter, _ in zip("abcdefghijkl", texts, strict=False)]
        for name, text in zip(names, texts, strict=True):
            (tmp_path / name).write_text(text, "utf-8", newline="")
        status, output, errors = told("compare", *names, *more, columns=columns)
        assert (status, errors) == (0, "")
        return output

    return compare


def plain_lines(output):
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def columns_of(output):
    """Give the rows of the two columns, without their line numbers, by cells and not characters."""
    rows = output.splitlines()
    rule = next(at for at, row in enumerate(rows) if "─┬─" in row)
    place = cell_len(rows[rule].partition("┬")[0])
    left, right = [], []
    for row in rows[rule + 1 :]:
        at = next(
            (at for at in range(len(row)) if cell_len(row[:at]) == place and row[at] in "=≠│"), None
        )
        assert at is not None, row
        left.append(row[: at - 1])
        right.append(row[at + 2 :])
    return left, right


def words_of(rows):
    """Give the words of a column, without the numbers of lines and the marks of passages."""
    text = " ".join(re.sub(r"^ *\d+ ", "", row) for row in rows)
    return MARK.sub("", text + " ").split()


class TestTwo:
    def test_in_80_columns_the_texts_stand_side_by_side(self, compared):
        assert plain_lines(compared(A, B)) == AT_80

    def test_in_40_columns_one_below_the_other(self, compared):
        output = plain_lines(compared(A, B, columns=40))
        assert output.endswith(AT_40)
        assert "[2] 23 words; a lines 3-4, b lines 3-4" in output
        assert max(map(cell_len, output.splitlines())) <= 40

    @pytest.mark.parametrize("columns", [60, 72, 100, 200, 300])
    def test_no_row_is_wider_than_the_terminal_and_none_loses_a_word(self, compared, columns):
        output = compared(A, B, more=("-s", "words:1", "--whole"), columns=columns)
        assert max(map(cell_len, output.splitlines())) <= columns
        left, right = columns_of(output)
        assert words_of(left) == A.split()
        assert words_of(right) == B.split()

    def test_wide_characters_and_combining_marks_keep_the_columns(self, compared):
        chinese = "在北京的大学学习中文已经三年了"
        a = f"The 東京 tower e\u0301te\u0301 café is 😀 very tall.\n我们{chinese}。한국어 문장"
        b = f"So the 東京 tower été café is 😀 very old.\n他们{chinese}！ หนังสือ"
        for columns in range(60, 81):
            output = compared(a, b, more=("--whole", "-s", "chars:2"), columns=columns)
            assert max(map(cell_len, output.splitlines())) <= columns
            left, right = columns_of(output)
            for rows, text in ((left, a), (right, b)):
                shown = "".join(words_of(rows))
                assert "".join(shown.split()) == "".join(text.split())
            # A mark stands with the letter that it is on.
            assert not any(re.match(r"^[\d ]*\u0301", row) for row in left)

    def test_a_long_passage_is_folded_and_whole_is_not(self, compared):
        shared = " ".join(f"word{at}" for at in range(300))
        output = compared(f"One. {shared}", f"Two. {shared}")
        assert len(output.splitlines()) < 30
        assert output.count("words in both …") == 2
        left, _ = columns_of(output)
        shown = len([word for word in words_of(left) if word.startswith("word")]) - 1
        hidden = re.search(r"… (\d+) words in both …", output)
        assert hidden
        assert shown + int(hidden[1]) == 300
        assert "word0" in output
        assert "word299" in output
        whole = compared(f"One. {shared}", f"Two. {shared}", more=("--whole",))
        left, _ = columns_of(whole)
        assert words_of(left) == f"One. {shared}".split()

    def test_words_of_scripts_without_blanks_are_counted_as_compare_counts_them(self, compared):
        shared = "我们每天早上在河边的旧茶馆里喝茶看报谈天" * 20
        output = compared(f"甲{shared}", f"乙{shared}", more=("-s", "chars:2"))
        left, _ = columns_of(output)
        hidden = re.search(r"… (\d+) words in both …", output)
        assert hidden
        shown = sum(sign in shared for row in left for sign in row)
        assert shown + int(hidden[1]) == len(shared)

    def test_long_differences_are_folded_too(self, compared):
        shared = "these six words are in both"
        rest = " ".join(f"other{at}" for at in range(2000))
        output = compared(f"{shared} {rest}", f"{shared} and nothing")
        assert re.search(r"… 1,\d+ words of a …", output)
        assert len(output.splitlines()) < 40

    def test_verse_keeps_its_lines(self, compared):
        a = "The tide goes out\nthe tide comes in\nthe moon above\nthe sea below\nand all is one\n"
        output = compared(a, a.replace("moon", "sun"))
        left, _ = columns_of(output)
        assert [re.sub(r"^ *\d+ |\[\d+ | \d+\]", "", row).strip() for row in left] == [
            "The tide goes out",
            "the tide comes in",
            "the",
            "moon",
            "above",
            "the sea below",
            "and all is one",
        ]

    def test_code_keeps_its_lines_and_indents(self, compared):
        a = (
            "def tide(hours):\n    if hours > 12:\n\treturn tide(hours - 12) + other\n"
            "    height = hours * 3\n    return height\n\nprint(tide(4))\n"
        )
        output = compared(a, a.replace("height", "depth"), more=("--whole",), columns=100)
        left, _ = columns_of(output)
        lines = [re.sub(r"^( *)\[\d+ | \d+\]", r"\1", row[2:]).rstrip() for row in left]
        assert lines[:3] == [
            "def tide(hours):",
            "    if hours > 12:",
            "    return tide(hours - 12) + other",
        ]
        assert lines[3] == "    height = hours * 3"
        assert words_of(left) == a.split()

    def test_what_is_folded_is_counted_over_blank_lines(self, compared):
        lines = "\n\n".join(f"line {at} of a text with blanks between" for at in range(40))
        output = compared(f"One\n\n{lines}", f"Two\n\n{lines}")
        left, _ = columns_of(output)
        hidden = re.search(r"… (\d+) words in both …", output)
        assert hidden
        shown = [word for word in words_of(left) if word not in ("One", "…", "in", "both", "words")]
        assert len(shown) - 1 + int(hidden[1]) == 40 * 8

    def test_every_passage_is_numbered_as_it_is_listed(self, compared):
        sentences = [" ".join(f"{letter}{at}" for at in range(6)) for letter in "stuvwx"]
        moved = [*sentences]
        random.Random(4).shuffle(moved)
        output = compared(" - ".join(sentences), " = ".join(moved), more=("--whole",))
        for number, sentence in enumerate(moved, start=1):
            where = sentences.index(sentence)
            assert re.search(rf"^\[{number}\] 6 words; a line 1, b line 1$", output, re.MULTILINE)
            for rows in columns_of(output):
                text = " ".join(" ".join(re.sub(r"^ *\d+ ", "", row) for row in rows).split())
                assert f"[{number} {sentence} {number}]" in text, where

    def test_colours_and_nothing_else_come_on_a_terminal(self, compared, monkeypatch):
        plain = compared(A, B)
        assert "\x1b" not in plain
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        coloured = compared(A, B)
        assert "\x1b[36m" in coloured  # the first passage
        assert "\x1b[35m" in coloured  # the second
        assert plain_lines(re.sub(r"\x1b\[[0-9;]*m", "", coloured)) == plain_lines(plain)

    def test_control_characters_come_as_escapes(self, compared):
        bad = "the five words \x1b[2J\x07\u202e are in \x9b31m both\r\nof them\tand tabs"
        output = compared(bad, f"{bad} too", more=())
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", output)
        assert r"\x1b[2J\x07\u202e" in output

    def test_nothing_in_common_says_so(self, compared):
        assert "No 5 words in a row appear in both." in compared("one two", "three four")

    def test_a_text_of_a_megabyte_is_shown_at_once(self, compared):
        made = random.Random(1)
        words = [f"w{made.randrange(5000)}" for _ in range(150_000)]
        other = [*words[:60_000], "changed", *words[60_000:140_000]]
        output = compared(" ".join(words), " ".join(other))
        assert "2 shared passages" in output
        assert len(output.splitlines()) < 60


class TestSeveral:
    TEXTS = (A, B, f"{A} {B}", "quite another text, about something else", "")

    @pytest.mark.parametrize("more", [(), ("--metric", "cosine"), ("--multiset",)])
    def test_the_table_has_every_similarity_of_two(self, told, compared, more):
        output = compared(*self.TEXTS, more=("-s", "words:1", *more))
        rows = [line.split() for line in output.splitlines() if re.match(r"^\d +\w", line)]
        assert [row[1] for row in rows] == [f"{letter}.txt" for letter in "abcde"]
        for one, other in itertools.combinations(range(5), 2):
            pair = f"{'abcde'[one]}.txt", f"{'abcde'[other]}.txt"
            alone = json.loads(told("compare", *pair, "-s", "words:1", *more, "--json")[1])
            expected = similarity_text(alone["similarity"])
            assert rows[one][2 + other] == rows[other][2 + one] == expected
            assert rows[one][2 + one] == "-"

    def test_json_has_every_pair_the_most_similar_first(self, told, compared):
        facts = json.loads(compared(*self.TEXTS, more=("-s", "words:1", "--json")))
        assert facts["files"] == [f"{letter}.txt" for letter in "abcde"]
        assert len(facts["pairs"]) == 10
        scores = [pair["similarity"] for pair in facts["pairs"]]
        assert scores == sorted(scores, reverse=True)
        for pair in facts["pairs"]:
            alone = json.loads(told("compare", pair["a"], pair["b"], "-s", "words:1", "--json")[1])
            for name in ("similarity", "score", "a_in_b", "b_in_a", "identical"):
                assert pair[name] == alone[name]

    @pytest.mark.parametrize("columns", [40, 60, 80])
    def test_a_wide_table_goes_on_below(self, compared, columns):
        texts = [f"text number {at} of twelve" for at in range(12)]
        output = compared(*texts, columns=columns)
        assert max(map(cell_len, output.splitlines())) <= columns
        heads = [line.split() for line in output.splitlines() if re.match(r"^ +\d+( +\d+)*$", line)]
        assert [int(number) for head in heads for number in head] == [*range(1, 13)]

    def test_long_names_stand_above_the_table(self, told, tmp_path):
        paths = [tmp_path / f"{'long' * 20}-{at}.txt" for at in range(3)]
        for path in paths:
            path.write_text(A)
        _, output, _ = told("compare", *paths, "-s", "words:1")
        for number, path in enumerate(paths, start=1):
            assert f"{number}  {path}\n" in output
        assert "1       -  1.0000  1.0000" in output

    def test_what_is_of_two_alone_is_refused(self, told, compared):
        compared(A, B, A)
        status, _, errors = told("compare", "a.txt", "b.txt", "c.txt", "--whole")
        assert status == 2
        assert "--whole does nothing with three files or more" in errors

    def test_more_than_a_hundred_are_for_find(self, told, tmp_path):
        status, _, errors = told("compare", *[tmp_path / f"{at}.txt" for at in range(101)])
        assert status == 2
        assert "given 101 documents and compares 2 to 100" in errors
        assert "use find" in errors


def test_folders_are_refused_with_the_command_that_searches_them(told, tmp_path):
    one, other = tmp_path / "one", tmp_path / "the other"
    for folder in (one, other):
        folder.mkdir()
    status, output, errors = told("compare", one, other, columns=500)
    assert (status, output) == (1, "")
    assert f"lookalike find {one} --against '{other}'" in errors
    (tmp_path / "a.txt").write_text(A)
    status, _, errors = told("compare", tmp_path / "a.txt", one, columns=500)
    assert status == 1
    assert errors.endswith(f"search all its documents by lookalike find {one}\n")


class TestInPython:
    def test_several_texts_are_compared_by_one_shingle(self):
        texts = {"a": A, "b": B, "none": None}
        found = lookalike.compare_all(texts, shingle="words:1")
        assert found.names == ("a", "b", "none")
        assert [(pair.a, pair.b) for pair in found.pairs] == [(0, 1), (0, 2), (1, 2)]
        alone = lookalike.compare(A, B, shingle="words:1")
        assert found.pairs[0].similarity == alone.similarity
        assert found.pairs[0].containment == alone.containment
        assert found.shingles == (*alone.shingles, 0)

    def test_a_list_of_texts_and_files(self, tmp_path):
        (tmp_path / "a.txt").write_text(A)
        found = lookalike.compare_all([tmp_path / "a.txt", A, tmp_path / "a.txt"])
        assert found.names == (str(tmp_path / "a.txt"), "2", f"{tmp_path / 'a.txt'} (3)")
        assert {(pair.similarity, pair.identical) for pair in found.pairs} == {(1.0, True)}

    @pytest.mark.parametrize(
        ("source", "message"),
        [("a text", "given a str: give a list"), ([A], "given 1 document and compares 2 to 100")],
    )
    def test_what_cannot_be_is_one_line(self, source, message):
        with pytest.raises(lookalike.LookalikeError, match=message):
            lookalike.compare_all(source)
