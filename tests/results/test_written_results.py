"""Results that are written, opened again, damaged and closed."""

import dataclasses
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lookalike
from lookalike import FindResult, LookalikeError, OutputError, Result, SourceError
from lookalike.settings.options import (
    Chosen,
    Encoded,
    MainText,
    Markup,
    Records,
    TableLayout,
    TextField,
    VectorField,
)

BASE = (
    "the quick brown fox jumps over the lazy dog and runs away into the deep dark forest of the "
    "north where nobody lives"
)
OTHER = "something else entirely was written here, for fun and for nothing more than that, really"
TEXTS = [BASE, f"{BASE} today", BASE.upper(), OTHER, ""]
FILES = ("pairs.jsonl", "pairs.csv", "pairs.parquet")
TABLES = ("pairs", "containments", "clusters", "removed", "passages")

WAYS: dict[str, dict[str, Any]] = {
    "jaccard": {},
    "cosine": {"metric": "cosine"},
    "simhash": {"simhash": 3},
    "estimate": {"estimate": True},
    "exact": {"recall": 1},
    "multiset": {"multiset": True},
    "without boilerplate": {"ignore": "quick brown fox jumps", "max_df": 0.9, "seed": 7},
}
IDS: dict[str, Any] = {
    "numbers": TEXTS,
    "letters": dict(zip("abcde", TEXTS, strict=True)),
    "zeros": dict(zip(["007", "07", "7", "-0", "1e5"], TEXTS, strict=True)),
    "words of formats": dict(zip(["", "null", "NaN", "true", "2020-01-01"], TEXTS, strict=True)),
    "signs": dict(zip(["x\ny", '"q", r', "\r", "\u2028,\\", "\U0001f600\x00"], TEXTS, strict=True)),
    "no pairs": [BASE, OTHER],
    "one document": [BASE],
    "no documents": [],
}


@pytest.fixture(autouse=True)
def disks_are_not_waited_for(monkeypatch):
    """Let what is written be safe on a disk when the system sees to it."""
    for name in ("sync", "fsync"):
        monkeypatch.setattr(os, name, lambda *_: None)


def same_tables(found: Any, opened: Any, names=TABLES) -> None:
    for name in names:
        if hasattr(found, name):
            one, other = getattr(found, name), getattr(opened, name)
            assert other.schema == one.schema, name
            assert other.equals(one), name


def same_facts(found: Any, opened: Any) -> None:
    assert type(opened) is type(found)
    assert opened.settings.as_dict() == found.settings.as_dict()
    assert opened.settings.fingerprint() == found.settings.fingerprint()
    plain = [dataclasses.asdict(one.summary) | {"seconds": None} for one in (found, opened)]
    assert plain[0] == plain[1]
    assert opened.summary.seconds
    if hasattr(found, "plan"):
        assert opened.plan.sentence() == found.plan.sentence()
        for similarity in (0.3, 0.8, 0.95):
            assert opened.plan.probability(similarity) == found.plan.probability(similarity)
    for name in ("pair_count", "cluster_count", "counts", "inside_count"):
        assert getattr(opened, name, None) == getattr(found, name, None)
    # Pairs that are laid out again take more time.
    was, now = found.record() | {"seconds": None}, opened.record() | {"seconds": None}
    assert {name: now.get(name) for name in was} == json.loads(json.dumps(was))


def complete(record: dict[str, Any], *stages: str) -> None:
    """See that a record says what a reader of the result should know."""
    assert {"command", "settings", "fingerprint", "plan", "counts", "versions"} <= set(record)
    assert {"python", "numba", "numpy", "pyarrow", "scipy"} <= set(record["versions"])
    assert len(record["recipe"]) == 16
    assert {"read", "empty", "identical", "candidates", "skipped"} <= set(record["counts"])
    assert set(stages) <= set(record["seconds"])
    assert all(spent >= 0 for spent in record["seconds"].values())


EACH = [*((way, "letters") for way in WAYS), *(("jaccard", ids) for ids in IDS)]
"""Every way and all kinds of ids, each once."""


@pytest.mark.parametrize(("way", "ids"), [*EACH, ("simhash", "no pairs")])
def test_what_find_wrote_to_a_folder_is_opened_as_it_was(way, ids, tmp_path):
    found = lookalike.find(IDS[ids], **WAYS[way])
    found.write(tmp_path / "found")
    opened = FindResult.open(tmp_path / "found")
    same_tables(found, opened)
    same_facts(found, opened)
    complete(json.loads((tmp_path / "found" / "run.json").read_bytes()), "cluster", "sort", "write")
    assert opened.top(2).equals(found.pairs.slice(0, 2))


