"""What programs rely on: one JSON object, exit statuses, and what stands where."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import lookalike
from processes import DEADLINE, PROGRAM, environment, on_a_terminal, run

BASE = (
    "the quick brown fox jumps over the lazy dog and runs away into the deep dark forest of the "
    "north where nobody lives"
)
TEXTS = {
    "a": BASE,
    "b": f"{BASE} today",
    "c": BASE.upper(),
    "d": "something else entirely was written here, for fun and for nothing more than that, really",
    "e": "",
}
"""Of five documents three are alike, in three pairs; dedup removes two."""


@pytest.fixture
def docs(tmp_path) -> Path:
    """Give a file of documents of which some are alike."""
    return write(tmp_path / "docs.jsonl", TEXTS)


def write(path: Path, texts: dict[str, str]) -> Path:
    path.write_text(
        "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())
    )
    return path


def one_object(output: str) -> dict[str, object]:
    """Read what is one line with one JSON object, and valid to every reader."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    assert output.endswith("}\n")
    assert output.count("\n") == 1
    found = json.loads(output, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def commands(docs: Path, out: Path) -> dict[str, list[object]]:
    return {
        "find": ["find", docs],
        "find by fingerprints": ["find", docs, "--simhash", 3],
        "find by estimates": ["find", docs, "--estimate", "--explain"],
        "find to a file": ["find", docs, "-o", out / "pairs.csv", "--clusters", out / "c.csv"],
        "dedup dry": ["dedup", docs, "--dry-run"],
        "dedup": ["dedup", docs, "-o", out / "clean"],
        "contained": ["contained", docs, "-t", "0.5"],
        "contained to a folder": ["contained", docs, "-o", out / "inside"],
        "boilerplate": ["boilerplate", docs],
        "boilerplate to a file": ["boilerplate", docs, "-o", out / "passages.jsonl"],
    }


@pytest.mark.parametrize("name", commands(Path(), Path()))
@pytest.mark.parametrize("texts", [TEXTS, {"d": TEXTS["d"]}, {}], ids=["some", "one", "none"])
def test_json_of_a_job_is_one_object_and_all_of_standard_output(name, texts, told, tmp_path):
    docs = write(tmp_path / "docs.jsonl", texts)
    command = commands(docs, tmp_path)[name]
    status, output, _ = told(*command, "--json")
    assert status == 0
    record = one_object(output)
    assert record["command"] == command[0]
    assert record["settings"]
    assert record["counts"]["read"] == len(texts)  # type: ignore[index]


def test_json_holds_what_was_found(told, docs, tmp_path):
    _, output, errors = told("find", docs, "--json", "-q")
    record = one_object(output)
    found = lookalike.find(docs)
    assert errors == ""
    assert record["pairs"] == found.pairs.to_pylist()
    assert record["clusters"] == found.clusters.to_pylist()
    _, output, _ = told("dedup", docs, "-o", tmp_path / "clean", "--json", "-q")
    record = one_object(output)
    removed = (tmp_path / "clean" / "removed.jsonl").read_text().splitlines()
    assert record["removed"] == [json.loads(line) for line in removed]
    # The same command again finds its result, and tells the same of it.
    assert one_object(told("dedup", docs, "-o", tmp_path / "clean", "--json", "-q")[1]) == record
    written = json.loads((tmp_path / "clean" / "run.json").read_bytes())
    assert {name: record[name] for name in written} == written
    _, output, _ = told("contained", docs, "--json", "-q")
    assert one_object(output)["pairs"] == lookalike.contained(docs).pairs.to_pylist()
    _, output, _ = told("boilerplate", docs, "--json", "-q")
    assert one_object(output)["passages"] == lookalike.boilerplate(docs).passages.to_pylist()


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["plan", "--recall", "1"],
        ["plan", "--documents", "0"],
        ["plan", "--documents", "1"],
        ["plan", "--signature", "127"],
        ["plan", "--metric", "cosine", "-t", "1"],
        ["curve", "and:4", "or:4"],
        ["curve", "or:1", "-t", "1"],
        ["curve", "and:4", "or:4", "--metric", "cosine", "--at", "0,1"],
    ],
    ids=" ".join,
)
def test_json_of_a_plan_and_of_a_curve_is_one_object(arguments, told):
    status, output, _ = told(*arguments, "--json")
    assert status == 0
    assert one_object(output)["curve"]


def test_json_of_a_comparison_is_one_object_even_of_nothing(told, tmp_path):
    for at, text in enumerate((BASE, "")):
        (tmp_path / f"{at}.txt").write_text(text)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        for metric in ("jaccard", "cosine"):
            command = "compare", tmp_path / f"{a}.txt", tmp_path / f"{b}.txt", "--metric", metric
            status, output, errors = told(*command, "--json")
            assert (status, errors) == (0, "")
            assert one_object(output)["similarity"] == (1.0 if a == b == 0 else 0.0)


