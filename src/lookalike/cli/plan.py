"""`lookalike plan`: bands and rows for a threshold and a recall, with the curve."""

from __future__ import annotations

from typing import Any

from lookalike.cli.command import AS_JSON
from lookalike.cli.options import command
from lookalike.settings import PlanOptions

__all__ = ["plan"]


@command(PlanOptions, AS_JSON)
def plan(options: dict[str, Any], *, as_json: bool) -> None:
    """Choose bands and rows of least cost for a threshold and a recall, and show the curve.

    Example: lookalike plan --threshold 0.7 --recall 0.95 --documents 20000
    """
    import lookalike
    from lookalike.base.wording import count
    from lookalike.cli import screen

    chosen, signature = lookalike.plan(**options), options["signature"]
    unused = max(0, (signature or 0) - chosen.signature)
    if unused:
        row = "bit" if chosen.metric == "cosine" else "row"
        are = "are" if unused > 1 else "is"
        screen.status().print(
            f"Warning: {unused:,} of {count(signature, row)} {are} in no band and not used: "
            f"{count(chosen.signature, row)} do the same."
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
            "found_at_threshold": chosen.probability(chosen.threshold),
            "false_candidates": chosen.false_candidates,
            "curve": [point._asdict() for point in chosen.table()],
        }
        screen.show_json(plain)
        return
    screen.show_plan(screen.results(), chosen)
