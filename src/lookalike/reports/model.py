"""What a page shows, as plain data: the contract between what is found and how it is drawn.

A report is one `Main` and some `Text` parts. `main_json` and `text_json` give them as JSON; the
page holds each on its own, compressed, so that a text is unpacked when it is opened.

- A document is a number: its place in the columns of `Documents`. A text is a number too, its place
  among the texts: `Documents.text` says which text is of which document.
- Every offset in a text is in UTF-16 code units, as `String.prototype.slice` counts; a span is
  `[start, end]`, its end not included. Spans never cut a surrogate pair.
- A similarity is a number from 0 to 1 (from -1 with the cosine), rounded to six digits. null stands
  for what is not known.
- Strings are as users wrote them, and are not escaped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Cluster",
    "Coverage",
    "Documents",
    "Histogram",
    "Link",
    "Main",
    "NearMisses",
    "Pairs",
    "Plan",
    "Report",
    "Series",
    "Skipped",
    "Summary",
    "Text",
    "main_json",
    "text_json",
]

FORMAT = 1
"""Raised when a field changes its meaning."""

Value = str | int | float | bool | None
"""What a cell of a metadata column holds."""


@dataclass
class Link:
    """A file beside the page that holds more."""

    name: str
    """What to call it, as `pairs.parquet`."""
    address: str
    """Where it is, relative to the page, as a URL: `results/pairs.parquet`."""


@dataclass
class Summary:
    """What ran, and what came of it."""

    command: str
    """find, dedup, contained or compare."""
    title: str
    """A heading: `10 similar pairs in 29 documents`."""
    version: str
    """Of Lookalike: `0.1.0`."""
    threshold: float | None
    """From which similarity on (of contained, from which share on) two documents are a pair."""
    score: str
    """By what documents are compared: `Jaccard of chars:5 shingles, chosen for this corpus`."""
    measure: str
    """`similarity`, or `containment` where `Pairs.similarity` is the share that the other has."""
    exact: bool
    """Whether similarities were computed on all shingles, not estimated."""
    facts: list[tuple[str, str]]
    """Name and value, for people, in order: `["Read", "29 documents"]`."""
    settings: dict[str, Any]
    """Every setting by name, as it ran."""
    counts: dict[str, Any]
    """The counts of the run: read, empty, identical, candidates, rejected, pairs, clusters, …"""
    seconds: dict[str, float]
    """Of each stage, `total` among them."""
    versions: dict[str, str]
    """Of Python and the libraries."""
    warnings: list[str]
    """What a reader should know before trusting the result."""
    notes: list[str]
    """What was chosen in reading the files, and the like."""
    left_out: list[str]
    """Sentences, each on something that this page does not show: more pairs, texts, members."""
    files: list[Link]
    """The files of the result, with all of it."""
    anonymous: bool
    """Whether names were replaced."""
    label: str | None
    """The column that labels come from."""
    date: str | None
    """The column that dates come from."""


@dataclass
class Plan:
    """How pairs were looked for."""

    sentence: str
    threshold: float
    recall: float
    bands: int | None
    rows: int | None
    cascade: str | None
    """The steps of the banding, as `and:5 or:20`; null where all were compared."""
    half: float | None
    """The similarity at which a pair is as likely found as missed."""
    rule_of_thumb: float | None
    """(1/b)^(1/r)."""
    shingle: str | None
    shingle_reason: str | None
    similarities: list[float]
    """The points of the curve: from 0 (or -1) to 1, in order."""
    candidate: list[float]
    """How likely a pair of each similarity becomes a candidate: the textbook's curve."""
    found: list[float]
    """How likely it is found by the whole path."""


@dataclass
class Series:
    """Pairs counted by their similarity."""

    name: str
    """`sample`: random pairs of a sample of the corpus; `pairs`: the pairs found."""
    what: str
    """A sentence that says which pairs these are."""
    counts: list[float]
    """Pairs in each bin."""
    cumulated: list[float]
    """Pairs in this bin and all above it."""


@dataclass
class Histogram:
    """How similar the documents of the corpus are."""

    edges: list[float]
    """Of the bins, one more than there are bins; the last bin holds its upper edge too."""
    series: list[Series]


