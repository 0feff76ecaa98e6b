"""`lookalike curve`: the probabilities of any banding or AND/OR cascade."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["curve"]


def curve(
    spec: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC",
            help="Steps from the rows upward, as and:5 or:20 (20 bands of 5 rows).",
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", "-t", help="Count misses above it and false candidates below."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="S,S,…", help="Similarities to show; by default 0.1 to 0.9."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show how likely a pair of each similarity is to become a candidate.

    Example: lookalike curve and:4 or:4 and:4 or:4 --threshold 0.7
    """
    from lookalike.cli import screen
    from lookalike.curves import Cascade, errors
    from lookalike.wording import count

    cascade = Cascade.parse(" ".join(spec))
    points = _points(at)
    if threshold is not None:
        points = sorted({*points, threshold})
    rows = [(s, cascade.probability(s), cascade.miss(s)) for s in points]
    wrong = errors(cascade, threshold) if threshold is not None else None
    if as_json:
        plain = {
            "cascade": str(cascade),
            "rows": cascade.rows,
            "half": cascade.half,
            "estimate": cascade.estimate,
            "curve": [{"similarity": s, "found": found} for s, found, _ in rows],
        }
        if wrong is not None:
            plain |= {"missed_share": wrong.missed_share, "passed_share": wrong.passed_share}
        typer.echo(json.dumps(plain))
        return
    out = screen.results()
    what = str(cascade)
    if cascade.is_banding:
        bands, per_band = cascade.bands or 0, cascade.rows_per_band or 0
        what += f": {count(bands, 'band')} of {count(per_band, 'row')}"
    out.print(f"{what}, signatures of {count(cascade.rows, 'row')}.")
    screen.show_curve(out, cascade, rows)
    if wrong is not None:
        out.print(
            f"Were all similarities as likely, {100 * wrong.missed_share:.3g} % of the pairs from "
            f"{threshold:g} up would be missed, and {100 * wrong.passed_share:.3g} % of those "
            "below it would be false candidates."
        )


def _points(given: str | None) -> list[float]:
    from lookalike.errors import SettingsError

    if given is None:
        return [round(0.1 * step, 1) for step in range(1, 10)]
    try:
        return [float(part) for part in given.replace(",", " ").split()]
    except ValueError:
        raise SettingsError(f"--at {given!r}: use numbers from 0 to 1, as 0.3,0.8") from None
