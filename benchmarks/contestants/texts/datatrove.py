"""datatrove: its pipeline of signatures, buckets and clusters, by way of files as it has them."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.contestants.texts import blocks_of, setting, size_of, spaced, within, words_of
from benchmarks.job import Answer, Clock, Job

REQUIRES = ["datatrove[io,processing]==0.10.1"]
TITLE = "datatrove"
NOTE = "clusters of candidates, all pairs of those up to 50; the job's words, which are faster"


def run(path: Path, job: Job, clock: Clock) -> Answer:
    """Run the three stages, each in as many processes as the job has threads.

    Its reader gives a file to one process; here each process takes a share of it.
    """
    os.environ["DATATROVE_COLORIZE_LOGS"] = "0"
    with clock.pause():
        from datatrove.data import Document
        from datatrove.executor import LocalPipelineExecutor
        from datatrove.pipeline.dedup import (
            MinhashDedupBuckets,
            MinhashDedupCluster,
            MinhashDedupSignature,
        )
        from datatrove.pipeline.dedup.minhash import MinhashConfig
        from datatrove.utils.text import TextNormConfig
        from datatrove.utils.word_tokenizers import WhitespaceTokenizer
        from loguru import logger

    size, chars = size_of(job)

    class Words(WhitespaceTokenizer):  # type: ignore[misc]
        def word_tokenize(self, text: str) -> list[str]:
            words = list(spaced(text)) if chars else [word.decode() for word in words_of(text)]
            # It leaves out documents that are too short for a shingle.
            return words + [""] * (size - len(words))

    count = pq.read_metadata(path).num_rows

    def read(_: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        number, shares = 0, [count * share // world_size for share in (rank, rank + 1)]
        for texts in blocks_of(path):
            begin, end = (max(share - number, 0) for share in shares)
            for text in texts[begin:end]:
                yield Document(text=text, id="")
            number += len(texts)

    bands = job.options["bands"]
    config = MinhashConfig(
        n_grams=size,
        num_buckets=bands,
        hashes_per_bucket=job.options["rows"],
        seed=job.seed,
        norm_config=TextNormConfig(False, False, False, False, False),
    )
    logger.disable("datatrove")
    with tempfile.TemporaryDirectory() as folder:

        def execute(name: str, tasks: int, *steps: Any) -> None:
            logs = f"{folder}/logs/{name}"
            workers = min(tasks, job.threads)
            with clock.stage(name):
                LocalPipelineExecutor(list(steps), tasks, workers, logs, start_method="fork").run()

        signatures, buckets, clusters = (f"{folder}/{name}" for name in ("sig", "dup", "out"))
        signed = MinhashDedupSignature(signatures, config, Words())
        execute("sketch", job.threads, read, signed)
        banded = MinhashDedupBuckets(signatures, buckets, config=config, lines_to_buffer=-1)
        execute("band", bands, banded)
        joined = MinhashDedupCluster(
            buckets, clusters, config, save_cluster_id=True, lines_to_buffer=-1
        )
        execute("cluster", 1, joined)
        with clock.stage("read clusters"):
            pairs = within(_clusters(Path(clusters), count, job.threads))
    return Answer.of(pairs, setting=setting(job, "clusters"))


def _clusters(folder: Path, count: int, ranks: int) -> list[list[int]]:
    """Read what cluster each document is in, by its number among those of its process."""
    members: dict[int, list[int]] = defaultdict(list)
    for rank in range(ranks):
        file = folder / f"{rank:06d}.clusters"
        if file.exists():
            for document, cluster in np.fromfile(file, np.uint32).reshape(-1, 2).tolist():
                members[cluster].append(count * rank // ranks + document)
    return list(members.values())