@dataclass
class Documents:
    """The documents that anything names, a column a field: document `i` is at place `i` of each."""

    name: list[str]
    key: list[str]
    """For addresses, twelve letters and digits: `#document=KEY`, `#pair=KEY_A-KEY_B`."""
    corpus: list[str]
    """`source`, `reference` or `index`."""
    cluster: list[int | None]
    """The number of its cluster, from 1."""
    kept: list[bool | None]
    """Of dedup, whether it stays."""
    label: list[str | None]
    date: list[str | None]
    """`2024-05-17`, or with a time `2024-05-17T09:30:00`: they sort as text."""
    length: list[int | None]
    """Of the text, in UTF-16 code units; null where it was not read."""
    text: list[int | None]
    """The number of its text; null where the page has none."""
    covered: list[float | None]
    """Which share of its words, from 0 to 1, stands in any other document; null: not computed."""
    columns: dict[str, list[Value]]
    """The other columns of the input, by name, for filters."""


@dataclass
class Pairs:
    """Pairs of documents, a column a field; the most similar first, then by name."""

    a: list[int]
    b: list[int]
    """Of contained, `a` is the part and `b` the whole; of dedup, `a` is removed and `b` kept."""
    similarity: list[float]
    shared: list[int | None]
    """Shingles that both have."""
    union: list[int | None]
    """Shingles that either has."""
    a_in_b: list[float | None]
    """Which share of the shingles of `a` is in `b`."""
    b_in_a: list[float | None]
    passages: list[int | None]
    """How many passages both texts share; null: not computed, as a text is not in the page."""
    words: list[int | None]
    """The words in them."""


@dataclass
class Cluster:
    """Documents that hang together."""

    number: int
    """From 1, the largest cluster first; its address is `#cluster=NUMBER`."""
    size: int
    similarity: float | None
    """The smallest between two members (of dedup, between a member and the kept one)."""
    mean: float | None
    """The mean over the pairs of members in `pairs`."""
    members: list[int]
    """Documents, the first ones by id; `size` says how many there are."""
    pairs: list[int]
    """Places in `Main.pairs` of the pairs among members, the most similar first."""
    matrix: list[list[float]] | None
    """The similarity of every two members, in the order of `members`; null where too many."""


@dataclass
class NearMisses:
    """Pairs just below the threshold."""

    least: float
    """From this similarity on."""
    what: str
    """A sentence that says among which documents they were looked for, and whether these are all.
    """
    complete: bool
    """Whether these are all such pairs of the corpus."""
    pairs: Pairs


@dataclass
class Skipped:
    """What was not read, and why."""

    count: int
    """Of all; the columns may have fewer."""
    path: list[str]
    reason: list[str]


@dataclass
class Main:
    """All of a report but the texts."""

    summary: Summary
    plan: Plan | None
    histogram: Histogram | None
    documents: Documents
    pairs: Pairs
    clusters: list[Cluster]
    near_misses: NearMisses | None
    skipped: Skipped
    audit: dict[str, Any] | None = None
    """Measured recall and precision, where there was an audit."""
    format: int = FORMAT


@dataclass
class Coverage:
    """A stretch of a text that stands in another document too."""

    start: int
    end: int
    document: int
    """The other document: of several, the one that has the longest stretch from here on."""
    words: int


@dataclass
class Text:
    """A text as users know it, and what is marked in it."""

    document: int
    text: str
    passages: dict[str, list[tuple[int, int, int, int, int]]] = field(default_factory=dict)
    """Passages shared with other documents, by the other's number (as a string).

    Each is `[start, end, other_start, other_end, words]`, in the order of the other text, in which
    they do not overlap. They stand in the text of `a` of a pair alone: look at `a`, then for `b`.
    """
    coverage: list[Coverage] = field(default_factory=list)
    """In order, without overlap: their words are the share `Documents.covered` of all words."""
    sources: list[tuple[int, float]] = field(default_factory=list)
    """Document and the share of the words that stands in it by itself, the largest share first."""
    more_sources: int = 0
    """How many documents with smaller shares are not among the sources."""
    remembered: int | None = None
    """Where a passage is in more documents than that, so many of them count; null: all do."""
    boilerplate: list[tuple[int, int, int]] = field(default_factory=list)
    """`[start, end, documents]`: stretches that so many documents share, in order."""


@dataclass
class Report:
    """A page: the main part, and the texts by their numbers."""

    main: Main
    texts: list[Text]


def main_json(report: Report) -> str:
    """Give the main part as JSON."""
    return _json(report.main)


def text_json(text: Text) -> str:
    """Give one text as JSON."""
    return _json(text)


def _json(part: Main | Text) -> str:
    return json.dumps(
        part, default=vars, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
