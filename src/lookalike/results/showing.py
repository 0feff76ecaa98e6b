"""A result in a notebook and as a plot: what was found, by similarity and by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.html import block, escaped, folded, paragraph, table
from lookalike.base.plots.shapes import Histogram
from lookalike.base.wording import Message, count, either, setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.planning.plan import Plan

__all__ = ["SHOWN_ROWS", "Section", "cluster_section", "plot_result", "result_html"]

SHOWN_ROWS = 20
"""Rows of a table that a notebook shows."""
PLOTS = ("similarities", "clusters")


class Section(NamedTuple):
    """A part of a result: its first rows, and how many there are."""

    title: str
    first: pa.Table
    total: int


class _Summary(Protocol):
    @property
    def warnings(self) -> tuple[str, ...]: ...


class _Result(Protocol):
    @property
    def summary(self) -> _Summary: ...
    def _sections(self) -> list[Section]: ...
    def _found(self) -> tuple[str, Iterable[NDArray[np.float64]]] | None: ...


def result_html(result: _Result) -> str:
    """Show a result: what it is, its tables folded, and the plan that found it."""
    parts = [f"<p>{escaped(repr(result).strip('<>'))}</p>"]
    parts += [paragraph(f"Warning: {Message(line)}.") for line in result.summary.warnings]
    for number, (title, first, total) in enumerate(result._sections()):
        rows = zip(*(column.to_pylist() for column in first.columns), strict=True)
        shown = table(first.column_names, rows)
        if total > len(first):
            shown += paragraph(f"The first {len(first):,} of {total:,} rows.")
        parts.append(folded(title, shown, is_open=number == 0))
    plan: Plan | None = getattr(result, "plan", None)
    if plan is not None:
        parts.append(folded("Plan", plan._repr_html_()))
    return block(*parts)


def plot_result(result: _Result, what: str, ax: Any) -> Any:
    """Draw what was found: by similarity under the curve of its plan, or clusters by size."""
    from lookalike.base.plots.pictures import draw_counts, draw_plan, draw_sizes

    if what not in PLOTS:
        raise SettingsError(f"{setting('what', what)}: use {either(PLOTS)}")
    clusters: pa.Table | None = None
    if what == "clusters":
        clusters = getattr(result, "clusters", None)
        if clusters is None:
            raise SettingsError(f"{setting('what', what)}: this result has no clusters")
        return draw_sizes(_sizes(clusters), ax)
    found = result._found()
    if found is None:
        raise SettingsError(f"{setting('what', what)}: this result has no similarities")
    label, blocks = found
    plan: Plan | None = getattr(result, "plan", None)
    metric = "jaccard" if plan is None else plan.metric
    counted = Histogram.of(label, [], metric=metric)
    for scores in blocks:
        counted += Histogram.of(label, scores, metric=metric)
    if plan is None:
        return draw_counts([counted], ax)
    sampled = plan.histogram()
    histograms = [counted] if sampled is None else [sampled, counted]
    threshold = None if plan.distance is not None else plan.threshold
    return draw_plan(plan.curves(), histograms, ax, threshold=threshold)


def _sizes(clusters: pa.Table) -> NDArray[np.int64]:
    """Give the size of each cluster once."""
    _, first = np.unique(clusters["cluster"].to_numpy(), return_index=True)
    sizes: NDArray[np.int64] = clusters["size"].to_numpy()[first]
    return sizes


def cluster_section(clusters: pa.Table, total: int) -> Section:
    """Make the section of clusters."""
    return Section(count(total, "cluster"), clusters.slice(0, SHOWN_ROWS), len(clusters))
