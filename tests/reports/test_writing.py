"""Pages as files: from Python and the command line, the same each time, whole or not at all."""

import base64
import errno
import json
import re
import zlib

import pytest

import lookalike
from lookalike.reports import building
from lookalike.settings import ReportOptions
from made_reports import AUTHORS, labelled_documents

PROSE = (
    "The harbour master wrote the tide tables by hand every winter until the ink froze. "
    "Nobody on the quay could read his seven, which looked like a bent fishing hook. "
)
BLOCK = re.compile(r'<script type="text/plain" id="([a-z0-9-]+)">([^<]*)</script>')


@pytest.fixture(autouse=True)
def few_are_compared_as_a_whole(small_is_compared_whole):
    """Let results be found as quickly as they are outside of the tests."""


@pytest.fixture
def table(tmp_path):
    return labelled_documents(tmp_path)


@pytest.fixture
def found(table, tmp_path):
    lookalike.find(table, out=tmp_path / "found")
    return tmp_path / "found"


def parts_of(path) -> dict[str, str]:
    """Unpack all that a page holds."""
    blocks = BLOCK.findall(path.read_text())
    return {name: zlib.decompress(base64.b64decode(data)).decode() for name, data in blocks}


def main_of(path):
    return json.loads(parts_of(path)["main-data"])


def test_the_command_writes_a_page_and_says_what_is_in_it(found, told, tmp_path):
    page = tmp_path / "report.html"
    status, output, errors = told("report", found, "-o", page, "--label", "author")
    assert (status, output) == (0, "")
    assert "10 pairs, 28 texts" in " ".join(errors.split())
    main = main_of(page)
    assert len(main["pairs"]["a"]) == 10
    assert set(main["documents"]["label"]) == set(AUTHORS)
    assert {link["address"] for link in main["summary"]["files"]} == {
        "found/pairs.parquet",
        "found/clusters.parquet",
    }
    assert told("report", found, "-o", page, "-q") == (0, "", "")


@pytest.mark.parametrize("command", ["find", "dedup"])
def test_a_job_writes_the_same_page_as_a_report_of_its_result(command, table, told, tmp_path):
    at_once, later = tmp_path / "at-once.html", tmp_path / "later.html"
    out = tmp_path / "results"
    asked = ["--label", "author", "--date", "written"]
    status, _, errors = told(command, table, "-o", out, "--report", at_once, *asked)
    assert status == 0, errors
    assert "Page" in errors
    assert told("report", out, "-o", later, *asked)[0] == 0
    first, second = main_of(at_once), main_of(later)
    # The first was written before its job had ended.
    for main in (first, second):
        main["summary"]["seconds"] = None
        main["summary"]["facts"] = [one for one in main["summary"]["facts"] if one[0] != "Seconds"]
    assert first == second
    # A job that is done already still writes the page that it is asked for.
    again = tmp_path / "again.html"
    assert told(command, table, "-o", out, "--report", again, *asked)[0] == 0
    assert again.read_bytes() == later.read_bytes()


def test_the_same_result_gives_the_same_bytes(found, tmp_path):
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    lookalike.report(found, out=first)
    lookalike.report(lookalike.Result.open(found), out=second)
    assert main_of(first) | {"summary": None} == main_of(second) | {"summary": None}
    lookalike.report(found, out=second)
    assert first.read_bytes() == second.read_bytes()


def test_an_anonymous_page_holds_no_name_and_the_key_is_apart(found, table, told, tmp_path):
    page, key = tmp_path / "report.html", tmp_path / "report.key.json"
    status, _, errors = told("report", found, "-o", page, "--label", "author", "--anonymise")
    assert status == 0
    assert "report.key.json" in errors.replace("\n", "").replace(" ", "")
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    names = {row["id"] for row in rows} | set(AUTHORS) | {"documents.jsonl", str(tmp_path)}
    whole = page.read_text() + "".join(parts_of(page).values())
    assert not [name for name in names if name.casefold() in whole.casefold()]
    assert json.loads(key.read_text())["secret"] not in whole
    known = {one["name"]: one["id"] for one in json.loads(key.read_text())["documents"]}
    main = main_of(page)
    # A link leads to the names, and another column may hold any.
    assert (main["summary"]["files"], main["documents"]["columns"]) == ([], {})
    assert {known[name] for name in main["documents"]["name"]} <= {row["id"] for row in rows}
    before = page.read_bytes()
    assert told("report", found, "-o", page, "--label", "author", "--anonymise")[0] == 0
    assert page.read_bytes() == before


