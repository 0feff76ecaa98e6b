"""Two texts side by side: which shared passages keep their order, and what stands between them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.text.passages import Passage

__all__ = ["Block", "aligned_blocks", "in_order"]


@dataclass(frozen=True)
class Block:
    """A piece of each text, to stand beside the other: offsets from and to."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    passage: int | None
    """The place of the passage that it is; None for what stands between passages."""


def in_order(passages: Sequence[Passage]) -> list[int]:
    """Choose passages that follow each other in both texts, with as many words as possible.

    Gives their places in the list, which is in the order of the second text, where none overlap.
    """
    ends = sorted({passage.a_end for passage in passages})
    best: list[tuple[int, int]] = [(0, -1)] * (len(ends) + 1)
    before = [-1] * len(passages)
    for at, passage in enumerate(passages):
        # The best chain that ends, in the first text, before this passage begins.
        words, last = _most(best, bisect_right(ends, passage.a_start))
        before[at] = last
        _raise(best, bisect_left(ends, passage.a_end) + 1, (words + passage.words, at))
    _, last = _most(best, len(ends))
    chain = []
    while last >= 0:
        chain.append(last)
        last = before[last]
    return chain[::-1]


def _most(best: list[tuple[int, int]], place: int) -> tuple[int, int]:
    """Give the most of the first places, of a Fenwick tree; of equal ones the earliest passage."""
    found = (0, -1)
    while place > 0:
        if best[place][0] > found[0]:
            found = best[place]
        place -= place & -place
    return found


def _raise(best: list[tuple[int, int]], place: int, value: tuple[int, int]) -> None:
    while place < len(best):
        if value[0] > best[place][0]:
            best[place] = value
        place += place & -place


def aligned_blocks(a: str, b: str, passages: Sequence[Passage]) -> list[Block]:
    """Cut two texts into pieces that stand beside each other, from the first to the last.

    Passages in the same order in both are pieces, with the signs around them; what
    stands between them, passages in another order among it, are others. White space alone is none.
    """
    chain = in_order(passages)
    blocks = []
    a_at = b_at = 0
    for place, index in enumerate(chain):
        passage = passages[index]
        following = passages[chain[place + 1]] if place + 1 < len(chain) else None
        a_start = _from_signs(a, passage.a_start, a_at)
        b_start = _from_signs(b, passage.b_start, b_at)
        a_end = _to_signs(a, passage.a_end, following.a_start if following else len(a))
        b_end = _to_signs(b, passage.b_end, following.b_start if following else len(b))
        blocks.append(Block(a_at, a_start, b_at, b_start, None))
        blocks.append(Block(a_start, a_end, b_start, b_end, index))
        a_at, b_at = a_end, b_end
    blocks.append(Block(a_at, len(a), b_at, len(b), None))
    return [
        block
        for block in blocks
        if a[block.a_start : block.a_end].strip() or b[block.b_start : block.b_end].strip()
    ]


def _from_signs(text: str, start: int, limit: int) -> int:
    """Go back from the beginning of a word, over a bracket or a quotation mark, to white space."""
    while start > limit and _is_sign(text[start - 1]):
        start -= 1
    return start


def _to_signs(text: str, end: int, limit: int) -> int:
    """Go on from the end of a word, over a full stop or a quotation mark, to white space."""
    while end < limit and _is_sign(text[end]):
        end += 1
    return end


def _is_sign(character: str) -> bool:
    """Tell punctuation and symbols from letters, white space and control characters."""
    return category(character)[0] in "PS"
