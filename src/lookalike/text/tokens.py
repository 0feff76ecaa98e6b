"""Lists of tokens to canonical documents: sets, or multisets, of what they hold already.

Nothing is normalised and nothing is cut: a token is a shingle as it is. A document's bytes are the
64-bit hashes of its tokens, sorted, so that the same tokens in another order are the same document.
`docs/hashing.md` defines the hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.kernels import sets as kernels
from lookalike.text.normalise import Canonical, fingerprints_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["canonical_tokens"]


def canonical_tokens(lists: pa.Array, *, multiset: bool) -> Canonical:
    """Make documents of an Arrow array of lists of strings, for the shingling `tokens`.

    A null list is an empty document; a null among the tokens is left out.
    """
    data, places, ends = _tokens(lists)
    most_tokens = int(np.diff(ends, prepend=0).max(initial=0)) + 1
    out = np.empty(8 * (len(places) - 1) + 1, np.uint8)
    offsets = np.zeros(len(ends) + 1, np.int64)
    kernels.token_sets(data, places, ends, multiset, most_tokens, out, offsets)
    canonical = out[: offsets[-1]]
    return Canonical(canonical, offsets, fingerprints_of(canonical, offsets))


def _tokens(
    lists: pa.Array,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Give the bytes of all tokens, where each begins, and how many there are up to each list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    list_of_strings = pa.large_list(pa.large_string())
    if lists.type != list_of_strings:
        if not _holds_strings(lists.type):
            raise SourceError(
                f"a column of {lists.type} holds no tokens: give one of lists of strings"
            )
        lists = lists.cast(list_of_strings)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths, dtype=np.int64)
    tokens = lists.flatten()
    if tokens.null_count:
        present = tokens.is_valid().to_numpy(zero_copy_only=False)
        ends = np.append(0, np.cumsum(present))[ends]
        tokens = tokens.drop_null()
    _, place_buffer, data_buffer = tokens.buffers()
    if not len(tokens):
        return np.frombuffer(b"", np.uint8), np.zeros(1, np.int64), ends
    places = np.frombuffer(place_buffer, np.int64)[tokens.offset : tokens.offset + len(tokens) + 1]
    data = np.frombuffer(data_buffer or b"", np.uint8)
    # One kind of array, so that the kernel is compiled once.
    data.setflags(write=False)
    return data, places.copy(), ends


def _holds_strings(kind: pa.DataType) -> bool:
    """Tell whether a type is one of lists of strings, or of nothing but nulls."""
    from pyarrow import types

    if types.is_null(kind):
        return True
    lists = types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view
    if not any(is_one(kind) for is_one in lists):
        return False
    inner = kind.value_type.value_type if types.is_dictionary(kind.value_type) else kind.value_type
    strings = types.is_string, types.is_large_string, types.is_string_view, types.is_null
    return any(is_one(inner) for is_one in strings)
