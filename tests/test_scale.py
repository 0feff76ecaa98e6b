"""What is said of corpora past one machine is what was measured, computed and simulated."""

import json

import numpy as np
from benchmarks import bucket_sizes, scale, spark_costs
from benchmarks.bucket_sizes import Model


def test_the_page_shows_the_figures_that_are_kept(tmp_path, monkeypatch):
    page = tmp_path / "scale.md"
    page.write_text(scale.PAGE.read_text())
    monkeypatch.setattr(scale, "PAGE", page)
    kept = page.read_text()
    scale.main()
    assert page.read_text() == kept, "run python -m benchmarks.scale"


def test_a_template_fills_a_bucket_with_its_share_to_the_power_of_the_rows():
    """On average over templates and bands; the share of documents in one bucket varies much."""
    rng = np.random.default_rng(5)
    for share, rows in ((0.5, 2), (0.8, 3), (0.9, 1)):
        uniform = rng.random((rows, 200_000))
        held = np.prod(uniform ** ((1 - share) / share), axis=0)
        assert abs(held.mean() - share**rows) < 5 * held.std() / np.sqrt(200_000)


def test_the_share_of_documents_with_a_template_minimum_is_that_of_real_minima():
    """A document's own minimum, and that of what the template gave it, by drawing them."""
    rng = np.random.default_rng(6)
    given, own, documents = 60, 40, 4000
    shares = []
    for _ in range(60):
        template = rng.random(given).min()
        shares.append((rng.random((documents, own)).min(axis=1) > template).mean())
    share = given / (given + own)
    uniform = np.sort(rng.random(60) ** ((1 - share) / share))
    # Two samples of one distribution: means and spreads agree within their errors.
    error = 5 * np.hypot(np.std(shares), np.std(uniform)) / np.sqrt(60)
    assert abs(np.mean(shares) - np.mean(uniform)) < error


def test_larger_corpora_have_larger_buckets_and_more_rows_smaller_ones():
    small, large = (bucket_sizes.simulated(Model(n, 9, 4), 2048) for n in (10**6, 10**9))
    assert small.largest_bucket < large.largest_bucket
    assert bucket_sizes.simulated(Model(10**9, 9, 8), 2048).pairs_per_document < (
        large.pairs_per_document
    )
    assert bucket_sizes.simulated(Model(10**9, 9, 4), 2048) == large


def test_the_log_of_spark_is_added_up_from_a_moment_on(tmp_path):
    def ended(launched: int, run: int) -> str:
        metrics = {
            "Executor Run Time": run,
            "Shuffle Write Metrics": {"Shuffle Bytes Written": 10},
            "Disk Bytes Spilled": 1,
            "Input Metrics": {"Bytes Read": 100},
            "Peak Execution Memory": run,
        }
        return json.dumps(
            {
                "Event": "SparkListenerTaskEnd",
                "Task Info": {"Launch Time": launched},
                "Task Metrics": metrics,
            }
        )

    other = json.dumps({"Event": "SparkListenerJobStart"})
    (tmp_path / "log").write_text(
        "\n".join([ended(900, 5000), other, ended(1000, 2000), ended(2000, 500)])
    )
    costs = spark_costs.logged(tmp_path, spark_costs.Costs(10, 1.0), began=1.0)
    assert (costs.tasks, costs.slot_seconds, costs.shuffled) == (2, 2.5, 20)
    assert (costs.spilled, costs.read, costs.largest_task) == (2, 200, 2000)
    more = spark_costs.Costs(30, 2.0, slot_seconds=4.5, shuffled=60)
    assert more.a_document_beyond(costs)["slot_seconds"] == 0.1
    assert more.a_document_beyond(costs)["shuffled"] == 2
