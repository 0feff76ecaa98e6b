"""What many documents share: the text to ignore, and the passages to tell the user of.

Documents come in pieces, as often as they are asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.kernels import document_frequencies as kernels
from lookalike.kernels import words
from lookalike.text import unicode
from lookalike.text.document_frequencies import (
    DocumentCounts,
    HashIndex,
    Workspace,
    each_piece,
    exact_counts,
    slot_counts,
)
from lookalike.text.shingles import Sets, Shingling, shingle_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.text.document_frequencies import Parts
    from lookalike.text.normalise import Canonical

__all__ = ["SharedPassage", "hashes_of", "most_shared", "paragraphs"]

MAX_FREQUENT = 1 << 16
"""Shingles, about, from which passages are made: those in the most documents."""
PASSAGE_SLOT_BITS = 21
TRIED_PER_PASSAGE = 10
"""Passages that are looked at for each that is wanted; many repeat what others say."""


@dataclass(frozen=True)
class SharedPassage:
    """Words in a row that many documents hold, as the canonical text of one of them has them."""

    text: str
    documents: int
    """Those that hold three quarters or more of its shingles."""
    words: int


def paragraphs(text: str) -> list[str]:
    """Cut the text of an ignore file at its blank lines; lines may be wrapped anywhere."""
    return [one for one in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if one.strip()]


def hashes_of(texts: Canonical, shingling: Shingling) -> NDArray[np.uint64]:
    """Give the distinct shingles of some texts, sorted, for `ignoring`.

    Each text is taken by itself, so that no shingle reaches from one into the next. A shingle that
    lies partly outside, in what a document says before or after the text, still counts.
    """
    plain = Shingling(shingling.unit, shingling.size)
    return np.unique(shingle_hashes(texts, plain).elements)


def most_shared(
    parts: Parts, *, documents: int, most: int = 20, words: int = 8, threads: int = 1
) -> list[SharedPassage]:
    """Give the passages of so many words or more that the most documents share, at most `most`.

    A passage goes on as long as the number of documents stays within a quarter. One that mostly
    repeats a passage shared by more documents is left out. At least two documents share each.
    """
    if most < 1 or words < 1:
        raise SettingsError(
            f"{most} shared passages of {words} words or more: use 1 or more of each"
        )
    if documents < 2:
        return []
    shingling = Shingling("words", words)
    slots = slot_counts(parts, shingling, PASSAGE_SLOT_BITS, threads)
    limit = _limit(slots[0])
    hashes, counts = exact_counts(parts, shingling, slots > limit, limit, threads)
    del slots
    if not len(hashes):
        return []
    table = HashIndex(hashes)
    chains = _chains(counts, *_links(parts, shingling, table, counts, threads))
    matches = _chain_matches(parts, shingling, table, chains, threads)
    order = np.lexsort((hashes[chains.firsts], -chains.sizes, -matches.documents))
    order = order[matches.documents[order] > 1][: TRIED_PER_PASSAGE * most]
    found = _texts(parts, matches, order.tolist(), words)
    return _without_repeats([one for one in found if len(one[1]) >= words], most, words)


def _limit(slots: NDArray[np.uint64]) -> int:
    """Give so many documents, 1 or more, that few enough shingles stand in more."""
    # Of few documents hardly any slot has two, and the rest need no sorting.
    shared = slots[slots > 1]
    if len(shared) < MAX_FREQUENT:
        return 1
    return int(np.partition(shared, -MAX_FREQUENT)[-MAX_FREQUENT])


def _links(
    parts: Parts,
    shingling: Shingling,
    table: HashIndex,
    counts: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the shingles that follow each other nearly wherever one of the two stands.

    Each has one follower at most, and follows one at most: that of the most documents, and the one
    with the smallest hash among several.
    """

    def neighbours(_workspace: Workspace, found: Sets, _: NDArray[np.uint64]) -> Sets:
        linked = np.empty(len(found.elements), np.uint64)
        offsets = np.zeros_like(found.offsets)
        kernels.link_neighbours(table.places(found.elements), found.offsets, linked, offsets)
        return Sets(linked[: offsets[-1]].copy(), offsets)

    link_counts = DocumentCounts(1 << 62)
    for linked in each_piece(parts, shingling, neighbours, threads):
        link_counts.add(linked.elements, linked.offsets)
    keys, link_documents = link_counts.above(0)
    before = (keys >> np.uint64(32)).astype(np.int64)
    after = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    near = 4 * link_documents >= 3 * np.maximum(counts[before], counts[after])
    before, after, link_documents = before[near], after[near], link_documents[near]
    by_before = np.lexsort((after, -link_documents, before))
    by_after = np.lexsort((before, -link_documents, after))
    best = np.zeros((2, len(before)), np.bool_)
    best[0, by_before[np.unique(before[by_before], return_index=True)[1]]] = True
    best[1, by_after[np.unique(after[by_after], return_index=True)[1]]] = True
    mutual = best.all(axis=0)
    return before[mutual], after[mutual]


@dataclass(frozen=True)
class _Chains:
    """Shingles that follow each other: the chain of each and its step there; each chain's own."""

    chains: NDArray[np.int64]
    steps: NDArray[np.int64]
    sizes: NDArray[np.int64]
    firsts: NDArray[np.int64]


