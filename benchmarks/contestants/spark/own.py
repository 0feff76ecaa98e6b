"""Lookalike on Spark: the same call as in a user's own job."""

import os
from pathlib import Path

import numpy as np

from benchmarks.contestants import Contestant
from benchmarks.contestants.own import planned
from benchmarks.contestants.spark.session import JAVA_MEMORY, session
from benchmarks.job import Answer, Clock, Job

NOTE = (
    "every pair compared exactly; pairs and clusters; start not counted; Spark is started as "
    "`--engine spark` does"
)


def on(slots: int) -> Contestant:
    """Give the contestant that has so many slots."""

    def run(path: Path, job: Job, clock: Clock) -> Answer:
        """Find the pairs and the clusters of a file, each pair compared exactly."""
        unit = "words" if "words" in job.options else "chars"
        with clock.pause():
            import lookalike.spark
            from lookalike.spark.session import BUFFERED, KEPT_MEMORY, java_options

            os.environ.update(KEPT_MEMORY)
        options = java_options(os.cpu_count() or 1, JAVA_MEMORY)
        more = {"spark.driver.extraJavaOptions": options, **BUFFERED}
        with session(slots, clock, **more) as spark:
            documents = spark.read.parquet(str(path))
            shingle = f"{unit}:{job.options[unit]}"
            with clock.stage("pairs"):
                result = lookalike.spark.find(
                    documents, text="text", id="id", threshold=job.threshold, shingle=shingle
                )
                pairs = result.pairs.toArrow()
            with clock.stage("clusters"):
                result.clusters.toArrow()
            setting = planned(result.plan)
        return Answer(np.asarray(pairs["a"]), np.asarray(pairs["b"]), setting=setting)

    return run