@pytest.mark.parametrize(("way", "ids"), [*EACH, ("simhash", "no pairs")])
def test_what_find_wrote_to_a_file_is_opened_with_its_pairs(way, ids, tmp_path):
    found = lookalike.find(IDS[ids], **WAYS[way])
    for name in FILES:
        place = tmp_path / name
        found.write(place)
        opened: Any = Result.open(place)
        same_tables(found, opened, ["pairs"])
        same_facts(found, opened)
        complete(json.loads(Path(f"{place}.run.json").read_bytes()), "cluster", "sort", "write")
        with pytest.raises(OutputError, match="the clusters were not written: write the"):
            _ = opened.clusters
        with pytest.raises(SourceError, match="holds no containments: write the result"):
            _ = opened.containments


@pytest.mark.parametrize("name", ["found", *FILES])
@pytest.mark.parametrize("command", ["contained", "boilerplate"])
def test_what_contained_and_boilerplate_wrote_is_opened_as_it_was(command, name, tmp_path):
    kinds = IDS if command == "contained" else ("letters", "no pairs", "no documents")
    for at, source in enumerate(IDS[kind] for kind in kinds):
        options = {"containment": 0.5} if command == "contained" else {}
        found = getattr(lookalike, command)(source, **options)
        place = tmp_path / str(at) / name
        place.parent.mkdir()
        found.write(place)
        opened: Any = Result.open(place)
        same_tables(found, opened)
        same_facts(found, opened)
        record = place / "run.json" if name == "found" else Path(f"{place}.run.json")
        complete(json.loads(record.read_bytes()), "compare", "write")


@pytest.mark.parametrize("list_only", [False, True], ids=["copied", "listed"])
@pytest.mark.parametrize("against", [None, ["", BASE]], ids=["alone", "against"])
def test_what_dedup_wrote_is_opened_as_it_was(against, list_only, tmp_path):
    for at, source in enumerate(IDS.values()):
        found = lookalike.dedup(source, against=against)
        place = tmp_path / str(at)
        found.write(place, list_only=list_only)
        opened: Any = Result.open(place)
        same_tables(found, opened)
        same_facts(found, opened)
        assert opened.was_there
        complete(json.loads((place / "run.json").read_bytes()), "cluster", "write")
        kept = place / ("kept.txt" if list_only else "kept")
        assert kept.exists()
        with pytest.raises(OutputError, match=r"kept documents are there, in kept or kept\.txt"):
            _ = opened.kept


def rows_of(kept: Any) -> list[str]:
    if isinstance(kept, dict):
        return list(kept.values())
    if isinstance(kept, pa.Table):
        return kept["text"].to_pylist()
    return list(kept["text"]) if hasattr(kept, "columns") else list(kept)


@pytest.mark.parametrize(
    "made",
    [
        list,
        lambda texts: {f"t{at}": text for at, text in enumerate(texts)},
        lambda texts: pa.table({"text": texts, "n": range(len(texts))}),
        lambda texts: pd.DataFrame({"text": texts}, index=range(5, 5 + len(texts))),
        lambda texts: pl.DataFrame({"text": texts}),
        pa.array,
        pd.Series,
        lambda texts: pl.Series("text", texts),
    ],
    ids=["list", "dict", "table", "pandas", "polars", "column", "series", "polars series"],
)
def test_kept_documents_of_every_kind_are_written_as_a_table(made, tmp_path):
    source = made(TEXTS)
    found = lookalike.dedup(source, out=tmp_path / "clean")
    kept = [str(text) for text in rows_of(found.kept)]
    assert kept == [BASE, OTHER, ""]
    assert isinstance(found.kept, type(source))
    written = pa.parquet.read_table(tmp_path / "clean" / "kept" / "documents.parquet")
    assert written["text"].to_pylist() == kept
    assert written["id"].to_pylist() == found.kept_ids.to_pylist()
    same_tables(found, Result.open(tmp_path / "clean"))


