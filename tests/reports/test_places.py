"""Where the documents of a result are looked for, when its page is made later."""

import json
import shutil

import pytest
from test_writing import PROSE, main_of  # type: ignore[import-not-found]

import lookalike


@pytest.fixture(autouse=True)
def few_are_compared_as_a_whole(small_is_compared_whole):
    """Let results be found as quickly as they are outside of the tests."""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Give a folder with essays and a table, and make it the current one."""
    home = tmp_path / "home"
    (home / "essays" / "old").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "old/c.txt"):
        (home / "essays" / name).write_text(f"{PROSE} {name[-5]}")
    rows = [{"text": f"{PROSE} {place}"} for place in range(3)]
    (home / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.chdir(home)
    return home


SOURCES = [
    ["essays"],
    ["./essays/"],
    ["."],
    ["essays/*.txt"],
    ["../home/essays"],
    ["essays/a.txt", "essays/b.txt"],
    ["essays/a.txt", "essays/old"],
    ["rows.jsonl"],
]


@pytest.mark.parametrize("named", SOURCES, ids=str)
def test_a_page_is_the_same_from_another_folder(named, home, monkeypatch, tmp_path, told):
    assert told("find", *named, "-o", "../found", "-q", "--report", "../first.html")[0] == 0
    monkeypatch.chdir("/")
    status, _, errors = told("report", tmp_path / "found", "-o", tmp_path / "second.html")
    assert (status, errors.count("Left out")) == (0, 0), errors
    first, second = (main_of(tmp_path / f"{name}.html") for name in ("first", "second"))
    assert first["documents"] == second["documents"]
    assert first["pairs"] == second["pairs"]
    assert all(place is not None for place in second["documents"]["text"])


@pytest.mark.parametrize("named", [one for one in SOURCES if "*" not in one[0]], ids=str)
def test_documents_that_were_copied_are_read_where_they_are_now(named, home, tmp_path, told):
    assert told("find", *named, "-o", "../found", "-q", "--report", "../first.html")[0] == 0
    copies = tmp_path / "copies"
    shutil.copytree(home, copies, copy_function=shutil.copyfile)  # not with their dates
    shutil.rmtree(home)
    moved = [copies / name.replace("../home", ".") for name in named]
    texts = [word for name in moved for word in ("--texts", name)]
    status, _, errors = told("report", tmp_path / "found", "-o", tmp_path / "second.html", *texts)
    assert (status, errors.count("Left out")) == (0, 0), errors
    first, second = (main_of(tmp_path / f"{name}.html") for name in ("first", "second"))
    assert first["documents"] == second["documents"]
    assert all(place is not None for place in second["documents"]["text"])


def test_a_tree_that_was_moved_is_found_from_the_current_folder(home, monkeypatch, tmp_path):
    lookalike.find("essays", out="found")
    home.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert lookalike.report("found", out="report.html").texts == 3


def test_documents_and_a_reference_are_named_in_the_order_of_the_command(home, tmp_path):
    lookalike.find("essays", against="rows.jsonl", out="../found").close()
    home.rename(tmp_path / "moved")
    texts = [tmp_path / "moved" / name for name in ("essays", "rows.jsonl")]
    page = lookalike.report(tmp_path / "found", out=tmp_path / "page.html", texts=texts)
    assert page.texts == 6


def test_standard_input_that_was_kept_in_a_file_is_read_there(home, told):
    given = (home / "rows.jsonl").read_bytes()
    first = told("find", "-", "-o", "found", "-q", "--report", "first.html", given=given)
    assert first[0] == 0
    assert len(main_of(home / "first.html")["documents"]["text"]) == 3
    status, _, errors = told("report", "found", "-o", "second.html")
    assert status == 0
    said = " ".join(errors.split())
    assert "no texts and no passages: the documents came by standard input" in said
    assert "name that folder or file by --texts" in said
    assert told("report", "found", "-o", "second.html", "--texts", "rows.jsonl")[0] == 0
    first, second = (main_of(home / f"{name}.html") for name in ("first", "second"))
    assert first["documents"] == second["documents"]


def test_a_page_without_its_texts_says_so_and_what_to_do(home, told):
    assert told("find", "essays", "-o", "found", "-q")[0] == 0
    shutil.rmtree(home / "essays")
    status, _, errors = told("report", "found", "-o", "report.html", columns=200)
    assert status == 0
    why = "the files cannot be read again, essays does not exist"
    assert errors.splitlines()[1:] == [
        f"Left out   This page has no texts and no passages: {why}.",
        "Texts      if they are somewhere else now, name that folder or file by --texts",
    ]
    assert len(main_of(home / "report.html")["pairs"]["a"]) == 3


def test_a_page_says_no_folder_of_the_machine(home, monkeypatch, tmp_path, told):
    assert told("find", "essays", "-o", "found", "-q")[0] == 0
    shutil.rmtree(home / "essays")
    monkeypatch.chdir("/")
    assert told("report", home / "found", "-o", tmp_path / "report.html", "-q")[0] == 0
    assert str(home) not in json.dumps(main_of(tmp_path / "report.html")["summary"])


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["--texts", "essays", "--texts", "essays"], "of 1 source, and 2 names given"),
        (["--texts", "nowhere"], "nowhere does not exist: check its name"),
    ],
    ids=["more", "nowhere"],
)
def test_where_nothing_can_be_is_refused_in_a_line(texts, said, home, told):
    assert told("find", "essays", "-o", "found", "-q")[0] == 0
    status, output, errors = told("report", "found", "-o", "report.html", *texts)
    assert status in (1, 2)
    assert (output, errors.count("\n")) == ("", 1)
    assert said in errors
    assert not (home / "report.html").exists()


def test_a_result_that_has_its_documents_needs_no_other_place(home):
    found = lookalike.find("essays")
    with pytest.raises(lookalike.SettingsError, match="texts= is for a result on disk"):
        lookalike.report(found, out="report.html", texts="essays")


def test_a_page_made_elsewhere_takes_the_place_of_no_document(tmp_path, monkeypatch, told):
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in "ab":
        (pages / f"{name}.html").write_text(f"<p>{PROSE}</p>")
    monkeypatch.chdir(tmp_path)
    assert told("find", "pages", "-o", "found", "-q")[0] == 0
    monkeypatch.chdir("/")
    status, _, errors = told("report", tmp_path / "found", "-o", pages / "a.html")
    assert status == 1
    assert "input is never changed" in errors
