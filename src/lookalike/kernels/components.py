"""Which documents hang together, and which stay when every other must be near one that does."""

import numpy as np

from lookalike.kernels.jit import inner, kernel


@inner
def _root(parents, document):
    while parents[document] != document:
        # Every second step is cut short, so that later searches are quick.
        parents[document] = parents[parents[document]]
        document = parents[document]
    return document


@kernel
def unite(parents, first, second):
    """Join the trees of each pair; the smaller root stays one."""
    for pair in range(len(first)):
        a = _root(parents, first[pair])
        b = _root(parents, second[pair])
        if a < b:
            parents[b] = a
        else:
            parents[a] = b


@kernel
def number_trees(parents, out):
    """Number the trees by their smallest members; the result is how many there are."""
    found = 0
    for document in range(len(parents)):
        root = _root(parents, document)
        if root == document:
            out[document] = found
            found += 1
        else:
            out[document] = out[root]
    return found


@kernel
def keep_stars(order, starts, neighbours, kept):
    """Keep each document, in order, unless a neighbour of its own is kept already."""
    for place in range(len(order)):
        document = order[place]
        kept[document] = True
        for at in range(starts[document], starts[document + 1]):
            if kept[neighbours[at]]:
                kept[document] = False
                break


@kernel
def nearest_kept(places, starts, neighbours, similarities, kept, nearest, similarity):
    """Name for each document that is not kept the most similar kept one that stands before it.

    Of equally similar ones, that with the smallest place in the order.
    """
    for document in range(len(places)):
        if kept[document]:
            continue
        best = -1
        for at in range(starts[document], starts[document + 1]):
            other = neighbours[at]
            if not kept[other] or places[other] > places[document]:
                continue
            if (
                best < 0
                or similarities[at] > similarities[best]
                or (
                    similarities[at] == similarities[best]
                    and places[other] < places[neighbours[best]]
                )
            ):
                best = at
        nearest[document] = neighbours[best]
        similarity[document] = similarities[best]


@kernel
def order_by_label(labels, items, order):
    """Write the places of items by their labels, from 0 on; those of one label in their order."""
    largest = 0
    for j in range(len(labels)):
        largest = max(largest, labels[j])
    starts = np.zeros(largest + 2, np.int64)
    for j in range(len(items)):
        starts[labels[items[j]] + 1] += 1
    for j in range(len(starts) - 1):
        starts[j + 1] += starts[j]
    for j in range(len(items)):
        label = labels[items[j]]
        order[starts[label]] = j
        starts[label] += 1
