"""`lookalike curve`: the probabilities of any banding or AND/OR cascade."""

from __future__ import annotations

from decimal import InvalidOperation
from typing import Any

import click

from lookalike.base.wording import in_full, setting
from lookalike.cli.command import AS_JSON, Argument
from lookalike.cli.options import command
from lookalike.cli.values import SHARE, Share, share_of
from lookalike.settings import Measured

__all__ = ["curve"]


SPEC = Argument(
    "spec",
    "Steps from the rows upward, as and:5 or:20 (20 bands of 5 rows).",
    metavar="SPEC...",
    nargs=-1,
    required=True,
)
THRESHOLD = click.Option(
    ["--threshold", "-t"],
    type=Share(0.8),
    metavar=SHARE,
    help="Count misses above it and false candidates below.",
)
AT = click.Option(["--at"], metavar="S,S,…", help="Similarities to show; by default 0.1 to 0.9.")


@command(Measured, SPEC, THRESHOLD, AT, AS_JSON)
def curve(
    spec: tuple[str, ...],
    options: dict[str, Any],
    *,
    threshold: float | None,
    at: str | None,
    as_json: bool,
) -> None:
    """Show how likely a pair of each similarity is to become a candidate.

    Example: lookalike curve and:4 or:4 and:4 or:4 --threshold 0.7
    """
    import lookalike
    from lookalike.base.wording import count
    from lookalike.cli import screen

    metric = options["metric"]
    cascade = lookalike.Cascade.parse(" ".join(spec))
    # The plan knows what a similarity is to a row: its chance to agree.
    chosen = lookalike.plan(cascade=str(cascade), metric=metric)
    points = _points(at)
    if threshold is not None:
        points = sorted({*points, threshold})
    chances = [(s, chosen.agreement(s)) for s in points]
    rows = [(s, cascade.probability(p), cascade.miss(p)) for s, p in chances]
    wrong = chosen.errors(threshold) if threshold is not None else None
    if as_json:
        plain = {
            "cascade": str(cascade),
            "metric": metric,
            "rows": cascade.rows,
            "half": chosen.half,
            "estimate": chosen.rule_of_thumb,
            "curve": [
                {"similarity": s, "candidate": chance, "missed": missed}
                for s, chance, missed in rows
            ],
        }
        if wrong is not None:
            plain |= {"missed_share": wrong.missed_share, "passed_share": wrong.passed_share}
        screen.show_json(plain)
        return
    out = screen.results()
    cosine = metric == "cosine"
    row, sketch, all_ = (
        ("bit", "sketches", "angles") if cosine else ("row", "signatures", "similarities")
    )
    what = str(cascade)
    if cascade.is_banding:
        bands, per_band = cascade.bands or 0, cascade.rows_per_band or 0
        what += f": {count(bands, 'band')} of {count(per_band, row)}"
    out.print(f"{what}, {sketch} of {count(cascade.rows, row)}.")
    out.print()
    out.print(screen.curve_table(("becomes a candidate", "missed"), rows))
    out.print()
    screen.show_half(out, chosen)
    if threshold is not None and wrong is not None:
        out.print(
            f"If all {all_} were equally likely, {100 * wrong.missed_share:.3g}% of the pairs from "
            f"{in_full(threshold)} up would be missed, and {100 * wrong.passed_share:.3g}% of "
            "those below it would be false candidates."
        )


def _points(given: str | None) -> list[float]:
    from lookalike.base.errors import SettingsError

    if given is None:
        return [round(0.1 * step, 1) for step in range(1, 10)]
    try:
        points = [share_of(part) for part in given.replace(",", " ").split()]
    except (ValueError, InvalidOperation):
        points = []
    if not points:
        raise SettingsError(f"{setting('at', given)}: use numbers from 0 to 1, as 0.3,0.8")
    return points
