"""A small corpus with labels and dates, and the parts of its report as plain data."""

import json
from pathlib import Path
from typing import Any

from conftest import ROOT  # type: ignore[import-not-found]

from lookalike.reports import model

AUTHORS = ("Mira Okafor", "Jonas Weber", "Li Na", "Ana Souza")


def labelled_documents(folder: Path) -> Path:
    """Write the example documents as a table with an author, a date and a number each."""
    path = folder / "documents.jsonl"
    below = ROOT / "examples" / "documents"
    lines = []
    for place, file in enumerate(sorted(below.rglob("*.*"))):
        lines.append(
            {
                "id": file.relative_to(below).as_posix(),
                "text": file.read_text(),
                "author": AUTHORS[place % len(AUTHORS)],
                "written": f"2024-{1 + place % 12:02}-{1 + 3 * place % 28:02}",
                "place": place,
                "topic": file.parent.name,
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def plain(report: model.Report) -> dict[str, Any]:
    """Give the parts of a report as what a browser reads, without what differs by run."""
    main = json.loads(model.main_json(report))
    main["summary"] |= {"seconds": {"total": 1.5}, "versions": {"python": "3"}, "version": "0"}
    main["summary"]["notes"] = [note.rpartition("/")[2] for note in main["summary"]["notes"]]
    facts = main["summary"]["facts"]
    main["summary"]["facts"] = [one for one in facts if one[0] != "Seconds"]
    return {"main": main, "texts": [json.loads(model.text_json(text)) for text in report.texts]}
