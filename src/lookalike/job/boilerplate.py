"""`boilerplate`: the passages that many documents share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from lookalike.base.errors import SettingsError
from lookalike.base.timing import timed
from lookalike.job.running import PIECE_BYTES
from lookalike.results import BoilerplateResult
from lookalike.text.boilerplate import most_shared
from lookalike.text.documents import Selection

if TYPE_CHECKING:
    from lookalike.job.job import Job

__all__ = ["boilerplate"]


def boilerplate(job: Job, most: int) -> BoilerplateResult:
    """List the passages shared by the most documents, so many."""
    job.prepare("boilerplate")
    if job.collection.form.kind not in ("text", None):
        kind = job.collection.form.kind
        raise SettingsError(f"passages are of text: these documents are {kind}")
    distinct = len(job.rows)
    with timed(job.seconds, "compare"):
        found = most_shared(
            lambda: Selection(job.texts, job.rows).parts(PIECE_BYTES),
            documents=distinct,
            most=most,
            threads=job.running.threads,
        )
    passages = {
        "documents": pa.array([one.documents for one in found], pa.int64()),
        "share": pa.array([one.documents / distinct for one in found], pa.float64()),
        "words": pa.array([one.words for one in found], pa.int64()),
        "text": pa.array([one.text for one in found], pa.string()),
    }
    return BoilerplateResult(
        settings=job.resolved(),
        summary=job.summary(),
        passages=pa.table(passages),
        run=job.run(),
        documents=job.documents(),
    )
