"""Reports for pages: the example as objects, small ones made by hand, and pages opened."""

import json
from pathlib import Path
from typing import Any

from lookalike.reports import model
from lookalike.reports.model import Report
from lookalike.reports.render import render, render_pair

DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Drawings are made when their width is known, which is in the frame after they were put in."""
EXAMPLE = Path(__file__).parent.parent / "reports" / "example.json"


def report_of(parts: dict[str, Any]) -> Report:
    """Make a report of its JSON."""
    main = dict(parts["main"])
    summary = {**main["summary"]}
    summary["files"] = [model.Link(**link) for link in summary["files"]]
    main["summary"] = model.Summary(**summary)
    main["plan"] = main["plan"] and model.Plan(**main["plan"])
    main["documents"] = model.Documents(**main["documents"])
    main["pairs"] = model.Pairs(**main["pairs"])
    main["clusters"] = [model.Cluster(**cluster) for cluster in main["clusters"]]
    main["skipped"] = model.Skipped(**main["skipped"])
    if main["histogram"]:
        series = [model.Series(**one) for one in main["histogram"]["series"]]
        main["histogram"] = model.Histogram(main["histogram"]["edges"], series)
    if main["near_misses"]:
        near = main["near_misses"]
        main["near_misses"] = model.NearMisses(**{**near, "pairs": model.Pairs(**near["pairs"])})
    return Report(model.Main(**main), [text_of(text) for text in parts["texts"]])


def text_of(parts: dict[str, Any]) -> model.Text:
    """Make a text of its JSON."""
    coverage = [model.Coverage(**stretch) for stretch in parts.get("coverage", [])]
    return model.Text(**{**parts, "coverage": coverage})


def example() -> Report:
    """Give the example of the reports, with labels, dates and what else a page may have to show."""
    made = report_of(json.loads(EXAMPLE.read_text("utf-8")))
    shown, about = made.main.documents, made.main.summary
    places = range(len(shown.name))
    about.label, about.date = "folder", "date"
    shown.label = [name.partition("/")[0] for name in shown.name]
    shown.date = [f"2024-{place // 28 + 1:02}-{place % 28 + 1:02}" for place in places]
    shown.columns = {"author": [None if place % 3 else f"Ann <b>{place}" for place in places]}
    about.left_out = ["The first 10 of 12 pairs are shown: all are in pairs.parquet."]
    about.files = [model.Link("pairs.parquet", "results/pairs.parquet")]
    made.main.skipped = model.Skipped(1, ["notices/photo.bin"], ["binary"])
    text_named(made, "bread/sourdough-copy.txt").boilerplate = [(0, 40, 5)]
    return made


def text_named(made: Report, name: str) -> model.Text:
    """Give the text of a document."""
    place = made.main.documents.text[made.main.documents.name.index(name)]
    if place is None:
        raise LookupError(f"{name} has no text")
    return made.texts[place]


def summary(**changes: Any) -> model.Summary:
    """Give a summary of nothing in particular."""
    facts: dict[str, Any] = {
        "command": "find",
        "title": "Some pairs",
        "version": "0",
        "threshold": 0.5,
        "score": "Jaccard of words:1 shingles",
        "measure": "similarity",
        "exact": True,
        "anonymous": False,
        "label": None,
        "date": None,
    }
    facts |= {key: [] for key in ("facts", "warnings", "notes", "left_out", "files")}
    facts |= {key: {} for key in ("settings", "counts", "seconds", "versions")}
    return model.Summary(**{**facts, **changes})


def documents(names: list[str], **changes: Any) -> model.Documents:
    """Give documents by their names; what is not given is not known."""
    columns: dict[str, Any] = {
        "name": names,
        "key": [f"{place:012x}" for place in range(len(names))],
        "corpus": ["source"] * len(names),
        "columns": {},
    }
    unknown = ("cluster", "kept", "label", "date", "length", "text", "covered")
    columns |= {column: [None] * len(names) for column in unknown}
    return model.Documents(**{**columns, **changes})


def pairs(a: list[int], b: list[int], similarity: list[float], **changes: Any) -> model.Pairs:
    """Give pairs; what is not given is not known."""
    columns: dict[str, Any] = {"a": a, "b": b, "similarity": similarity}
    unknown = ("shared", "union", "a_in_b", "b_in_a", "passages", "words")
    columns |= {column: [None] * len(a) for column in unknown}
    return model.Pairs(**{**columns, **changes})


def report(
    documents: model.Documents,
    pairs: model.Pairs,
    texts: list[model.Text] | None = None,
    **changes: Any,
) -> Report:
    """Give a report of these alone."""
    parts: dict[str, Any] = {
        "summary": summary(),
        "plan": None,
        "histogram": None,
        "clusters": [],
        "near_misses": None,
        "skipped": model.Skipped(0, [], []),
    }
    main = model.Main(documents=documents, pairs=pairs, **{**parts, **changes})
    return Report(main, texts or [])


def two_texts(first: str, second: str, passages: list[Any], **names: str) -> Report:
    """Give a report on one pair with its texts; `first=` and so on name the documents."""
    own = documents(
        [names.get("a", "first.txt"), names.get("b", "second.txt")],
        text=[0, 1],
        length=[len(text.encode("utf-16-le")) // 2 for text in (first, second)],
    )
    words = sum(passage[4] for passage in passages)
    found = pairs([0], [1], [0.75], passages=[len(passages)], words=[words])
    return report(own, found, [model.Text(0, first, {"1": passages}), model.Text(1, second)])


def opened(
    page: Any, folder: Path, report: Report, address: str = "", *, pair: bool = False
) -> Any:
    """Write a report, and open it in a page at an address as `#pairs`."""
    path = folder / "report.html"
    path.write_text(render_pair(report) if pair else render(report), "utf-8")
    page.goto(path.as_uri() + address)
    page.wait_for_selector("html[data-ready]")
    page.evaluate(DRAWN)
    return page
