"""A lesson: the textbook method on a few documents, every table as data and as a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, islice
from math import cos, radians
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.option_types import check_types
from lookalike.base.wording import count, setting, visible
from lookalike.learn import textbook
from lookalike.learn.documents import compared_by, few_documents, unit_and_size
from lookalike.learn.facts import matrix_facts, signature_facts, walk_facts
from lookalike.learn.page import (
    MAX_LINES,
    Page,
    Shown,
    by_similarity,
    check_columns,
    formula,
    shortened,
    show_estimates,
    show_minhashes,
    show_similarities,
    show_steps,
    written,
)
from lookalike.learn.textbook import Walk
from lookalike.learn.web_page import web_page
from lookalike.settings import LessonOptions, settings_of

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.learn.textbook import CharacteristicMatrix

__all__ = ["Lesson", "lesson"]

FIRST_STEPS = 5
TEXT_WIDTH = 50
BAR_WIDTH = 40


@dataclass(frozen=True, repr=False)
class Lesson(Shown, Walk):
    """A walk of a few documents through the method, with what was asked for."""

    shingle: str
    """What was compared: chars:K, words:K or tokens."""
    rows: int
    """Of a band."""
    threshold: float
    seed: int
    notes: tuple[str, ...] = ()
    """How the files were read, where that was chosen."""

    def show(self, console: Console) -> None:
        """Show every step on a console."""
        is_tokens = self.shingle == "tokens"
        labels = self._labels
        page = Page(console, labels, element="token" if is_tokens else "shingle")
        bands, rows = len(self.bands), self.rows
        banding = f"{count(bands, 'band')} of {count(rows, 'row')}"
        for line in self._asked:
            page.say(line)
        page.table(["", "document"], [[page.label(name), visible(name)] for name in labels])
        if not is_tokens:
            _show_texts(page, self)
        _show_shingles(page, self, "" if is_tokens else self._size)
        _show_matrix(page, self.matrix)
        show_similarities(page, self.matrix, self.verification.similarities)
        _show_permutation(page, self)
        _show_row_by_row(page, self)
        _show_signatures(page, self)
        show_estimates(page, self.signatures, self.verification.similarities)
        _show_buckets(page, self, banding, rows)
        _show_candidates(page, self)
        _show_verified(page, self, self.threshold)
        _show_curve(page, bands, rows)
        _show_missed(page, self, bands, rows, self.threshold)
        _show_sketches(page, self)
        _show_angles(page, self)

    def html(self) -> str:
        """Give the lesson as one HTML page, on which it can be played with."""
        is_tokens = self.shingle == "tokens"
        facts = {
            "kind": "documents",
            "settings": " ".join(self._asked),
            "size": "" if is_tokens else self._size,
            "bands": len(self.bands),
            "rows": self.rows,
            "threshold": self.threshold,
            "drawSeed": self.seed % 2**32,
            "collisions": [],
            **matrix_facts(
                self.matrix,
                [*self._labels.values()],
                self.verification.similarities,
                element="token" if is_tokens else "shingle",
            ),
            **signature_facts([("h", self.signatures)], self.functions),
            **walk_facts(self),
        }
        return web_page(f"A lesson on {count(len(self.shingles), 'document')}", facts)

    @property
    def _labels(self) -> dict[str, str]:
        return {name: f"d{number}" for number, name in enumerate(self.shingles, start=1)}

    @property
    def _asked(self) -> list[str]:
        """Say what was asked for, and how files were read."""
        compared = "tokens" if self.shingle == "tokens" else f"shingles of {self._size}"
        banding = f"{count(len(self.bands), 'band')} of {count(self.rows, 'row')}"
        asked = (
            f"{len(self.shingles)} documents, {compared}, {banding}, "
            f"threshold {self.threshold:g}, seed {self.seed}."
        )
        return [asked, *(f"{visible(note)}." for note in self.notes)]

    @property
    def _size(self) -> str:
        unit, size = unit_and_size(self.shingle)
        return count(size, "character" if unit == "chars" else "word")


MAX_SIGNATURE = 1000
"""Rows of a signature: tables of more cannot be read."""


def lesson(
    source: Any = None,
    *,
    shingle: str | None = None,
    bands: int = 6,
    rows: int = 3,
    threshold: float = 0.7,
    seed: int = 21,
    text: str | list[str] | tuple[str, ...] | None = None,
    encoding: str | None = None,
    strict_encoding: bool = False,
    id: str | None = None,
) -> Lesson:
    """Lead two to eight documents through the textbook method, with every table on the way.

    The source is any that `find` takes, of texts or lists of tokens; by default a sample. What is
    compared is `shingle`, chars:3 unless it is said, and of lists their tokens. The tables are
    data, and printed they are what `lookalike learn` shows.
    """
    options = LessonOptions(
        shingle=shingle,
        bands=bands,
        rows=rows,
        threshold=threshold,
        seed=seed,
        text=text,
        encoding=encoding,
        strict_encoding=strict_encoding,
        id=id,
    )
    check_types(options)
    settings_of(options, shingle="auto")  # refuses what cannot be
    if bands * rows > MAX_SIGNATURE:
        raise SettingsError(
            f"learn was asked for signatures of {bands * rows:,} rows and shows at most "
            f"{MAX_SIGNATURE}: use fewer {setting('bands')} or {setting('rows')}"
        )
    documents, notes = few_documents(
        source, text=text, id=id, encoding=encoding, strict_encoding=strict_encoding
    )
    check_columns(len(documents), "document")
    compared = compared_by(documents, shingle)
    unit, size = unit_and_size(compared)
    walked = textbook.walk(
        documents, k=size, unit=unit, rows=rows, bands=bands, threshold=threshold, seed=seed
    )
    return Lesson(
        **vars(walked), shingle=compared, rows=rows, threshold=threshold, seed=seed, notes=notes
    )


def _show_texts(page: Page, walk: Walk) -> None:
    page.step(
        "Canonical text",
        "Composed characters (Unicode NFC), lower case, each run of white space one blank. "
        "What still differs counts as a difference.",
    )
    texts = walk.texts.items()
    lines = [[page.label(name), len(text), shortened(text, TEXT_WIDTH)] for name, text in texts]
    page.table(["", "characters", "text"], lines)


def _show_shingles(page: Page, walk: Walk, size: str) -> None:
    if size:
        page.step(
            "Shingles",
            f"A shingle is {size} in a row; a document becomes the set of its shingles. "
            "A text shorter than one shingle is one shingle, all of it.",
        )
    else:
        page.step("Tokens", "A document becomes the set of its tokens, as they are.")
    lines = []
    for name, found in walk.shingles.items():
        first = shortened(" ".join(f"'{shingle}'" for shingle in found[:MAX_LINES]), TEXT_WIDTH)
        lines.append([page.label(name), len(found), len(set(found)), first])
    page.table(["", "in all", "different", "the first of them"], lines)
    empty = [name for name, found in walk.shingles.items() if not found]
    if empty:
        page.say(f"Empty, and so similar to nothing: {page.label(*empty)}.")


def _show_matrix(page: Page, matrix: CharacteristicMatrix) -> None:
    height = len(matrix.cells)
    page.step(
        "Characteristic matrix",
        f"One row for each of {count(height, f'different {page.element}')}, sorted; one column for "
        f"each document; 1 where the document has the {page.element}.",
    )
    chosen = _informative_rows(matrix)
    rows = [(row, matrix.shingles[row - 1], matrix.cells[row - 1]) for row in chosen]
    lines = [[row, *page.element_cell(name), *cells] for row, name, cells in rows]
    page.table(["row", *page.element_title, *page.labels], lines)
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


def _show_permutation(page: Page, walk: Walk) -> None:
    order = ", ".join(map(str, walk.order[:MAX_LINES]))
    page.step(
        "One random permutation",
        f"Read the rows in a random order, which begins {order}. A column's minhash is the "
        "place in this order of the first row where the column has a 1.",
    )
    show_minhashes(page, walk.matrix, walk.order, walk.minhashes)


def _show_row_by_row(page: Page, walk: Walk) -> None:
    two = walk.functions[:2]
    formulas = [formula(i, h) for i, h in enumerate(two, start=1)]
    page.step(
        "Row by row, with hash functions",
        "Long permutations are slow to make, so hash functions stand in for them: "
        f"{', '.join(formulas)}. Each value begins at infinity (inf); where a column has a 1, "
        "a smaller hash of the row replaces it (marked *).",
    )
    show_steps(page, list(islice(textbook.row_by_row(walk.matrix, two), FIRST_STEPS + 1)))
    page.say_more(len(walk.matrix.cells) - FIRST_STEPS, "row")


def _show_signatures(page: Page, walk: Walk) -> None:
    length = len(walk.functions)
    page.step(
        "Signature matrix",
        "After the last row, each document has a column of minhashes, its signature: "
        f"{count(length, 'row')}, one for each hash function.",
    )
    rows = zip(*walk.signatures.columns.values(), strict=True)
    lines = [[f"h{i}", *row] for i, row in enumerate(rows, start=1)]
    page.table(["", *page.labels], lines[:MAX_LINES])
    page.say_more(length - MAX_LINES, "row")


def _show_buckets(page: Page, walk: Walk, banding: str, rows: int) -> None:
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
                piece = shortened(" ".join(map(written, bucket)), TEXT_WIDTH // 2)
                lines.append([band.number, span, piece, page.label(*names)])
    page.table(["band", "rows", "bucket", "documents"], lines[:MAX_LINES])
    page.say_more(len(lines) - MAX_LINES, "bucket")
    if not lines:
        page.say("None: no two columns are equal in all rows of a band.")


def _show_candidates(page: Page, walk: Walk) -> None:
    every = len(walk.verification.similarities)
    page.step(
        "Candidates",
        "Two documents that share a bucket in at least one band are a candidate. "
        f"Here {len(walk.candidates)} of {count(every, 'pair')}; only candidates are compared.",
    )
    lines = []
    for pair, bands in sorted(walk.candidates.items()):
        numbers = shortened(", ".join(map(str, bands)), TEXT_WIDTH)
        lines.append([page.label(*pair), len(bands), numbers])
    page.table(["pair", "bands shared", "which"], lines)


def _show_verified(page: Page, walk: Walk, threshold: float) -> None:
    page.step(
        "Verified pairs",
        f"Each candidate is compared exactly. From {threshold:g} up it is a pair; below, it is "
        "a false positive: not similar enough, and in one bucket all the same.",
    )
    verdicts = dict.fromkeys(walk.verification.pairs, "pair")
    verdicts |= dict.fromkeys(walk.verification.false_positives, "false positive")
    exact = by_similarity(walk.verification.similarities)
    lines = [[page.label(*pair), s, verdicts[pair]] for pair, s in exact if pair in verdicts]
    page.table(["candidate", "exact", "verdict"], lines)
    if not lines:
        page.say("There was no candidate to verify.")


def _show_curve(page: Page, bands: int, rows: int) -> None:
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


def _show_missed(page: Page, walk: Walk, bands: int, rows: int, threshold: float) -> None:
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


def _show_sketches(page: Page, walk: Walk) -> None:
    page.step(
        "Another road: the cosine",
        f"A document is also a vector, of how often each {page.element} occurs, and two are as "
        "similar as the angle between them is small. A random hyperplane has each vector above it "
        f"(+) or below (-); {textbook.HYPERPLANES} of them make a sketch.",
    )
    lines = [[page.label(name), bits] for name, bits in walk.sketches.items() if walk.counts[name]]
    page.table(["", "sketch"], lines)


def _show_angles(page: Page, walk: Walk) -> None:
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
