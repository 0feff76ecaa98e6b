"""The first pass: sketches that serve as those made later, and the documents of the sample."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.planning import sampling
from lookalike.recipe import CanonicalForm, Recipe, Sample, choose
from lookalike.settings import Settings
from lookalike.spark import choosing, first_pass, guessing, job
from lookalike.spark.arrow import bytes_of, nodes_of_fingerprints, places_of, unique_nodes
from lookalike.spark.naming import unpack_named
from lookalike.spark.packing import unpacked
from lookalike.spark.workers import encode_packed, identify, pack_sketches

TEXTS = st.lists(st.text("ab ", max_size=12) | st.none(), min_size=1, max_size=30)
FORM = CanonicalForm.of(Settings()).decided_by(pa.array(["a"]))


def recipe_of(shingle: str, **more: Any) -> Recipe:
    texts = pa.array(["a rose is a rose", "another one"])
    settings = Settings(shingle=shingle, **more)
    return choose(settings, Sample.of_array(texts, settings)).recipe


def batches_of(texts: list[str | None], rows: int) -> list[pa.RecordBatch]:
    """Give documents in batches, of which the last is empty."""
    column = pa.array(texts, pa.string())
    batch = pa.RecordBatch.from_pydict({"id": pa.array(range(len(texts))), "content": column})
    return [batch.slice(start, rows) for start in range(0, len(texts) + rows, rows)]


def rows_of(packed: list[pa.RecordBatch]) -> set[tuple[Any, ...]]:
    found: set[tuple[Any, ...]] = set()
    for batch in packed:
        widths = batch.column("width").to_pylist()
        for width, value in zip(widths, batch.column("rows"), strict=True):
            rows = unpacked(np.frombuffer(value.as_buffer(), np.uint8), width)
            columns = zip(*(column.tolist() for column in rows), strict=True)
            found |= {tuple(tuple(x) if isinstance(x, list) else x for x in row) for row in columns}
    return found


@pytest.mark.parametrize(
    ("shingle", "more"),
    [
        ("chars:2", {"bands": 5, "rows": 3}),
        ("words:1", {"bands": 1, "rows": 64}),
        ("chars:2", {"bands": 9, "rows": 2, "multiset": True}),
    ],
)
@given(texts=TEXTS)
def test_sketches_of_the_first_pass_give_the_rows_of_a_later_one(shingle, more, texts) -> None:
    recipe = recipe_of(shingle, **more)
    batches = batches_of(texts, 7)
    made = pa.Table.from_batches(identify(recipe.form, False, recipe.dump(), iter(batches)))
    sketches = made.filter(pa.compute.is_valid(made["sketches"])).select(["sketches"])
    early = rows_of([*pack_sketches(recipe.dump(), 3, sketches.to_batches())])
    later = rows_of([*encode_packed(recipe.dump(), 3, iter(batches[:-1]))])
    assert early == later
    named = made.filter(pa.compute.is_valid(made["named"])).to_batches()
    filled = [row["id"] for one in unpack_named(("id",), named) for row in one.to_pylist()]
    assert filled == [number for number, text in enumerate(texts) if text and text.strip()]
    assert sum(made["rows"].drop_null().to_pylist()) == len(texts)
    assert sum(made["empty"].drop_null().to_pylist()) == len(texts) - len(filled)


@given(
    texts=st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=60),
    most=st.integers(1, 70),
    rows=st.integers(1, 20),
)
def test_documents_with_the_smallest_fingerprints_are_kept(texts, most, rows) -> None:
    first = first_pass.FirstDocuments(most)
    seen = {}
    for batch in batches_of(texts, rows):
        if len(batch):
            documents = FORM.canonical(batch.column("content"))
            first.add(documents, first_pass.distinct_rows(documents))
            for row, print_of in enumerate(documents.fingerprints.tolist()):
                seen[tuple(print_of)] = documents.text(row)
    held = first.held()
    assert held is not None
    kept = {tuple(one): held.text(row) for row, one in enumerate(held.fingerprints.tolist())}
    assert kept == {one: seen[one] for one in sorted(seen)[:most]}


@pytest.mark.parametrize("mean", [3_000, 8_000, 15_000])
@pytest.mark.parametrize("partitions", [1, 3, 12])
def test_the_sample_is_kept_however_long_documents_are(mean, partitions, monkeypatch) -> None:
    # A quarter of the documents and of the bytes that a sample has.
    wanted, fits = sampling.CLOSE_DOCUMENTS // 4, sampling.CLOSE_BYTES // 4
    spare = first_pass.SPARE_DOCUMENTS // 4
    monkeypatch.setattr(first_pass, "SAMPLED_BYTES", first_pass.SAMPLED_BYTES // 4)
    drawn = np.random.default_rng(mean + partitions)
    lengths = drawn.lognormal(np.log(mean), 0.8, 200 * partitions + 2500).astype(np.int64)
    texts = [f"{number} ".ljust(int(n), "x") for number, n in enumerate(lengths)]
    every = FORM.canonical(pa.array(texts, pa.large_string()))
    sample = sampling.sample(every, np.arange(len(every)), max_documents=wanted, max_bytes=fits)
    kept = set()
    for part in range(partitions):
        first = first_pass.FirstDocuments(wanted + spare)
        mine = np.arange(part, len(every), partitions)
        for start in range(0, len(mine), 100):
            batch = every.chosen(mine[start : start + 100])
            first.add(batch, first_pass.distinct_rows(batch))
        held = first.held()
        assert held is not None
        kept |= set(map(tuple, held.fingerprints.tolist()))
    assert set(map(tuple, every.fingerprints[sample].tolist())) <= kept


def test_no_more_is_kept_than_the_sample_may_have(monkeypatch) -> None:
    monkeypatch.setattr(first_pass, "SAMPLED_BYTES", 100)
    first = first_pass.FirstDocuments(4)
    for texts in (["x" * 90, "y" * 60, "z" * 30], ["long" * 50], ["ab", "c"]):
        documents = FORM.canonical(pa.array(texts))
        first.add(documents, first_pass.distinct_rows(documents))
    held = first.held()
    assert held is not None
    assert int(held.offsets[-1]) <= 100
    empty = first_pass.FirstDocuments(4)
    nothing = FORM.canonical(pa.array(["", None]))
    empty.add(nothing, first_pass.distinct_rows(nothing))
    assert empty.held() is None


def test_a_document_of_every_partition_comes_to_the_driver_once(spark, monkeypatch) -> None:
    came = []

    def counting_rows(column: pa.Array) -> Any:
        came.append(len(column))
        return bytes_of(column)

    texts = [f"text {number % 40} of forty and more words {number % 40}" for number in range(240)]
    frame = spark.createDataFrame(pa.table({"id": range(240), "text": texts})).repartition(6)
    monkeypatch.setattr("lookalike.spark.choosing.bytes_of", counting_rows)
    lookalike.spark.find(frame, shingle="chars:5").release()
    assert came[0] == 40


@pytest.mark.parametrize("partitions", [1, 2, 5, 30, 400])
def test_partitions_keep_enough_for_the_sample_of_all(partitions) -> None:
    for documents, seed in ((60_000, 1), (900_000, 2), (6_000_000, 3)):
        wanted = min(max(documents // 250, sampling.CLOSE_DOCUMENTS), sampling.MAX_CLOSE_DOCUMENTS)
        drawn = np.random.default_rng(seed)
        # Of the documents of the sample, how many fall into each partition.
        fell = drawn.multinomial(min(wanted, documents), np.full(partitions, 1 / partitions))
        kept = [first_pass.sampled_documents(number) for number in range(partitions)]
        if documents / partitions < 300_000:
            assert (fell <= kept).all(), (documents, partitions)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40), st.booleans())
def test_names_are_told_apart_by_all_their_bytes(words, alike) -> None:
    numbers = [(5 if alike else a, b) for a, b in words]
    nodes = nodes_of_fingerprints(np.array(numbers, np.uint64).reshape(-1, 2))
    first, places = unique_nodes(nodes)
    distinct = sorted(set(numbers))
    assert [numbers[i] for i in first.tolist()] == distinct
    assert first.tolist() == [numbers.index(one) for one in distinct]
    assert places.tolist() == [distinct.index(one) for one in numbers]
    among = nodes[random.Random(1).sample(first.tolist(), len(first))]
    assert (among[places_of(nodes, among)] == nodes).all()


def test_a_packed_sketch_holds_what_it_is_made_of() -> None:
    recipe = recipe_of("chars:3")
    documents = FORM.canonical(pa.array(["some text", "", "some text", "more of it"]))
    value = first_pass.sketches_packed(recipe, documents, first_pass.distinct_rows(documents))
    found = first_pass.sketches_unpacked(pa.scalar(value, pa.binary()))
    assert found["bytes"].tolist() == [9, 10]
    assert (found["node"] == nodes_of_fingerprints(documents.fingerprints[[0, 3]])).all()


def test_a_guess_serves_only_a_recipe_that_makes_the_same_sketches() -> None:
    made = guessing.FirstPass(recipe_of("chars:3"), None)
    assert made.serves(recipe_of("chars:3", bands=20, rows=3))
    assert not made.serves(recipe_of("chars:3", bands=20, rows=4))
    assert not made.serves(recipe_of("chars:4"))
    assert not made.serves(recipe_of("chars:3", seed=2))
    assert not made.serves(recipe_of("chars:3", estimate=True))
    assert not made.serves(recipe_of("chars:3", normalise="none"))
    assert not guessing.FirstPass(None, None).serves(recipe_of("chars:3"))


def documents(count: int) -> pa.Table:
    """Give texts of random words, of which half are near-copies of others."""
    drawn = random.Random(4)
    words = [f"w{i}" for i in range(900)]
    texts = [drawn.choices(words, k=50) for _ in range(count // 2)]
    texts += [[*text[:-2], "new", "end"] for text in texts]
    return pa.table({"id": range(len(texts)), "text": [" ".join(text) for text in texts]})


def counting(folder: Path) -> Any:
    """Give a function of batches that leaves a file for each task that reads them."""

    def read(batches: Any) -> Any:
        import uuid
        from pathlib import Path

        Path(folder, uuid.uuid4().hex).touch()
        yield from batches

    return read


def test_texts_are_read_once_for_all_and_once_for_the_candidates(spark, tmp_path) -> None:
    table = documents(600)
    frame = spark.createDataFrame(table).repartition(3)
    frame = frame.mapInArrow(counting(tmp_path), frame.schema)
    found = lookalike.spark.find(frame, shingle="chars:5", threshold=0.7)
    assert found.pairs.count() == 300
    assert found.clusters.count() == 600
    assert len([*tmp_path.iterdir()]) == 2 * 3
    found.release()


@pytest.mark.parametrize("miss", ["sketches", "texts", "guess"])
def test_the_answer_is_the_same_where_the_first_pass_does_not_serve(spark, miss, monkeypatch):
    table = documents(500)
    if miss == "sketches":
        monkeypatch.setattr(guessing, "SKETCH_ROWS", 0)
    elif miss == "texts":
        monkeypatch.setattr(choosing, "_held", lambda *_: None)
    else:
        monkeypatch.setattr(job, "guessed", lambda *_: recipe_of("chars:12"))
    found = lookalike.spark.find(spark.createDataFrame(table))
    local = lookalike.find(table)
    assert found.recipe.fingerprint == local.run.recipe
    pairs = found.pairs.toArrow().select(local.pairs.column_names)
    assert sorted(pairs.to_pylist(), key=str) == sorted(local.pairs.to_pylist(), key=str)
    assert len(pairs) >= 250
    serves = found.job.documents.first_pass.serves(found.recipe)
    assert serves == (miss == "texts")
    found.release()
