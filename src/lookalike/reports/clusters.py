"""Clusters as a page shows them: members, the pairs among them, and a matrix for a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.reports import model
from lookalike.reports.pairs import DIGITS, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.reports.found import FoundCluster, Key
    from lookalike.reports.pairs import Compared

__all__ = ["cluster_models"]

MAX_MATRIX = 48
"""Members of a cluster up to which every two are compared, for a heat map."""


def cluster_models(
    clusters: list[FoundCluster],
    numbers: Mapping[Key, int],
    cluster: list[int | None],
    pairs: model.Pairs,
    compared: Compared,
) -> list[model.Cluster]:
    """Lay out clusters; `cluster` has that of each document by its number."""
    among: dict[int, list[int]] = {}
    for place, a in enumerate(pairs.a):
        number = cluster[a]
        if number is not None and cluster[pairs.b[place]] == number:
            among.setdefault(number, []).append(place)
    found = []
    for one in clusters:
        members = sorted(one.members, key=lambda key: numbers[key])
        mine = among.get(one.number, [])
        similarity = [pairs.similarity[place] for place in mine]
        found.append(
            model.Cluster(
                number=one.number,
                size=one.size,
                similarity=rounded(one.similarity),
                mean=round(sum(similarity) / len(similarity), DIGITS) if similarity else None,
                members=[numbers[key] for key in members],
                pairs=mine,
                matrix=compared.matrix(members) if one.size <= MAX_MATRIX else None,
            )
        )
    return found
