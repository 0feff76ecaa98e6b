"""What the program says where it finds little, and by what a score was made."""

import json
import re

import pytest

from source_files import write_records

pytestmark = pytest.mark.usefixtures("small_is_compared_whole")

COMMON = "the ferry crosses the river at seven and at nine except on feast days"
SMALL = {
    "draft": f"{COMMON} when it stays at the north bank until the evening bell",
    "final": f"{COMMON} and then it waits by the mill for whoever comes down late",
    "other": "barley wants a light soil and little rain after the first of june",
}


@pytest.fixture
def pile(tmp_path):
    """Give three texts as files, of which two begin alike."""
    for name, text in SMALL.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return tmp_path


def flat(text):
    return " ".join(text.split())


def test_finding_nothing_names_what_is_nearest_and_where_to_look_next(told, pile):
    status, output, errors = told("find", pile, "-s", "words:1")
    assert status == 0
    none, nearest, hint = flat(output).split(". ", 2)
    assert none == "No two documents are at least 0.8 similar"
    found = re.fullmatch(
        r"Of all pairs, the most similar below 0\.8 has (0\.\d{4}): draft\.txt and final\.txt",
        nearest,
    )
    assert found
    assert (
        hint
        == "-t 0.4 finds less similar pairs; `lookalike contained` finds quotations and excerpts."
    )
    assert "Nearest" not in errors
    again = told("find", pile, "-s", "words:1", "-t", "0.4")[1]
    assert f"{found[1]}  draft.txt  final.txt" in again


@pytest.mark.parametrize("command", ["find", "dedup"])
def test_the_summary_says_it_where_no_table_does(command, told, pile, tmp_path):
    out = tmp_path / "out" / "found"
    out.parent.mkdir()
    status, output, errors = told(command, pile / "*.txt", "-s", "words:1", "-o", out)
    assert (status, output) == (0, "")
    assert "Nearest Of all pairs, the most similar below 0.8 has 0." in flat(errors)
    assert "Next -t 0.4 finds less similar pairs; `lookalike contained` finds" in flat(errors)
    assert json.loads((out / "run.json").read_text())["nearest"]["a"].endswith("draft.txt")


def test_where_pairs_are_found_the_next_one_is_named_without_advice(told, pile):
    (pile / "again.txt").write_text(SMALL["other"])
    _, _, errors = told("find", pile, "-s", "words:1")
    assert "Nearest Of all pairs, the most similar below 0.8 has 0." in flat(errors)
    assert "Next " not in errors


@pytest.mark.parametrize("command", ["find", "dedup"])
def test_where_many_are_found_the_next_one_is_named_too(told, pile, command):
    for at in range(40):
        (pile / f"{at}.txt").write_text(f"{SMALL['other']} {at // 2}" if at else SMALL["draft"])
    more = ["--dry-run"] if command == "dedup" else []
    _, _, errors = told(command, pile, "-s", "words:1", *more)
    assert "Nearest Of all pairs, the most similar below 0.8 has 0." in flat(errors)
    assert "Next " not in errors


@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("command", ["find", "dedup"])
def test_where_every_pair_compared_is_similar_that_is_said(told, tmp_path, command, count):
    records = [{"id": at, "text": f"{COMMON} {COMMON} {at}"} for at in range(count)]
    path = write_records(tmp_path / "docs.jsonl", records)
    more = ["--dry-run"] if command == "dedup" else []
    _, _, errors = told(command, path, "-s", "words:1", *more)
    assert "Nearest No other pair was near enough to be compared." in flat(errors)
    assert "shares anything" not in errors


def test_what_was_compared_is_said_where_that_is_not_all(told, tmp_path):
    records = [{"id": at, "text": f"{COMMON} {at} {at + 1}"} for at in range(260)]
    path = write_records(tmp_path / "docs.jsonl", records)
    _, output, _ = told("find", path, "-s", "words:1", "-t", "0.95", "--bands", "9", "--rows", "2")
    assert re.search(r"Of the [\d,]+ pairs compared, the most similar below 0.95 has", flat(output))


def test_one_document_has_no_nearest(told, tmp_path):
    path = write_records(tmp_path / "docs.jsonl", [{"id": 1, "text": COMMON}])
    assert told("find", path)[1] == "No two documents are at least 0.8 similar.\n"


def test_json_has_the_nearest_and_the_score(told, pile):
    record = json.loads(told("find", pile, "-s", "words:1", "--json", "-q")[1])
    nearest = record["nearest"]
    assert (nearest["a"], nearest["b"], nearest["whole"]) == ("draft.txt", "final.txt", True)
    assert record["score"] == "Jaccard of words:1 shingles, as given"
    record = json.loads(told("contained", pile, "--json", "-q")[1])
    assert re.fullmatch(r"share of chars:\d+ shingles, chosen for this corpus", record["score"])


def test_the_command_that_find_ends_with_comes_to_the_same_number(told, pile):
    for options in ([], ["--multiset"], ["--metric", "cosine", "--weights", "log"]):
        _, output, _ = told("find", pile, "-t", "0.1", *options, columns=300)
        (command,) = re.findall(r"^lookalike (compare .+)$", output, re.MULTILINE)
        found = re.search(r"^ *(0\.\d{4})  draft.txt  final.txt", output, re.MULTILINE)
        assert found
        assert f"similarity  {found[1]}  (" in told(*command.split())[1]


def test_compare_says_that_find_may_choose_another_shingle(told, pile):
    files = pile / "draft.txt", pile / "final.txt"
    assert "If that is not chars:5, name it by -s" in flat(told("compare", *files)[1])
    assert "If that is not" not in told("compare", *files, "-s", "chars:6")[1]
