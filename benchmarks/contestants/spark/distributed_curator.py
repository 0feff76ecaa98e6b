"""distributed-curator: partition-aware deduplication, as its documentation shows."""

import logging
from collections import defaultdict
from pathlib import Path

from benchmarks.contestants.spark.session import PARTITIONS_PER_SLOT, session
from benchmarks.contestants.texts import size_of, within
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["distributed-curator==0.1.6", "pandas", "setuptools"]
TITLE = "distributed-curator"
NOTE = (
    "64 rows in 8 bands, its documented setting; clusters of pairs confirmed by their signatures, "
    "all pairs of those up to 50; Spark 3.5; start not counted"
)
ROWS, BANDS = 64, 8


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Mark the duplicates, each with the document that stands for it."""
    with clock.pause():
        from distributed_curator import get_jar_path, partition_aware_deduplicate
        from pyspark.sql import functions as sql

        logging.disable(logging.INFO)
    size, chars = size_of(job)
    if not chars:
        raise ValueError("it compares characters: run the benchmark with --shingle chars:9")
    with session(job.threads, clock, spark_jars=get_jar_path()) as spark:
        table = spark.read.parquet(str(path))
        # It takes ids that are text alone.
        documents = table.select(sql.col("id").cast("string").alias("doc_id"), "text")
        with clock.stage("mark"):
            marked = partition_aware_deduplicate(
                spark=spark,
                input_df=documents,
                text_column="text",
                similarity_threshold=job.threshold,
                num_hashes=ROWS,
                num_bands=BANDS,
                num_partitions=PARTITIONS_PER_SLOT * job.threads,
                ngram=size,
            )
            duplicates = marked.where("is_duplicate").select(
                sql.col("doc_id").cast("long").alias("id"),
                sql.col("representative_id").cast("long").alias("first"),
            )
            rows = duplicates.collect()
    members: dict[int, list[int]] = defaultdict(list)
    for one in rows:
        members[one["first"]].append(one["id"])
    clusters = [[first, *others] for first, others in members.items()]
    return Answer.of(within(clusters), setting=f"{BANDS} bands of {ROWS // BANDS} rows, clusters")