def test_kept_vectors_are_written_as_a_table(tmp_path):
    vectors = np.array([[1.0, 0, 0], [1, 0, 0.01], [0, 1, 0]])
    found = lookalike.dedup(vectors, metric="cosine", out=tmp_path / "clean")
    assert found.kept.tolist() == [[1, 0, 0], [0, 1, 0]]
    written = pa.parquet.read_table(tmp_path / "clean" / "kept" / "documents.parquet")
    assert written["document"].to_pylist() == found.kept.tolist()
    opened = Result.open(tmp_path / "clean")
    same_tables(found, opened)
    same_facts(found, opened)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Give a folder of files to read, with some that are passed by."""
    place = tmp_path / "source"
    place.mkdir()
    for at, text in enumerate(TEXTS):
        (place / f"{at}.txt").write_text(text)
    (place / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    return place


def test_a_job_on_files_writes_the_same_and_names_what_it_passed_by(folder, tmp_path):
    calls: dict[str, Any] = {
        "found": lookalike.find,
        "inside": lookalike.contained,
        "passages": lookalike.boilerplate,
        "clean": lookalike.dedup,
    }
    for name, call in calls.items():
        found: Any = call(folder, out=tmp_path / name)
        opened = Result.open(tmp_path / name)
        same_tables(found, opened)
        same_facts(found, opened)
        record = opened.record()
        assert sum(record["counts"]["skipped"].values()) == 1
        assert record["sources"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*calls, "source"])


def test_an_opened_result_is_written_again_as_it_was(tmp_path):
    found = lookalike.find(TEXTS)
    found.write(tmp_path / "first")
    opened = Result.open(tmp_path / "first")
    assert isinstance(opened, FindResult)
    for name in ("second", *FILES):
        opened.write(tmp_path / name)
        again = Result.open(tmp_path / name)
        same_tables(found, again, ["pairs"])
        same_facts(found, again)


def test_a_result_is_opened_by_its_record_and_in_a_format_that_its_name_does_not_tell(tmp_path):
    found = lookalike.find(TEXTS)
    found.write(tmp_path / "found")
    found.write(tmp_path / "pairs.jsonl")
    found.write(tmp_path / "pairs.out", format="csv")
    for name in ("found/run.json", "pairs.jsonl.run.json", "pairs.out", "pairs.out.run.json"):
        same_tables(found, Result.open(tmp_path / name), ["pairs"])


def made(command: str) -> Any:
    call: Any = getattr(lookalike, command)
    return call(TEXTS)


COMMANDS = ("find", "contained", "boilerplate", "dedup")


def read_all(result: Any) -> None:
    for name in (*TABLES, "pair_count", "cluster_count", "counts", "summary", "plan"):
        getattr(result, name, None)
    if hasattr(result, "plan"):
        result.plan.sentence()


def refused(call, *given, kind: type[LookalikeError] = SourceError) -> str:
    """Give the one line that a call is refused with."""
    with pytest.raises(kind) as told:
        call(*given)
    message = str(told.value)
    assert "\n" not in message
    return message


def keys_of(record: dict[str, Any], before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, value in record.items():
        found.append((*before, name))
        if isinstance(value, dict):
            found += keys_of(value, (*before, name))
    return found


def told_by(place: Path, found: Any) -> str:
    """Open a result, which is the same or refused, and give what it was refused with."""
    try:
        opened: Any = Result.open(place)
        read_all(opened)
    except SourceError as error:
        return str(error)
    assert opened.settings == found.settings
    same_tables(found, opened)
    return ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_record_that_lacks_anything_is_refused_in_one_line_or_not_needed(command, tmp_path):
    found = made(command)
    found.write(tmp_path / "found")
    place = tmp_path / "found" / "run.json"
    whole = place.read_text()
    needed = 0
    for path in keys_of(json.loads(whole)):
        record = json.loads(whole)
        part = record
        for name in path[:-1]:
            part = part[name]
        del part[path[-1]]
        place.write_text(json.dumps(record))
        told = told_by(tmp_path / "found", found)
        needed += bool(told)
        assert not told or re.fullmatch("[^\n]+(run again|name another)", told), path
    assert needed >= 15


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "3", '"x"', "{", "{}", '{"format": 1}', '{"format": 1, "command": []}'],
)
def test_what_is_no_record_is_refused(text, tmp_path):
    (tmp_path / "run.json").write_text(text)
    assert str(tmp_path) in refused(Result.open, tmp_path)


def test_places_without_a_result_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "pairs.jsonl").write_text("{}\n")
    for place in (tmp_path, tmp_path / "none", tmp_path / "notes.txt", tmp_path / "pairs.jsonl"):
        assert "is not a result of Lookalike" in refused(Result.open, place)


def test_the_result_of_another_version_is_refused(tmp_path):
    made("find").write(tmp_path / "found")
    record = json.loads((tmp_path / "found" / "run.json").read_bytes())
    (tmp_path / "found" / "run.json").write_text(json.dumps(record | {"format": 99}))
    assert "another version" in refused(Result.open, tmp_path / "found", kind=OutputError)


def test_settings_that_were_changed_are_refused(tmp_path):
    made("find").write(tmp_path / "found")
    record = json.loads((tmp_path / "found" / "run.json").read_bytes())
    record["settings"]["threshold"] = 0.5
    (tmp_path / "found" / "run.json").write_text(json.dumps(record))
    assert "damaged, in its settings" in refused(Result.open, tmp_path / "found")


@pytest.mark.parametrize("name", ["ids", "seconds", "settings", "plan"])
def test_a_record_of_other_values_is_refused(name, tmp_path):
    made("find").write(tmp_path / "found")
    record = json.loads((tmp_path / "found" / "run.json").read_bytes())
    (tmp_path / "found" / "run.json").write_text(json.dumps(record | {name: "other"}))
    assert "is damaged" in refused(Result.open, tmp_path / "found")


def test_line_breaks_in_ids_stay_where_a_file_is_parsed_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.results.stored.BLOCK_BYTES", 150)
    found = lookalike.find({f"{at}\n\n{at}": BASE for at in range(12)})
    found.write(tmp_path / "pairs.csv")
    same_tables(found, Result.open(tmp_path / "pairs.csv"), ["pairs"])


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_the_result_of_another_command_is_refused(command, tmp_path):
    made(command).write(tmp_path / "found")
    assert f"is a result of {command}" in refused(FindResult.open, tmp_path / "found")


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_are_gone_or_torn_are_told_in_one_line(command, tmp_path):
    found, place = made(command), tmp_path / "found"
    found.write(place)
    tables = [path for path in place.iterdir() if path.is_file() and path.name != "run.json"]
    assert tables
    for path in tables:
        whole = path.read_bytes()
        ends = [0, 1, len(whole) // 2, len(whole) - 2]
        for torn in [*(whole[:end] for end in ends), b"\xff\xfe\x00no table\n", None]:
            if torn is None:
                path.unlink()
            else:
                path.write_bytes(torn)
            message = refused(lambda: read_all(Result.open(place)))
            assert str(path) in message
            assert "run again" in message
        path.write_bytes(whole)
    read_all(Result.open(place))


@pytest.mark.parametrize("command", COMMANDS[:3])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone_or_torn_is_told_in_one_line(name, command, tmp_path):
    found, place = made(command), tmp_path / name
    found.write(place)
    whole = place.read_bytes()
    lines = whole.splitlines(keepends=True)
    for torn in [b"", whole[:1], b"".join(lines[:-1]), b"\xff\xfe\x00no table\n"]:
        place.write_bytes(torn)
        message = refused(lambda: read_all_of_a_file(Result.open(place)))
        assert str(place) in message
    place.unlink()
    assert "is not a result" in refused(Result.open, place)


def read_all_of_a_file(result: Any) -> None:
    _ = result.passages if hasattr(result, "passages") else result.pairs


READS = {
    "find": ("pairs", "containments", "clusters", "pair_count", "cluster_count", "empty"),
    "contained": ("pairs", "pair_count", "inside_count", "empty"),
    "boilerplate": ("empty",),
    "dedup": ("kept", "kept_ids", "removed", "clusters", "empty"),
}


@pytest.mark.parametrize("in_files", [False, True], ids=["in memory", "in files"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_result_says_so_and_never_gives_something_else(
    command, in_files, folder, tmp_path
):
    call: Any = getattr(lookalike, command)
    for name in READS[command]:
        options = {"work": tmp_path / f"work-{name}"} if in_files else {}
        with call(folder if in_files else TEXTS, **options) as found:
            pass
        found.close()
        with pytest.raises(OutputError, match="the result is closed"):
            getattr(found, name)
        if command != "boilerplate":
            with pytest.raises(OutputError, match="the result is closed"):
                found.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


def test_what_was_laid_out_before_the_close_stays():
    with lookalike.find(TEXTS) as found:
        pairs, clusters = found.pairs, found.clusters
    assert found.pairs is pairs
    assert found.clusters is clusters
    assert found.plan.sentence()
    assert found.summary.documents == 5


def test_an_opened_result_can_be_closed_twice(tmp_path):
    made("find").write(tmp_path / "found")
    with Result.open(tmp_path / "found") as opened:
        read_all(opened)
    opened.close()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_is_taken_or_cannot_be_is_refused_and_left_alone(command, folder, tmp_path):
    call: Any = getattr(lookalike, command)
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    places = {
        full: "is not empty",
        tmp_path / "no" / "such": "there is no folder",
        folder / "within": "are one inside the other",
        folder: "one inside the other|is not empty",
    }
    if command != "dedup":
        places[folder / "0.txt"] = "not known by its name"
        places[tmp_path / "no" / "pairs.jsonl"] = "there is no folder"
    for place, message in places.items():
        with pytest.raises(LookalikeError, match=message):
            call(folder, out=place)
    assert [path.name for path in full.iterdir()] == ["mine.txt"]
    assert len([*folder.iterdir()]) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "source"]


def test_a_source_is_never_written_over(tmp_path):
    place = tmp_path / "texts.jsonl"
    place.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    before = place.read_bytes()
    with pytest.raises(OutputError, match="is read from, and input is never changed"):
        lookalike.find(place, out=place)
    with (
        lookalike.find(place) as found,
        pytest.raises(OutputError, match="is read from, and input is never changed"),
    ):
        found.write(place)
    assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["texts.jsonl"]


@pytest.mark.parametrize("name", ["found", *FILES])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_nothing_behind_and_with_room_again_it_is_written(
    command, name, tmp_path
):
    if command == "dedup" and name != "found":
        pytest.skip("dedup writes a folder")
    found = made(command)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 20, 300, 700):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            with pytest.raises(OutputError, match="cannot be written: File too large") as told:
                found.write(tmp_path / name)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "\n" not in str(told.value)
        assert not [*tmp_path.iterdir()]
    found.write(tmp_path / name)
    same_facts(found, Result.open(tmp_path / name))


def test_a_full_disk_leaves_an_earlier_result_as_it_was(tmp_path):
    place = tmp_path / "pairs.jsonl"
    first, second = lookalike.find(TEXTS), lookalike.find(TEXTS, threshold=0.99)
    first.write(place)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (20, 1200):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            with pytest.raises(OutputError, match="File too large"):
                second.write(place)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        opened: Any = Result.open(place)
        same_tables(first, opened, ["pairs"])
        same_facts(first, opened)


KILLED = """
import os, signal, sys
from pathlib import Path
import lookalike
from lookalike.results import result
write, seen = result.write_record, 0
def killed(*given):
    os.kill(os.getpid(), signal.SIGKILL)
