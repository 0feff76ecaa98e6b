"""Write the notebook of the examples, run, so that what it shows is what the package does.

    python tools/tour.py

The cells stand here; a test runs them again and compares what they show with what is kept.
"""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent.parent / "examples" / "tour.ipynb"
TEXT, CODE = "markdown", "code"


def text(*sentences: str) -> tuple[str, str]:
    """Give a cell of text."""
    return TEXT, " ".join(sentences)


def code(*lines: str) -> tuple[str, str]:
    """Give a cell of code."""
    return CODE, "\n".join(lines)


CELLS = [
    text(
        "# A tour of Lookalike\n\nWhich of these documents are nearly the same, how similar are",
        "they, and where? Run this notebook in the folder `examples`, which has the documents.",
    ),
    code("import lookalike", "", 'found = lookalike.find("documents", threshold=0.7)', "found"),
    text(
        "Click a title to unfold it.",
        "The pairs are an Arrow table, which pandas and polars take as it is:",
    ),
    code("found.pairs.slice(0, 3).to_pylist()"),
    text("Two documents, and the passages that both have:"),
    code(
        "from pathlib import Path",
        "",
        "first = found.pairs.slice(0, 1).to_pylist()[0]",
        'lookalike.compare(*(Path("documents", first[name]) for name in "ab"))',
    ),
    text(
        "How likely is a pair to become a candidate? 20 bands of 5 rows miss few pairs that are",
        "0.8 similar, and a cascade of AND and OR steps is steeper:",
    ),
    code('lookalike.Cascade.parse("bands:20 rows:5")'),
    code('lookalike.Cascade.parse("and:4 or:4 and:4 or:4")'),
    text("For a threshold and a recall, the bands and rows are chosen:"),
    code("lookalike.plan(threshold=0.8, recall=0.99)"),
    text(
        "The corpus without near-duplicates, and the kept document that each removed one is like:"
    ),
    code('lookalike.dedup("documents", threshold=0.7)'),
    text(
        "With the extra `plot`, each of these also has `plot()`, which gives Matplotlib axes:",
        '`found.plot()`, `found.plot("clusters")`, `lookalike.plan(0.8).plot()`.',
    ),
]


def made() -> Any:
    """Give the notebook without outputs."""
    new: Any = nbformat.v4
    cells = []
    for number, (kind, source) in enumerate(CELLS):
        cell = new.new_markdown_cell(source) if kind == TEXT else new.new_code_cell(source)
        # Ids are random else, and the file another each time.
        cell["id"] = f"cell-{number}"
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def run(notebook: Any) -> Any:
    """Run a notebook in its folder."""
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=120, record_timing=False, resources=place).execute()
    # Which Python ran it is of no interest, and differs.
    notebook["metadata"].pop("language_info", None)
    return notebook


def as_text(notebook: Any) -> str:
    """Write a notebook as its file has it."""
    writes: Any = nbformat.writes
    return f"{writes(notebook, version=4).rstrip()}\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(as_text(run(made())), encoding="utf-8")
