"""Pictures hold what the formulas say: lines, marks and areas, read back from the axes."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import quad

import lookalike
from lookalike import Cascade
from lookalike.base.plots.figures import picture_bytes, picture_kind

figure = pytest.importorskip("matplotlib.figure")

SPECS = ["bands:20 rows:5", "and:4 or:4 and:4 or:4", "or:3 and:7", "and:1 or:1", "and:30 or:900"]


def chance(spec, s):
    """Climb the steps of a cascade in plain arithmetic."""
    if spec.startswith("bands"):
        bands, rows = (int(one.partition(":")[2]) for one in spec.split())
        return 1 - (1 - s**rows) ** bands
    for step in spec.split():
        kind, n = step.split(":")
        s = s ** int(n) if kind == "and" else 1 - (1 - s) ** int(n)
    return s


def parts(ax, name):
    return [one for one in (*ax.lines, *ax.collections) if one.get_gid() == f"lookalike {name}"]


def area(collection, place=lambda x: x):
    """Measure a shaded area by the corners of its polygon."""
    x, y = collection.get_paths()[0].vertices.T
    x = place(x)
    return abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


@pytest.mark.parametrize("spec", SPECS)
def test_a_line_is_the_formula(spec):
    (line,) = parts(Cascade.parse(spec).plot(), "curve")
    x, y = line.get_data()
    assert (x[0], x[-1]) == (0, 1)
    assert (np.diff(x) > 0).all()
    assert y == pytest.approx([chance(spec, float(one)) for one in x], abs=1e-12)
    # Steep or not, no piece of the line is long.
    assert np.hypot(np.diff(x), np.diff(y)).max() < 0.05


@pytest.mark.parametrize("spec", SPECS)
def test_a_full_mark_stands_where_the_chance_is_one_half(spec):
    (mark,) = parts(Cascade.parse(spec).plot(), "half")
    (x,), (y,) = mark.get_data()
    assert y == 0.5
    assert chance(spec, x) == pytest.approx(0.5, abs=1e-9)


def test_a_hollow_mark_stands_at_the_rule_of_thumb_on_the_line():
    (mark,) = parts(Cascade.banding(20, 5).plot(), "estimate")
    (x,), (y,) = mark.get_data()
    assert x == pytest.approx((1 / 20) ** (1 / 5), rel=1e-12)
    assert y == pytest.approx(chance("and:5 or:20", x), abs=1e-3)
    assert mark.get_markerfacecolor() == "none"
    assert not parts(Cascade.parse("and:4 or:4 and:4 or:4").plot(), "estimate")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("threshold", [None, 0.3, 0.8])
def test_shaded_areas_are_the_integrals_that_the_legend_tells(spec, threshold):
    ax = Cascade.parse(spec).plot(threshold=threshold)
    split = parts(ax, "half")[0].get_xdata()[0] if threshold is None else threshold
    positives = quad(lambda s: chance(spec, s), 0, split, limit=500)[0]
    negatives = quad(lambda s: 1 - chance(spec, s), split, 1, limit=500)[0]
    assert area(parts(ax, "false positives")[0]) == pytest.approx(positives, abs=2e-4)
    assert area(parts(ax, "false negatives")[0]) == pytest.approx(negatives, abs=2e-4)
    told = ax.get_legend().get_texts()[0].get_text()
    found = re.search(r"false positives ([\d.]+), false negatives ([\d.]+)", told)
    assert found
    assert [float(one) for one in found.groups()] == pytest.approx([positives, negatives], abs=6e-5)
    assert len(parts(ax, "threshold")) == (threshold is not None)


def test_cosines_are_spaced_by_their_angles():
    ax = Cascade.banding(100, 20).plot(metric="cosine", threshold=0.8)
    (line,) = parts(ax, "curve")
    agreeing = 1 - np.arccos(line.get_xdata()) / np.pi
    assert line.get_ydata() == pytest.approx(chance("bands:100 rows:20", agreeing), abs=1e-9)
    transform = ax.xaxis.get_transform()
    assert transform.transform(np.array([-1, 0, 0.5, 1])) == pytest.approx([0, 1 / 2, 2 / 3, 1])
    assert transform.inverted().transform(np.array([1 / 2, 2 / 3])) == pytest.approx([0, 0.5])
    split = 1 - np.arccos(0.8) / np.pi
    integral = quad(lambda s: chance("bands:100 rows:20", s), 0, split)[0]
    shaded = area(parts(ax, "false positives")[0], lambda x: 1 - np.arccos(x) / np.pi)
    assert shaded == pytest.approx(integral, abs=2e-4)


def test_further_curves_on_the_same_axes_differ_in_colour_dash_and_mark():
    ax = None
    for spec in SPECS:
        ax = Cascade.parse(spec).plot(ax=ax, threshold=0.7)
    assert ax is not None
    lines = parts(ax, "curve")
    assert len({one.get_color() for one in lines}) == len(SPECS)
    assert len({str(one._unscaled_dash_pattern) for one in lines}) == len(SPECS)
    assert len({one.get_marker() for one in lines}) == len(SPECS)
    assert len(parts(ax, "threshold")) == 1
    titles = [one.get_text().splitlines()[0] for one in ax.get_legend().get_texts()]
    assert titles[0] == "and:5 or:20: 20 bands of 5 rows"
    assert titles[1] == "and:4 or:4 and:4 or:4"


def test_axes_that_are_given_are_used():
    left, right = figure.Figure().subplots(1, 2)
    assert lookalike.plan(0.7).plot(ax=left) is left
    assert Cascade.banding(2, 3).plot(ax=right) is right
    assert len(parts(left, "curve")) == 2
    assert len(parts(right, "curve")) == 1


def test_a_plan_draws_both_its_curves_and_its_threshold():
    plan = lookalike.plan(0.75, 0.95)
    ax = plan.plot()
    candidates, found = parts(ax, "curve")
    x, y = candidates.get_data()
    assert y == pytest.approx(1 - (1 - x**plan.rows) ** plan.bands, abs=1e-12)
    x, y = found.get_data()
    assert y == pytest.approx([plan.probability(float(one)) for one in x], abs=1e-12)
    (threshold,) = parts(ax, "threshold")
    assert set(threshold.get_xdata()) == {0.75}
    assert 0.75 in x
    # Nothing was measured, so there are no pairs to draw.
    assert len(ax.figure.axes) == 1


def test_an_exact_join_is_a_step_at_the_threshold():
    (line,) = parts(lookalike.plan(0.6, 1.0).plot(), "curve")
    assert line.get_xydata().tolist() == [[0, 0], [0.6, 0], [0.6, 1], [1, 1]]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_bytes(kind):
    first, second = (picture_bytes(Cascade.banding(20, 5).plot(), kind) for _ in range(2))
    assert first == second
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert first.startswith(begins[kind])
    assert b"CreationDate" not in first
    assert b"dc:date" not in first


@pytest.mark.parametrize("name", ["a.gif", "a", "a.svg.gz", "png", ".png", "a.jpeg"])
def test_a_name_that_is_of_no_picture_is_refused(name):
    with pytest.raises(lookalike.SettingsError, match=r"end the name in \.png, \.svg or \.pdf$"):
        picture_kind(name)
    assert picture_kind("A.SVG") == "svg"


def test_drawing_changes_nothing_that_is_global():
    code = """
import sys, matplotlib
before = matplotlib.rcParams.copy()
import lookalike
from lookalike.base.plots.figures import picture_bytes
picture_bytes(lookalike.plan(0.8).plot(), "svg")
assert matplotlib.rcParams.copy() == before
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch, told, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(lookalike.MissingExtraError, match=r"pip install 'lookalike\[plot\]'$"):
        Cascade.banding(20, 5).plot()
    status, output, errors = told("curve", "and:5", "-o", tmp_path / "a.png")
    assert (status, output) == (1, "")
    assert errors == "lookalike: plots need another library: pip install 'lookalike[plot]'\n"
    assert not [*tmp_path.iterdir()]
