"""The pairs of all near bands are compared at once only where there is room for them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lookalike.job.compare import find_near


class Keys:
    """Three documents: one band brings the first two together, the other the last two."""

    def __len__(self) -> int:
        return 3

    def band(self, number: int) -> Any:
        return np.array([[0, 0, 1], [1, 0, 0]][number], np.uint64)


@pytest.mark.parametrize(("room", "found"), [(2, 2), (1, None), (0, None)])
def test_the_pairs_of_the_last_bands_count_too(room: int, found: int | None) -> None:
    sketches: Any = SimpleNamespace(
        keys=Keys(),
        layout=SimpleNamespace(bands=2),
        prefilter_bits=lambda: np.zeros((3, 8), np.uint32),
        empty=np.zeros(3, np.bool_),
    )
    running: Any = SimpleNamespace(memory=1 << 30, threads=1, progress=lambda *_: None)
    pairs = find_near(sketches, 1, 0, running, max_pairs=room)
    assert (None if pairs is None else len(pairs)) == found
