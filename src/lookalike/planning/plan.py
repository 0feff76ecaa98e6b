"""From a threshold, a recall and a corpus to the bands and the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.plots.shapes import BINS
from lookalike.base.wording import CHANCE_DIGITS, count, floor, in_full, quoted, setting
from lookalike.planning.bandings import (
    AT_ONCE,
    MAX_GIVEN_ROWS,
    MAX_ROWS,
    agreement_of,
    cheapest,
    cheapest_bits,
    fitting,
    pairs_passed,
    pairs_seen,
    path_of,
)
from lookalike.planning.curves import (
    Cascade,
    Errors,
    cosine_of_bits,
    errors,
)
from lookalike.planning.plan_curves import plan_curves, sampled_pairs
from lookalike.planning.recall import BitPath, Chance, RowPath
from lookalike.planning.sampling import TYPICAL, Background
from lookalike.planning.showing import chances_html
from lookalike.sketches.hyperplanes import FINGERPRINT_BITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.base.plots.shapes import Curve, Histogram
    from lookalike.planning.bandings import Costs
    from lookalike.settings import Settings

__all__ = ["Plan", "given_cascade", "plan", "plan_for", "plan_of_blocks"]


class Point(NamedTuple):
    """What becomes of a pair of one similarity."""

    similarity: float
    candidate: float
    """How likely it is a candidate, by the textbook's curve."""
    found: float
    """How likely it is found, by the whole path."""
    missed: float