def _chains(
    counts: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64]
) -> _Chains:
    """Follow the links, and cut where the documents are no more within a quarter."""
    following = np.full(len(counts), -1, np.int64)
    following[before] = after
    starts = np.flatnonzero(~np.isin(np.arange(len(counts)), after))
    chains = np.full(len(counts), -1, np.int64)
    steps = np.zeros(len(counts), np.int64)
    firsts: list[int] = []
    # What no start leads to goes round in a ring, and is cut at its smallest hash.
    for start in chain(starts.tolist(), range(len(counts))):
        at, fewest, greatest = start, 0, 0
        step = 0
        while at >= 0 and chains[at] < 0:
            here = int(counts[at])
            fewest, greatest = min(fewest, here), max(greatest, here)
            if step == 0 or 4 * fewest < 3 * greatest:
                firsts.append(at)
                fewest = greatest = here
                step = 0
            chains[at], steps[at] = len(firsts) - 1, step
            at, step = int(following[at]), step + 1
    sizes = np.bincount(chains, minlength=len(firsts)).astype(np.int64)
    return _Chains(chains, steps, sizes, np.array(firsts, np.int64))


@dataclass
class _ChainMatches:
    """In how many documents each chain stands, and where the most of it does."""

    documents: NDArray[np.int64]
    lengths: NDArray[np.int64]
    starts: NDArray[np.int64]
    fingerprints: NDArray[np.uint64]

    @classmethod
    def none(cls, chains: int) -> _ChainMatches:
        documents, lengths, starts = np.zeros((3, chains), np.int64)
        return cls(documents, lengths, starts, np.zeros((chains, 2), np.uint64))

    def add(self, other: _ChainMatches) -> None:
        """Take in what was found in another piece."""
        self.documents += other.documents
        mine, others = self.fingerprints, other.fingerprints
        smaller = (others[:, 0] < mine[:, 0]) | (
            (others[:, 0] == mine[:, 0]) & (others[:, 1] < mine[:, 1])
        )
        better = (other.lengths > self.lengths) | ((other.lengths == self.lengths) & smaller)
        self.lengths[better] = other.lengths[better]
        self.starts[better] = other.starts[better]
        self.fingerprints[better] = other.fingerprints[better]


def _chain_matches(
    parts: Parts, shingling: Shingling, table: HashIndex, chains: _Chains, threads: int
) -> _ChainMatches:
    def look(_workspace: Workspace, found: Sets, fingerprints: NDArray[np.uint64]) -> _ChainMatches:
        matches = _ChainMatches.none(len(chains.sizes))
        kernels.count_chains(
            *(table.places(found.elements), found.offsets, fingerprints),
            *(chains.chains, chains.steps, chains.sizes),
            *(np.zeros_like(chains.chains), np.zeros_like(chains.sizes)),
            *(matches.documents, matches.lengths, matches.starts, matches.fingerprints),
        )
        return matches

    every = _ChainMatches.none(len(chains.sizes))
    for matches in each_piece(parts, shingling, look, threads):
        every.add(matches)
    return every


def _texts(
    parts: Parts, matches: _ChainMatches, chosen_chains: list[int], words: int
) -> list[tuple[SharedPassage, list[bytes]]]:
    """Read the wanted passages where the most of each stands; with each, its words."""
    found: dict[int, tuple[SharedPassage, list[bytes]]] = {}
    for part in parts():
        rows = np.flatnonzero(
            np.isin(part.fingerprints[:, 0], matches.fingerprints[chosen_chains, 0])
        )
        for row in rows.tolist():
            mine = (matches.fingerprints[chosen_chains] == part.fingerprints[row]).all(axis=1)
            for one in np.flatnonzero(mine).tolist():
                number = chosen_chains[one]
                if number not in found:
                    start = int(matches.starts[number])
                    stop = start + int(matches.lengths[number]) + words - 1
                    text, its_words = _cut(part, row, start, stop)
                    passage = SharedPassage(text, int(matches.documents[number]), len(its_words))
                    found[number] = passage, its_words
        if len(found) == len(chosen_chains):
            break
    return [found[number] for number in chosen_chains]


def _cut(documents: Canonical, row: int, start: int, stop: int) -> tuple[str, list[bytes]]:
    """Give a document's text from one word up to another, and the words in it."""
    data, (begin, end) = documents.data, documents.offsets[row : row + 2].astype(np.uint64)
    places = np.empty(int(end - begin) + 1, np.uint64)
    count = words.word_places(data, begin, end, unicode.code_points(), places)
    spans = places[: 2 * count].reshape(-1, 2)[start:stop].tolist()
    if not spans:
        return "", []
    whole = bytes(data[spans[0][0] : spans[-1][1]])
    return whole.decode(), [bytes(data[a:b]) for a, b in spans]


def _without_repeats(
    found: list[tuple[SharedPassage, list[bytes]]], most: int, words: int
) -> list[SharedPassage]:
    """Leave out passages of which more than half, in runs of words, stands in one before."""
    size = max(words // 2, 1)
    known: set[tuple[bytes, ...]] = set()
    chosen: list[SharedPassage] = []
    for passage, its_words in found:
        runs = {tuple(its_words[i : i + size]) for i in range(len(its_words) - size + 1)}
        if 2 * len(runs & known) > len(runs):
            continue
        known |= runs
        chosen.append(passage)
        if len(chosen) == most:
            break
    return chosen
