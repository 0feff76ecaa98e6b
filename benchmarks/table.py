"""Rows for people, and for programs."""

import datetime as dt
import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import index_table

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
MARKS = {"about": "~", "at least": "≥", "": ""}
BEGIN, END = "<!-- python -m benchmarks tables -->", "<!-- end of tables -->"


@dataclass
class Row:
    """One contestant's figures."""

    title: str
    problem: str = ""
    """Why there are no figures, or, beside some, why there are none of more documents."""
    setting: str = ""
    note: str = ""
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
    megabytes: float = 0.0
    """Of text, as UTF-8, in a second."""
    peak: int = 0
    pairs: int = 0
    recall: float | None = None
    sought: int = 0
    precision: float | None = None
    checked: int = 0
    """The pairs that precision was measured by."""
    own_recall: float | None = None
    times: float | None = None
    """The seconds, in those of Lookalike."""
    reads: float | None = None
    """The seconds, in those that reading the file alone takes."""
    versions: dict[str, str] = field(default_factory=dict)
    reached: float = 0.0
    """The seconds that were measured, of the documents done."""
    beside: float | None = None
    """The seconds of Lookalike on Spark for as many, where not all were done."""


def heading(unit: str, own: bool) -> str:
    """Name the columns."""
    last = f"{'own recall':>12}" if own else ""
    return (
        f"{'':30}{'seconds':>12}{'cpu':>9}{unit + '/s':>13}{'MB/s':>9}{'peak MB':>9}"
        f"{'recall':>9}{'precision':>11}{'times':>8}{last}"
    )


def line(row: Row) -> str:
    """Set a row, with its stages under it."""
    if not row.seconds:
        return f"{row.title:30}{row.problem}"
    mark = MARKS[row.estimated]
    times = "" if row.times is None else f"{mark}{row.times:,.1f}"
    own = "" if row.own_recall is None else f"{row.own_recall:12.4f}"
    stages = ", ".join(f"{name} {spent:.2f}" for name, spent in row.stages.items())
    so_far = _so_far(asdict(row))
    told = "; ".join(part for part in (row.setting, stages, so_far, row.note, row.problem) if part)
    size = f"{row.megabytes:,.1f}" if row.megabytes else ""
    return (
        f"{row.title:30}{mark + format(row.seconds, ',.2f'):>12}{row.cpu:9,.2f}"
        f"{row.per_second:13,.0f}{size:>9}{row.peak / 1e6:9,.0f}"
        f"{_share(row.recall):>9}{_share(row.precision):>11}{times:>8}{own}"
        f"\n    {told}"
    )


def legend(rows: list[Row]) -> str:
    """Say what the marks mean, where there are any."""
    if not any(row.estimated for row in rows):
        return ""
    return (
        "\nWhere time ran out, cpu, memory, recall and precision are those of the documents done;\n"
        "the seconds of all are estimated: ~ by the comparisons left, ≥ by the documents left.\n"
    )


def write(
    path: Path, arguments: dict[str, Any], about: dict[str, Any], rows: Sequence[Any]
) -> None:
    """Keep the figures, with what they were measured on."""
    kept = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("lookalike", "numpy", "numba", "pyarrow")},
        "arguments": arguments,
        "data": about,
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, default=str, ensure_ascii=False) + "\n")


