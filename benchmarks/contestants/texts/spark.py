"""Spark's MinHashLSH on this machine: from the file to its own join of similar rows."""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.contestants.texts import SINGLE, size_of
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["pyspark==4.3.0"]
TITLE = "Spark MinHashLSH"
NOTE = "tables of one row each, as many as promise the job's recall; exact check; start not counted"

WORD = rf"[{SINGLE}]|[\p{{L}}\p{{M}}\p{{N}}&&[^{SINGLE}]]+"
"""The job's words, as Java writes them."""
FEATURES = 1 << 30
RECALL = 0.99


def needs() -> str | None:
    """Say why it cannot run here."""
    return None if shutil.which("java") else "needs Java, which is not on the path"


NEEDS = needs


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Cut texts into shingles by its own transformers, hash them, join the file with itself."""
    with clock.pause():
        from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as sql

        folder = tempfile.mkdtemp()
        session = (
            SparkSession.builder.master(f"local[{job.threads}]")
            .config("spark.driver.memory", "8g")
            .config("spark.local.dir", folder)
            .config("spark.sql.shuffle.partitions", str(4 * job.threads))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
    try:
        with clock.stage("sketch"):
            size, chars = size_of(job)
            cut = RegexTokenizer(
                inputCol="text",
                outputCol="words",
                pattern=r"(?s)." if chars else WORD,
                gaps=False,
            )
            table = session.read.parquet(str(path))
            if chars:
                table = table.withColumn("text", sql.trim(sql.regexp_replace("text", r"\s+", " ")))
            table = cut.transform(table).where(sql.size("words") > 0)
            table = NGram(n=size, inputCol="words", outputCol="runs").transform(table)
            whole = sql.array(sql.concat_ws(" ", "words"))
            shingles = sql.when(sql.size("runs") == 0, whole).otherwise(sql.col("runs"))
            table = table.select("id", shingles.alias("shingles"))
            count = HashingTF(
                inputCol="shingles", outputCol="features", numFeatures=FEATURES, binary=True
            )
            table = count.transform(table).select("id", "features")
            tables = _tables(job.threshold)
            lsh = MinHashLSH(
                inputCol="features", outputCol="hashes", numHashTables=tables, seed=job.seed
            )
            model = lsh.fit(table.limit(1))
            table = model.transform(table).cache()
            table.count()
        with clock.stage("join"):
            # It takes what is below the distance, not what is at it.
            near = model.approxSimilarityJoin(table, table, 1 - job.threshold + 1e-9)
            near = near.select(sql.col("datasetA.id").alias("a"), sql.col("datasetB.id").alias("b"))
            found = near.where("a < b").toArrow()
    finally:
        with clock.pause():
            session.stop()
            shutil.rmtree(folder, ignore_errors=True)
    first, second = (np.asarray(found[name], np.int64) for name in "ab")
    return Answer(first, second, f"{tables} tables of 1 row, exact check")


def _tables(threshold: float) -> int:
    tables = 1
    while 1 - (1 - threshold) ** tables < RECALL:
        tables += 1
    return tables
