"""Compiled code that is kept counts until any file of the kernels changes, not its own alone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike
from lookalike.kernels.jit import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

CODE = """
import numpy as np
from lookalike.kernels import band, jit
print(jit.first_run(band.band_keys))
out = np.empty((1, 1), np.uint64)
band.band_keys(np.array([[7]], np.uint32), 1, out)
print(out[0, 0], sum(band.band_keys.stats.cache_hits.values()))
"""


def test_what_was_compiled_is_used_until_what_it_calls_in_another_file_changes(tmp_path):
    shutil.copytree(Path(lookalike.__file__).parent, tmp_path / "lookalike")
    for kept in tmp_path.rglob("*.nb[ic]"):
        kept.unlink()

    def run():
        done = subprocess.run(
            [sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    first, key, hits = run()
    assert (first, hits) == ("True", "0")
    assert run() == ["False", key, "1"]
    mixing = tmp_path / "lookalike" / "kernels" / "mixing.py"
    mixing.write_text(mixing.read_text().replace("94D049BB133111EB", "94D049BB133111ED"))
    first, other, hits = run()
    assert (first, hits) == ("True", "0")
    assert other != key
