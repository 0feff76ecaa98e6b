"""The documentation says what the program does."""

import ast
import doctest
import importlib.util
import re

import pytest
from benchmarks import plot
from conftest import ROOT  # type: ignore[import-not-found]

import lookalike
from lookalike.planning.curves import probability

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text()


def tool_of(name):
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools" / name)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_command_reference_is_that_of_the_commands():
    tool = tool_of("reference.py")
    assert tool.PAGE.read_text() == tool.page(), "run python tools/reference.py"
    table = tool.python_page(tool.PYTHON.read_text())
    assert tool.PYTHON.read_text() == table, "run python tools/reference.py"


def test_the_example_of_the_package_runs():
    assert doctest.testmod(lookalike).failed == 0


def test_the_first_example_of_the_python_page_gives_what_it_says():
    page = (ROOT / "docs" / "python.md").read_text()
    block = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert block
    *code, expected = block[1].strip().splitlines()
    scope = {}
    exec("\n".join(code[:-1]), scope)
    assert eval(code[-1], scope) == ast.literal_eval(expected.removeprefix("# "))


def test_the_readme_states_the_plan_that_is_made():
    told = re.search(r"Plan: (.*?)```", README, re.DOTALL)
    assert told
    assert " ".join(told[1].split()) == lookalike.plan(0.8, 0.99).sentence()


def test_the_readme_begins_with_the_two_commands():
    screen = README.splitlines()[:12]
    assert any(line.startswith("make demo") for line in screen)
    assert any(line.startswith("make test") for line in screen)


def test_the_curves_of_the_method_page_are_right():
    page = (ROOT / "docs" / "method.md").read_text()
    rows = re.findall(r"^\| (0\.\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for s, *told in rows:
        for (r, b), value in zip([(3, 10), (6, 20), (5, 50)], told, strict=True):
            assert f"{probability(float(s), bands=b, rows=r):.4f}" == value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.fixture
def pinned_matplotlib():
    """Skip where figures are drawn by another version, in another way."""
    matplotlib = pytest.importorskip("matplotlib")
    if f"matplotlib=={matplotlib.__version__}\n" not in (ROOT / "constraints.txt").read_text():
        pytest.skip("another version of Matplotlib draws them in another way")


@pytest.mark.parametrize("name", ["curve.svg", "estimates.svg"])
@pytest.mark.usefixtures("pinned_matplotlib")
def test_the_figures_are_those_that_are_drawn(name):
    tool = tool_of("figures.py")
    assert {*tool.FIGURES} == {"curve.svg", "estimates.svg"}
    assert (tool.IMAGES / name).read_bytes() == tool.FIGURES[name](), "run python tools/figures.py"


@pytest.mark.usefixtures("pinned_matplotlib")
def test_the_figure_of_the_benchmarks_is_that_of_the_results(tmp_path):
    plot.draw(picture=tmp_path / "drawn.svg")
    kept = plot.PICTURE.read_bytes()
    assert kept == (tmp_path / "drawn.svg").read_bytes(), "run python -m benchmarks plot"
