"""Lists of whole numbers, as Python writes them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels.decimals import LONGEST, write_list

pytestmark = pytest.mark.kernels

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(
    [0, 1, -1, 9, 10, -10, 99, 100, 2**63 - 1, -(2**63), -(2**63) + 1]
)


def listed(numbers: list[int]) -> str:
    out = np.full(LONGEST * len(numbers) + 2, 255, np.uint8)
    size = write_list(np.array(numbers, np.int64), out)
    assert (out[size:] == 255).all()
    return out[:size].tobytes().decode("ascii")


@given(st.lists(NUMBERS, max_size=9))
def test_any_numbers_are_written_as_json(numbers):
    assert listed(numbers) == json.dumps(numbers, separators=(",", ":"))


def test_the_longest_numbers_have_room():
    numbers = [-(2**63)] * 5
    assert json.loads(listed(numbers)) == numbers
