"""Lookalike itself, the same call in every benchmark."""

from typing import Any

import numpy as np

from benchmarks.job import Answer, Clock, Job


def asked(job: Job) -> dict[str, Any]:
    """Give what every job has, as Lookalike calls it."""
    return {"threshold": job.threshold, "threads": job.threads}


def found(source: Any, clock: Clock, **settings: Any) -> Answer:
    """Find the pairs of a source, as a user does."""
    from lookalike import find

    result = find(source, **settings)
    table = result.pairs
    clock.stages.update(result.summary.seconds)
    return Answer(np.asarray(table["a"]), np.asarray(table["b"]), setting=_plan(result.plan))


def _plan(plan: Any) -> str:
    if plan.origin == "exact":
        return "exact"
    if plan.origin == "blocks":
        return f"{plan.signature} tables"
    return f"{plan.bands} bands of {plan.rows} rows"
