"""After any history an index answers exactly as one that was made of what is left."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from lookalike.base.errors import SettingsError, SourceError
from lookalike.index.index import Index

BODY = "a ship came into the harbour with bread and candles for the winter market"
TEXTS = [
    "",
    *("x", "bread", "BREAD ", BODY, BODY.title(), f"{BODY} of stone", f"the {BODY}", BODY[5:]),
    *(BODY[:60], BODY[12:], f"{BODY} {BODY[:20]}", BODY.replace("bread", "stone")),
    *("a violin in the meadow", "a violin in the meadows", "the violins in a meadow"),
    *("zither " * 3, "zither", "one two three four five", "five four three two one"),
]
IDS = ["a", "b", "c", "ä", "d d", "\U0001f600", "'"]
Model = dict[str, tuple[str, int | None]]
RECIPE: dict[str, Any] = {"shingle": "chars:3", "threshold": 0.5, "bands": 4, "rows": 2}
"""Which misses some of what is similar, and has to miss the same after any history."""

one_text = st.sampled_from(TEXTS)
one_id = st.sampled_from(IDS)
some_metadata = st.none() | st.integers(0, 5)
batches = st.dictionaries(one_id, st.tuples(one_text, some_metadata), max_size=6)


@pytest.fixture
def crowds(monkeypatch) -> None:
    """Let few documents be a crowd, and little that is gone be swept."""
    for name, value in (
        *(("crowded.CROWD_ROWS", 2), ("crowded.CHECKED_SHARE", 2), ("crowded.SEEN_TOGETHER", 2)),
        *(("crowded.BLOCK_ENTRIES", 2), ("removing.MIN_SWEPT", 2), ("removing.PAGE", 2)),
        *(("merging.PAGE", 2), ("export.PAGE", 2), ("querying.BODIES", 2)),
    ):
        monkeypatch.setattr(f"lookalike.index.{name}", value)


@pytest.fixture(params=["sqlite", "postgres", "without text"])
def new_address(request, tmp_path) -> Callable[[], str]:
    """Give a function that names an index which is not there yet."""
    made: list[str] = []

    def new() -> str:
        if request.param == "postgres":
            return str(request.getfixturevalue("postgres").address())
        made.append(str(tmp_path / f"{len(made)}.lookalike"))
        return made[-1]

    return new


def table_of(batch: Model) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(batch, pa.string()),
            "text": pa.array([text for text, _ in batch.values()], pa.string()),
            "n": pa.array([n for _, n in batch.values()], pa.int64()),
        }
    )


def fields(n: int | None) -> dict[str, int]:
    return {} if n is None else {"n": n}


class Histories(RuleBasedStateMachine):
    """An index, and what should be in it."""

    new: Callable[[], str]
    like: str
    pairs: dict[str, dict[str, float]]
    """What an index of all texts answers, each by each."""

    def __init__(self) -> None:
        super().__init__()
        self.address = self.new()
        self.index = Index.create(self.address, like=self.like)
        self.model: Model = {}
        self.described = False

    def teardown(self) -> None:
        fresh = Index.create(self.new(), like=self.like)
        for id, (text, n) in self.model.items():
            fresh.add(id, text, fields(n))
        for text in TEXTS:
            assert self.index.query(text) == fresh.query(text)
        fresh.close()
        self.index.close()

    def matches(self, asked: str, model: Model) -> list[tuple[str, float, dict[str, int]]]:
        found = [
            (id, self.pairs[asked][text], fields(n))
            for id, (text, n) in model.items()
            if text in self.pairs[asked]
        ]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def put(self, model: Model, id: str, text: str, n: int | None) -> None:
        model[id] = (text, n)

    @rule(id=one_id, text=one_text, n=some_metadata)
    def add(self, id: str, text: str, n: int | None) -> None:
        added = self.index.add(id, text, fields(n))
        assert (added.documents, added.replaced) == (1, id in self.model)
        self.model[id] = (text, n)
        self.described |= n is not None

    @rule(id=one_id, text=one_text, n=some_metadata)
    def admit(self, id: str, text: str, n: int | None) -> None:
        expected = self.matches(text, self.model)
        admission = self.index.admit(id, text, fields(n))
        assert [(one.id, one.similarity, one.metadata) for one in admission.matches] == expected
        assert admission.added == (not expected)
        if admission.added:
            self.model[id] = (text, n)
        self.described |= n is not None

    @rule(batch=batches)
    def add_many(self, batch: Model) -> None:
        added = self.index.add_all(table_of(batch), id="id", metadata=["n"])
        assert added.documents == len(batch)
        assert added.replaced == len(batch.keys() & self.model.keys())
        self.model |= batch
        self.described |= any(n is not None for _, n in batch.values())

    @rule(batch=batches)
    def admit_many(self, batch: Model) -> None:
        model, kept = dict(self.model), 0
        for id, (text, n) in batch.items():
            if not self.matches(text, model):
                model[id] = (text, n)
                kept += 1
        added = self.index.add_all(table_of(batch), id="id", metadata=["n"], new_only=True)
        assert (added.documents, added.similar) == (kept, len(batch) - kept)
        self.model = model
        self.described |= any(n is not None for _, n in batch.values())

    @rule(ids=st.lists(one_id, max_size=4))
    def remove(self, ids: list[str]) -> None:
        there = self.model.keys() & set(ids)
        assert self.index.remove(ids) == len(there)
        for id in there:
            del self.model[id]

    @rule(least=st.integers(0, 6))
    def remove_where(self, least: int) -> None:
        where = f"n < {least} or n = 5"
        if not self.described:
            with pytest.raises(SettingsError, match="'n'"):
                self.index.remove(where=where)
            return
        gone = [id for id, (_, n) in self.model.items() if n is not None and (n < least or n == 5)]
        assert self.index.remove(where=where) == len(gone)
        for id in gone:
            del self.model[id]

    @rule(batch=batches)
    def merge(self, batch: Model) -> None:
        with Index.create(self.new(), like=self.like) as other:
            for id, (text, n) in batch.items():
                other.add(id, text, fields(n))
            assert self.index.merge(other).documents == len(batch)
            assert len(other) == len(batch)
        self.model |= batch
        self.described |= any(n is not None for _, n in batch.values())

    @rule()
    def compact(self) -> None:
        self.index.compact()

    @rule()
    def reopen(self) -> None:
        self.index.close()
        with pytest.raises(SourceError, match="closed"):
            self.index.query("x")
        self.index = Index(self.address)

    @invariant()
    def it_answers_as_one_made_of_what_is_left(self) -> None:
        assert list(self.index) == sorted(self.model, key=str.encode)
        assert self.index.check().faults == []
        asked = dict(enumerate(dict.fromkeys(TEXTS)))
        rows = self.index.query_all(pa.table({"id": [*asked], "text": [*asked.values()]}), id="id")
        found: dict[int, list[Any]] = {place: [] for place in asked}
        for row in rows.to_pylist():
            found[row["id"]].append(
                (row["match"], row["similarity"], fields(row.get("metadata.n")))
            )
        assert found == {place: self.matches(text, self.model) for place, text in asked.items()}


@pytest.mark.usefixtures("crowds")
def test_any_history_leaves_an_index_as_one_made_of_what_is_left(request, new_address):
    kind = request.node.callspec.params["new_address"]
    like = new_address()
    with Index.create(like, **RECIPE, no_text=kind == "without text") as index:
        for place, text in enumerate(TEXTS):
            index.add(place, text)
        found = {text: index.query(text) for text in TEXTS}
    pairs = {
        text: {TEXTS[int(one.id)]: one.similarity for one in mine} for text, mine in found.items()
    }
    assert sum(len(mine) for mine in pairs.values()) > 3 * len(TEXTS)
    history = type(
        "History", (Histories,), {"new": staticmethod(new_address), "like": like, "pairs": pairs}
    )
    share = 3 if kind == "sqlite" else 6
    bounded = settings(
        max_examples=settings().max_examples // share, stateful_step_count=15, deadline=None
    )
    run_state_machine_as_test(history, settings=bounded)


def test_a_document_is_compared_with_what_a_batch_has_left_not_with_what_it_replaced(tmp_path):
    """One by one and as a batch, the second is new once the first has taken the old one's place."""
    batch: Model = {"a": ("one two three four five", None), "b": (f"{BODY}!", None)}
    for new_only in (True, False):
        with Index.create(tmp_path / f"{new_only}.lookalike", **RECIPE | {"bands": 30}) as index:
            index.add("a", BODY)
            if new_only:
                assert index.add_all(table_of(batch), id="id", new_only=True).similar == 0
            else:
                assert all(index.admit(id, text).added for id, (text, _) in batch.items())
            assert list(index) == ["a", "b"]


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
@pytest.mark.parametrize("no_text", [False, True])
def test_a_query_that_meets_only_what_is_gone_finds_nothing(tmp_path, no_text, metric):
    near = f"{BODY} of stone"
    options: dict[str, Any] = {**RECIPE, "no_text": no_text, "metric": metric}
    with Index.create(tmp_path / "a.lookalike", **options) as index:
        index.add("a", BODY)
        assert len(index.query(near)) == 1
        index.remove("a")
        with index._store.read() as reader:
            assert reader.counts()["loose"] > 0
        assert index.query(near) == []
        assert index.query_all([near, "x"]).num_rows == 0
        assert index.admit("b", near).added
        index.remove("b")
        assert index.add_all([BODY, "x"], new_only=True).documents == 2


