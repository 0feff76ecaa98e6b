"""The error of estimates: what theory says, and what real signatures have."""

import numpy as np
import pytest

import lookalike


def test_theory_is_the_formula():
    found = lookalike.estimator_error([0.5, 0.9], rows=[16, 100], pairs=2, shingles=100)
    assert found.similarities == (0.5, 0.9)
    expected = [[(s * (1 - s) / k) ** 0.5 for k in (16, 100)] for s in (0.5, 0.9)]
    assert found.theory == pytest.approx(np.array(expected))


def test_signatures_are_as_good_as_theory_says():
    found = lookalike.estimator_error([0.3, 0.8], rows=[32, 128, 512], pairs=400, shingles=500)
    ratios = found.measured / found.theory
    # 400 squared errors have a standard deviation of some 4%, of the root.
    assert (ratios < 1.15).all()
    assert (ratios > 0.6).all()
    # With many shingles for each row the rows repeat each other less, and estimates are better.
    assert ratios[:, 1].mean() < 1.08


def test_pairs_have_the_similarity_that_is_told(monkeypatch):
    seen = []

    def sign(sets, *, rows, seed):
        for row in range(0, len(sets), 2):
            a, b = set(sets[row].tolist()), set(sets[row + 1].tolist())
            seen.append(len(a & b) / len(a | b))
            assert sets[row].tolist() == sorted(a)
        return np.zeros((len(sets), rows), np.uint32)

    monkeypatch.setattr("lookalike.planning.estimator.sign_sets", sign)
    found = lookalike.estimator_error([0.25, 0.333], rows=[8], pairs=3, shingles=100)
    assert seen == [0.25] * 3 + [0.33] * 3
    assert found.similarities == (0.25, 0.33)
    # All rows are equal: every estimate is 1.
    assert found.measured[:, 0] == pytest.approx([0.75, 0.67])


def test_the_plot_has_both(monkeypatch):
    pytest.importorskip("matplotlib")
    found = lookalike.estimator_error([0.5], rows=[16, 64], pairs=3, shingles=50)
    theory, measured = found.plot().lines
    assert theory.get_ydata().tolist() == found.theory[0].tolist()
    assert measured.get_ydata().tolist() == found.measured[0].tolist()
    assert measured.get_linestyle() == "None"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": 0}, "^pairs=0: use a whole number"),
        ({"pairs": 10**9}, "use at most 100,000"),
        ({"shingles": -1}, "^shingles=-1"),
        ({"shingles": 10**9}, "use at most 1,000,000"),
        ({"rows": []}, "use some numbers up to"),
        ({"rows": [10**6]}, "use some numbers up to 16,384"),
        ({"rows": [0]}, "^rows=0"),
        ({"similarities": [1.5]}, "lies between 0 and 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(given, message):
    with pytest.raises(lookalike.SettingsError, match=message):
        lookalike.estimator_error(**given)
