"""The ways to do a job on Spark, each from a Parquet file to pairs of ids.

The start of a session is not counted for any of them. One that gives clusters, not pairs, has all
pairs within each, as in the benchmark of whole jobs.
"""

from benchmarks.contestants import Entry
from benchmarks.contestants import own as local
from benchmarks.contestants.spark import distributed_curator, own, plain
from benchmarks.contestants.texts import spark as mllib

SLOTS = (1, 2, 4)

CONTESTANTS = {
    **local.CONTESTANTS,
    **{
        f"lookalike-spark-{slots}": Entry(
            "lookalike",
            f"Lookalike on Spark, {slots} slot{'s' * (slots > 1)}",
            own.on(slots),
            note=own.NOTE,
        )
        for slots in SLOTS
    },
    "plain": Entry("pyspark", plain.TITLE, plain.run, note=plain.NOTE, needs=mllib.NEEDS),
    "mllib": Entry(
        "", mllib.TITLE, mllib.run, tuple(mllib.REQUIRES), mllib.NOTE, needs=mllib.NEEDS
    ),
    "distributed-curator": Entry(
        "",
        distributed_curator.TITLE,
        distributed_curator.run,
        tuple(distributed_curator.REQUIRES),
        distributed_curator.NOTE,
        needs=mllib.NEEDS,
    ),
}