def test_a_document_cannot_end_what_holds_it(tmp_path):
    hostile = f"</script><script>alert(1)</script><!-- {PROSE} ]]>"
    result = lookalike.find({"</script><b>": hostile, "<img src=x onerror=alert(1)>": hostile})
    page = tmp_path / "report.html"
    lookalike.report(result, out=page)
    assert "alert(1)" not in page.read_text()
    assert hostile in json.loads(parts_of(page)["text-0"])["text"]


def test_a_comparison_is_a_page_of_one_pair(told, tmp_path):
    (tmp_path / "a.txt").write_text(f"😀 {PROSE}")
    (tmp_path / "b.txt").write_text(f"Another beginning. {PROSE.upper()} And an end.")
    page = tmp_path / "pair.html"
    status, output, errors = told("compare", tmp_path / "a.txt", tmp_path / "b.txt", "-o", page)
    assert status == 0
    assert "similarity" in output
    assert "1 pair, 2 texts" in " ".join(errors.split())
    main = main_of(page)
    assert main["summary"]["command"] == "compare"
    expected = lookalike.compare(tmp_path / "a.txt", tmp_path / "b.txt")
    assert main["pairs"]["similarity"] == [round(expected.similarity, 6)]
    first, second = (json.loads(parts_of(page)[f"text-{i}"]) for i in range(2))
    (passage,) = first["passages"]["1"]
    cut = first["text"].encode("utf-16-le")[2 * passage[0] : 2 * passage[1]].decode("utf-16-le")
    assert cut.upper() == second["text"][passage[2] : passage[3]]
    assert cut == PROSE.rstrip(" .")
    assert main["documents"]["name"] == [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]


