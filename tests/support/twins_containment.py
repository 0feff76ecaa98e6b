"""What the kernels of containment do, in plain Python and by the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


def counters_of(sets: list[set[int]], slots: int, most: int) -> list[int]:
    """Count the elements of all sets in so many places, each up to a bound."""
    counters = [0] * slots
    for one in sets:
        for element in one:
            counters[element * slots // 2**64] += 1
    return [min(count, most) for count in counters]


def needed(size: int, threshold: float) -> int:
    """Try every number from 1 on."""
    return next(count for count in range(1, size + 1) if count / size >= threshold)


def rarest(
    one: set[int], counters: list[int], threshold: float, extra: int
) -> tuple[set[int], int, int]:
    """Give the elements to index, how many must be shared, and how many of these must be."""
    if not one:
        return set(), 0, 0
    least = needed(len(one), threshold)
    missed = len(one) - least
    required = min(least, extra + missed // 8)
    counted = sorted((counters[e * len(counters) // 2**64], e) for e in one)
    chosen = {element for count, element in counted[: missed + required] if count > 1}
    return (chosen if len(chosen) >= required else set()), least, required


def may_contain(
    outer: set[int],
    indexed: list[tuple[set[int], int, int]],
    bits: int,
) -> list[int]:
    """Give the places of the indexed sets of which a set holds enough, but for the lowest bits."""
    upper = [element >> bits for element in outer]
    found = []
    for place, (chosen, least, required) in enumerate(indexed):
        shared = sum(upper.count(element >> bits) for element in chosen)
        if chosen and shared >= required and len(outer) >= least:
            found.append(place)
    return found


def contained(
    sets: Sequence[AbstractSet[object]], threshold: float
) -> dict[tuple[int, int], tuple[float, float]]:
    """Compare every set with every other; a score is the number nearest to the fraction."""
    result = {}
    for i, inner in enumerate(sets):
        for j, outer in enumerate(sets):
            if i == j or not inner:
                continue
            inside = Fraction(len(inner & outer), len(inner))
            if float(inside) >= threshold:
                alike = Fraction(len(inner & outer), len(inner | outer))
                result[i, j] = float(inside), float(alike)
    return result


def shingles(text: str, unit: str, k: int, multiset: bool) -> set[object]:
    """Give the shingles of a text themselves, not their hashes; words are parted by blanks."""
    parts: list[str] = list(text) if unit == "chars" else text.split()
    runs = [tuple(parts[i : i + k]) for i in range(max(len(parts) - k, 0) + 1)] if parts else []
    if not multiset:
        return set(runs)
    return {(run, runs[:i].count(run)) for i, run in enumerate(runs)}
