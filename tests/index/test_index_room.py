"""How much memory an addition takes, and what is left in the folder of an index."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.index.index import Index
from processes import environment

ADDING = """
import json, re, sys
from pathlib import Path
from lookalike.index.index import Index
with Index.create(sys.argv[1], shingle="words:3", threshold=0.8) as index:
    added = index.add_all(sys.argv[2], id="id", memory="500MB")
(most,) = re.findall("VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(json.dumps([added.documents, int(most)]))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_twenty_thousand_documents_are_added_in_bounded_memory(tmp_path):
    """A hundred megabytes of text, in a process that takes less than it may from its begin on."""
    index, many = tmp_path / "a.lookalike", tmp_path / "many.jsonl"
    with many.open("w") as stream:
        for number in range(20_000):
            text = " ".join(str(number * 7919 + place * place) for place in range(600))
            stream.write(json.dumps({"id": number, "text": text}) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", ADDING, str(index), str(many)],
        env=environment(),
        capture_output=True,
        check=True,
    )
    documents, after = json.loads(done.stdout)
    assert documents == 20_000
    assert many.stat().st_size > 80_000_000
    assert after << 10 < 500 << 20
    assert {one.name for one in tmp_path.iterdir()} == {index.name, many.name}


def test_an_index_that_is_closed_is_one_file(tmp_path):
    path = tmp_path / "a.lookalike"
    with Index.create(path, shingle="chars:4") as index:
        index.add_all([f"a text with number {number}" for number in range(50)])
        index.add("x", "another text")
        index.query("another text")
        index.copy(tmp_path / "copy.lookalike")
        index.export(tmp_path / "out.parquet")
        index.compact()
    names = {"a.lookalike", "copy.lookalike", "out.parquet"}
    assert {one.name for one in tmp_path.iterdir()} == names
    with Index(tmp_path / "copy.lookalike") as copy:
        assert len(copy) == 51
    assert {one.name for one in tmp_path.iterdir()} == names
