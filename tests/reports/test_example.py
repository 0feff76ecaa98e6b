"""The example that the page is built against is what the builder makes."""

import json
from pathlib import Path

import pytest

import lookalike
from lookalike.reports import model
from lookalike.reports.building import build
from made_reports import labelled_documents, plain

EXAMPLE = Path(__file__).parent / "example.json"


@pytest.fixture
def made(tmp_path, small_is_compared_whole):
    result = lookalike.find(labelled_documents(tmp_path))
    links = [model.Link("pairs.parquet", "results/pairs.parquet")]
    return plain(build(result, label="author", date="written", files=links))


def test_the_example_is_what_the_builder_makes(made):
    assert json.loads(EXAMPLE.read_text()) == made


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = lookalike.find(labelled_documents(Path(folder)))
        given = [model.Link("pairs.parquet", "results/pairs.parquet")]
        report = plain(build(found, label="author", date="written", files=given))
    EXAMPLE.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
