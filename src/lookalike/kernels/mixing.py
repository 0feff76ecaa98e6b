"""What hashes are made with: two numbers, and the mixing of 64-bit words, which wrap around."""

import numpy as np

from lookalike.kernels.jit import inner

PRIME = np.uint64((1 << 61) - 1)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inner
def mix(x):
    """Give a word of which every bit depends on all bits of the given one: `docs/hashing.md`."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
