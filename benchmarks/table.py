"""Rows for people, and for programs."""

import datetime as dt
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass
class Row:
    """One contestant's figures."""

    title: str
    problem: str = ""
    setting: str = ""
    seconds: float = 0.0
    """Of the whole job."""
    estimated: str = ""
    """Where time ran out, how the seconds were estimated: `about` or `at least`."""
    done: int = 0
    """The documents that the job was done for."""
    stages: dict[str, float] = field(default_factory=dict)
    """The seconds that were measured, by stage."""
    cpu: float = 0.0
    """The seconds that were measured, of all cores together."""
    per_second: float = 0.0
    peak: int = 0
    pairs: int = 0
    recall: float = 0.0
    sought: int = 0
    precision: float = 0.0
    own_recall: float | None = None
    times: float | None = None


def heading(unit: str, own: bool) -> str:
    """Name the columns."""
    last = f"{'own recall':>12}" if own else ""
    return (
        f"{'':30}{'seconds':>12}{'cpu':>9}{unit + '/s':>13}{'peak MB':>9}"
        f"{'recall':>9}{'precision':>11}{'times':>8}{last}"
    )


def line(row: Row) -> str:
    """Set a row, with its stages under it."""
    if row.problem:
        return f"{row.title:30}{row.problem}"
    mark = {"about": "~", "at least": "≥", "": ""}[row.estimated]
    times = "" if row.times is None else f"{mark}{row.times:,.1f}"
    own = "" if row.own_recall is None else f"{row.own_recall:12.4f}"
    stages = ", ".join(f"{name} {spent:.2f}" for name, spent in row.stages.items())
    told = "; ".join(part for part in (row.setting, stages) if part)
    so_far = f"; time ran out after {row.done:,}" if row.estimated else ""
    return (
        f"{row.title:30}{mark + format(row.seconds, ',.2f'):>12}{row.cpu:9,.2f}"
        f"{row.per_second:13,.0f}{row.peak / 1e6:9,.0f}"
        f"{row.recall:9.4f}{row.precision:11.4f}{times:>8}{own}"
        f"\n    {told}{so_far}"
    )


def legend(rows: list[Row]) -> str:
    """Say what the marks mean, where there are any."""
    if not any(row.estimated for row in rows):
        return ""
    return (
        "\nWhere time ran out, cpu, memory, recall and precision are those of the documents done;\n"
        "the seconds of all are estimated: ~ by the comparisons left, ≥ by the documents left.\n"
    )


def write(path: Path, arguments: dict[str, Any], about: dict[str, Any], rows: list[Row]) -> None:
    """Keep the figures, with what they were measured on."""
    kept = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("lookalike", "numpy", "numba", "pyarrow")},
        "arguments": arguments,
        "data": about,
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, default=str) + "\n")


def _machine() -> dict[str, Any]:
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [one for one in information.read_text().splitlines() if "model name" in one]
        processor = names[0].partition(":")[2].strip() if names else processor
    about: dict[str, Any] = {
        "system": platform.system(),
        "processor": processor,
        "cores": os.cpu_count(),
    }
    if sys.platform == "linux":
        about["memory"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return about
