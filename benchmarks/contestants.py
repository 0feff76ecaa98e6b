"""The ways to find similar pairs that are measured, each from texts to a set of pairs."""

from collections.abc import Callable

from lookalike import FindResult, find

Pairs = set[tuple[int, int]]

WORDS = 5
THRESHOLD = 0.8


def exact(texts: list[str]) -> Pairs:
    """Find every pair, by the exact join: what the others are measured by."""
    return _pairs(find(texts, shingle=f"words:{WORDS}", threshold=THRESHOLD, recall=1))


def lookalike(texts: list[str], bands: int, rows: int) -> Pairs:
    """Run the whole job, exact check included."""
    given = {"bands": bands, "rows": rows}
    return _pairs(find(texts, shingle=f"words:{WORDS}", threshold=THRESHOLD, **given))


def datasketch(texts: list[str], bands: int, rows: int) -> Pairs:
    """Run datasketch as its documentation shows for speed: batches of bytes, a session of inserts.

    Its answer is unverified candidates, so that the signatures are compared as it offers.
    """
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
    shingles = ([s.encode() for s in _word_shingles(text)] for text in texts)
    sketches = list(MinHash.generator(shingles, num_perm=bands * rows))
    with lsh.insertion_session() as session:
        for number, sketch in enumerate(sketches):
            session.insert(number, sketch, check_duplication=False)
    found = set()
    for number, sketch in enumerate(sketches):
        for other in lsh.query(sketch):
            if other > number and sketch.jaccard(sketches[other]) >= THRESHOLD:
                found.add((number, other))
    return found


def _word_shingles(text: str) -> set[str]:
    words = text.split()
    return {" ".join(words[i : i + WORDS]) for i in range(max(len(words) - WORDS + 1, 1))}


def _pairs(result: FindResult) -> Pairs:
    table = result.pairs
    return set(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


CONTESTANTS: dict[str, Callable[[list[str], int, int], Pairs]] = {
    "lookalike": lookalike,
    "datasketch": datasketch,
}
