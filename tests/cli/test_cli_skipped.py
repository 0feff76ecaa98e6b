"""Nothing stays unread in silence: what was skipped is said, counted and named."""

import json
import shutil

import pytest

import lookalike
from source_files import BINARY

COMMANDS = ("find", "contained", "boilerplate")
BROKEN = '{"text": "one two three"}\nno json\n{"text": "four five six"}\n'


@pytest.fixture
def pile(tmp_path):
    """Make a folder of which some files are not read."""
    folder = tmp_path / "pile"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("the same words in the same order as those of another text")
    (folder / "deep" / "b.txt").write_text("other words, which are those of this text alone")
    (folder / "late.txt").write_bytes(b"text and then\0")
    (folder / "deep" / "photo.png").write_bytes(BINARY)
    (folder / "old.rst").write_bytes(b"\xff\xfe\x20")  # half a character of UTF-16
    (folder / ".hidden.txt").write_text("hidden")
    return folder


PASSED = {
    ".hidden.txt": "hidden",
    "old.rst": "in an unknown encoding",
    "deep/photo.png": "binary",
    "late.txt": "binary",
}


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def named(folder):
    return [{"path": str(folder / name), "reason": reason} for name, reason in PASSED.items()]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_not_read_is_named_in_the_folder_of_a_result(command, told, pile, tmp_path):
    status, _, errors = told(command, pile, "-o", tmp_path / "found")
    assert status == 0
    (line,) = [line for line in errors.splitlines() if line.startswith("Skipped 4")]
    assert line.startswith("Skipped 4 files: ")
    for counted in ("1 hidden", "1 in an unknown encoding", "2 binary", "old.rst", "photo.png"):
        assert counted in line
    assert rows(tmp_path / "found" / "skipped.jsonl") == named(pile)
    with lookalike.Result.open(tmp_path / "found") as result:
        assert result.summary.unread.to_pylist() == named(pile)
        assert result.summary.skipped == {"binary": 2, "hidden": 1, "in an unknown encoding": 1}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_named_beside_a_file_and_only_where_there_is_any(command, told, pile, tmp_path):
    target = tmp_path / "found.csv"
    assert told(command, pile, "-o", target)[0] == 0
    beside = tmp_path / "found.csv.skipped.jsonl"
    assert rows(beside) == named(pile)
    with lookalike.Result.open(target) as result:
        assert result.summary.unread.to_pylist() == named(pile)
    status, _, errors = told(command, pile / "a.txt", pile / "deep" / "b.txt", "-o", target)
    assert (status, "Skipped" in errors) == (0, False)
    assert not beside.exists()


def test_dedup_names_it_and_sketch_does(told, pile, tmp_path):
    assert told("dedup", pile, "-o", tmp_path / "clean")[0] == 0
    assert rows(tmp_path / "clean" / "skipped.jsonl") == named(pile)
    assert told("sketch", pile, "-o", tmp_path / "sketches.csv")[0] == 0
    assert rows(tmp_path / "sketches.csv.skipped.jsonl") == named(pile)


def test_the_line_comes_before_the_result_and_not_where_quiet_is_asked_for(told, pile):
    status, _, errors = told("find", pile)
    assert status == 0
    assert errors.index("Skipped 4 files") < errors.index("Read  ")
    assert told("find", pile, "-q")[2] == ""


def test_records_that_are_passed_over_as_asked_are_named_with_their_places(told, tmp_path):
    source = tmp_path / "docs.jsonl"
    source.write_text(BROKEN * 600)
    status, _, _ = told("find", source, "--skip-bad", "-o", tmp_path / "found")
    assert status == 0
    found = rows(tmp_path / "found" / "skipped.jsonl")
    assert [row["path"] for row in found] == [str(source)] * 600
    assert found[0]["reason"].startswith("record 2 is not valid JSON")
    assert found[-1]["reason"].startswith("record 1799 is not valid JSON")


def test_a_lost_list_of_what_was_not_read_is_an_error(told, pile, tmp_path):
    assert told("find", pile, "-o", tmp_path / "found")[0] == 0
    (tmp_path / "found" / "skipped.jsonl").unlink()
    with pytest.raises(lookalike.SourceError, match=r"skipped\.jsonl cannot be read, it is gone"):
        lookalike.Result.open(tmp_path / "found")


@pytest.mark.parametrize("place", ["", "/*", "/*/*"])
def test_a_folder_or_pattern_without_a_document_is_an_error(told, tmp_path, place):
    folder = tmp_path / "pictures" / "deep"
    folder.mkdir(parents=True)
    for name in ("a.png", "b.png", "c.jpg"):
        (folder / name).write_bytes(BINARY)
    for command, more in (("find", ()), ("dedup", ("-o", tmp_path / "clean"))):
        status, output, errors = told(command, f"{folder.parent}{place}", *more)
        assert (status, output) == (1, "")
        assert errors.startswith("lookalike: ")
        assert "no document that can be read" in errors or "no file that can be read" in errors
        assert "3 binary (.png, .jpg)" in errors
        assert "lookalike find --help lists what can be read" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures"]


def test_one_that_turns_out_to_hold_none_is_an_error_too(told, tmp_path):
    folder = tmp_path / "late"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"a\0")
    status, output, errors = told("find", folder)
    assert (status, output) == (1, "")
    assert "hold no document that can be read, with 1 file skipped: 1 binary (.txt)" in errors
    (folder / "a.txt").unlink()
    (folder / "a.jsonl").write_text("")
    assert told("find", folder)[0] == 1
    assert told("find", folder / "a.jsonl")[0] == 0