@pytest.mark.parametrize("copied", [False, True])
def test_rows_of_what_is_gone_are_swept_however_long_an_index_lives(tmp_path, monkeypatch, copied):
    """Documents that come and go leave no more behind than there is in the index."""
    monkeypatch.setattr("lookalike.index.removing.MIN_SWEPT", 10)
    with Index.create(tmp_path / "a.lookalike", **RECIPE) as index:
        for turn in range(30):
            for id in range(10):
                index.add(id, f"{BODY} {turn} {id}" if copied else f"{turn * 977} {id * 7919} etc")
        with index._store.read() as reader:
            assert reader.counts()["loose"] <= RECIPE["bands"] * 30
        assert len(index) == 10
        assert index.info()["removed"] <= 20


def test_compacting_packs_what_was_missed_and_gives_room_back(tmp_path, monkeypatch):
    path = Path(tmp_path, "a.lookalike")
    with Index.create(path, **RECIPE) as index:
        index.add_all([f"{BODY} {place}" for place in range(300)])
        assert index.remove(range(250)) == 250
        before = {text: index.query(text) for text in (BODY, f"{BODY} 299")}
        monkeypatch.setattr("lookalike.index.crowded.CROWD_ROWS", 20)
        index.compact()
        with index._store.read() as reader:
            counts = reader.counts()
        assert counts["blocks"] > 0
        assert counts["entries"] == 50
        assert index.info()["removed"] == 0
        assert {text: index.query(text) for text in before} == before
