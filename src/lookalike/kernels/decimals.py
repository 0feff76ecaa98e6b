"""Whole numbers as a list of JSON: a database takes millions of them in one text."""

import numpy as np

from lookalike.kernels.jit import kernel

__all__ = ["LONGEST", "write_list"]

LONGEST = 21
"""Bytes of a number of 64 bits with its sign, and a comma or bracket."""

_OPEN, _CLOSE, _COMMA, _MINUS, _ZERO = 91, 93, 44, 45, 48
_TEN = np.uint64(10)


@kernel
def write_list(numbers, out):
    """Write numbers as `[1,-2]`, and give how many bytes that takes.

    There has to be room for the longest of each, and for the brackets.
    """
    digits = np.empty(LONGEST, np.uint8)
    out[0] = _OPEN
    at = 1
    for i in range(len(numbers)):
        number = numbers[i]
        if i:
            out[at] = _COMMA
            at += 1
        if number < 0:
            out[at] = _MINUS
            at += 1
            # The lowest number has no opposite of 64 bits with a sign.
            left = np.uint64(-(number + 1)) + np.uint64(1)
        else:
            left = np.uint64(number)
        count = 0
        while True:
            rest = left // _TEN
            digits[count] = np.uint8(left - rest * _TEN) + np.uint8(_ZERO)
            count += 1
            left = rest
            if left == np.uint64(0):
                break
        while count:
            count -= 1
            out[at] = digits[count]
            at += 1
    out[at] = _CLOSE
    return at + 1
