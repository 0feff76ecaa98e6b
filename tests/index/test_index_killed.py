"""A writer that is killed at any moment leaves all that it acknowledged, and nothing by halves."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from index_model import edited_texts
from lookalike.index import adding
from lookalike.index.index import Index
from processes import environment

RECIPE: dict[str, Any] = {"shingle": "chars:4", "threshold": 0.5, "bands": 8, "rows": 2}
TEXTS = [" ".join(text.lower().split()) for text in edited_texts(7, 60)]
Model = dict[str, tuple[str, int]]

ONE_BY_ONE = """
import json, sys
from lookalike.index.index import Index
path, texts, how = sys.argv[1:]
with Index(path) as index:
    print("ready", flush=True)
    given = json.load(open(texts))
    turn = int(given[0].split()[-1])
    for id, text in enumerate(given):
        if how == "add":
            index.add(f"d{id % 100}", text, {"n": id})
            print(id, flush=True)
        elif index.admit(f"d{1000 * turn + id}", text, {"n": id}).added:
            print(id, flush=True)
"""


def killed(code: str, *arguments: object, after: int | None, wait: float = 0.0) -> list[str]:
    """Run code until it has said some lines and a little longer, and give all that it said."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(after or 0)]
        if after is not None:
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        return [line.strip() for line in (*said, *process.stdout) if line]


@pytest.mark.parametrize("how", ["add", "admit"])
def test_what_was_acknowledged_outlives_a_kill_at_any_moment(tmp_path, how):
    """Each time the next writer begins on what the killed one has left."""
    path, texts = tmp_path / "a.lookalike", tmp_path / "texts.json"
    Index.create(path, **RECIPE).close()
    held: Model = {}
    for turn, after in enumerate((1, 25, 80)):
        # Other letters each time, so that nothing is similar to what came before.
        mine = [f"{text.translate(shifted(5 * turn))} {turn}" for text in TEXTS]
        texts.write_text(json.dumps(mine))
        ready, *said = killed(ONE_BY_ONE, path, texts, how, after=after, wait=turn * 0.0007)
        assert ready == "ready"
        acknowledged = {}
        for id in map(int, said):
            acknowledged[f"d{id % 100 if how == 'add' else 1000 * turn + id}"] = (mine[id], id)
        with Index(path) as index:
            before, held = held, contents(index)
            # At most one was done and not acknowledged any more.
            extra = {id for id in held if held[id] != (before | acknowledged).get(id)}
            assert len(extra) <= 1
            assert set(before) | set(acknowledged) | extra == set(held)
            check_as_fresh(index, held, tmp_path / f"{turn}.lookalike")
    assert len(held) > 40


def shifted(by: int) -> dict[int, str]:
    """Give a table that puts other letters in the place of letters."""
    return {97 + place: chr(97 + (place + by) % 26) for place in range(26)}


def contents(index: Index) -> Model:
    """Give the text and the metadata of every document, by Parquet."""
    path = Path(index.address).with_name("exported.parquet")
    index.export(path)
    rows = parquet.read_table(path).to_pylist()
    return {row["id"]: (row["text"], row["n"]) for row in rows}


def check_as_fresh(index: Index, held: Model, path: Path) -> None:
    with Index.create(path, like=index.address) as fresh:
        for id, (text, n) in held.items():
            fresh.add(id, text, {"n": n})
        asked = [text for text, _ in held.values()]
        columns = ["id", "match", "similarity"]
        assert index.query_all(asked).select(columns).equals(fresh.query_all(asked).select(columns))


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours catches it."""


@pytest.fixture
def source(tmp_path: Path, monkeypatch) -> Path:
    """Give a file that is added in several changes."""
    monkeypatch.setattr("lookalike.index.bulk.MAX_CHUNK_DOCUMENTS", 1)
    monkeypatch.setattr("lookalike.index.bulk.MAX_ADMITTED_DOCUMENTS", 1)
    monkeypatch.setattr("lookalike.index.bulk.BATCH_BYTES", 4096)
    folder = tmp_path / "source"
    folder.mkdir()
    for part in range(6):
        lines = [
            json.dumps({"id": f"{part}-{place}", "text": text, "n": place})
            for place, text in enumerate(TEXTS[part * 40 : part * 40 + 40])
        ]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("new_only", [False, True])
def test_an_addition_that_ends_anywhere_goes_on_when_it_is_called_again(
    source, tmp_path, monkeypatch, new_only
):
    """At every call of the store, before it and after it: the same index, each counted once."""
    whole = Index.create(tmp_path / "whole.lookalike", **RECIPE)
    options: dict[str, Any] = {"metadata": ["n"], "new_only": new_only, "id": "id"}
    put, calls = adding.put, [0]

    def dying(at: int, *, late: bool) -> Callable[..., Any]:
        def change(*given: Any, **told: Any) -> Any:
            calls[0] += 1
            if calls[0] == at and not late:
                raise Killed
            done = put(*given, **told)
            if calls[0] == at:
                raise Killed
            return done

        return change

    monkeypatch.setattr(adding, "put", dying(0, late=False))
    expected = whole.add_all(source, **options)
    assert expected.documents + expected.similar == 240
    changes = calls[0]
    assert changes >= 4
    for at in range(1, min(changes, 6) + 1):
        for late in (False, True):
            path = tmp_path / f"{at} {late}.lookalike"
            calls[0] = 0
            with Index.create(path, like=whole.address) as index:
                monkeypatch.setattr(adding, "put", dying(at, late=late))
                with pytest.raises(Killed):
                    index.add_all(source, **options)
                monkeypatch.setattr(adding, "put", put)
                assert index.add_all(source, **options) == expected
                check_same(index, whole)
                with index._store.read() as reader:
                    assert reader.facts("adding.") == {}
    whole.close()


def check_same(index: Index, whole: Index) -> None:
    assert list(index) == list(whole)
    asked = TEXTS[:240:3]
    assert index.query_all(asked).equals(whole.query_all(asked))


ADDING = """
import sys
from lookalike.index import bulk
bulk.MAX_CHUNK_DOCUMENTS, bulk.BATCH_BYTES = 1, 4096
from lookalike.index.index import Index
with Index(sys.argv[1]) as index:
    def progress(_what, done, _total):
        print(done, flush=True)
    added = index.add_all(sys.argv[2], metadata=["n"], id="id", progress=progress)
print("done", added.documents, added.replaced, flush=True)
"""


def test_an_addition_whose_process_is_killed_again_and_again_ends_the_same(source, tmp_path):
    path = tmp_path / "killed.lookalike"
    with Index.create(tmp_path / "whole.lookalike", **RECIPE) as whole:
        expected = whole.add_all(source, metadata=["n"], id="id")
        Index.create(path, like=whole.address).close()
        for after in (1, 2, 3, None):
            said = killed(ADDING, path, source, after=after)
            if said[-1].startswith("done"):
                break
        assert said[-1] == f"done {expected.documents} 0"
        with Index(path) as index:
            check_same(index, whole)
    assert sorted(one.name for one in tmp_path.glob("*killed*")) == [path.name]
