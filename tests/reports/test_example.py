"""The example that the page is built against is what the builder makes."""

import json
from pathlib import Path

import pytest

import lookalike
from lookalike.reports import model
from lookalike.reports.building import build
from made_reports import labelled_documents, plain

EXAMPLE = Path(__file__).parent / "example.json"


def report_on(folder):
    found = lookalike.find(labelled_documents(folder))
    report = build(found, label="author", date="written")
    report.main.summary.files = [model.Link("pairs.parquet", "results/pairs.parquet")]
    return plain(report)


@pytest.fixture
def made(tmp_path, small_is_compared_whole):
    return report_on(tmp_path)


def test_the_example_is_what_the_builder_makes(made):
    assert json.loads(EXAMPLE.read_text()) == made


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        report = report_on(Path(folder))
    EXAMPLE.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
