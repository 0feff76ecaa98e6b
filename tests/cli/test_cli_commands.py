"""`compare`, `curve`, `plan`, `learn` and the help, as a user runs them."""

import json
import re
import subprocess
import sys
from decimal import Decimal

import pytest
from rich.cells import cell_len

from lookalike import __version__
from lookalike.learn import textbook
from processes import DEADLINE, run


def one_line(told_what, message, expected=2):
    status, output, errors = told_what
    assert (status, output) == (expected, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert re.search(message, errors)


def widest(text):
    return max(map(cell_len, text.split("\n")))


def test_the_program_is_also_a_module():
    command = [sys.executable, "-m", "lookalike", "--version"]
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"lookalike {__version__}\n")


def test_version_is_said(told):
    status, output, errors = told("--version")
    assert (status, errors) == (0, "")
    first, second = output.splitlines()
    assert first == f"lookalike {__version__}"
    for name in ("Python", "NumPy", "Numba", "pyarrow", "SciPy"):
        assert re.search(rf"\b{name} \d+\.\d+", second)


def test_curve_gives_the_figures_of_the_textbook(told):
    status, output, errors = told("curve", "and:5", "or:20")
    assert (status, errors) == (0, "")
    assert "20 bands of 5 rows, signatures of 100 rows" in output
    assert re.search(r"^ *0\.3 +0\.047494 ", output, re.MULTILINE)
    assert re.search(r"^ *0\.8 +0\.999644 +0\.000356 ", output, re.MULTILINE)
    assert re.search(r"^ *0\.9 +>0\.999999 +<0\.000001 ", output, re.MULTILINE)
    assert "0.5493" in output
    assert re.search(r"^similarity +becomes a candidate +missed", output, re.MULTILINE)


def test_curve_counts_the_rows_of_a_cascade(told):
    assert "256 rows" in told("curve", "or:4", "and:4", "or:4", "and:4")[1]
    assert told("curve", "or:4 and:4 or:4 and:4") == told("curve", "or:4", "and:4", "or:4", "and:4")


def test_curve_as_json_has_the_same_figures(told):
    _, output, _ = told("curve", "and:5", "or:20", "--at", "0.3,0.8", "-t", "0.7", "--json")
    plain = json.loads(output)
    assert [point["similarity"] for point in plain["curve"]] == [0.3, 0.7, 0.8]
    for point in plain["curve"]:
        expected = textbook.candidate_probability(point["similarity"], 20, 5)
        assert point["candidate"] == pytest.approx(expected, rel=1e-12)
    assert plain["rows"] == 100
    assert 0 < plain["missed_share"] < plain["passed_share"] < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["xor:5"], "xor:5"),
        (["and:0"], "and:0"),
        (["and:5", "--at", "2"], "numbers from 0 to 1"),
        (["and:5", "--at", "a,b"], "--at a,b"),
        (["and:5", "-t", "nan"], "from 0 to 1"),
    ],
)
def test_a_curve_that_cannot_be_is_one_line(arguments, message, told):
    one_line(told("curve", *arguments), message)


def test_a_plan_keeps_the_recall_that_was_asked(told):
    status, output, errors = told("plan", "-t", "0.7", "--recall", "0.95", "--documents", "20000")
    assert (status, errors) == (0, "")
    stated = re.search(r"Plan: (\d+) bands of (\d+) rows", output)
    assert stated
    bands, rows = map(int, stated.groups())
    assert textbook.candidate_probability(0.7, bands, rows) >= 0.95
    plain = json.loads(told("plan", "-t", "0.7", "--recall", "0.95", "-n", "20000", "--json")[1])
    assert (plain["bands"], plain["rows"], plain["signature"]) == (bands, rows, bands * rows)
    assert plain["found_at_threshold"] >= 0.95


def test_the_sentence_and_the_table_of_a_plan_agree(told):
    output = told("plan")[1]
    said = re.search(r"found with\s+probability\s+([\d.]+)", output)
    assert said
    shown = re.search(r"^ *0\.8 +([\d.]+) +([\d.]+) +([\d.]+) ", output, re.MULTILINE)
    assert shown
    candidate, found, missed = map(float, shown.groups())
    assert float(said[1]) == pytest.approx(found, abs=1.1e-6)
    assert round(found + missed, 6) == 1
    assert found < candidate


def test_a_plan_of_bands_and_rows_given_is_that(told):
    plain = json.loads(told("plan", "--bands", "20", "--rows", "5", "--json")[1])
    assert (plain["bands"], plain["rows"]) == (20, 5)
    one_line(told("plan", "--bands", "20"), "--bands and --rows go together: give both")
    one_line(told("plan", "--recall", "1.5"), "--recall 1.5")
    assert told("plan", "--documents", "-1")[0] == 2


