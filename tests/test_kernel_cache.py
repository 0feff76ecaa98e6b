"""Compiled code that is kept: until when it counts, and what is known of arrays to choose it."""

import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaValueError

import lookalike
from lookalike.kernels import compiling, jit

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")

CODE = """
import numpy as np
from lookalike.kernels import band, jit
print(jit.first_run(band.band_keys))
out = np.empty((1, 1), np.uint64)
band.band_keys(np.array([[7]], np.uint32), 1, out)
print(out[0, 0], sum(band.band_keys.dispatcher.stats.cache_hits.values()))
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


@pytest.mark.parametrize("writeable", [True, False])
def test_arrays_have_the_types_that_numba_gives_them(monkeypatch, writeable):
    arrays = [np.zeros((3, 4), kind) for kind in ("u1", "u4", "u8", "i4", "i8", "f4", "f8", "?")]
    arrays += [arrays[0].T, arrays[0][:, ::2], arrays[0][:0], np.zeros(0), np.zeros((2, 3, 4))]
    arrays += [np.zeros(2, "c16"), np.zeros(2, "U3"), np.zeros(2, "M8[s]")]
    for array in arrays:
        array.flags.writeable = writeable
    known = [compiling._type_of_any(array, None) for array in arrays]
    monkeypatch.delitem(sys.modules, "numpy.ma", raising=False)
    assert [compiling._type_of(array, None) for array in arrays] == known
    with pytest.raises(NumbaValueError, match="Unsupported array dtype"):
        compiling._type_of(np.zeros(2, ">u4"), None)


def test_masked_arrays_are_refused_as_by_numba():
    with pytest.raises(numba.TypingError, match="MaskedArray"):
        numba.typeof(np.ma.zeros(3))
