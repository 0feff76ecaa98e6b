"""The same answer as the local engine, once sorted: pairs, clusters, kept and removed documents."""

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike
import lookalike.spark
from lookalike.recipe import CanonicalForm
from lookalike.settings import Settings
from lookalike.spark import at_once, buckets, centres, components, placing, scoring, thinning
from lookalike.spark.find_result import SparkFindResult
from lookalike.spark.frames import COMPRESSION


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def check_found(found: Any, local: Any) -> None:
    assert found.recipe.fingerprint == local.run.recipe
    assert found.plan.as_dict() == local.plan.as_dict()
    pairs, clusters = found.pairs.toArrow(), found.clusters.toArrow()
    assert pairs.column_names == local.pairs.column_names
    assert rows_of(pairs) == rows_of(local.pairs)
    assert clusters.column_names == local.clusters.column_names
    assert rows_of(clusters) == rows_of(local.clusters)


def check_kept(thinned: Any, local: Any) -> None:
    removed, kept = thinned.removed.toArrow(), thinned.kept.toArrow()
    assert removed.column_names == local.removed.column_names
    assert rows_of(removed) == rows_of(local.removed)
    assert sorted(kept["id"].to_pylist()) == sorted(local.kept_ids.to_pylist())
    assert rows_of(thinned.clusters.toArrow()) == rows_of(local.clusters)
    assert {name: thinned.counts[name] for name in local.counts} == local.counts


@pytest.fixture(scope="module")
def notices(corpora) -> pa.Table:
    """Give licence notices, many alike, some more than once, and some empty."""
    lines = (corpora / "licenses" / "docs.jsonl").read_text().splitlines()[:400]
    texts = [json.loads(line)["text"] for line in lines]
    texts += [*texts[:5], *texts[:2], texts[0].upper(), "", None, " \n"]
    return pa.table({"id": [f"n{i:03}" for i in range(len(texts))], "text": texts})


@pytest.fixture(scope="module")
def local_pairs(notices) -> Any:
    return lookalike.find(notices, threshold=0.6)


@pytest.fixture(scope="module")
def local_kept(notices) -> Any:
    return lookalike.dedup(notices, threshold=0.6)


@pytest.mark.parametrize("partitions", [1, 2, 7, 16])
def test_the_answer_is_the_same_in_any_number_of_partitions(
    spark, notices, local_pairs, local_kept, partitions
):
    frame = spark.createDataFrame(notices).repartition(partitions)
    usual = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        found = lookalike.spark.find(frame, threshold=0.6)
        check_found(found, local_pairs)
        found.release()
        thinned = lookalike.spark.dedup(frame, threshold=0.6)
        assert rows_of(thinned.removed.toArrow()) == rows_of(local_kept.removed)
        thinned.release()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", usual)


def test_kept_rows_and_annotated_ones_are_those_of_the_local_engine(spark, notices, local_kept):
    frame = spark.createDataFrame(notices)
    thinned = lookalike.spark.dedup(frame, threshold=0.6)
    check_kept(thinned, local_kept)
    columns = local_kept.annotated.column_names
    annotated = thinned.annotated
    assert annotated.columns == [*frame.columns, *columns[1:]]
    assert rows_of(annotated.select(*columns).toArrow()) == rows_of(local_kept.annotated)
    thinned.release()


@pytest.mark.long
def test_the_answer_is_the_same_by_rounds_and_with_a_cap_on_them(
    spark, notices, local_pairs, local_kept, monkeypatch
):
    for module in (components, at_once):
        monkeypatch.setattr(module, "ONE_TASK_LINKS", 0)
    monkeypatch.setattr(thinning, "ONE_TASK_LINKS", 0)
    frame = spark.createDataFrame(notices)
    found = lookalike.spark.find(frame, threshold=0.6)
    for max_rounds in (None, 1):
        clusters = SparkFindResult(found.job, max_rounds).clusters.toArrow()
        assert rows_of(clusters) == rows_of(local_pairs.clusters)
    found.release()
    thinned = lookalike.spark.dedup(frame, threshold=0.6)
    for max_rounds in (None, 1):
        removed = type(thinned)(thinned.job, max_rounds).removed.toArrow()
        assert rows_of(removed) == rows_of(local_kept.removed)
    thinned.release()


