"""The same answer as the local engine, once sorted."""

import json
from typing import Any

import pyarrow as pa
import pytest

import lookalike
import lookalike.spark


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def real(corpora: Any, name: str, most: int) -> pa.Table:
    lines = (corpora / name / "docs.jsonl").read_text().splitlines()[:most]
    rows = sorted(map(json.loads, lines), key=lambda row: row["id"])
    return pa.table({name: [row[name] for row in rows] for name in ("id", "text")})


@pytest.mark.parametrize(("name", "most"), [("licenses", 1500), ("poetry", 2000)])
def test_real_corpora_give_the_same_answer_on_spark(spark, corpora, name, most):
    table = real(corpora, name, most)
    frame = spark.createDataFrame(table).repartition(3)
    found, local = lookalike.spark.find(frame), lookalike.find(table)
    assert found.recipe.fingerprint == local.run.recipe
    assert rows_of(found.pairs.toArrow()) == rows_of(local.pairs)
    assert rows_of(found.clusters.toArrow()) == rows_of(local.clusters)
    found.release()
    thinned, kept = lookalike.spark.dedup(frame), lookalike.dedup(table)
    assert rows_of(thinned.removed.toArrow()) == rows_of(kept.removed)
    assert rows_of(thinned.clusters.toArrow()) == rows_of(kept.clusters)
    assert sorted(thinned.kept.toArrow()["id"].to_pylist()) == sorted(kept.kept_ids.to_pylist())
    thinned.release()
