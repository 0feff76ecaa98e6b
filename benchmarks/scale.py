"""Set what jobs past one machine take into docs/scale.md: python -m benchmarks.scale.

From what a document was measured to cost (`benchmarks.spark_costs`), and from the sizes of buckets
that were simulated (`benchmarks.bucket_sizes`).
"""

import json
from pathlib import Path
from typing import Any

from benchmarks import bucket_sizes, spark_costs
from lookalike import plan

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
COUNTS = (10**8, 10**9, 10**10)
MACHINE_SLOTS = 32
HOURS = 4.0
"""In which a job should be done, where the table says how many machines."""
TASK_BYTES = 64 << 20
MEASURED_BANDS, BAND_BYTES = 5, 100
"""Bands of the plan that was measured, and about what a further one adds to what is shuffled."""


def main() -> None:
    """Set both parts of the page."""
    costs = json.loads(spark_costs.FILE.read_text())
    sizes = json.loads(bucket_sizes.FILE.read_text())
    text = PAGE.read_text()
    text = replaced(text, "measured", measured(costs))
    text = replaced(text, "computed", computed(costs))
    text = replaced(text, "simulated", simulated(sizes))
    PAGE.write_text(text)


def replaced(text: str, name: str, part: str) -> str:
    """Put a part between the marks of its name."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    _, closing, after = rest.partition(end)
    if not (found and closing):
        raise SystemExit(f"{PAGE} has no part between {begin} and {end}")
    return f"{before}{begin}\n\n{part}\n\n{end}{after}"


def measured(costs: dict[str, Any]) -> str:
    """Set what a document costs."""
    lines = [
        "| a document | " + " | ".join(("find", "dedup")) + " |",
        "|---|---|---|",
    ]
    for name, unit, factor in (
        ("slot_seconds", "microseconds of a slot", 1e6),
        ("shuffled", "bytes shuffled, compressed", 1),
        ("spilled", "bytes spilled", 1),
        ("read", "bytes read from files", 1),
    ):
        each = [costs[job]["a document"][name] * factor for job in ("find", "dedup")]
        lines.append(f"| {unit} | " + " | ".join(f"{value:,.0f}" for value in each) + " |")
    peaks = [max(run["largest_task"] for run in costs[job]["runs"]) for job in ("find", "dedup")]
    lines.append(
        "| MB, the most of a task | " + " | ".join(f"{p / 1e6:,.0f}" for p in peaks) + " |"
    )
    runs = [f"{run['documents']:,}" for run in costs["find"]["runs"]]
    told = (
        f"Measured with {costs['slots']} slots on {costs['machine']['cores']} cores "
        f"({costs['machine']['processor']}), {costs['shingle']} shingles of texts of 2.1 KB: what "
        f"{runs[1]} documents took beyond {runs[0]}. `python -m benchmarks.spark_costs`"
    )
    return "\n".join([told, "", *lines])


def computed(costs: dict[str, Any]) -> str:
    """Multiply what a document costs."""
    titles = ["`dedup` of documents", "slot-hours", "TB shuffled", "tasks of 64 MB"]
    titles += [f"machines of {MACHINE_SLOTS} slots for {HOURS:g} h"]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    each = costs["dedup"]["a document"]
    for count in COUNTS:
        hours = count * each["slot_seconds"] / 3600
        bands = plan(threshold=0.8, recall=0.99, documents=count).bands or MEASURED_BANDS
        further = BAND_BYTES * (bands - MEASURED_BANDS)
        # Of more candidates than every worker can be told, all texts are shuffled once.
        shuffled = count * (each["shuffled"] + further + costs["find"]["a document"]["read"])
        machines = max(1, round(hours / HOURS / MACHINE_SLOTS + 0.5))
        cells = [
            f"{count:,}",
            f"{hours:,.0f}",
            f"{shuffled / 1e12:,.2f}",
            f"{shuffled / TASK_BYTES:,.0f}",
            f"{machines:,}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    rate = 1 / each["slot_seconds"]
    told = (
        f"Computed from the table above: {rate:,.0f} documents a second and slot. What is shuffled "
        f"has {BAND_BYTES} bytes more for each band beyond {MEASURED_BANDS}, of which a plan for "
        "so many documents has more, and all texts once."
    )
    return "\n".join([told, "", *lines])


def simulated(sizes: list[dict[str, Any]]) -> str:
    """Set the sizes of buckets."""
    titles = ["exponent", "documents", "bands x rows", "largest template", "largest bucket"]
    titles += ["rows in large buckets, a document", "pairs in a band, a document"]
    titles += ["copies of such a row"]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for one in sizes:
        model, found = one["model"], one["sizes"]
        cells = [
            f"{model['exponent']:g}",
            f"{model['documents']:,}",
            f"{model['bands']} x {model['rows']}",
            f"{found['largest_template']:,}",
            f"{found['largest_bucket']:,}",
            f"{found['hot_rows']:.3f}",
            f"{found['pairs_per_document']:,.0f}",
            f"{found['copies']:,.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