result.write_record = killed
getattr(lookalike, sys.argv[1])(sys.argv[3:]).write(Path(sys.argv[2]))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "name"), [("find", "found"), ("find", "pairs.jsonl"), ("dedup", "clean")]
)
def test_a_write_that_was_killed_is_done_again(command, name, tmp_path):
    place = tmp_path / name
    done = subprocess.run(
        [sys.executable, "-c", KILLED, command, place, *TEXTS], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL
    assert not place.exists()
    found = made(command)
    found.write(place)
    same_facts(found, Result.open(place))
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    left = [path.name for path in tmp_path.iterdir()]
    assert left == ([f"{name}.run.json"] if name.endswith("jsonl") else [])


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no names there")
def test_a_pipe_gets_the_pairs_and_no_record(tmp_path):
    reading, writing = os.pipe()
    found = lookalike.find(TEXTS)
    found.write(f"/dev/fd/{writing}", format="jsonl")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        rows = [json.loads(line) for line in pipe]
    assert rows == found.pairs.to_pylist()


def test_the_record_says_how_the_sources_were_read(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.csv").write_text("title;body\none;a text\ntwo;another\n")
    with lookalike.find(
        tmp_path / "x",
        text=["title", "body"],
        encoding="latin1",
        delimiter=";",
        skip_bad=True,
        include="*.csv",
        all_files=True,
    ) as found:
        reading = found.record()["reading"]
        assert reading["text"] == ["title", "body"]
        assert reading["encoding"] in ("latin1", "iso8859-1", "latin-1")
        assert reading["delimiter"] == ";"
        assert reading["include"] == ["*.csv"]
        assert [reading[name] for name in ("skip_bad", "all_files", "no_header")] == [1, 1, 0]
        assert reading["id"] is reading["markup"] is None
        found.write(tmp_path / "found")
    with Result.open(tmp_path / "found") as opened:
        assert opened.run.reading == reading


def test_no_option_of_reading_is_missing_in_the_record():
    parts = (TextField, VectorField, Records, Markup, MainText, TableLayout, Encoded, Chosen)
    names = {one.name for part in parts for one in dataclasses.fields(part)}
    assert set(made("find").record()["reading"]) == names
