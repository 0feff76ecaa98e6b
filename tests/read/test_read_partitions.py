"""Columns that the path of a file tells: `lang=en/part-0.parquet`."""

import pyarrow as pa
import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, read_paths
from lookalike.read.partitions import partitions
from source_files import RECORD_KINDS, write_records

TEXT = "the quick brown fox jumps over the lazy dog"


def values_of(corpus, name):
    return [value for batch in corpus.batches() for value in batch.columns[name].to_pylist()]


def test_folders_of_a_path_tell_columns_and_values():
    name = "data/year=2024/month=03/lang=zh%2DHant%2FTW/a%20b=x=y/score=-0.5/n=0/part=1.parquet"
    assert {key: value.as_py() for key, value in partitions(name).items()} == {
        "year": 2024,
        "month": "03",
        "lang": "zh-Hant/TW",
        "a b": "x=y",
        "score": -0.5,
        "n": 0,
    }
    assert partitions("x=__HIVE_DEFAULT_PARTITION__/a.csv")["x"].as_py() is None
    assert partitions("a/=b/c=/d.csv") == {"c": pa.scalar("")}
    assert partitions("plain/a.parquet") == {}


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_a_column_of_the_path_is_one_of_every_record(tmp_path, kind):
    for lang, many in (("de", 2), ("en%3A", 3)):
        records = [{"text": f"{lang} {n}", "n": n} for n in range(many)]
        write_records(tmp_path / f"lang={lang}" / "size=7" / f"part{kind}", records)
    corpus = open_corpus([tmp_path], columns=("lang", "size"))
    assert values_of(corpus, "lang") == ["de", "de", "en:", "en:", "en:"]
    assert values_of(corpus, "size") == [7] * 5
    everything = read_paths([tmp_path]).columns
    assert sorted(everything) == ["lang", "n", "size"]


def test_a_file_that_is_one_document_has_them_too(tmp_path):
    for name in ("year=7/a.txt", "year=12/b.md", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    corpus = open_corpus([tmp_path], columns=("year", "none such"))
    (batch,) = corpus.batches()
    assert dict(zip(batch.ids.to_pylist(), batch.columns["year"].to_pylist(), strict=True)) == {
        "c.txt": None,
        "year=12/b.md": 12,
        "year=7/a.txt": 7,
    }
    assert batch.columns["none such"].null_count == 3


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_a_column_of_the_file_itself_comes_first(tmp_path, kind):
    path = write_records(tmp_path / "n=9" / f"part{kind}", [{"text": "x", "n": "own"}])
    assert values_of(open_corpus([path], columns=("n",)), "n") == ["own"]


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_ids_can_be_those_of_the_path(tmp_path, kind):
    for key in (17, 4):
        write_records(tmp_path / f"key={key}" / f"part{kind}", [{"text": f"text {key}"}])
    corpus = open_corpus([tmp_path], id="key")
    (batch,) = corpus.batches()
    assert batch.ids.to_pylist() == [17, 4]
    assert corpus.originals(batch.shards, batch.records).ids.to_pylist() == [17, 4]
    with pytest.raises(SourceError, match="there is no column 'none such' for the id"):
        list(open_corpus([tmp_path], id="none such").batches())
    write_records(tmp_path / "key=__HIVE_DEFAULT_PARTITION__" / "a.jsonl", [{"text": "x"}])
    with pytest.raises(SourceError, match="the path tells no 'key', which holds the id"):
        list(open_corpus([tmp_path], id="key").batches())


def test_the_kept_one_is_chosen_by_the_path_and_kept_files_keep_theirs(tmp_path):
    for year in (2019, 2024, 987):
        write_records(tmp_path / "in" / f"year={year}" / "part-0.parquet", [{"text": TEXT}])
    result = lookalike.dedup(tmp_path / "in", keep="max:year", out=tmp_path / "out")
    (kept,) = {row["kept"] for row in result.removed.to_pylist()}
    assert kept == "year=2024/part-0.parquet:1"
    rows = {
        path.relative_to(tmp_path / "out" / "kept").as_posix(): len(read_paths([path]))
        for path in (tmp_path / "out" / "kept").rglob("*.parquet")
    }
    assert rows == {
        "year=2019/part-0.parquet": 0,
        "year=2024/part-0.parquet": 1,
        "year=987/part-0.parquet": 0,
    }
