"""One text to all that is stored of it, in one step.

For one text the calls of kernels, and the arrays between them, take longer than the work.
"""

import numpy as np

from lookalike.kernels.buckets import band_keys, stored_keys
from lookalike.kernels.jit import kernel
from lookalike.kernels.normalise import SIMPLE, canonical, fingerprints
from lookalike.kernels.sketch import prefilter_bits, sign_texts

KIND, LENGTH, SHINGLES = 0, 1, 2
"""Places in `found`."""


@kernel
def sketch_text(
    data,
    table,
    classes,
    ascii_map,
    blanks,
    complex_flags,
    cased,
    plain,
    unit,
    k,
    base,
    drop,
    ignored,
    factors,
    terms,
    a,
    b,
    band_rows,
    key_bits,
    out,
    content,
    signature,
    keys,
    prefilter,
    found,
):
    """Write the canonical text, its fingerprint, signature, stored keys and prefilter bits.

    The arguments are those of the kernels that it calls, in their order. `found` takes what kind of
    text it was, and of one that is at most simple its bytes and its shingles; of others nothing is
    written.
    """
    offsets = np.zeros(2, np.int64)
    offsets[1] = len(data)
    ends = np.zeros(2, np.int64)
    kinds = np.empty(1, np.uint8)
    number = np.zeros(1, np.int64)
    canonical(
        data,
        offsets,
        table,
        classes,
        ascii_map,
        blanks,
        complex_flags,
        cased,
        plain,
        out,
        ends,
        kinds,
        number,
    )
    found[KIND] = kinds[0]
    if kinds[0] > SIMPLE:
        return
    text = out[: ends[1]]
    fingerprints(text, ends, content)
    number[0] = 0
    counts = np.empty(1, np.int64)
    capacity = ends[1] + 1
    sign_texts(
        text,
        ends,
        number,
        unit,
        k,
        base,
        drop,
        table,
        ignored,
        factors,
        terms,
        a,
        b,
        capacity,
        signature,
        counts,
    )
    found[LENGTH], found[SHINGLES] = ends[1], counts[0]
    band = np.empty((keys.shape[1], 1), np.uint64)
    band_keys(signature, band_rows, band)
    stored_keys(band, key_bits, keys)
    prefilter_bits(signature, prefilter)