@dataclass(frozen=True)
class Plan:
    """How candidates are found, and how likely a pair of each similarity is to be one."""

    threshold: float
    recall: float
    """As asked for."""
    cascade: Cascade | None
    """None where every pair is found by the exact join."""
    origin: Literal["planned", "fitted", "given", "exact", "small", "blocks"]
    documents: int
    background: Background = field(repr=False)
    estimated: int = 0
    """The rows that scores are estimated from; 0 where they are exact."""
    shingle: str | None = None
    shingle_reason: str | None = None
    metric: str = "jaccard"
    what: str = "shingles"
    """What the documents consist of, for a sentence."""
    distance: int | None = None
    """The bits in which two fingerprints may differ, where those are searched for."""
    meetings: float = 0.0
    """Random pairs of fingerprints that are expected to meet in a table."""

    @property
    def bands(self) -> int | None:
        """The number of bands, where the cascade is a plain banding."""
        return self.cascade.bands if self.cascade else None

    @property
    def rows(self) -> int | None:
        """The rows of a band, where the cascade is a plain banding."""
        return self.cascade.rows_per_band if self.cascade else None

    @property
    def signature(self) -> int:
        """The rows of a whole signature."""
        return self.cascade.rows if self.cascade else 0

    def agreement(self, similarity: float) -> float:
        """Tell how likely a pair of this similarity agrees in a row: in a minhash, or in a bit."""
        return agreement_of(self.metric, self._checked(similarity))

    def _checked(self, similarity: float) -> float:
        """Refuse what is no similarity; cosines begin at -1."""
        least = -1 if self.metric == "cosine" else 0
        if not _is_number(similarity) or not least <= float(similarity) <= 1:
            raise SettingsError(
                f"{quoted(similarity)} is no similarity: use a number from {least} to 1, as 0.8"
            )
        return float(similarity)

    @property
    def half(self) -> float | None:
        """The similarity at which a pair is as likely found as missed."""
        return None if self.cascade is None else self._similarity(self.cascade.half)

    @property
    def rule_of_thumb(self) -> float | None:
        """The similarity at which a row agrees with chance (1/b)^(1/r); None but for a banding."""
        estimate = self.cascade.estimate if self.cascade else None
        return None if estimate is None else self._similarity(estimate)

    def _similarity(self, agreement: float) -> float:
        return cosine_of_bits(agreement) if self.metric == "cosine" else agreement

    @cached_property
    def most_differing(self) -> int:
        """The most of the 256 bits in which a candidate may differ and still be compared."""
        return self._path(self.threshold).prefilter(self.recall)

    def _path(self, similarity: float) -> RowPath | BitPath:
        return path_of(self.metric, similarity, self.background)

    def probability(self, similarity: float) -> float:
        """Tell how likely a pair of this similarity is to be found, by the whole path.

        It must be a candidate, and by its sketches near enough to be compared; by estimates, its
        estimate must reach the threshold. For documents of every length it is no less than told.
        """
        return self.chance(similarity).found

    def chance(self, similarity: float) -> Chance:
        """Tell how likely a pair of this similarity is to be found, and how likely to be missed."""
        similarity = self._checked(similarity)
        if self.distance is not None:
            found = at_least(
                1 - self.distance / FINGERPRINT_BITS, FINGERPRINT_BITS, self.agreement(similarity)
            )
            return Chance(found, 1 - found)
        if self.cascade is None:
            found = float(similarity >= self.threshold)
            return Chance(found, 1 - found)
        path = self._path(similarity)
        if not self.estimated:
            return path.chance(self.cascade, max_differing=self.most_differing)
        least = math.ceil(self.agreement(self.threshold) * self.estimated - 1e-9)
        if isinstance(path, RowPath):
            return path.estimated(self.cascade, self.estimated, least)
        found = path.chance(self.cascade).found
        found *= at_least(least / self.estimated, self.estimated, self.agreement(similarity))
        return Chance(found, 1 - found)

    def errors(self, threshold: float) -> Errors:
        """Weigh misses and false candidates, were all similarities, or all angles, as likely."""
        cascade = self.cascade or Cascade((("or", 1),))
        return errors(cascade, self.agreement(threshold))

    def candidate(self, similarity: float) -> float:
        """Tell how likely a pair of this similarity becomes a candidate: the textbook's curve."""
        return self.cascade.probability(self.agreement(similarity)) if self.cascade else 1.0

    @property
    def false_candidates(self) -> float:
        """Random pairs that are expected to become candidates and to fail the exact check."""
        if self.cascade is None or self.distance is not None:
            return self.meetings
        pairs = self.documents * (self.documents - 1) / 2
        seen = pairs_seen(self.metric, self.background, pairs)
        return errors(self.cascade, self.agreement(self.threshold), seen).false_candidates

    @property
    def false_comparisons(self) -> float:
        """Those of them that are expected to be compared, as their sketches are near."""
        if self.cascade is None or self.estimated or self.distance is not None:
            return self.false_candidates
        pairs = self.documents * (self.documents - 1) / 2
        seen = pairs_seen(self.metric, self.background, pairs)
        passed = pairs_passed(self.metric, seen, self.most_differing)
        return errors(self.cascade, self.agreement(self.threshold), passed).false_candidates

    @property
    def compared(self) -> str:
        """Say by what documents are compared: Jaccard of chars:5 shingles, cosine of vectors."""
        means = "Jaccard" if self.metric == "jaccard" else "cosine"
        if self.distance is not None:
            means = "fingerprints"
        return f"{means} of {self.compared_units}"

    @property
    def compared_units(self) -> str:
        """Say what of the documents is compared: chars:5 shingles, tokens, vectors."""
        if self.shingle == "tokens" and self.what == "shingles":
            return self.shingle
        return f"{self.shingle} {self.what}"

    def score(self, means: str | None = None) -> str:
        """Say by what, and who chose that; `means` is another measure on the same shingles."""
        compared = self.compared if means is None else f"{means} of {self.compared_units}"
        if self.shingle_reason is None:
            return compared
        given = self.shingle_reason == "as given"
        return f"{compared}, {'as given' if given else 'chosen for this corpus'}"

    def sentence(self) -> str:
        """Say the plan in a sentence or two."""
        shingles = f" of {self.shingle} {self.what}" if self.shingle else ""
        if self.distance is not None:
            return (
                f"Fingerprints of {FINGERPRINT_BITS} bits{shingles}: every pair that differs in at "
                f"most {count(self.distance, 'bit')} is found, by "
                f"{count(self.signature, 'table')}."
            )
        if self.cascade is None:
            few = ""
            if self.origin == "small" and self.documents > 1:
                few = f"all of the {count(self.documents, 'distinct document')} are compared; "
            return (
                f"Exact join{shingles}: {few}every pair at or above {in_full(self.threshold)} is "
                "found, without sketches."
            )
        row, sketch = ("bit", "sketches") if self.metric == "cosine" else ("row", "signatures")
        if self.bands is not None:
            what = f"{count(self.bands, 'band')} of {count(self.rows or 0, row)}"
        else:
            what = f"Cascade {self.cascade}"
        found = self.probability(self.threshold)
        asked = ""
        # Bands that were given were not chosen for a recall.
        if self.origin != "given":
            asked = f" ({'' if found >= self.recall else 'below the '}{in_full(self.recall)} asked)"
        checked = f", by scores estimated from {self.estimated} {row}s" if self.estimated else ""
        return (
            f"{what}{shingles}, {sketch} of {count(self.signature, row)}: a pair at "
            f"{in_full(self.threshold)} is found with probability {self._stated(found)} or more"
            f"{asked}{checked}, "
            f"about {count(round(self.false_candidates), 'false candidate')} expected among "
            f"{count(self.documents, 'document')}{self._dismissed()}.{self._fitting()}"
        )

    def _stated(self, found: float) -> str:
        """Write a chance with no fewer digits than the recall that was asked for."""
        asked = len(in_full(self.recall).partition(".")[2])
        return floor(found, max(CHANCE_DIGITS, asked))

    def curve_words(self) -> str:
        """Say what the columns of the curve are, in a line or two."""
        row, sketches = ("bit", "sketches") if self.metric == "cosine" else ("row", "signatures")
        first = (
            f"A candidate agrees in every {row} of some band"
            if self.bands is not None
            else "A candidate agrees as the cascade asks"
        )
        threshold = in_full(self.threshold)
        if self.estimated:
            return f"{first}; it is found if the score estimated for it reaches {threshold}."
        return (
            f"{first}; it is compared exactly if its {sketches} are also near enough. Only what is "
            f"then at least {threshold} is found, the rest is rejected."
        )

    def _fitting(self) -> str:
        """Say why a length has these bands, and which have the recall if these do not."""
        if self.origin != "fitted":
            return ""
        row = "bit" if self.metric == "cosine" else "row"
        why = (
            f" It has the fewest weighted errors, by area, that so many {row}s allow: misses from "
            f"{in_full(self.threshold)} up, and false candidates below."
        )
        if self.probability(self.threshold) >= self.recall:
            return why
        return f"{why} A recall of {in_full(self.recall)} takes {self._for_the_recall()}."

    def _for_the_recall(self) -> str:
        """Name what is planned for the same recall where no length is given."""
        from lookalike.settings import Settings

        row, sketch = ("bit", "sketches") if self.metric == "cosine" else ("row", "signatures")
        settings = Settings(threshold=self.threshold, recall=self.recall, metric=self.metric)
        try:
            planned = plan_for(settings, self.documents, self.background)
        except SettingsError:
            return f"more than {count(MAX_ROWS, row)}"
        if planned.cascade is None:
            return "the exact join"
        bands, rows = count(planned.bands or 0, "band"), count(planned.rows or 0, row)
        found = f"{bands} of {rows}, {sketch} of {count(planned.signature, row)}"
        if (planned.rows or 0) < (self.rows or 0):
            found += f": bands of fewer {row}s, with more false candidates, and no length given"
        return found

    def _dismissed(self) -> str:
        if self.estimated:
            return ""
        by = "sketches" if self.metric == "cosine" else "signatures"
        return f", of which the {by} rule out all but {self.false_comparisons:,.0f}"

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as plain values, with the background as a histogram."""
        return {
            "sentence": self.sentence(),
            "threshold": self.threshold,
            "recall": self.recall,
            "cascade": str(self.cascade) if self.cascade else None,
            "bands": self.bands,
            "rows": self.rows,
            "signature": self.signature,
            "probability_at_threshold": self.probability(self.threshold),
            "false_candidates": self.false_candidates,
            "origin": self.origin,
            "documents": self.documents,
            "estimated": self.estimated,
            "shingle": self.shingle,
            "shingle_reason": self.shingle_reason,
            "metric": self.metric,
            "what": self.what,
            "distance": self.distance,
            "meetings": self.meetings,
            "background": self.background.as_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Plan:
        """Make the plan that `as_dict` gave; the background is known to three digits."""
        cascade = plain["cascade"]
        return cls(
            threshold=plain["threshold"],
            recall=plain["recall"],
            cascade=None if cascade is None else Cascade.parse(cascade),
            origin=plain["origin"],
            documents=plain["documents"],
            background=Background.from_dict(plain["background"]),
            estimated=plain["estimated"],
            shingle=plain["shingle"],
            shingle_reason=plain["shingle_reason"],
            metric=plain["metric"],
            what=plain["what"],
            distance=plain["distance"],
            meetings=plain["meetings"],
        )

    def curves(self) -> list[Curve]:
        """Give the curve of candidates and that of the whole path, as points."""
        return plan_curves(self)

    def histogram(self, bins: int = BINS) -> Histogram | None:
        """Count the pairs of the corpus by similarity, as its sample has them; None without one."""
        return sampled_pairs(self, bins)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves with Matplotlib, over the pairs of the corpus, and give the axes.

        They are drawn on axes that are given, or on new ones.
        """
        from lookalike.base.plots.pictures import draw_plan

        sampled = self.histogram()
        threshold = None if self.distance is not None else self.threshold
        return draw_plan(self.curves(), [sampled] if sampled else [], ax, threshold=threshold)

    def _repr_html_(self) -> str:
        """Show the plan in a notebook: its sentence, its curves, and its chances folded below."""
        from lookalike.base.html import block, paragraph
        from lookalike.base.plots.svg import curve_svg

        parts = [paragraph(self.sentence())]
        threshold = None if self.distance is not None else self.threshold
        parts.append(curve_svg(self.curves(), self.histogram(), threshold=threshold))
        if self.cascade is not None and self.distance is None:
            columns = ("similarity", "candidate", "found" if self.estimated else "compared")
            parts.append(chances_html(columns, [point[:3] for point in self.table()]))
        return block(*parts)

    def table(self) -> list[Point]:
        """Give what becomes of pairs of similarities around the threshold."""
        steps = {round(0.1 * i, 1) for i in range(1, 10)} | {self.threshold}
        return [Point(s, self.candidate(s), *self.chance(s)) for s in sorted(steps)]


