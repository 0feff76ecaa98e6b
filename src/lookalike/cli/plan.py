"""`lookalike plan`: bands and rows for a threshold and a recall, with the curve."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import options

__all__ = ["plan"]


def plan(
    threshold: options.Threshold = 0.8,
    recall: options.Recall = 0.99,
    documents: Annotated[
        int, typer.Option("--documents", "-n", min=0, help="How many documents there are.")
    ] = 1_000_000,
    background: Annotated[
        float, typer.Option("--background", help="How alike two random documents are.")
    ] = 0.05,
    shingles: Annotated[
        int, typer.Option("--shingles", min=1, help="Shingles of a document, on average.")
    ] = 1000,
    bands: options.Bands = None,
    rows: options.Rows = None,
    cascade: options.Cascade = None,
    metric: options.Metric = options.MetricName.jaccard,
    signature: Annotated[
        int | None,
        typer.Option(
            "--signature", min=1, help="Rows, or bits with the cosine: the best that they allow."
        ),
    ] = None,
    miss_weight: Annotated[
        float | None,
        typer.Option(
            "--miss-weight",
            help="With --signature: 1 for few misses, 0 for few false candidates, 0.5 between.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Choose bands and rows of least cost for a threshold and a recall, and show the curve.

    Example: lookalike plan --threshold 0.7 --recall 0.95 --documents 20000
    """
    from lookalike.cli import screen
    from lookalike.planning.plan import plan as choose

    chosen = choose(
        threshold,
        recall,
        documents=documents,
        background=background,
        shingles=shingles,
        bands=bands,
        rows=rows,
        cascade=cascade,
        signature=signature,
        miss_weight=miss_weight,
        metric=metric.value,
    )
    unused = max(0, (signature or 0) - chosen.signature)
    if unused:
        count = (
            f"{unused:,} of {signature:,} rows are" if unused > 1 else f"1 of {signature:,} rows is"
        )
        screen.status().print(
            f"Warning: {count} in no band, and tell nothing: {chosen.signature:,} rows do the same."
        )
    if as_json:
        plain = {
            "metric": chosen.metric,
            "threshold": chosen.threshold,
            "recall": chosen.recall,
            "bands": chosen.bands,
            "rows": chosen.rows,
            "signature": chosen.signature,
            "unused": unused,
            "found_at_threshold": chosen.probability(threshold),
            "false_candidates": chosen.false_candidates,
            "curve": [point._asdict() for point in chosen.table()],
        }
        screen.show_json(plain)
        return
    screen.show_plan(screen.results(), chosen)
