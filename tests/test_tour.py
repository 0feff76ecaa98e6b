"""The notebook of the examples runs, and shows what is kept in it."""

import json

import pytest
from conftest import ROOT  # type: ignore[import-not-found]

pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
tour = pytest.importorskip("tools.tour")

FURTHER = [
    'lookalike.find("documents", progress=True).pair_count',
    'ax = lookalike.Cascade.parse("bands:20 rows:5").plot()',
    "from matplotlib import pyplot\npyplot.get_fignums()",
]
"""Run after the cells that are kept, in the same kernel, which takes a while to start."""


@pytest.fixture(scope="module")
def ran():
    notebook = tour.made()
    notebook["cells"] += [nbformat.v4.new_code_cell(source, id="x") for source in FURTHER]
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"cell-{number}"
    return json.loads(tour.as_text(tour.run(notebook)))


@pytest.mark.long
def test_the_tour_shows_what_is_kept(ran):
    kept = json.loads(tour.NOTEBOOK.read_text(encoding="utf-8"))
    cells = len(kept["cells"])
    assert cells == len(tour.CELLS)
    assert {**ran, "cells": ran["cells"][:cells]} == kept, "run python tools/tour.py"


def test_the_tour_is_small_and_has_no_errors():
    text = tour.NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert "Traceback" not in text
    assert str(ROOT) not in text
    shown = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in shown)


@pytest.mark.long
def test_progress_is_a_line_below_the_cell(ran):
    first, *rest = ran["cells"][-3]["outputs"]
    assert first["output_type"] == "display_data"
    # Each update takes the place of the one before: what is left is the last.
    assert "done in" in "".join(first["data"]["text/plain"])
    assert [one["output_type"] for one in rest] == ["execute_result"]


@pytest.mark.long
def test_a_plot_is_shown_below_the_cell_and_then_let_go(ran):
    plotted, left = ran["cells"][-2], ran["cells"][-1]
    assert [*plotted["outputs"][0]["data"]] == ["image/png", "text/plain"]
    assert left["outputs"][0]["data"]["text/plain"] == ["[]"]