def test_a_reference_without_a_document_is_an_error(told, tmp_path, pile):
    (tmp_path / "none").mkdir()
    against = ("--against", tmp_path / "none")
    status, _, errors = told("dedup", pile, *against, "-o", tmp_path / "clean")
    assert (status, "none holds no document that can be read (empty)" in errors) == (1, True)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_dedup_keeps_the_files_of_a_folder_that_it_cannot_read(told, pile, tmp_path):
    (pile / "copy.txt").write_bytes((pile / "a.txt").read_bytes())
    (pile / "x.npy").write_bytes(b"\x93NUMPY\0")
    (pile / "link").symlink_to(pile / "deep", target_is_directory=True)
    every = contents(pile)
    assert told("dedup", pile, "-o", tmp_path / "clean")[0] == 0
    kept = {name: data for name, data in every.items() if name not in ("copy.txt", ".hidden.txt")}
    assert contents(tmp_path / "clean" / "kept") == kept
    assert told("dedup", pile, "-o", tmp_path / "less", "--drop-unread")[0] == 0
    assert sorted(contents(tmp_path / "less" / "kept")) == ["a.txt", "deep/b.txt"]
    skipped = [(tmp_path / name / "skipped.jsonl").read_bytes() for name in ("clean", "less")]
    assert skipped[0] == skipped[1]
    assert len(skipped[0].splitlines()) == 6


def test_the_result_of_the_other_choice_is_not_taken_for_this_one(told, pile, tmp_path):
    assert told("dedup", pile, "-o", tmp_path / "clean")[0] == 0
    assert "already" in told("dedup", pile, "-o", tmp_path / "clean")[2]
    status, _, errors = told("dedup", pile, "-o", tmp_path / "clean", "--drop-unread")
    assert (status, "clean is not empty" in errors) == (1, True)


def test_unread_files_of_several_folders_and_an_address_keep_their_places(told, pile, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.txt").write_text("a third text of words which are in none of the others at all")
    (other / "photo.png").write_bytes(BINARY + b"2")
    assert told("dedup", pile, other, "-o", tmp_path / "clean")[0] == 0
    kept = contents(tmp_path / "clean" / "kept")
    assert kept["other/photo.png"] == BINARY + b"2"
    assert kept["pile/deep/photo.png"] == BINARY
    assert told("dedup", other.as_uri(), "-o", tmp_path / "stored")[0] == 0
    assert contents(tmp_path / "stored" / "kept") == contents(other)


@pytest.mark.parametrize("more", [("--dry-run",), ("-o", "clean", "--list")])
def test_what_copies_nothing_has_nothing_to_leave_out(told, pile, more):
    status, _, errors = told("dedup", pile, "--drop-unread", *more)
    assert (status, "--drop-unread is for -o DIR without --list" in errors) == (2, True)


def test_files_are_chosen_by_options(told, pile, tmp_path):
    (pile / ".gitignore").write_text("late.txt\n")
    chosen = ("--include", "*.txt", "--include", "*.rst", "--exclude", "deep", "--all")
    assert told("find", pile, *chosen, "-o", tmp_path / "found")[0] == 0
    with lookalike.Result.open(tmp_path / "found") as result:
        assert result.summary.documents == 2
        assert result.summary.skipped == {
            "excluded": 1,
            "in an unknown encoding": 1,
            "not included": 1,
            "binary": 1,
        }
    with lookalike.find(pile, exclude="deep", all_files=True) as result:
        assert result.summary.documents == 3


def test_python_gets_what_was_not_read_as_a_table(pile):
    said = []
    with lookalike.find(pile, say=said.append) as result:
        assert result.summary.unread.to_pylist() == named(pile)
    assert [line for line in said if line.startswith("Skipped 4 files: ")]


def test_what_gitignore_leaves_out_is_not_copied_and_a_pattern_reads_what_it_names(told, tmp_path):
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / ".gitignore").write_text("draft.txt\n*.bin\n")
    (folder / "deep" / ".gitignore").write_text("inner.txt\n")
    texts = {"a.txt": "one two", "draft.txt": "three four", "deep/inner.txt": "five six"}
    texts |= {"deep/draft.txt": "seven eight"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name in ("left.bin", "deep/inner.bin"):
        (folder / name).write_bytes(b"\0\1")
    (folder / "photo.png").write_bytes(b"\0\1")

    def kept(source, *options):
        out = tmp_path / "out"
        assert told("dedup", source, "-o", out, "-q", *options)[0] == 0
        found = {one.relative_to(out / "kept").as_posix() for one in (out / "kept").rglob("*.*")}
        shutil.rmtree(out)
        return found

    assert kept(folder) == {"a.txt", "photo.png"}
    everything = {*texts, "left.bin", "deep/inner.bin", "photo.png"}
    assert kept(folder, "--all") == {*everything, ".gitignore", "deep/.gitignore"}
    # Of the folder that it matches, what that one's own rules leave in.
    assert kept(f"{folder}/*") == {"a.txt", "draft.txt", "deep/draft.txt", "deep/inner.bin"}
    assert kept(folder.as_uri()) == everything
