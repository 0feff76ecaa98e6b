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


@inner
def _speaker(first_kept, other_kept, labels, text, cell):
    """Give the first kept cell of a text that has another label than a cell, or -1."""
    first = first_kept[text]
    return first if first < 0 or labels[first] != labels[cell] else other_kept[text]


@inner
def _speaks(first_kept, other_kept, labels, text, cell):
    return _speaker(first_kept, other_kept, labels, text, cell) >= 0


@kernel
def keep_cells(order, fixed, texts, labels, starts, neighbours, kept, first_kept, other_kept):
    """Keep each cell, in order, unless a kept one of another label speaks for it.

    A cell is of a text, and is linked to the cells of that text and of its neighbours that have
    another label. The first `fixed` of the order are kept whatever speaks for them. The first kept
    cell of each text is written down, and the first that has another label than that: one of the
    two has another label than any cell, if any kept one has. Both are -1 before.
    """
    for place in range(len(order)):
        cell = order[place]
        text = texts[cell]
        stays = place < fixed or not _speaks(first_kept, other_kept, labels, text, cell)
        if stays and place >= fixed:
            for at in range(starts[text], starts[text + 1]):
                if _speaks(first_kept, other_kept, labels, neighbours[at], cell):
                    stays = False
                    break
        if stays:
            kept[cell] = True
            if first_kept[text] < 0:
                first_kept[text] = cell
            elif other_kept[text] < 0 and labels[first_kept[text]] != labels[cell]:
                other_kept[text] = cell


@kernel
def nearest_kept_cells(
    places,
    texts,
    labels,
    starts,
    neighbours,
    similarities,
    kept,
    first_kept,
    other_kept,
    nearest,
    similarity,
):
    """Name for each cell that is not kept the most similar kept one that speaks for it.

    That stands before it and has another label; of equally similar ones, the first in the order.
    Cells of one text are wholly similar.
    """
    for cell in range(len(texts)):
        if kept[cell]:
            continue
        text = texts[cell]
        best = _speaker(first_kept, other_kept, labels, text, cell)
        score = 1.0
        if best >= 0 and places[best] > places[cell]:
            best = -1
        for at in range(starts[text], starts[text + 1]):
            other = _speaker(first_kept, other_kept, labels, neighbours[at], cell)
            if other < 0 or places[other] > places[cell]:
                continue
            if (
                best < 0
                or similarities[at] > score
                or (similarities[at] == score and places[other] < places[best])
            ):
                best = other
                score = similarities[at]
        nearest[cell] = best
        similarity[cell] = score


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
