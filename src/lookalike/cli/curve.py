"""`lookalike curve`: the probabilities of any banding or AND/OR cascade."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from lookalike.base.wording import in_full, setting
from lookalike.cli.command import AS_JSON, Argument
from lookalike.cli.drawing import PICTURE
from lookalike.cli.options import command
from lookalike.cli.values import SHARE, Share, share_of
from lookalike.settings import Measured

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lookalike.planning.curves import Cascade
    from lookalike.planning.plan import Plan

__all__ = ["curve"]


SPEC = Argument(
    "spec",
    "Steps from the rows upward, as and:5 or:20 (20 bands of 5 rows), or bands:20 rows:5. Of "
    "several curves, quote each.",
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


@dataclass(frozen=True)
class _Shown:
    """A cascade, and the plan that knows what a similarity is to a row: its chance to agree."""

    cascade: Cascade
    plan: Plan
    threshold: float | None

    def row(self, similarity: float) -> tuple[float, float, float]:
        """Give a similarity, with its chances to be a candidate and to be missed."""
        agreement = self.plan.agreement(similarity)
        return similarity, self.cascade.probability(agreement), self.cascade.miss(agreement)

    def as_dict(self, points: list[float]) -> dict[str, Any]:
        """Give the facts of the curve."""
        metric = self.plan.metric
        drawn = self.cascade.curve(self.threshold, metric=metric)
        names = ("similarity", "candidate", "missed")
        plain: dict[str, Any] = {
            "cascade": str(self.cascade),
            "metric": metric,
            "rows": self.cascade.rows,
            "half": self.plan.half,
            "estimate": self.plan.rule_of_thumb,
            "areas": {
                "split": drawn.split,
                "false_positives": drawn.false_positives,
                "false_negatives": drawn.false_negatives,
            },
            "curve": [dict(zip(names, self.row(s), strict=True)) for s in points],
        }
        if self.threshold is not None:
            wrong = self.plan.errors(self.threshold)
            plain |= {"missed_share": wrong.missed_share, "passed_share": wrong.passed_share}
        return plain


@command(Measured, SPEC, THRESHOLD, AT, PICTURE, AS_JSON)
def curve(
    spec: tuple[str, ...],
    options: dict[str, Any],
    *,
    threshold: float | None,
    at: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show how likely a pair of each similarity is to become a candidate.

    The curve is drawn, with a full circle where P = 1/2, and a hollow one where the
    rule of thumb (1/b)^(1/r) has it. Steps that stand alone make one curve together; several in
    quotes are a curve of their own.

    Example: lookalike curve "bands:20 rows:5" "and:4 or:4 and:4 or:4" -o curves.svg
    """
    import lookalike
    from lookalike.base.plots.pictures import draw_plan
    from lookalike.cli import drawing, screen

    plain, metric = drawing.ascii_only(), options["metric"]
    write = drawing.check_picture(out)
    shown = []
    for one in specs_of(spec):
        cascade = lookalike.Cascade.parse(one)
        chosen = lookalike.plan(cascade=str(cascade), metric=metric)
        shown.append(_Shown(cascade, chosen, threshold))
    points = _points(at)
    if threshold is not None:
        points = sorted({*points, threshold})
    if as_json:
        facts = [one.as_dict(points) for one in shown]
        screen.show_json(facts[0] if len(facts) == 1 else {"curves": facts})
    else:
        _show(shown, points, screen.results(), plain=plain, drawn=out is None)

    def picture() -> Any:
        curves = [one.cascade.curve(threshold, metric=metric) for one in shown]
        return draw_plan(curves, [], threshold=threshold)

    write(picture, screen.status())


def specs_of(arguments: tuple[str, ...]) -> list[str]:
    """Tell specs apart: arguments of one step each make one together, others stand by themselves.

    So `and:4 or:4` need not be quoted, and two that are quoted are two.
    """
    specs: list[str] = []
    open_one = False
    for argument in arguments:
        alone = len(argument.replace(",", " ").split()) <= 1
        if alone and open_one:
            specs[-1] += f" {argument}"
        else:
            specs.append(argument)
        open_one = alone
    return specs


def _show(
    shown: list[_Shown], points: list[float], out: Console, *, plain: bool, drawn: bool
) -> None:
    from lookalike.base.plots.terminal import curve_names
    from lookalike.cli import drawing, screen

    several = len(shown) > 1
    names = curve_names(len(shown)) if several else [""]
    for name, one in zip(names, shown, strict=True):
        out.print(f"{name}  {_title(one)}" if several else _title(one))
    out.print()
    threshold, metric = shown[0].threshold, shown[0].plan.metric
    curves = [one.cascade.curve(threshold, metric=metric) for one in shown]
    if drawn:
        drawing.show_curves(out, curves, plain=plain, threshold=threshold)
        out.print()
    if several:
        out.print(_chances(names, shown, points))
    else:
        rows = [shown[0].row(s) for s in points]
        out.print(screen.curve_table(("becomes a candidate", "missed"), rows))
    for name, one in zip(names, shown, strict=True):
        out.print()
        if several:
            out.print(f"{name}  {one.cascade}")
        screen.show_half(out, one.plan)
        _say_errors(out, one)


def _title(shown: _Shown) -> str:
    from lookalike.base.wording import count

    cosine = shown.plan.metric == "cosine"
    row, sketch = ("bit", "sketches") if cosine else ("row", "signatures")
    name = shown.cascade.name(shown.plan.metric)
    return f"{name}, {sketch} of {count(shown.cascade.rows, row)}."


def _chances(names: list[str], shown: list[_Shown], points: list[float]) -> Any:
    """Make a table of several curves: a column each, of the probabilities."""
    from lookalike.base.wording import chance_texts
    from lookalike.cli.screen import simple_table

    table = simple_table("similarity>", *(f"{name}>" for name in names))
    for s in points:
        chances = [chance_texts(*one.row(s)[1:])[0] for one in shown]
        table.add_row(in_full(s), *chances)
    return table


def _say_errors(out: Console, shown: _Shown) -> None:
    metric, threshold = shown.plan.metric, shown.threshold
    drawn = shown.cascade.curve(threshold, metric=metric)
    split = in_full(threshold) if threshold is not None else f"{drawn.split:.4f}"
    out.print(f"Areas on either side of {split}: {drawn.areas_text()}.")
    if threshold is None:
        return
    wrong = shown.plan.errors(threshold)
    all_ = "angles" if metric == "cosine" else "similarities"
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
