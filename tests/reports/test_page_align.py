"""Two texts beside each other: which passages make rows, what differs, where to fold."""

import random
from itertools import combinations, pairwise
from typing import Any

import pytest

pytest.importorskip("playwright")
from javascript import call_all

WORDS = ["one", "Two", "three", "κήπος", "茶", "😀", "مرحبا", "e\u0301te", "-", "\n", "\r\n\t"]


def units(text: str) -> list[str]:
    """Give a text as JavaScript counts it: an item a UTF-16 code unit."""
    packed = text.encode("utf-16-le")
    return [
        packed[place : place + 2].decode("utf-16-le", "surrogatepass")
        for place in range(0, len(packed), 2)
    ]


def piece(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def some_passages(chance):
    """Give passages that do not overlap in the second text, wherever they are in the first."""
    passages, position = [], 0
    for _ in range(chance.randrange(9)):
        position += chance.randrange(4)
        length = chance.randrange(1, 9)
        start = chance.randrange(40)
        passages.append([start, start + length, position, position + length, 1])
        position += length
    chance.shuffle(passages)
    return passages


def in_order(passages):
    ordered = sorted(passages, key=lambda passage: passage[2])
    return all(
        before[1] <= after[0] and before[3] <= after[2] for before, after in pairwise(ordered)
    )


def most_text(passages):
    """Try every choice of passages."""
    sizes = [
        sum(passage[1] - passage[0] for passage in chosen)
        for count in range(len(passages) + 1)
        for chosen in combinations(passages, count)
        if in_order(chosen)
    ]
    return max(sizes)


def test_rows_are_the_passages_with_the_most_text_in_the_order_of_both(page):
    chance = random.Random(1)
    cases = [some_passages(chance) for _ in range(150)]
    for passages, chain in zip(
        cases, call_all(page, ["align.js"], "longestChain(one)", cases), strict=True
    ):
        chosen = [passages[place] for place in chain]
        assert in_order(chosen)
        assert chosen == sorted(chosen)
        assert sum(passage[1] - passage[0] for passage in chosen) == most_text(passages)


def some_text(chance, most=30):
    return "".join(
        chance.choice(WORDS) + chance.choice(["", " ", " "]) for _ in range(chance.randrange(most))
    )


def test_rows_hold_both_texts_whole_and_in_order(page):
    chance = random.Random(2)
    cases: list[dict[str, Any]] = []
    for _ in range(100):
        first, middle, last = (some_text(chance) for _ in range(3))
        a, b = first + middle + last, some_text(chance) + middle + some_text(chance)
        start, other = len(units(first)), len(units(b[: b.index(middle)]))
        size = len(units(middle))
        cases.append(
            {
                "a": a,
                "b": b,
                "passages": [[start, start + size, other, other + size, 1]] if size else [],
            }
        )
    aligned = "alignedRows(one.passages, longestChain(one.passages), one.a.length, one.b.length)"
    call = f"tidiedRows({aligned}, one.a, one.b)"
    for case, rows in zip(cases, call_all(page, ["align.js"], call, cases), strict=True):
        assert "".join(piece(case["a"], *row["a"]) for row in rows) == case["a"]
        assert "".join(piece(case["b"], *row["b"]) for row in rows) == case["b"]
        for row in rows:
            if row["passage"] < 0 and row is not rows[0]:
                assert (
                    piece(case["a"], *row["a"])[:1].isalpha()
                    or piece(case["b"], *row["b"])[:1].isalpha()
                )


def words_of(text):
    """Split at what is no letter; an ideograph is a word by itself."""
    spaced = "".join(f" {letter} " if letter == "茶" else letter for letter in text)
    kept = "".join(letter if letter.isalpha() or letter == "\u0301" else " " for letter in spaced)
    return kept.lower().split()


def common_length(one, other):
    """Find the length of a longest common subsequence, row by row."""
    best = [0] * (len(other) + 1)
    for word in one:
        row = [0]
        for place, match in enumerate(other):
            row.append(best[place] + 1 if word == match else max(row[-1], best[place + 1]))
        best = row
    return best[-1]


def outside(text, spans):
    left, position = "", 0
    for span in spans:
        left += piece(text, position, span["start"]) + " "
        position = span["end"]
    return left + piece(text, position, len(units(text)))


def test_what_differs_is_all_but_a_longest_common_part(page):
    chance = random.Random(3)
    cases = [{"a": some_text(chance), "b": some_text(chance)} for _ in range(200)]
    call = "differences(one.a, [0, one.a.length], one.b, [0, one.b.length])"
    for case, spans in zip(cases, call_all(page, ["align.js"], call, cases), strict=True):
        same = words_of(outside(case["a"], spans["a"]))
        assert same == words_of(outside(case["b"], spans["b"]))
        assert len(same) == common_length(words_of(case["a"]), words_of(case["b"]))


def test_long_stretches_without_a_passage_differ_as_a_whole(page):
    case = {"a": "all of this " * 9000, "b": "none of that " * 9000}
    call = "differences(one.a, [0, one.a.length], one.b, [0, one.b.length])"
    (spans,) = call_all(page, ["align.js"], call, [case])
    assert spans == {side: [{"start": 0, "end": len(text)}] for side, text in case.items()}


def test_stretches_have_every_layer_that_lies_on_them(page):
    chance = random.Random(4)
    cases: list[dict[str, Any]] = []
    for _ in range(100):
        starts = [chance.randrange(30) for _ in range(chance.randrange(6))]
        layers = [
            {"start": start, "end": start + chance.randrange(1, 12), "n": n}
            for n, start in enumerate(starts)
        ]
        begin = chance.randrange(20)
        cases.append({"start": begin, "end": begin + chance.randrange(1, 20), "layers": layers})
    call = "stretches(one.start, one.end, one.layers)"
    for case, found in zip(cases, call_all(page, ["align.js"], call, cases), strict=True):
        places = [place for stretch in found for place in range(stretch["start"], stretch["end"])]
        assert places == list(range(case["start"], case["end"]))
        for stretch in found:
            for place in range(stretch["start"], stretch["end"]):
                on = [one["n"] for one in case["layers"] if one["start"] <= place < one["end"]]
                assert [layer["n"] for layer in stretch["on"]] == on


def test_folds_and_parts_cut_no_word_and_no_character(page):
    text = "Ein 😀 Wort 茶 und noch eines.\n" * 3000
    unbroken = "😀" * 9001
    call = "({ fold: foldRange(one, 0, one.length), parts: partsOf(one, 0, one.length) })"
    chinese = "老茶馆的𠀀门口，有一棵银杏树。" * 200
    cases = [text[:300], text, unbroken, chinese]
    short, long, solid, without_blanks = call_all(page, ["align.js"], call, cases)
    assert short == {"fold": None, "parts": [[0, len(units(text[:300]))]]}
    assert solid["fold"] is None
    start, end = without_blanks["fold"]
    parts = [
        piece(chinese, *part) for part in ((0, start), (start, end), (end, len(units(chinese))))
    ]
    assert "".join(parts) == chinese
    assert len(parts[1]) > len(chinese) - 330
    start, end = long["fold"]
    assert piece(text, start - 1, start).isspace()
    assert piece(text, end - 1, end).isspace()
    for whole, parts in ((text, long["parts"]), (unbroken, solid["parts"])):
        assert "".join(piece(whole, *part) for part in parts) == whole
        assert max(end - start for start, end in parts) <= 6000
    assert all(piece(text, end - 1, end) == "\n" for _, end in long["parts"])


def test_blank_ends_are_left_out_and_indentation_is_not(page):
    cases = ["\n \n  indented line \n\n", "plain", " \n \n", "", "  a"]
    found = call_all(
        page, ["align.js"], "one.slice(...withoutBlankEnds(one, [0, one.length]))", cases
    )
    assert found == ["  indented line", "plain", "", "", "  a"]


def test_lines_that_were_cut_at_a_width_run_on_and_others_stay(page):
    line = "word " * 11 + "end"
    wrapped = f"{line}\n{line}\n{line}\n{line}\n\nA new paragraph\nis short.\n"
    poem = "Roses are red\nviolets are blue\nsugar is sweet\nand so are you\n" * 3
    code = "def f(x):\n    if x:\n        return [x for x in range(10) if x % 2 == 0 and x]\n" * 5
    points = "A line that is long enough to have been cut somewhere here\n- one\n2. two\n" * 6
    shown = call_all(page, ["align.js", "texts.js"], "reflowed(one)", [wrapped, poem, code, points])
    assert shown[0] == f"{line} {line} {line} {line}\n\nA new paragraph is short.\n"
    assert shown[1:] == [poem, code, points]
    assert len(shown[0]) == len(wrapped)