def at_least(threshold: float, rows: int, similarity: float) -> float:
    """Tell how likely the share of equal rows, each equal with this chance, reaches a threshold."""
    least = math.ceil(threshold * rows - 1e-9)
    if similarity in (0.0, 1.0):
        return float(similarity == 1 or least == 0)
    heads, tails = math.log(similarity), math.log1p(-similarity)
    ways = math.lgamma(rows + 1)
    return math.fsum(
        math.exp(
            ways - math.lgamma(k + 1) - math.lgamma(rows - k + 1) + k * heads + (rows - k) * tails
        )
        for k in range(least, rows + 1)
    )


def plan(
    threshold: float = 0.8,
    recall: float = 0.99,
    *,
    documents: int = 1_000_000,
    background: Background | float | None = None,
    shingles: float | None = None,
    bands: int | None = None,
    rows: int | None = None,
    cascade: str | None = None,
    signature: int | None = None,
    miss_weight: float | None = None,
    metric: str = "jaccard",
) -> Plan:
    """Choose bands and rows.

    By default those of least expected cost with which a pair at the threshold is found with at
    least the recall; with `signature`, the best that so many rows allow, `miss_weight` (0.5)
    towards fewer misses or fewer false candidates; or `bands` and `rows`, or a `cascade`, as given.
    `background` is the similarity of random documents, `shingles` how many a document has.
    """
    from lookalike.settings import Settings, check_share

    settings = Settings(
        threshold=threshold, recall=recall, bands=bands, rows=rows, cascade=cascade, metric=metric
    )
    if isinstance(documents, bool) or not isinstance(documents, Integral) or documents < 0:
        raise SettingsError(f"{setting('documents', documents)}: use a whole number from 0")
    documents = int(documents)
    if not isinstance(background, Background):
        mean = TYPICAL.mean if background is None else background
        check_share("background", mean, "0.05")
        if shingles is not None and not (_is_number(shingles) and 0 < shingles < math.inf):
            raise SettingsError(f"{setting('shingles', shingles)}: use a number above 0, as 1000")
        background = Background(np.array([float(mean)]), float(shingles or TYPICAL.shingles))
    if signature is None:
        if miss_weight is not None:
            raise SettingsError(
                f"{setting('miss_weight')} is for a fixed signature: give its rows, as "
                f"{setting('signature', 128)}"
            )
        return plan_for(settings, documents, background)
    if not settings.planned:
        raise SettingsError(
            f"{setting('signature')} is for a plan: leave out {setting('bands')}, "
            f"{setting('rows')} and {setting('cascade')}"
        )
    if isinstance(signature, bool) or not isinstance(signature, Integral) or signature < 1:
        raise SettingsError(
            f"{setting('signature', signature)}: use a whole number of "
            f"{'bits' if metric == 'cosine' else 'rows'}, as 128"
        )
    miss_weight = 0.5 if miss_weight is None else miss_weight
    check_share("miss_weight", miss_weight, "0.5")
    threshold, recall = settings.threshold, settings.recall
    fitted = fitting(agreement_of(metric, threshold), int(signature), float(miss_weight))
    return Plan(threshold, recall, fitted, "fitted", documents, background, metric=metric)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def plan_for(
    settings: Settings,
    documents: int,
    background: Background,
    *,
    small: bool = False,
    costs: Costs = AT_ONCE,
) -> Plan:
    """Choose, or take as given, the bands and rows of a job on a measured corpus.

    A `small` one is compared as a whole.
    """
    threshold, recall, metric = settings.threshold, settings.recall, settings.metric
    if not settings.planned:
        given = given_cascade(settings)
        return Plan(threshold, recall, given, "given", documents, background, metric=metric)
    if settings.exact or small:
        origin: Literal["exact", "small"] = "exact" if settings.exact else "small"
        return Plan(threshold, recall, None, origin, documents, background, metric=metric)
    choose = cheapest_bits if metric == "cosine" else cheapest
    chosen = choose(threshold, recall, documents, background, costs)
    return Plan(threshold, recall, chosen, "planned", documents, background, metric=metric)


def plan_of_blocks(
    distance: int, documents: int, background: Background, tables: int, meetings: float
) -> Plan:
    """Say how fingerprints within a distance are found: with a table for each choice of blocks.

    `meetings` is how many random pairs are expected to meet in them.
    """
    either = Cascade((("or", tables),))
    plan = Plan(0.0, 1.0, either, "blocks", documents, background, metric="cosine")
    return replace(plan, distance=distance, meetings=meetings)


def given_cascade(settings: Settings) -> Cascade:
    """Give the bands and rows, or the cascade, that settings ask for."""
    if settings.cascade is not None:
        given = Cascade.parse(settings.cascade)
    else:
        given = Cascade.banding(settings.bands or 0, settings.rows or 0)
    if given.rows > MAX_GIVEN_ROWS:
        what = "sketches" if settings.metric == "cosine" else "signatures"
        row = "bit" if settings.metric == "cosine" else "row"
        raise SettingsError(
            f"'{given}' needs {what} of {count(given.rows, row)}, more than {MAX_GIVEN_ROWS:,}: "
            "use fewer bands or rows"
        )
    return given
