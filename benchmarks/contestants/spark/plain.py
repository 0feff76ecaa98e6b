"""A job on Spark without verification, as most teams write it: band keys, groups, components.

Signatures are minima of linear hash functions, by NumPy in a function over Arrow batches; each
document of a bucket is linked to the bucket's first; and links become clusters by large and small
stars, until nothing changes.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants.spark.session import session
from benchmarks.contestants.texts import hashes_of, rows_of, setting, within
from benchmarks.job import Answer, Clock, Job

TITLE = "Plain Spark job"
NOTE = "clusters of candidates, never compared, all pairs of those up to 50; start not counted"

PRIME = np.uint64((1 << 31) - 1)
"""Products of two numbers below it fit into 64 bits."""
CHUNK = 2048
"""Shingles whose values under all functions are in memory at a time."""


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Give the clusters of documents that share a bucket, by way of others too."""
    with session(job.threads, clock) as spark:
        with clock.stage("sketch"):
            texts = spark.read.parquet(str(path)).repartition(4 * job.threads)
            keys = texts.mapInArrow(_keys(job), "id long, band int, key long").cache()
            keys.count()
        with clock.stage("band"):
            links = _links(keys).localCheckpoint()
        with clock.stage("cluster"):
            stars = _stars(links).toArrow()
    members: dict[int, list[int]] = defaultdict(list)
    for member, first in zip(stars["member"].to_pylist(), stars["first"].to_pylist(), strict=True):
        members[first].append(member)
    clusters = [[first, *others] for first, others in members.items()]
    return Answer.of(within(clusters), setting=setting(job, "clusters"))


def _keys(job: Job) -> Any:
    """Give what makes band keys of a batch of documents."""
    random = np.random.default_rng(job.seed)
    rows, bands = rows_of(job), int(job.options["bands"])
    factors = random.integers(1, PRIME, (rows, 1), np.uint64)
    terms = random.integers(0, PRIME, (rows, 1), np.uint64)

    def signature(text: str) -> Any:
        values = hashes_of(text, job) % PRIME
        least = np.full(rows, PRIME, np.uint64)
        for begin in range(0, len(values), CHUNK):
            hashed = (factors * values[begin : begin + CHUNK] + terms) % PRIME
            np.minimum(least, hashed.min(axis=1), out=least)
        return least

    def keys_of(batches: Iterator[Any]) -> Iterator[Any]:
        import hashlib

        import pyarrow as pa

        for batch in batches:
            found: dict[str, list[int]] = {"id": [], "band": [], "key": []}
            documents = zip(
                batch.column("id").to_pylist(), batch.column("text").to_pylist(), strict=True
            )
            for number, text in documents:
                cut = signature(text).reshape(bands, -1)
                for band, values in enumerate(cut):
                    digest = hashlib.blake2b(values.tobytes(), digest_size=8).digest()
                    found["id"].append(number)
                    found["band"].append(band)
                    found["key"].append(int.from_bytes(digest, "little", signed=True))
            schema = pa.schema([("id", pa.int64()), ("band", pa.int32()), ("key", pa.int64())])
            yield pa.RecordBatch.from_pydict(found, schema=schema)

    return keys_of


def _links(keys: Any) -> Any:
    """Link each document of a bucket to the first of it."""
    from pyspark.sql import functions as sql

    buckets = keys.groupBy("band", "key").agg(
        sql.min("id").alias("first"), sql.collect_list("id").alias("members")
    )
    links = buckets.select("first", sql.explode("members").alias("member"))
    return links.where("member > first").distinct()


def _stars(links: Any) -> Any:
    """Let large and small stars take turns, until each member is linked to the first alone."""
    from pyspark.sql import functions as sql

    edges, before = links.select("member", "first"), None
    while True:
        both = edges.union(edges.select(sql.col("first"), sql.col("member"))).toDF("node", "other")
        least = both.groupBy("node").agg(sql.min("other").alias("m"), sql.collect_set("other"))
        least = least.toDF("node", "m", "others")
        least = least.withColumn("m", sql.least("m", "node"))
        large = least.select("m", "node", sql.explode("others").alias("other"))
        large = large.where("other > node").select(sql.col("other"), sql.col("m"))
        large = large.toDF("member", "first").distinct().where("member != first")
        small = large.groupBy("member").agg(
            sql.min("first").alias("m"), sql.collect_set("first").alias("others")
        )
        lower = small.select(
            "m", sql.explode(sql.array_append("others", sql.col("member"))).alias("member")
        )
        edges = lower.where("member != m").select("member", sql.col("m").alias("first")).distinct()
        edges = edges.localCheckpoint()
        sums = edges.agg(sql.count("*"), sql.sum("first"), sql.sum("member")).first()
        if sums == before:
            return edges
        before = sums