@pytest.mark.long
@pytest.mark.parametrize("path", ["chunks of components", "buckets in a grid", "rounds"])
def test_the_answer_is_the_same_by_bands_and_on_every_path(spark, notices, path, monkeypatch):
    # So few documents are compared without bands, unless these are given.
    asked: dict[str, Any] = {"threshold": 0.6, "bands": 12, "rows": 2}
    if path != "chunks of components":
        monkeypatch.setattr(placing, "ONE_TASK_PAIRS", 0)
        monkeypatch.setattr(placing, "CHUNK_BYTES", 60_000)
        monkeypatch.setattr(scoring, "BROADCAST_ROWS", 0)
    if path == "rounds":
        for module in (components, at_once, thinning):
            monkeypatch.setattr(module, "ONE_TASK_LINKS", 0)
    frame = spark.createDataFrame(notices).repartition(3)
    found, local = lookalike.spark.find(frame, **asked), lookalike.find(notices, **asked)
    assert 0 < found.job.counts["candidates"] < len(notices) * (len(notices) - 1) // 2
    check_found(found, local)
    found.release()
    if path != "rounds":
        thinned = lookalike.spark.dedup(frame, keep="longest", **asked)
        check_kept(thinned, lookalike.dedup(notices, keep="longest", **asked))
        thinned.release()


@pytest.mark.parametrize("at_all_once", [True, False])
def test_a_weak_link_of_a_cluster_of_many_tells_its_similarity(spark, at_all_once, monkeypatch):
    # One of the 231 is linked to one other alone, and not among the 200 that are compared.
    form = replace(CanonicalForm.of(Settings(shingle="words:1")), kind="text")
    words = [f"t{i}" for i in range(100)]
    texts = [" ".join([*words[: i % 100], f"x{i}", *words[i % 100 + 1 :]]) for i in range(230)]
    for number in range(500):
        own = [f"o{number}z{i}" for i in range(11)]
        outlier = " ".join(["x0", *words[1:10], *own, *words[21:]])
        prints = form.canonical(pa.array([*texts, outlier])).fingerprints
        if [*np.lexsort(prints.T[::-1])].index(230) >= 200:
            break
    table = pa.table({"id": range(231), "text": [*texts, outlier]})
    asked: dict[str, Any] = {"threshold": 0.8, "shingle": "words:1", "recall": 0.9999}
    if not at_all_once:
        for module in (components, at_once):
            monkeypatch.setattr(module, "ONE_TASK_LINKS", 0)
    local = lookalike.find(table, **asked)
    assert min(local.clusters["similarity"].to_pylist()) < 0.81
    found = lookalike.spark.find(spark.createDataFrame(table), **asked)
    check_found(found, local)
    found.release()


def test_ids_are_sorted_alike_where_spark_hands_over_large_types(spark) -> None:
    texts = [f"{'a rose is a rose and ' * 5}{number // 2}" for number in range(24)]
    table = pa.table({"id": [str(number) for number in range(24)], "text": texts})
    large = "spark.sql.execution.arrow.useLargeVarTypes"
    before = spark.conf.get(large)
    spark.conf.set(large, "true")
    try:
        found = lookalike.spark.find(spark.createDataFrame(table), threshold=0.7)
        check_found(found, lookalike.find(table, threshold=0.7))
        found.release()
    finally:
        spark.conf.set(large, before)


@pytest.fixture(scope="module")
def families() -> pa.Table:
    """Give two families of near-copies, of which some are similar across, and other texts."""
    drawn = random.Random(3)
    words = [f"w{i}" for i in range(3000)]

    def changed(text: list[str], most: int) -> list[str]:
        copy = list(text)
        for _ in range(most):
            copy[drawn.randrange(len(copy))] = drawn.choice(words)
        return copy

    first = drawn.choices(words, k=60)
    second = changed(first, 14)
    texts = [changed(first, drawn.randrange(1, 7)) for _ in range(60)]
    texts += [changed(second, drawn.randrange(1, 7)) for _ in range(50)]
    texts += [drawn.choices(words, k=40) for _ in range(40)]
    drawn.shuffle(texts)
    return pa.table({"id": range(len(texts)), "text": [" ".join(text) for text in texts]})


