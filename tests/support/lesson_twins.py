"""Plain twins of what the page of a lesson computes, which share no code with it or the lesson."""

import math
from collections.abc import Iterator, Sequence

MASK = 0xFFFFFFFF


def random_numbers(seed: int) -> Iterator[float]:
    """Give the generator of the page: a counter, mixed with 32-bit products."""
    state = seed & MASK
    while True:
        state = (state + 0x6D2B79F5) & MASK
        mixed = ((state ^ (state >> 15)) * (state | 1)) & MASK
        mixed = ((mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61))) & MASK) ^ mixed
        yield ((mixed ^ (mixed >> 14)) & MASK) / 2**32


def drawn_order(draw: int, count: int, seed: int, first_row: int = 1) -> list[int]:
    """Give the order of a draw, counted from 0, that no lesson has."""
    numbers = random_numbers(((draw * 0x9E3779B1) & MASK) ^ (seed & MASK))
    order = [first_row + at for at in range(count)]
    for last in range(count - 1, 0, -1):
        other = math.floor(next(numbers) * (last + 1))
        order[last], order[other] = order[other], order[last]
    return order


def first_ones(columns: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """Give for each column, of 0 and 1, the place of its first 1, all counted from 1."""
    return [
        min(place for place, row in enumerate(order, start=1) if column[row - 1] == 1)
        for column in columns
    ]


def signatures_after(
    rows_read: int, columns: Sequence[Sequence[int]], functions: Sequence[tuple[int, int, int]]
) -> list[list[int | None]]:
    """Give the signatures once so many rows are read: the least hash of the rows with a 1."""
    return [
        [
            min(((a * row + b) % p for row, bit in _read(column, rows_read) if bit), default=None)
            for column in columns
        ]
        for a, b, p in functions
    ]


def _read(column: Sequence[int], rows: int) -> list[tuple[int, int]]:
    return [*enumerate(column, start=1)][:rows]


def chance(similarity: float, bands: int, rows: int) -> float:
    """Give the chance to be a candidate, by the chances of all its bands to differ."""
    none = 1.0
    for _ in range(bands):
        none *= 1 - math.prod([similarity] * rows)
    return 1 - none
