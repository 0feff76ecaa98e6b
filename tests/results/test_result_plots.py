"""Plots of results: pairs by similarity and clusters by size, read back from the axes."""

from collections import Counter

import numpy as np
import pytest

import lookalike

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(3)
    words = ["".join(random.choice([*"abcdefgh"], 6)) for _ in range(2000)]
    made = []
    for group in range(40):
        text = " ".join(random.choice(words, 40))
        made += [f"{text} {word}" for word in random.choice(words, group % 5 + 1)]
    return made


def bars(axes):
    """Give the counts of each histogram."""
    return [patch.get_data().values for patch in axes.patches if hasattr(patch, "get_data")]


def test_pairs_are_drawn_by_similarity_over_those_of_the_sample(texts):
    with lookalike.find(texts, threshold=0.7) as found:
        ax = found.plot()
        sampled, counted = bars(ax.figure.axes[1])
        assert counted.sum() == found.pair_count
        expected, _ = np.histogram(
            found.pairs["similarity"].to_numpy(), bins=[i / 50 for i in range(51)]
        )
        assert counted.tolist() == expected.tolist()
        assert sampled.sum() == pytest.approx(len(texts) * (len(texts) - 1) / 2)


def test_a_pair_at_the_edge_of_a_bar_is_in_the_one_above():
    # 7 of 10 shingles are shared, and 35 times 0.02 is a little more than 0.7.
    shared = [*"abcdefg"]
    with lookalike.find([[*shared, "x", "y", "z"], shared], threshold=0.7, recall=1) as found:
        assert found.pairs["similarity"].to_pylist() == [0.7]
        (counted,) = bars(found.plot().figure.axes[1])
        assert np.flatnonzero(counted).tolist() == [35]


def test_clusters_are_drawn_by_size(texts):
    with lookalike.find(texts, threshold=0.7) as found:
        (line,) = found.plot("clusters").lines
        sizes = Counter(Counter(found.clusters["cluster"].to_pylist()).values())
        assert dict(zip(*line.get_data(), strict=True)) == sizes
        assert (line.axes.get_xscale(), line.axes.get_yscale()) == ("log", "log")


def test_what_dedup_and_contained_found_is_drawn_too(texts):
    with lookalike.dedup(texts, threshold=0.7) as deduped:
        *_, counted = bars(deduped.plot().figure.axes[1])
        assert counted.sum() == len(deduped.removed)
        assert deduped.plot("clusters").lines
    with lookalike.dedup(texts, rule="contained", containment=0.6) as deduped:
        assert bars(deduped.plot())[0].sum() == len(deduped.removed)
    with lookalike.contained(texts, containment=0.7) as contained:
        assert bars(contained.plot())[0].sum() == contained.pair_count


def test_a_result_that_was_opened_again_is_drawn_as_before(texts, tmp_path):
    with lookalike.find(texts, threshold=0.7, out=tmp_path / "found") as found:
        before = bars(found.plot().figure.axes[1])
    with lookalike.Result.open(tmp_path / "found") as opened:
        after = bars(opened.plot().figure.axes[1])
    # The sample is kept to three digits.
    assert after[1].tolist() == before[1].tolist()
    assert after[0].sum() == pytest.approx(before[0].sum())


def test_axes_that_are_given_are_used(texts):
    left, right = figure.Figure().subplots(1, 2)
    with lookalike.find(texts, threshold=0.7) as found:
        assert found.plot(ax=left) is left
        assert found.plot("clusters", ax=right) is right


@pytest.mark.parametrize("what", ["cluster", "", "pairs"])
def test_what_cannot_be_drawn_is_refused(what):
    message = f"^what={what!r}: use similarities or clusters$"
    with lookalike.find(["a"]) as found, pytest.raises(lookalike.SettingsError, match=message):
        found.plot(what)


@pytest.mark.parametrize(
    ("function", "what", "message"),
    [
        (lookalike.contained, "clusters", "this result has no clusters"),
        (lookalike.boilerplate, "similarities", "this result has no similarities"),
    ],
)
def test_what_a_result_does_not_have_is_refused(function, what, message):
    refused = pytest.raises(lookalike.SettingsError, match=message)
    with function(["a", "b"]) as found, refused:
        found.plot(what)


def test_nothing_found_is_drawn_without_complaint():
    for texts in ([], ["one"], ["one text", "another"]):
        with lookalike.find(texts) as found:
            assert found.plot() is not None
            assert found.plot("clusters") is not None