def test_json_and_a_format_exclude_each_other(told, docs):
    status, output, errors = told("find", docs, "--json", "--format", "csv")
    assert (status, output) == (2, "")
    assert "--json and --format cannot be used together" in errors


# What is found: pairs, and the documents in them, of all; passages, and the documents with one.
FOUND = {
    "find": (3, 3, 5),
    "dedup": (2, 2, 5),
    "contained": (5, 3, 5),
    "boilerplate": (1, 2, 3),
}


def targets(command: str, place: Path) -> list[object]:
    return ["-o", place / ("clean" if command == "dedup" else "found.jsonl")]


@pytest.mark.parametrize("command", FOUND)
def test_fail_on_is_met_at_its_limit_and_the_output_is_still_written(command, told, docs, tmp_path):
    number, concerned, documents = FOUND[command]
    share = 100 * concerned / documents
    limits = {
        "any": 3,
        "1": 3,
        str(number): 3,
        str(number - 1 or 1): 3,
        str(number + 1): 0,
        f"{share - 0.01:.2f}%": 3,
        f"{share + 0.01:.2f}%": 0,
        "100%": 0,
        "0.001%": 3,
    }
    if share == int(share):
        limits[f"{share:.0f}%"] = limits[f"{share:.3f}%"] = 3
    for at, (limit, expected) in enumerate(limits.items()):
        place = tmp_path / str(at)
        place.mkdir()
        ended = told(command, docs, "-q", "--fail-on", limit, *targets(command, place))
        assert ended == (expected, "", ""), limit
        assert lookalike.Result.open(targets(command, place)[1]).record()["command"] == command  # type: ignore[arg-type]


@pytest.mark.parametrize("command", FOUND)
def test_fail_on_prints_what_was_found_too_and_passes_where_there_is_nothing(
    command, told, docs, tmp_path
):
    more = ["--dry-run"] if command == "dedup" else []
    plain = told(command, docs, "-q", *more)
    assert told(command, docs, "-q", "--fail-on", "any", *more) == (3, *plain[1:])
    status, output, _ = told(command, docs, "-q", "--fail-on", "any", "--json", *more)
    assert status == 3
    one_object(output)
    nothing = write(tmp_path / "nothing.jsonl", {"d": TEXTS["d"], "e": ""})
    for limit in ("any", "1", "0.01%"):
        assert told(command, nothing, "-q", "--fail-on", limit, *more)[0] == 0


def test_a_share_is_compared_exactly(told, tmp_path):
    """As floats, 9 of 1,000 are less than 0.9 percent."""
    texts = {str(at): f"{at} {at * 7919} {at * 104729}" for at in range(991)}
    texts |= {f"same {at}": BASE for at in range(9)}
    many = write(tmp_path / "many.jsonl", texts)
    for limit, expected in (("0.9%", 3), ("0.90000001%", 0)):
        assert told("find", many, "-q", "--fail-on", limit, "-s", "words:1")[0] == expected


def test_a_result_that_was_there_is_measured_too(told, docs, tmp_path):
    command = "dedup", docs, "-q", "-o", tmp_path / "clean"
    assert told(*command)[0] == 0
    assert told(*command, "--fail-on", "2")[0] == 3
    assert told(*command, "--fail-on", "40%")[0] == 3
    assert told(*command, "--fail-on", "3")[0] == 0


@pytest.mark.parametrize("limit", ["0", "0%", "-1", "1.5", "some", "", "5 %", "%", "1e3", "٣"])
def test_a_limit_that_cannot_be_is_wrong_usage_before_anything_is_read(limit, told, tmp_path):
    for command in FOUND:
        more = ["--dry-run"] if command == "dedup" else []
        status, output, errors = told(command, tmp_path / "none", f"--fail-on={limit}", *more)
        assert (status, output) == (2, "")
        assert re.fullmatch("lookalike: --fail-on [^\n]+\n", errors)


@pytest.mark.long
def test_results_come_first_then_the_plan_in_one_sentence(docs):
    shown = on_a_terminal("find", docs, NO_COLOR="1").decode().replace("\r", "")
    # What commands there are move the cursor, for the bars of progress.
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9;]*m", shown)
    found, plan = shown.index("3 similar pairs"), shown.index("Plan ")
    assert found < shown.index("1 cluster") < shown.index("Read ") < plan < shown.index("Seconds ")
    told = shown[plan:].split("\nScore")[0].split("\nSeconds")[0]
    sentence = " ".join(told.removeprefix("Plan").split())
    assert sentence == lookalike.find(docs).plan.sentence() or "Exact join" in sentence
    assert sentence.endswith(".")
    assert not re.search(r"\. [A-Z]", sentence)
    assert "candidate  " not in shown