@pytest.mark.long
def test_the_answer_is_the_same_where_buckets_are_large(spark, families, monkeypatch):
    asked: dict[str, Any] = {"threshold": 0.6, "shingle": "words:1"}
    frame = spark.createDataFrame(families)
    with monkeypatch.context() as patched:
        for module in (buckets, centres):
            patched.setattr(module, "BLOCK_ROWS", 20)
        found = lookalike.spark.find(frame, **asked)
        assert rows_of(found.pairs.toArrow()) == rows_of(lookalike.find(families, **asked).pairs)
        found.release()
    # Crowded buckets count as large in `dedup`, which does without most of their pairs.
    thinned = lookalike.spark.dedup(frame, **asked)
    large = thinned.job.large
    assert large is not None
    assert large.count() > 500
    removed = lookalike.dedup(families, **asked).removed
    assert rows_of(thinned.removed.toArrow()) == rows_of(removed)
    # Links of centres and of what was left are far fewer than all pairs.
    assert thinned.job.counts["links"] < found.job.counts["links"] / 2
    thinned.release()


KINDS = pa.int64(), pa.string()
WORDS = ["one", "two", "three", "four", "five"]
corpora_of_words = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=8), min_size=25, max_size=30
)


@pytest.mark.long
@settings(max_examples=2)
@given(corpora_of_words, st.sampled_from([0.4, 0.8]), st.sampled_from(["words:1", "words:2"]))
def test_many_small_corpora_each_give_the_same_answer(spark, corpora, threshold, shingle):
    """Each in words of its own, so that none meets another: one job does for all of them."""
    rows = [
        (100 * number + place, " ".join(f"{word}{number}" for word in words))
        for number, documents in enumerate(corpora)
        for place, words in enumerate(documents)
    ]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(KINDS)]
    table = pa.table(dict(zip(("id", "text"), columns, strict=True)))
    frame = spark.createDataFrame(table).repartition(3)
    asked: dict[str, Any] = {"threshold": threshold, "shingle": shingle, "bands": 4, "rows": 2}
    found, local = lookalike.spark.find(frame, **asked), lookalike.find(table, **asked)
    check_found(found, local)
    found.release()
    thinned = lookalike.spark.dedup(frame, **asked)
    check_kept(thinned, lookalike.dedup(table, **asked))
    thinned.release()
    # And each by itself.
    pairs = rows_of(local.pairs)
    for number in range(len(corpora)):
        alone = table.filter(pc.equal(pc.divide(table["id"], 100), number))
        expected = [row for row in pairs if row[0] // 100 == number]
        assert rows_of(lookalike.find(alone, **asked).pairs) == expected


texts = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    max_size=12,
)


@pytest.mark.long
@settings(max_examples=2)
@given(texts, st.sampled_from([0.4, 0.8]), st.sampled_from(["chars:2", "words:1", "auto"]))
def test_few_short_texts_give_the_same_answer(spark, texts, threshold, shingle):
    table = pa.table(
        {"id": pa.array(range(len(texts)), KINDS[0]), "text": pa.array(texts, KINDS[1])}
    )
    frame = spark.createDataFrame(table)
    asked = {"threshold": threshold, "shingle": shingle}
    check_found(lookalike.spark.find(frame, **asked), lookalike.find(table, **asked))
    check_kept(lookalike.spark.dedup(frame, **asked), lookalike.dedup(table, **asked))


def test_a_job_leaves_the_settings_of_a_session_as_they_were(spark) -> None:
    frame = spark.createDataFrame(
        [(1, "a rose is a rose"), (2, "a rose is a rose")], "id int, t string"
    )
    told = spark.conf.get("spark.sql.maxPlanStringLength")
    for before in ("true", "false"):
        spark.conf.set(COMPRESSION, before)
        lookalike.spark.find(frame, id="id", text="t")
        assert spark.conf.get(COMPRESSION) == before
        with pytest.raises(lookalike.SourceError):
            lookalike.spark.dedup(frame, id="other", text="t")
        assert spark.conf.get(COMPRESSION) == before
    assert spark.conf.get("spark.sql.maxPlanStringLength") == told
    spark.conf.unset(COMPRESSION)