def test_lists_of_tokens_are_compared_as_texts_with_blanks(tmp_path):
    tokens = PROSE.split()
    found = lookalike.compare(["new", *tokens], tokens)
    page = tmp_path / "pair.html"
    lookalike.report(found, out=page, names=("one", "two"))
    first = json.loads(parts_of(page)["text-0"])
    (passage,) = first["passages"]["1"]
    assert first["text"][passage[0] : passage[1]] == " ".join(tokens)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the file of the page by --out"),
        (["-o", "nowhere/report.html"], "there is no folder"),
        (["-o", "report.html", "--label", "nobody"], "--label nobody: the documents have no such"),
        (["-o", "report.html", "--most-pairs", "-1"], "--most-pairs"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_a_line(arguments, said, found, told, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, output, errors = told("report", found, *arguments)
    assert status in (1, 2)
    assert (output, errors.count("\n")) == ("", 1)
    assert said in errors
    assert not (tmp_path / "report.html").exists()


def test_a_page_never_takes_the_place_of_a_document(tmp_path, told):
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.html").write_text(f"<p>{PROSE}</p>")
    before = (folder / "a.html").read_bytes()
    for given in (
        ["find", folder, "--report", folder / "a.html"],
        ["find", folder, "-o", tmp_path / "found"],
        ["report", tmp_path / "found", "-o", folder / "a.html"],
    ):
        status, _, errors = told(*given)
        assert status == 0 or "input is never changed" in errors
    assert status == 1
    assert (folder / "a.html").read_bytes() == before


@pytest.mark.parametrize("option", ["--label", "--date"])
def test_what_is_of_a_page_needs_one(option, table, told):
    status, _, errors = told("find", table, option, "author")
    assert (status, errors.count("\n")) == (2, 1)
    assert "--report" in errors


def test_a_result_without_pairs_is_refused(table, told, tmp_path):
    told("boilerplate", table, "-o", tmp_path / "found")
    status, _, errors = told("report", tmp_path / "found", "-o", tmp_path / "report.html")
    assert status == 2
    assert "a result of boilerplate has no pairs" in errors


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(lookalike.SettingsError, match="not of list"):
        lookalike.report([1], out=tmp_path / "report.html")
    with pytest.raises(lookalike.SourceError, match="is not a result"):
        lookalike.report(tmp_path, out=tmp_path / "report.html")


def test_a_file_that_is_no_key_is_refused(found, tmp_path):
    (tmp_path / "report.key.json").write_text("[]")
    with pytest.raises(lookalike.SourceError, match="is not the key"):
        lookalike.report(found, out=tmp_path / "report.html", anonymise=True)
    assert (tmp_path / "report.key.json").read_text() == "[]"


def test_the_defaults_are_those_of_the_options():
    options = ReportOptions()
    assert options.most_pairs == building.MOST_PAIRS
    assert options.most_texts == building.MOST_TEXTS


@pytest.mark.parametrize("command", ["find", "dedup"])
@pytest.mark.parametrize("texts", [[], [""], ["a lone text"], ["one text", "another one"]], ids=len)
def test_a_result_of_nothing_is_a_page_too(command, texts, told, tmp_path):
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(f"{json.dumps({'text': text})}\n" for text in texts))
    page = tmp_path / "report.html"
    status, _, errors = told(command, source, "-o", tmp_path / "out", "--report", page, "-q")
    assert status == 0, errors
    main = main_of(page)
    assert main["pairs"]["a"] == main["clusters"] == []
    assert main["summary"]["title"].startswith("0 ")


FULL = "No space left on device"
STOPPED = [
    (KeyboardInterrupt(), 130, "stopped; no page was written. Run the same command again"),
    (
        OSError(errno.ENOSPC, FULL),
        1,
        f"report.html cannot be written: {FULL}; free some space, and run the same again",
    ),
]


@pytest.mark.parametrize(("error", "status", "said"), STOPPED, ids=["Ctrl-C", "a full disk"])
def test_a_page_that_is_not_whole_is_none(error, status, said, found, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "report.html"
    assert told("report", found, "-o", page, "-q")[0] == 0
    before = page.read_bytes(), sorted(tmp_path.iterdir())

    def stop(_):
        raise error

    monkeypatch.setattr("os.fsync", stop)  # when the page is in a file beside it
    answer = told("report", found, "-o", "report.html", "--most-pairs", 3)
    assert answer == (status, "", f"lookalike: {said}\n")
    assert (page.read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize(
    ("command", "shown"), [(["find"], "10 similar pairs by"), (["dedup", "--dry-run"], "would go")]
)
def test_what_was_found_is_shown_where_its_page_cannot_be_written(
    command, shown, table, told, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    expected = told(*command, table.name)
    assert shown in expected[1]

    def stop(_):
        raise OSError(errno.ENOSPC, FULL)

    monkeypatch.setattr("os.fsync", stop)
    status, output, errors = told(*command, table.name, "--report", "report.html", "--fail-on", "1")
    assert (status, output) == (1, expected[1])
    assert errors.endswith(f"\nlookalike: {STOPPED[1][2]}\n")
    assert "Seconds" in errors
    assert not (tmp_path / "report.html").exists()


def test_in_python_the_error_of_a_page_has_the_result(table, tmp_path):
    options = {"report": tmp_path / "report.html", "label": "nobody"}
    with pytest.raises(lookalike.SettingsError, match="no such column") as failed:
        lookalike.find(table, **options)
    with lookalike.find(table) as found, failed.value.result as kept:
        assert kept.pairs.equals(found.pairs)


STAGES = ["read (near misses)", "read (texts)", "read (coverage)", "coverage", "passages"]


def test_how_far_a_page_is_is_told(found, table, told, tmp_path, monkeypatch):
    heard = []
    page = tmp_path / "report.html"
    lookalike.report(found, out=page, most_texts=8, progress=lambda *one: heard.append(one))
    for stage in STAGES:
        done = [one for name, *one in heard if name == stage]
        assert done, stage
        assert done == sorted(done)
        assert done[-1][0] == done[-1][1] > 0, stage
    (size,) = {total for stage, _, total in heard if stage.startswith("read")}
    assert size == table.stat().st_size
    monkeypatch.setattr("lookalike.base.progress.PROGRESS_SECONDS", 0.0)
    for command in (["report", found, "-o", page], ["find", table, "--report", page]):
        errors = told(*command)[2]
        assert re.search(r"^read \(texts\): 100%, [\d.]+ KB of [\d.]+ KB", errors, re.MULTILINE)
        assert re.search(r"^coverage: 100%, 28 of 28", errors, re.MULTILINE)
        assert told(*command, "-q")[2] == ""