def test_a_plan_of_a_given_length_says_why_and_offers_the_recall(told):
    output = " ".join(told("plan", "-t", "0.8", "--signature", "100")[1].split())
    assert "Plan: 8 bands of 12 rows" in output
    assert "the fewest weighted errors, by area" in output
    planned = re.search(r"Plan: (\d+ bands of \d+ rows, signatures of \d+ rows):", told("plan")[1])
    assert planned
    assert f"A recall of 0.99 takes {planned[1]}: bands of fewer rows" in output
    assert "asked" not in told("plan", "--bands", "20", "--rows", "5")[1]


def test_a_plan_for_recall_1_is_the_exact_join(told):
    status, output, _ = told("plan", "--recall", "1")
    assert status == 0
    assert "exact join" in output.lower()
    assert json.loads(told("plan", "--recall", "1", "--json")[1])["recall"] == 1


@pytest.mark.parametrize("columns", [80, 50])
def test_no_line_is_wider_than_the_terminal(columns, told, sample_documents):
    tides = sample_documents / "tides"
    for arguments in (
        ["plan"],
        ["curve", "and:5", "or:20", "-t", "0.7"],
        ["learn"],
        ["compare", tides / "evening-talk-quoting-almanac.txt", tides / "harbour-almanac.txt"],
    ):
        status, output, _ = told(*arguments, columns=columns)
        assert status == 0
        assert widest(output) <= columns
        assert "\x1b" not in output


def test_compare_says_how_similar_and_where(told, sample_documents):
    tides = sample_documents / "tides"
    files = tides / "evening-talk-quoting-almanac.txt", tides / "harbour-almanac.txt"
    status, output, errors = told("compare", *files)
    assert (status, errors) == (0, "")
    assert "1 shared passage of 5 words or more" in output
    assert "a lines 15-23, b lines 28-36" in output
    plain = json.loads(told("compare", *files, "--json")[1])
    (passage,) = plain["passages"]
    a, b = (path.read_text("utf-8") for path in files)
    found_a = a[passage["a_start"] : passage["a_end"]]
    found_b = b[passage["b_start"] : passage["b_end"]]
    assert textbook.words(found_a.lower()) == textbook.words(found_b.lower())
    shown = re.search(r"similarity  ([\d.]+)", output)
    assert shown
    assert float(shown[1]) == pytest.approx(plain["similarity"], abs=1e-4)
    assert plain["a_in_b"] > plain["b_in_a"]


def test_compare_of_an_empty_file_says_so_without_an_error(told, tmp_path):
    empty, other = tmp_path / "empty.txt", tmp_path / "other.txt"
    empty.write_text("")
    other.write_text("some words of a text")
    for files in ((empty, other), (other, empty), (empty, empty)):
        status, output, errors = told("compare", *files)
        assert (status, errors) == (0, "")
        assert "similarity  0.0000" in output
        assert "identical" not in output
    text = told("compare", empty, other, "--json")[1]
    assert "NaN" not in text
    assert json.loads(text)["a_in_b"] == 0


def test_compare_does_not_send_control_characters_to_the_terminal(told, tmp_path):
    for name in ("a.txt", "b.txt"):
        text = f"one two \x1b[2J three \x07 four five six {name}"
        (tmp_path / name).write_text(text)
    _, output, _ = told("compare", tmp_path / "a.txt", tmp_path / "b.txt", columns=200)
    assert "four five six" in output
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", output)


def test_compare_says_what_identical_means_under_its_options(told, tmp_path):
    (tmp_path / "a.txt").write_text("one, two")
    (tmp_path / "b.txt").write_text("one two!")
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    output = told("compare", *files, "--normalise", "strip-punctuation")[1]
    assert "but for case and white space at the most" not in output


def test_compare_of_what_cannot_be_read_is_one_line(told, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    one_line(
        told("compare", tmp_path / "a.txt", tmp_path / "gone.txt"),
        "gone.txt cannot be read",
        expected=1,
    )
    one_line(told("compare", tmp_path / "a.txt", tmp_path), "is a folder: name a file", expected=1)
    files = tmp_path / "b.txt", tmp_path / "a.txt"
    one_line(told("compare", *files, "--strict-encoding"), "b.txt is not UTF-8", expected=1)
    status, _, errors = told("compare", *files)
    assert (status, "b.txt: read as cp1252 (guessed)" in errors) == (0, True)
    status, _, errors = told("compare", *files, "--encoding", "latin-1")
    assert (status, "guessed" in errors) == (0, False)
    assert told("compare", tmp_path / "a.txt")[0] == 2


def test_learn_shows_every_step_on_a_sample_of_its_own():
    done = run("learn")
    assert (done.status, done.errors) == (0, "")
    steps = re.findall(r"^(\d+)\. (.+)$", done.output, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, 16))
    assert "Nothing was missed" in done.output