def show_results(results: Path = RESULTS, page: Path = PAGE) -> None:
    """Set all results that are kept into the marked part of the page."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} has no part between {BEGIN} and {END}")
    tables = [_as_markdown(kept) for kept in kept_results(results)]
    tables += [_index(kept) for kept in kept_results(results, indexes=True)]
    signatures = results / "signatures.json"
    if signatures.exists():
        tables.append(_signatures(json.loads(signatures.read_text())))
    kernels = results / "kernels.json"
    if kernels.exists():
        tables.append(_kernels(json.loads(kernels.read_text())))
    page.write_text("\n\n".join([before + begin, *tables, end + after]))


def kept_results(results: Path = RESULTS, *, indexes: bool = False) -> list[dict[str, Any]]:
    """Read the results that are kept, those of whole jobs first, small ones before large.

    Those of indexes have other figures, and come by themselves.
    """
    found = []
    for path in results.glob("*.json"):
        kept = json.loads(path.read_text())
        if "rows" not in kept or "arguments" not in kept:
            continue
        if (kept["arguments"]["benchmark"] == "index") == indexes:
            found.append({**kept, "name": path.stem})
    return sorted(found, key=lambda kept: (kept["arguments"]["benchmark"] != "texts", _order(kept)))


def _order(kept: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", kept["name"]))


def _as_markdown(kept: dict[str, Any]) -> str:
    machine, asked = kept["machine"], kept["arguments"]
    memory = f", {machine['memory'] / 2**30:.0f} GiB" if "memory" in machine else ""
    own = any(row.get("own_recall") is not None for row in kept["rows"])
    sizes = any(row.get("megabytes") for row in kept["rows"])
    columns = [
        "",
        "seconds",
        "cpu",
        f"{'vectors' if asked['benchmark'] == 'vectors' else 'documents'}/s",
    ]
    columns += ["MB/s"] * sizes + ["peak MB", "recall", "precision"]
    columns += ["own recall"] * own + ["times"]
    caption = (
        f"**{kept['data']['told']}**: {_job(asked)}. {_day(kept)}, {machine['processor']}, "
        f"{asked['threads']} threads of {machine['cores']} cores{memory}, Python {kept['python']}. "
        f"{_sought(kept['data'].get('truth', {}))}`{_command(asked)}`"
    )
    lines = [
        caption,
        "",
        "| " + " | ".join(columns) + " |",
        "|---" * len(columns) + "|",
    ]
    notes: list[str] = []
    for row in kept["rows"]:
        lines.append(_cells(row, len(columns), own, sizes))
        notes += _notes(row)
    return "\n".join([*lines, "", *notes])


def _index(kept: dict[str, Any]) -> str:
    machine, asked = kept["machine"], kept["arguments"]
    memory = f", {machine['memory'] / 2**30:.0f} GiB" if "memory" in machine else ""
    caption = (
        f"**An index of {kept['data']['told']}**: Jaccard similarity {asked['threshold']:g} or "
        f"more of words:5 shingles. {_day(kept)}, {machine['processor']}, {asked['threads']} "
        f"threads of {machine['cores']} cores{memory}, Python {kept['python']}. "
        f"`{_command(asked)}`"
    )
    return f"{caption}\n\n{index_table.as_markdown(kept['rows'])}"


def _sought(truth: dict[str, int]) -> str:
    """Tell what the recall was measured by."""
    if "families" not in truth:
        return ""
    return (
        f"Sought: {truth['pairs within families']:,} true pairs within {truth['families']:,} of "
        f"{truth['of families']:,} families, {truth['pairs between families']:,} between these, of "
        f"{truth['documents compared with all']:,} documents compared with all. "
    )


def _signatures(kept: dict[str, Any], rows: int = 128) -> str:
    """Set the figures of signatures alone, those of one length."""
    some = [one for one in kept["figures"] if one["rows"] == rows]
    sizes = sorted({one["size"] for one in some})
    caption = (
        f"**Signatures of {rows} rows, of hashes already made**, one core: nanoseconds an element, "
        f"by the size of the set; and the largest root mean square error of estimates of 0.8, "
        f"beside that of independent minima. {_day(kept)}, {kept['machine']['processor']}. "
        "`python -m benchmarks.signatures`"
    )
    lines = [
        caption,
        "",
        "| | " + " | ".join(f"{size:,}" for size in sizes) + " | error |",
        "|---" * (len(sizes) + 2) + "|",
    ]
    for name in dict.fromkeys(one["name"] for one in some):
        own = {one["size"]: one for one in some if one["name"] == name}
        spent = [_figure(own[size]["nanoseconds"]) if size in own else "" for size in sizes]
        worst = max(own.values(), key=lambda one: one["errors"]["0.8"])
        error = f"{worst['errors']['0.8']:.4f} ({worst['expected']['0.8']:.4f})"
        title = f"{name} {kept['versions'].get(name, '')}"
        lines.append("| " + " | ".join([title, *spent, error]) + " |")
    return "\n".join(lines)


def _day(kept: dict[str, Any]) -> str:
    # A locale would name the month otherwise.
    months = "January February March April May June July August September October November December"
    date = dt.datetime.fromisoformat(kept["date"])
    return f"{date.day} {months.split()[date.month - 1]} {date.year}"


def _cells(row: dict[str, Any], columns: int, own: bool, sizes: bool) -> str:
    if not row["seconds"]:
        return f"| {row['title']} | {row['problem']} " + "| " * (columns - 2) + "|"
    mark = MARKS[row["estimated"]]
    cells = [row["title"], mark + _figure(row["seconds"]), _figure(row["cpu"])]
    cells.append(f"{row['per_second']:,.0f}")
    if sizes:
        cells.append(f"{row.get('megabytes', 0):,.1f}")
    cells += [f"{row['peak'] / 1e6:,.0f}", _share(row["recall"]), _share(row["precision"])]
    if own:
        cells.append(_share(row.get("own_recall")))
    cells.append("" if row["times"] is None else mark + _figure(row["times"]))
    return "| " + " | ".join(cells) + " |"


def _notes(row: dict[str, Any]) -> list[str]:
    """Say under the table what a row has no room for."""
    if not row["seconds"]:
        return []
    stages = ", ".join(f"{name} {_figure(spent)}" for name, spent in row["stages"].items())
    so_far = _so_far(row)
    reads = f"{_figure(row['reads'])} times reading alone" if row.get("reads") else ""
    parts = (row["setting"], stages, reads, so_far, row.get("note", ""), row["problem"])
    return [f"- {row['title']}: {'; '.join(part for part in parts if part)}"]


def _so_far(row: dict[str, Any]) -> str:
    """Tell how far it came, and what Lookalike took for as much where that was measured."""
    if not row["estimated"]:
        return ""
    told = f"the first {row['done']:,}"
    own = row.get("beside")
    if not own:
        return told
    took, mine, times = map(_figure, (row["reached"], own, row["reached"] / own))
    return f"{told} in {took} s, Lookalike on Spark in {mine}, {times} times"


def _job(asked: dict[str, Any]) -> str:
    similarity = "Jaccard similarity" if asked["benchmark"] in ("texts", "spark") else "cosine"
    shingle = f" of {asked['shingle']} shingles" if "shingle" in asked else ""
    return f"every pair of {similarity} {asked['threshold']:g} or more{shingle}"


def _command(asked: dict[str, Any]) -> str:
    """Give the command that repeats it."""
    words = ["python -m benchmarks", asked["benchmark"]]
    for name, value in asked.items():
        if name in ("benchmark", "real") or value is None or value is False:
            continue
        if value is True:
            words.append(f"--{name}")
            continue
        text = ",".join(value) if isinstance(value, list) else str(value)
        words.append(f"--{name} {text.removesuffix('.0')}")
    return " ".join(words)


def _figure(number: float) -> str:
    return f"{number:,.2f}" if number < 100 else f"{number:,.0f}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.4f}"


def _kernels(kept: dict[str, Any]) -> str:
    caption = (
        "**Canonical text to signatures of 128 rows**, MB/s of UTF-8: a core, by its own time; and "
        f"by the clock on one thread and on two. {_day(kept)}, {kept['machine']['processor']}. "
        "`python -m benchmarks.kernels`"
    )
    lines = [
        caption,
        "",
        "| | bytes a document | shingle | a core | one thread | two threads | of twice one |",
        "|---" * 7 + "|",
    ]
    for row in kept["signing"]:
        speeds = [f"{row[name]:,.0f}" for name in ("a core", "one thread", "all threads")]
        size = f"{row['bytes a document']:,.0f}"
        cells = [row["script"], size, row["shingle"], *speeds, f"{row['scaling']:.0%}"]
        lines.append("| " + " | ".join(cells) + " |")
    told = ", ".join(f"`{name}` {seconds:.2f} s" for name, seconds in kept["starting"].items())
    lines += ["", f"The command line, from no compiled code (cold) and from all (warm): {told}."]
    return "\n".join(lines)


def machine() -> dict[str, Any]:
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