@pytest.mark.parametrize("command", ["find", "dedup"])
def test_the_curve_is_shown_only_where_it_is_asked_for(command, told, docs):
    more = ["--dry-run"] if command == "dedup" else []
    plain, explained = told(command, docs, *more), told(command, docs, "--explain", *more)
    assert not re.search(r"\bmissed\b", plain[2])
    assert plain[2].count("Plan  ") == 1
    assert re.search(r"similarity +candidate +compared +missed", explained[2])
    assert "P = 1/2 at a similarity of" in explained[2]
    assert plain[1] == explained[1]
    assert told(command, docs, "--explain", "-q", *more) == (0, plain[1], "")


@pytest.mark.parametrize("command", FOUND)
@pytest.mark.parametrize("columns", [80, 60])
def test_lines_keep_to_the_width_and_a_pipe_has_no_colours(
    command, columns, told, docs, monkeypatch
):
    monkeypatch.chdir(docs.parent)
    more = ["--dry-run"] if command == "dedup" else ["--explain"] if command == "find" else []
    status, output, errors = told(command, docs.name, *more, columns=columns)
    assert status == 0
    for line in (output + errors).splitlines():
        assert len(line) <= columns, line
    assert "\x1b" not in output + errors


@pytest.mark.parametrize("command", FOUND)
def test_quiet_leaves_standard_error_to_errors(command, told, docs, tmp_path):
    more = ["--dry-run"] if command == "dedup" else []
    loud, quiet = told(command, docs, *more), told(command, docs, "-q", *more)
    assert loud[2]
    assert quiet == (0, loud[1], "")
    status, output, errors = told(command, tmp_path / "none.jsonl", "-q", *more)
    assert (status, output) == (1, "")
    assert re.fullmatch("lookalike: [^\n]+\n", errors)


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no such name")
def test_a_pipe_a_file_and_python_have_the_same_pairs(docs, told, tmp_path):
    piped = run("find", docs, "--format", "jsonl", "-q")
    assert (piped.status, piped.errors) == (0, "")
    named = run("find", docs, "--format", "jsonl", "-q", "-o", "/dev/stdout")
    assert (named.status, named.raw, named.errors) == (0, piped.raw, "")
    told("find", docs, "-q", "-o", tmp_path / "pairs.jsonl")
    lookalike.find(docs, out=tmp_path / "python.jsonl")
    assert (tmp_path / "pairs.jsonl").read_bytes() == piped.raw
    assert (tmp_path / "python.jsonl").read_bytes() == piped.raw
    assert [json.loads(line) for line in piped.lines] == lookalike.find(docs).pairs.to_pylist()


@pytest.mark.parametrize("command", ["find", "dedup", "contained", "boilerplate"])
@pytest.mark.parametrize("shape", [["--format", "jsonl"], ["--json"], []])
def test_a_reader_that_has_enough_does_not_change_the_status(command, shape, docs):
    """The status is that of the result: 3 where --fail-on was met, 0 where it was not."""
    more = ["--dry-run"] if command == "dedup" else []
    for limit, expected in (("1", 3), ("100", 0)):
        read, written = os.pipe()
        os.close(read)
        try:
            arguments = [command, docs, "-q", "--fail-on", limit, *more, *shape]
            done = subprocess.run(
                [*PROGRAM, *map(str, arguments)],
                stdout=written,
                stderr=subprocess.PIPE,
                env=environment(),
                timeout=DEADLINE,
                check=False,
            )
        finally:
            os.close(written)
        assert (done.returncode, done.stderr) == (expected, b"")


def test_what_goes_to_a_file_is_named_on_the_screen_too(told, docs, tmp_path):
    """The most similar pairs are, and where the others are."""
    out = tmp_path / "pairs.jsonl"
    said = told("find", docs, "-o", out)[2]
    assert re.search(r"Found +3 similar pairs\n +1\.0000  a  c\n +0\.\d{4}  a  b\n", said)
    assert "the others" not in said
    texts = {f"{number}": f"{BASE} {number}" for number in range(4)}
    said = told("find", write(tmp_path / "more.jsonl", texts), "-t", "0.5", "-o", out, "-q")[2]
    assert said == ""
    said = told("find", tmp_path / "more.jsonl", "-t", "0.5", "-o", tmp_path / "again.jsonl")[2]
    assert re.search(
        r"Found +6 similar pairs\n( +0\.\d{4}  \d  \d\n){3} +the others are in\s", said
    )