def test_learn_refuses_more_than_can_be_shown(told, tmp_path):
    for place in range(9):
        (tmp_path / f"{place}.txt").write_text("the quick brown fox")
    one_line(told("learn", tmp_path), "9 documents and shows 2 to 8")
    one_line(told("learn", tmp_path / "1.txt"), "1 document and shows 2 to 8")
    (tmp_path / "long.txt").write_text("word " * 20_000)
    one_line(told("learn", tmp_path / "1.txt", tmp_path / "long.txt"), "characters and shows")
    one_line(told("learn", "--threshold", "7"), "threshold")
    one_line(told("learn", "--shingle", "auto"), "use chars:K or words:K")


def test_learn_says_of_an_empty_file_that_it_is_similar_to_nothing(told, tmp_path):
    for name, text in (("1.txt", ""), ("2.txt", "some words"), ("3.txt", " \n")):
        (tmp_path / name).write_text(text)
    for other in ("2.txt", "3.txt"):
        status, output, errors = told("learn", tmp_path / "1.txt", tmp_path / other)
        assert (status, errors) == (0, "")
        assert "Empty, and so similar to nothing: d1" in output


def test_without_arguments_the_help_is_shown_as_wrong_usage(told):
    status, output, errors = told()
    assert (status, output) == (2, "")
    assert errors == told("--help")[1]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("fnd", " did you mean find?"), ("compares", " did you mean compare?"), ("xyz", "")],
)
def test_a_command_that_there_is_not_is_told_with_the_one_that_was_meant(given, meant, told):
    status, output, errors = told(given)
    assert (status, output) == (2, "")
    assert (
        errors == f"lookalike: there is no command {given!r}:{meant} lookalike --help lists them\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["plan", "--metric", "cosine"],
        ["plan", "--cascade", "or:3 and:4 or:5", "-t", "0.33"],
        ["plan", "--recall", "0.9999999"],
        ["curve", "and:5", "or:20", "--at", "0,1e-9,0.123456789,0.9,0.9999,1"],
        ["curve", "or:2", "and:3", "--metric", "cosine"],
    ],
    ids=" ".join,
)
def test_the_rows_of_a_curve_add_up_as_they_are_printed(told, arguments):
    output = told(*arguments)[1]
    rows = re.findall(
        r"^ *\S+ +(?:[<>\d.]+ +)?([<>]?)([\d.]+) +([<>]?)([\d.]+) ", output, re.MULTILINE
    )
    assert len(rows) >= 6
    for found_sign, found, missed_sign, missed in rows:
        assert Decimal(found) + Decimal(missed) == 1
        assert found_sign + missed_sign in ("", "<>", "><")


def test_a_plan_says_what_a_candidate_is_and_what_is_found(told):
    words = " ".join(told("plan", "-t", "0.75")[1].split())
    candidate = "A candidate agrees in every row of some band; it is compared exactly if its"
    assert f"{candidate} signatures are also near enough." in words
    assert "Only what is then at least 0.75 is found, the rest is rejected." in words
    words = " ".join(told("plan", "--cascade", "or:3 and:4", "--metric", "cosine")[1].split())
    assert (
        "A candidate agrees as the cascade asks; it is compared exactly if its sketches are"
        in words
    )


def test_a_recall_just_below_1_is_said_in_full(told):
    words = " ".join(told("plan", "--recall", "0.9999999", "-t", "0.7654321")[1].split())
    assert "a pair at 0.7654321 is found with probability 0.9999999 or more (0.9999999 asked)" in (
        words
    )


def test_a_plan_for_the_cosine_speaks_of_bits(told):
    given = ["plan", "--metric", "cosine", "--signature"]
    _, output, errors = told(*given, "63")
    assert "3 of 63 bits are in no band and not used: 60 bits do the same." in errors
    assert " rows" not in output
    one_line(told(*given, "0"), "use a whole number of bits, as 128")
    one_line(told("plan", "--signature", "0"), "use a whole number of rows, as 128")
    spec = "and:2000 or:2000"
    one_line(told("plan", "--metric", "cosine", "--cascade", spec), "sketches of 4,000,000 bits")
    one_line(told("plan", "--cascade", spec), "signatures of 4,000,000 rows")
