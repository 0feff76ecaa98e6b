"""What a lesson says, as plain data: the one source of the numbers on its page."""

from __future__ import annotations

from itertools import combinations
from math import atan2, cos, degrees, hypot, inf, radians, sin
from typing import TYPE_CHECKING, Any

from lookalike.base.wording import visible
from lookalike.learn import textbook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lookalike.learn.textbook import (
        CharacteristicMatrix,
        HashFunction,
        Pair,
        SignatureMatrix,
        Walk,
    )

__all__ = ["exercise_facts", "matrix_facts", "signature_facts", "walk_facts"]

EXERCISE_CURVES = ((3, 10), (6, 20), (5, 50))
"""Rows and bands of which the textbook asks for the curve (its exercises to section 3.4)."""
NOTED = 4, 3, 0.8, 0.1
"""Rows and bands, and a similar and a dissimilar pair, for false negatives and positives."""
SMALL = (0.1, 0.2, 0.3, 0.4)
"""Similarities at which s^r is small, so that the estimate of the curve is good."""
TENTHS = tuple(tenth / 10 for tenth in range(1, 10))
FIRST_ELEMENTS = 40
"""Shingles of a document that the page lists."""
PARALLEL = 1e-6
"""Degrees below which two vectors lie on one line, and span no plane."""


def matrix_facts(
    matrix: CharacteristicMatrix,
    labels: Sequence[str],
    similarities: Mapping[Pair, float],
    *,
    first_row: int = 1,
    element: str | None = "shingle",
) -> dict[str, Any]:
    """Give a characteristic matrix, and what every two of its columns have in common."""
    numbered = dict(zip(matrix.columns, range(len(matrix.columns)), strict=True))
    pairs = []
    for (one, other), exact in similarities.items():
        a, b, c = matrix.row_types(one, other)
        pairs.append(
            {"one": numbered[one], "other": numbered[other], "a": a, "b": b, "c": c, "exact": exact}
        )
    return {
        "names": [visible(name) for name in matrix.columns],
        "labels": list(labels),
        "element": element,
        "elements": [visible(one) for one in matrix.shingles],
        "cells": ["".join(map(str, row)) for row in matrix.cells],
        "firstRow": first_row,
        "pairs": pairs,
    }


def signature_facts(
    made: Sequence[tuple[str, SignatureMatrix]], functions: Sequence[HashFunction]
) -> dict[str, Any]:
    """Give signature matrices, each with the letter of its rows, and the hash functions.

    Numbers are text, since a script rounds large ones.
    """
    return {
        "functions": [[str(h.a), str(h.b), str(h.p)] for h in functions],
        "signatureSets": [
            {"letter": letter, "signatures": [[*map(_written, one)] for one in of.columns.values()]}
            for letter, of in made
        ],
    }


def _written(value: float) -> str | None:
    """Write a minhash; infinity is none."""
    return None if value == inf else str(int(value))


def walk_facts(walk: Walk) -> dict[str, Any]:
    """Give the rest of a walk: documents, a permutation, bands, verdicts, angles."""
    numbered = {name: at for at, name in enumerate(walk.shingles)}
    bands = [
        [
            {"key": [_written(one) for one in key], "members": [numbered[name] for name in names]}
            for key, names in band.buckets.items()
        ]
        for band in walk.bands
    ]
    found = [
        {"one": numbered[one], "other": numbered[other], "bands": list(shared)}
        for (one, other), shared in sorted(walk.candidates.items())
    ]
    return {
        "documents": [
            {
                "text": visible(walk.texts[name]) if name in walk.texts else None,
                "all": len(listed),
                "different": len(set(listed)),
                "first": [visible(one) for one in listed[:FIRST_ELEMENTS]],
            }
            for name, listed in walk.shingles.items()
        ],
        "orders": [list(walk.order)],
        "minhashes": [[_written(one) for one in walk.minhashes.values()]],
        "buckets": bands,
        "candidates": found,
        "sketches": list(walk.sketches.values()),
        "angles": _angles(walk, numbered),
    }


def _angles(walk: Walk, numbered: Mapping[str, int]) -> list[dict[str, Any]]:
    angles = []
    for pair in combinations([name for name, vector in walk.counts.items() if vector], 2):
        first, second = (walk.sketches[name] for name in pair)
        exact = textbook.angle(*(walk.counts[name] for name in pair))
        angles.append(
            {
                "one": numbered[pair[0]],
                "other": numbered[pair[1]],
                "differ": sum(x != y for x, y in zip(first, second, strict=True)),
                "estimated": textbook.angle_by_sketches(first, second),
                "exact": exact,
                "cosine": cos(radians(exact)),
                "normals": _normals_in_plane(walk, pair, exact),
            }
        )
    return sorted(angles, key=lambda one: one["exact"])


def _normals_in_plane(walk: Walk, pair: Pair, angle: float) -> list[float] | None:
    """Give the directions of the normals, in degrees, in the plane of two vectors.

    The first vector points to 0 degrees in it, and the second to their angle. What a normal has in
    that plane decides alone on which sides of the hyperplane the two lie.
    """
    if angle < PARALLEL:
        return None
    lengths = [hypot(*walk.counts[name].values()) for name in pair]
    turned = radians(angle)
    directions = []
    for along in zip(*(walk.projections[name] for name in pair), strict=True):
        first, second = (one / length for one, length in zip(along, lengths, strict=True))
        upright = (second - first * cos(turned)) / sin(turned)
        directions.append(degrees(atan2(upright, first)) % 360)
    return directions


def exercise_facts() -> dict[str, Any]:
    """Answer the textbook's exercises on the curve, which need no documents."""
    rows, bands, similar, dissimilar = NOTED
    return {
        "similarities": list(TENTHS),
        "curves": [
            {
                "rows": r,
                "bands": b,
                "chances": [textbook.candidate_probability(s, b, r) for s in TENTHS],
                "half": textbook.curve_midpoint(b, r),
                "rule": textbook.curve_threshold(b, r),
                "small": [textbook.small_probability(s, b, r) for s in SMALL],
            }
            for r, b in EXERCISE_CURVES
        ],
        "small": list(SMALL),
        "noted": {
            "rows": rows,
            "bands": bands,
            "similar": similar,
            "dissimilar": dissimilar,
            "missed": textbook.miss_probability(similar, bands, rows),
            "taken": textbook.candidate_probability(dissimilar, bands, rows),
        },
    }
