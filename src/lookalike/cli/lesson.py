"""What `lookalike learn` shows: each table of the textbook, on a few documents."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice, pairwise
from math import cos, inf, radians
from typing import TYPE_CHECKING

from lookalike.base.errors import SettingsError
from lookalike.base.wording import visible
from lookalike.learn import textbook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from lookalike.learn.textbook import CharacteristicMatrix, Walk

__all__ = ["show"]

MAX_DOCUMENTS = 8
MAX_LINES = 12
FIRST_STEPS = 5
PAGE_WIDTH = 80
TEXT_WIDTH = 50
SHINGLE_WIDTH = 28
NARROW_SHINGLE_WIDTH = 9
BAR_WIDTH = 40


def show(
    documents: Mapping[str, str],
    *,
    k: int,
    unit: str,
    bands: int,
    rows: int,
    threshold: float,
    seed: int,
    console: Console,
) -> None:
    """Lead two to eight documents, by name, through the method and show every step."""
    if not 2 <= len(documents) <= MAX_DOCUMENTS:
        raise SettingsError(
            f"learn was given {_count(len(documents), 'document')} and shows 2 to "
            f"{MAX_DOCUMENTS} side by side: name the files to walk through"
        )
    walk = textbook.walk(
        documents, k=k, unit=unit, rows=rows, bands=bands, threshold=threshold, seed=seed
    )
    page = _Page(console, documents)
    size = _count(k, "character" if unit == "chars" else "word")
    banding = f"{_count(bands, 'band')} of {_count(rows, 'row')}"
    page.say(
        f"{len(documents)} documents, shingles of {size}, {banding}, "
        f"threshold {threshold:g}, seed {seed}."
    )
    page.table(["", "document"], [[page.label(name), visible(name)] for name in documents])
    _show_texts(page, walk)
    _show_shingles(page, walk, size)
    _show_matrix(page, walk.matrix)
    _show_similarities(page, walk)
    _show_permutation(page, walk)
    _show_row_by_row(page, walk)
    _show_signatures(page, walk)
    _show_estimates(page, walk)
    _show_buckets(page, walk, banding, rows)
    _show_candidates(page, walk)
    _show_verified(page, walk, threshold)
    _show_curve(page, bands, rows)
    _show_missed(page, walk, bands, rows, threshold)
    _show_sketches(page, walk)
    _show_angles(page, walk)


class _Page:
    """Headings, sentences and tables on a console, with short labels for the documents."""

    def __init__(self, console: Console, names: Iterable[str]) -> None:
        self._console = console
        self._width = min(console.width, PAGE_WIDTH)
        self._labels = {name: f"d{number}" for number, name in enumerate(names, start=1)}
        self._steps = 0

    @property
    def labels(self) -> list[str]:
        return list(self._labels.values())

    def label(self, *names: str) -> str:
        return " ".join(self._labels[name] for name in names)

    def step(self, title: str, sentences: str) -> None:
        self._steps += 1
        self._console.print()
        self.say(f"{self._steps}. {title}", style="bold")
        self.say(sentences)

    def say(self, sentences: str, style: str = "") -> None:
        from rich.text import Text

        # As Text, so that brackets and colons in documents are not taken for markup or emoji.
        self._console.print(Text(sentences, style), width=self._width)

    def say_more(self, left: int, noun: str) -> None:
        if left > 0:
            self.say(f"... and {_count(left, f'more {noun}')}.")

    def table(self, header: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        if not lines:
            return
        table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for title, cells in zip(header, zip(*lines, strict=True), strict=True):
            number = title in self.labels or not all(isinstance(cell, str) for cell in cells)
            table.add_column(
                Text(title), justify="right" if number else "left", no_wrap=number, overflow="fold"
            )
        for line in lines:
            table.add_row(*(Text(_cell(cell)) for cell in line))
        # A measure is never above the width it is given: give it one that no table has.
        roomy = self._console.options.update(width=1000)
        if self._console.measure(table, options=roomy).maximum > self._width:
            table.padding = 0
        self._console.print(table, width=self._width)


def _show_texts(page: _Page, walk: Walk) -> None:
    page.step(
        "Canonical text",
        "Composed characters (Unicode NFC), lower case, each run of white space one blank. "
        "What still differs counts as a difference.",
    )
    texts = walk.texts.items()
    lines = [[page.label(name), len(text), _short(text, TEXT_WIDTH)] for name, text in texts]
    page.table(["", "characters", "text"], lines)


def _show_shingles(page: _Page, walk: Walk, size: str) -> None:
    page.step(
        "Shingles",
        f"A shingle is {size} in a row; a document becomes the set of its shingles. "
        "A text shorter than one shingle is one shingle, all of it.",
    )
    lines = []
    for name, found in walk.shingles.items():
        first = _short(" ".join(f"'{shingle}'" for shingle in found[:MAX_LINES]), TEXT_WIDTH)
        lines.append([page.label(name), len(found), len(set(found)), first])
    page.table(["", "in all", "different", "the first of them"], lines)
    empty = [name for name, found in walk.shingles.items() if not found]
    if empty:
        page.say(f"Empty, and so similar to nothing: {page.label(*empty)}.")


def _show_matrix(page: _Page, matrix: CharacteristicMatrix) -> None:
    height = len(matrix.cells)
    page.step(
        "Characteristic matrix",
        f"One row for each of {_count(height, 'different shingle')}, sorted; one column for "
        "each document; 1 where the document has the shingle.",
    )
    chosen = _informative_rows(matrix)
    lines = [[row, _quoted(matrix.shingles[row - 1]), *matrix.cells[row - 1]] for row in chosen]
    page.table(["row", "shingle", *page.labels], lines)
    page.say_more(height - len(chosen), "row")


def _informative_rows(matrix: CharacteristicMatrix) -> list[int]:
    """Choose one row of each pattern of 0 and 1, then a second of each, and so on.

    Of those, rows that some but not all documents share come first.
    """
    seen: Counter[tuple[int, ...]] = Counter()
    ranked = []
    for number, row in enumerate(matrix.cells, start=1):
        ranked.append((seen[row], not 1 < sum(row) < len(row), number))
        seen[row] += 1
    return sorted(number for *_, number in sorted(ranked)[:MAX_LINES])


def _show_similarities(page: _Page, walk: Walk) -> None:
    page.step(
        "Exact similarity",
        "For two columns, count the rows with 1 and 1 (a), 1 and 0 (b), 0 and 1 (c). "
        "Their Jaccard similarity is a / (a + b + c).",
    )
    exact = _by_similarity(walk)
    lines = [[page.label(*pair), *walk.matrix.row_types(*pair), s] for pair, s in exact]
    page.table(["pair", "a", "b", "c", "similarity"], lines)


def _show_permutation(page: _Page, walk: Walk) -> None:
    order = ", ".join(map(str, walk.order[:MAX_LINES]))
    page.step(
        "One random permutation",
        f"Read the rows in a random order, which begins {order}. A column's minhash is the "
        "place in this order of the first row where the column has a 1.",
    )
    lines = []
    for name, place in walk.minhashes.items():
        row = walk.order[int(place) - 1] if place < inf else None
        shingle = _quoted(walk.matrix.shingles[row - 1]) if row else "none"
        lines.append([page.label(name), place, row or "", shingle])
    page.table(["", "minhash", "row", "shingle"], lines)
    pairs = combinations(walk.minhashes.items(), 2)
    equal = [page.label(one, other) for (one, x), (other, y) in pairs if x == y < inf]
    page.say(
        f"Equal here: {', '.join(equal) or 'no two columns'}. Over all orders, two columns are "
        "equal as often as their Jaccard similarity says."
    )


def _show_row_by_row(page: _Page, walk: Walk) -> None:
    two = walk.functions[:2]
    formulas = [f"h{i}(r) = ({h.a} r + {h.b}) mod {h.p}" for i, h in enumerate(two, start=1)]
    page.step(
        "Row by row, with hash functions",
        "Long permutations are slow to make, so hash functions stand in for them: "
        f"{', '.join(formulas)}. Each value begins at infinity (inf); where a column has a 1, "
        "a smaller hash of the row replaces it (marked *).",
    )
    width = SHINGLE_WIDTH if len(page.labels) <= MAX_DOCUMENTS // 2 else NARROW_SHINGLE_WIDTH
    lines = []
    steps = islice(textbook.row_by_row(walk.matrix, two), FIRST_STEPS + 1)
    for before, after in pairwise(steps):
        old, new = before.signatures.columns, after.signatures.columns
        for i, value in enumerate(after.hashes):
            marked = ["*" * (new[c][i] < old[c][i]) + _cell(new[c][i]) for c in new]
            row = ("", "") if i else (after.row, _quoted(after.shingle, width))
            lines.append([*row, f"h{i + 1}", value, *marked])
    page.table(["row", "shingle", "", "hash", *page.labels], lines)
    page.say_more(len(walk.matrix.cells) - FIRST_STEPS, "row")


def _show_signatures(page: _Page, walk: Walk) -> None:
    length = len(walk.functions)
    page.step(
        "Signature matrix",
        "After the last row, each document has a column of minhashes, its signature: "
        f"{_count(length, 'row')}, one for each hash function.",
    )
    rows = zip(*walk.signatures.columns.values(), strict=True)
    lines = [[f"h{i}", *row] for i, row in enumerate(rows, start=1)]
    page.table(["", *page.labels], lines[:MAX_LINES])
    page.say_more(length - MAX_LINES, "row")


def _show_estimates(page: _Page, walk: Walk) -> None:
    length = len(walk.functions)
    page.step(
        "Estimated and exact similarity",
        "The share of rows in which two signatures are equal estimates the similarity; with "
        f"{_count(length, 'row')} the standard error is up to {0.5 / length**0.5:.2f}.",
    )
    lines = []
    for pair, exact in _by_similarity(walk):
        estimate = walk.signatures.similarity(*pair)
        lines.append([page.label(*pair), estimate, exact, f"{estimate - exact:+.4f}"])
    page.table(["pair", "estimated", "exact", "error"], lines[:MAX_LINES])
    page.say_more(len(lines) - MAX_LINES, "pair")


def _show_buckets(page: _Page, walk: Walk, banding: str, rows: int) -> None:
    page.step(
        "Bands and buckets",
        f"The signatures are cut in {banding}. In each band, columns that are equal in all its "
        "rows fall in one bucket. The buckets of two documents or more:",
    )
    lines = []
    for band in walk.bands:
        span = f"h{(band.number - 1) * rows + 1} to h{band.number * rows}"
        for bucket, names in band.buckets.items():
            if len(names) > 1:
                piece = _short(" ".join(map(_cell, bucket)), TEXT_WIDTH // 2)
                lines.append([band.number, span, piece, page.label(*names)])
    page.table(["band", "rows", "bucket", "documents"], lines[:MAX_LINES])
    page.say_more(len(lines) - MAX_LINES, "bucket")
    if not lines:
        page.say("None: no two columns are equal in all rows of a band.")


def _show_candidates(page: _Page, walk: Walk) -> None:
    every = len(walk.verification.similarities)
    page.step(
        "Candidates",
        "Two documents that share a bucket in at least one band are a candidate. "
        f"Here {len(walk.candidates)} of {_count(every, 'pair')}; only candidates are compared.",
    )
    lines = []
    for pair, bands in sorted(walk.candidates.items()):
        numbers = _short(", ".join(map(str, bands)), TEXT_WIDTH)
        lines.append([page.label(*pair), len(bands), numbers])
    page.table(["pair", "bands shared", "which"], lines)


def _show_verified(page: _Page, walk: Walk, threshold: float) -> None:
    page.step(
        "Verified pairs",
        f"Each candidate is compared exactly. From {threshold:g} up it is a pair; below, it is "
        "a false positive: not similar enough, and in one bucket all the same.",
    )
    verdicts = dict.fromkeys(walk.verification.pairs, "pair")
    verdicts |= dict.fromkeys(walk.verification.false_positives, "false positive")
    exact = _by_similarity(walk)
    lines = [[page.label(*pair), s, verdicts[pair]] for pair, s in exact if pair in verdicts]
    page.table(["candidate", "exact", "verdict"], lines)
    if not lines:
        page.say("There was no candidate to verify.")


def _show_curve(page: _Page, bands: int, rows: int) -> None:
    rise, half = textbook.curve_threshold(bands, rows), textbook.curve_midpoint(bands, rows)
    page.step(
        "The S-curve of this banding",
        "A pair of similarity s becomes a candidate with probability "
        f"1 - (1 - s^{rows})^{bands}. The curve's threshold is about (1/{bands})^(1/{rows}) = "
        f"{rise:.3f}; the probability is one half at {half:.3f}.",
    )
    lines = []
    for s in [tenth / 10 for tenth in range(1, 11)]:
        probability = textbook.candidate_probability(s, bands, rows)
        lines.append([f"{s:.1f}", probability, "#" * round(probability * BAR_WIDTH)])
    page.table(["s", "probability", ""], lines)


def _show_missed(page: _Page, walk: Walk, bands: int, rows: int, threshold: float) -> None:
    def chance(similarity: float) -> str:
        return f"{textbook.miss_probability(similarity, bands, rows):.2g}"

    page.step(
        "What was missed",
        "A pair is missed, a false negative, when no band of its signatures is equal in all "
        f"rows: at {threshold:g} with probability (1 - {threshold:g}^{rows})^{bands} = "
        f"{chance(threshold)}.",
    )
    lines = []
    for pair in walk.verification.false_negatives:
        exact, estimate = walk.verification.similarities[pair], walk.signatures.similarity(*pair)
        lines.append([page.label(*pair), exact, estimate, chance(exact)])
    page.table(["missed", "exact", "estimated", "chance to be missed"], lines)
    if lines:
        page.say("More bands, or fewer rows in each, miss less and make more candidates.")
    elif walk.verification.pairs:
        page.say(f"Nothing was missed: every pair that reaches {threshold:g} was a candidate.")
    else:
        page.say(f"There was nothing to miss: no pair reaches {threshold:g}.")


def _show_sketches(page: _Page, walk: Walk) -> None:
    page.step(
        "Another road: the cosine",
        "A document is also a vector, of how often each shingle occurs, and two are as similar as "
        "the angle between them is small. A random hyperplane has each vector above it (+) or "
        f"below (-); {textbook.HYPERPLANES} of them make a sketch.",
    )
    lines = [[page.label(name), bits] for name, bits in walk.sketches.items() if walk.counts[name]]
    page.table(["", "sketch"], lines)


def _show_angles(page: _Page, walk: Walk) -> None:
    page.step(
        "Estimated and exact angle",
        "Two vectors lie on different sides of a hyperplane with probability angle/180, so that "
        "the share of bits that differ, times 180, estimates the angle in degrees. Bands of bits "
        "find candidates as bands of rows do, with 1 - angle/180 in the place of s.",
    )
    lines = []
    for pair in combinations([name for name, vector in walk.counts.items() if vector], 2):
        first, second = (walk.sketches[name] for name in pair)
        exact = textbook.angle(*(walk.counts[name] for name in pair))
        estimate = textbook.angle_by_sketches(first, second)
        differ = sum(x != y for x, y in zip(first, second, strict=True))
        measures = f"{estimate:.1f}", f"{exact:.1f}", cos(radians(exact))
        lines.append((exact, [page.label(*pair), differ, *measures]))
    lines.sort(key=lambda line: line[0])
    cells = [line for _, line in lines[:MAX_LINES]]
    page.table(["pair", "bits that differ", "estimated", "exact", "cosine"], cells)
    page.say_more(len(lines) - MAX_LINES, "pair")


def _by_similarity(walk: Walk) -> list[tuple[textbook.Pair, float]]:
    return sorted(walk.verification.similarities.items(), key=lambda item: -item[1])


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) and value < inf else str(value)


def _quoted(shingle: str, width: int = SHINGLE_WIDTH) -> str:
    # Quotes, because a blank at the end of a shingle is part of it and would not be seen.
    return f"'{_short(shingle, width)}'"


def _short(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    text = visible(text)
    return text if cell_len(text) <= width else set_cell_size(text, width - 3) + "..."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
