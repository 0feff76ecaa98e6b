"""Folders that `datasets.save_to_disk` made, written here as it writes them."""

import json

import numpy as np
import pyarrow as pa
import pytest

import lookalike
from archive_files import archive
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus
from lookalike.read.saved_datasets import NO_ROWS, PART_OF_DATASET
from source_files import ids_and_texts, write_table

ROWS = [{"text": f"text {n} of the dataset, about something", "n": n} for n in range(9)]


def save(folder, rows, shards=2, **state):
    folder.mkdir(parents=True)
    names = [f"data-{n:05d}-of-{shards:05d}.arrow" for n in range(shards)]
    for name, part in zip(names, np.array_split(np.arange(len(rows)), shards), strict=True):
        with pa.ipc.new_stream(folder / name, pa.Table.from_pylist(rows).schema) as writer:
            writer.write_table(pa.Table.from_pylist([rows[row] for row in part]), max_chunksize=2)
    described = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "x"}
    (folder / "state.json").write_text(json.dumps(described | state, indent=2))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}, "text": "x"}, indent=2))
    return folder


@pytest.fixture(params=["path", "here", "address"])
def place(request, monkeypatch):
    """Give a folder as it may be named."""

    def named(folder):
        if request.param == "here":
            monkeypatch.chdir(folder)
            return "."
        return folder if request.param == "path" else folder.as_uri()

    return named


def test_the_rows_are_the_documents_and_nothing_else_is(tmp_path, place):
    folder = save(tmp_path / "saved", ROWS)
    write_table(folder / "cache-1234.arrow", pa.table({"text": ["left over"]}))
    corpus = open_corpus([place(folder)])
    found = [text for batch in corpus.batches() for text in batch.texts.to_pylist()]
    assert found == [row["text"] for row in ROWS]
    assert corpus.skipped == {PART_OF_DATASET: 2, NO_ROWS: 1}
    assert corpus.unread_files(set()) == [2, 3, 4]


@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
def test_it_is_the_same_in_an_archive(tmp_path, kind):
    folder = save(tmp_path / "saved", ROWS)
    write_table(folder / "cache-1234.arrow", pa.table({"text": ["left over"]}))
    files = {f"deep/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}
    corpus = open_corpus([archive(tmp_path / f"a{kind}", files)])
    found = [text for batch in corpus.batches() for text in batch.texts.to_pylist()]
    assert found == [row["text"] for row in ROWS]
    assert corpus.skipped == {PART_OF_DATASET: 2, NO_ROWS: 1}
    assert len(corpus.unread_files(set())) == 3


def test_each_split_of_a_dict_is_read(tmp_path, place):
    save(tmp_path / "all" / "train", ROWS[:6])
    save(tmp_path / "all" / "test", ROWS[6:], shards=1)
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    corpus = open_corpus([place(tmp_path / "all")])
    ids = [name for batch in corpus.batches() for name in batch.ids.to_pylist()]
    assert ids[:4] == [*(f"test/data-00000-of-00001.arrow:{n}" for n in (1, 2, 3)), ids[3]]
    assert ids[3] == "train/data-00000-of-00002.arrow:1"
    assert len(ids) == 9
    assert corpus.skipped == {PART_OF_DATASET: 5}


def test_what_is_kept_is_a_dataset_again(tmp_path):
    folder = save(tmp_path / "saved", [*ROWS, {**ROWS[3], "n": 10}])
    lookalike.dedup(folder, out=tmp_path / "out", threshold=0.99)
    kept = tmp_path / "out" / "kept"
    assert sorted(path.name for path in kept.iterdir()) == sorted(
        path.name for path in folder.iterdir()
    )
    assert (kept / "state.json").read_bytes() == (folder / "state.json").read_bytes()
    tables = [pa.ipc.open_stream(path).read_all() for path in sorted(kept.glob("*.arrow"))]
    assert pa.concat_tables(tables).to_pylist() == ROWS


def test_files_of_such_names_elsewhere_are_what_they_are(tmp_path):
    (tmp_path / "state.json").write_text("{}")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["x"]}')
    write_table(tmp_path / "data.arrow", pa.table({"text": ["row"]}))
    assert sorted(text for _, text in ids_and_texts(tmp_path)) == ["row", '{"splits": ["x"]}', "{}"]


def test_a_dataset_with_a_selection_beside_its_rows_is_refused(tmp_path):
    folder = save(tmp_path / "saved", ROWS, _indices_data_files=[{"filename": "indices.arrow"}])
    with pytest.raises(SourceError, match="saved with a selection of its rows: load it and save"):
        open_corpus([folder])
