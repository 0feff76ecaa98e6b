"""What stood in the way of a teacher, a student and an engineer who tried the whole."""

import json
import zipfile
from pathlib import Path

import pytest

import lookalike
from lookalike.base.errors import SettingsError, SourceError
from lookalike.base.wording import similarity_text
from made_documents import near_duplicates

BROKEN = b"PK\x03\x04 no more of it"


@pytest.fixture
def essays(tmp_path: Path) -> Path:
    """Give a folder of essays of which some cannot be read."""
    folder = tmp_path / "essays"
    folder.mkdir()
    for number, text in enumerate(near_duplicates(4, seed=1)):
        (folder / f"{number}.txt").write_text(text)
    (folder / "broken.docx").write_bytes(BROKEN)
    (folder / "blank.docx").write_bytes(b"")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    return folder


def kept_names(out: Path) -> set[str]:
    return {path.name for path in (out / "kept").iterdir()}


def test_no_file_of_a_folder_is_lost_where_bad_ones_are_skipped(
    essays: Path, tmp_path: Path
) -> None:
    with lookalike.dedup(essays, out=tmp_path / "out", skip_bad=True) as result:
        assert result.summary.bad_count == 1
        removed = {row["id"] for row in result.removed.to_pylist()}
    everything = {path.name for path in essays.iterdir()}
    assert kept_names(tmp_path / "out") == everything - removed
    assert (tmp_path / "out" / "kept" / "broken.docx").read_bytes() == BROKEN
    lookalike.dedup(essays, out=tmp_path / "less", skip_bad=True, drop_unread=True).close()
    lost = {"broken.docx", "picture.png"}
    assert kept_names(tmp_path / "less") == everything - removed - lost


def test_a_broken_file_of_a_folder_says_how_to_go_on(essays: Path) -> None:
    with pytest.raises(SourceError, match=r"broken\.docx.*; skip_bad= reads the others without it"):
        lookalike.find(essays)
    with pytest.raises(SourceError) as named:
        lookalike.find(essays / "broken.docx")
    assert "skip_bad" not in str(named.value)


def test_a_document_of_no_bytes_is_an_empty_one(essays: Path) -> None:
    (essays / "broken.docx").unlink()
    with lookalike.find(essays) as result:
        assert result.summary.empty == 1
        assert result.empty.to_pylist() == ["blank.docx"]


def test_files_that_may_have_been_meant_are_named_first(essays: Path) -> None:
    (essays / "broken.docx").unlink()
    for name in (".a.txt", ".b.txt", ".c.txt"):
        (essays / name).write_text("hidden")
    said: list[str] = []
    lookalike.find(essays, say=said.append).close()
    (line,) = [line for line in said if line.startswith("Skipped")]
    assert line.rpartition(": ")[2].startswith(f"{essays / 'picture.png'}")


def test_an_array_without_records_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    records = [{"id": at, "text": text} for at, text in enumerate(near_duplicates(9, seed=2))]
    (folder / "0.json").write_text(json.dumps(records))
    for name in ("1.json", "2.json"):
        (folder / name).write_text("[]\n")
    with lookalike.dedup(folder, out=tmp_path / "out") as result:
        assert result.summary.documents == 9
    assert kept_names(tmp_path / "out") == {"0.json", "1.json", "2.json"}
    assert (tmp_path / "out" / "kept" / "1.json").read_text() == "[]\n"


def test_main_texts_are_asked_of_pages_alone(tmp_path: Path) -> None:
    records = [{"id": 1, "text": "<p>one</p>"}, {"id": 2, "text": "<p>two</p>"}]
    path = tmp_path / "pages.json"
    path.write_text(json.dumps(records))
    for source in (path, records):
        with pytest.raises(SettingsError, match=r"no page for main_text=: .* give markup='html'"):
            lookalike.find(source, main_text=True)


def test_texts_have_no_tokens_to_compare() -> None:
    with pytest.raises(SettingsError, match="shingle='tokens' is for lists of tokens"):
        lookalike.compare("a rose is a rose", "a rose", shingle="tokens")


@pytest.mark.parametrize("given", [{"bands": 3, "rows": 2}, {"cascade": "and:2 or:3"}])
def test_every_pair_is_not_asked_of_bands(given: dict[str, int | str]) -> None:
    with pytest.raises(SettingsError, match="recall=1 finds every pair without bands"):
        lookalike.find(["a", "b"], recall=1, **given)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="recall=1 finds every pair without bands"):
        lookalike.plan(recall=1, **given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("small_is_compared_whole")
def test_the_shingle_of_a_handful_of_texts_is_the_usual_one() -> None:
    rose = ["A rose is a rose is a rose", "a rose is a flower, which is a rose"]
    others = ["Ships that pass in the night", "The old miller counts his sacks of flour"]
    for texts in (rose, rose + others[:1], rose + others):
        with lookalike.find(texts, threshold=0.3) as result:
            assert result.settings.shingle == "chars:5"
            assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [(0, 1)]


def test_what_is_1_but_for_rounding_is_shown_as_1() -> None:
    assert similarity_text(1 - 1e-16) == "1.0000"
    assert similarity_text(0.9999999) == "0.9999"


def test_a_cascade_made_of_a_text_says_how_it_is_read() -> None:
    for wrong in ("and:5 or:20", 5):
        with pytest.raises(SettingsError, match=r"use Cascade\.parse\('and:5 or:20'\)"):
            lookalike.Cascade(wrong)  # type: ignore[arg-type]


def test_a_binary_file_is_not_said_to_need_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "old.wpd"
    path.write_bytes(b"\xffWPC\x10\xe1\xb1\x1a\0\0")
    with pytest.raises(SourceError, match="is binary, with a NUL at byte 9; save it as text"):
        lookalike.compare(path, path)


def test_members_of_archives_keep_their_bad_ones_too(essays: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as packed:
        for file in essays.iterdir():
            packed.write(file, file.name)
    lookalike.dedup(tmp_path / "class.zip", out=tmp_path / "out", skip_bad=True).close()
    names = {path.name for path in (tmp_path / "out" / "kept").rglob("*") if path.is_file()}
    assert {"broken.docx", "picture.png", "blank.docx"} <= names
