"""Which documents stay when every other must be near one that does."""

from lookalike.kernels.jit import kernel


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
    """Name for each document that is not kept its most similar kept neighbour.

    Of equally similar ones, that with the smallest place in the order.
    """
    for document in range(len(places)):
        if kept[document]:
            continue
        best = -1
        for at in range(starts[document], starts[document + 1]):
            other = neighbours[at]
            if not kept[other]:
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
