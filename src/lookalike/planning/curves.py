"""The S-curves: how likely a pair of a given similarity is to become a candidate.

A row of two signatures agrees with probability s, the similarity of the pair. A step `and:n`
joins n of what lies below it and wants all of them to agree, `or:n` wants at least one:

    and:n    p -> p^n
    or:n     p -> 1 - (1 - p)^n

A banding is `and:rows or:bands`; a longer chain is a cascade. Both p and 1 - p are carried
through every step, so that a chance of 1e-30 of finding a pair, or of missing it, keeps its
digits: one minus a number that is nearly one would lose them all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.base.errors import SettingsError
from lookalike.base.plots.shapes import Curve
from lookalike.base.wording import count, quoted
from lookalike.planning.checked import Similarity, check_whole, like_given, unit_values
from lookalike.planning.showing import HasCurve

__all__ = [
    "Cascade",
    "Distribution",
    "Errors",
    "approximation",
    "cosine_of_bits",
    "equal_bits",
    "errors",
    "miss",
    "probability",
    "signature_bytes",
    "table",
    "threshold_estimate",
    "threshold_half",
]

MAX_ROWS = 10**9
BYTES_PER_ROW = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cascade(HasCurve):
    """AND and OR steps over minhash rows, from the rows upward.

    Neighbours of one kind are one step: `and:2 and:3` is `and:6`.
    """

    steps: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        """Check the steps and join neighbours of one kind."""
        joined: list[tuple[str, int]] = []
        if not isinstance(self.steps, (tuple, list)):
            raise SettingsError(
                f"{quoted(self.steps)} is not the steps of a cascade: give pairs, as "
                "(('and', 5), ('or', 20)), or use Cascade.parse('and:5 or:20')"
            )
        for step in self.steps:
            match step:
                case ("and" | "or" as kind, Integral() as n) if n >= 1 and not isinstance(n, bool):
                    below = joined.pop()[1] if joined and joined[-1][0] == kind else 1
                    joined.append((kind, below * int(n)))
                case (kind, n):
                    raise _not_a_step(f"{kind}:{n}")
                case _:
                    raise _not_a_step(step)
        if not joined:
            raise SettingsError("a cascade needs a step or more, for example 'and:5 or:20'")
        object.__setattr__(self, "steps", tuple(joined))
        if self.rows > MAX_ROWS:
            raise SettingsError(
                f"cascade '{self}' needs {self.rows} rows, more than {MAX_ROWS}: take smaller "
                "steps, for example 'and:5 or:20'"
            )

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read steps separated by blanks or commas: `and:4 or:4 and:4 or:4`, `bands:20 rows:5`."""
        if not isinstance(spec, str):
            raise _not_a_step(spec)
        steps = []
        for token in spec.lower().replace(",", " ").split():
            kind, _, n = token.partition(":")
            if not (n.isascii() and n.isdigit() and len(n) <= len(str(MAX_ROWS))):
                raise _not_a_step(token)
            steps.append((kind, int(n)))
        if sorted(kind for kind, _ in steps) == ["bands", "rows"]:
            return cls.banding(**dict(steps))
        return cls(tuple(steps))

    @classmethod
    def banding(cls, bands: int, rows: int) -> Self:
        """Build the plain banding: all the rows of a band, in at least one of the bands."""
        check_whole("bands", bands, example=20)
        check_whole("rows", rows, example=5)
        return cls((("and", rows), ("or", bands)))

    def __str__(self) -> str:
        """Spell the cascade as `parse` reads it."""
        return " ".join(f"{kind}:{n}" for kind, n in self.steps)

    def name(self, metric: str = "jaccard") -> str:
        """Name the cascade for a person: its steps, and of a banding the bands and rows."""
        if not self.is_banding:
            return str(self)
        row = "bit" if metric == "cosine" else "row"
        return f"{self}: {count(self.bands or 0, 'band')} of {count(self.rows_per_band or 0, row)}"

    @property
    def rows(self) -> int:
        """How many minhash rows the whole cascade needs."""
        return math.prod(n for _, n in self.steps)

    @property
    def is_banding(self) -> bool:
        """Whether this is `and:r or:b`, which a table of buckets per band can carry out."""
        return [kind for kind, _ in self.steps] == ["and", "or"]

    @property
    def bands(self) -> int | None:
        """The b of `and:r or:b`; None for any other cascade."""
        return self.steps[1][1] if self.is_banding else None

    @property
    def rows_per_band(self) -> int | None:
        """The r of `and:r or:b`; None for any other cascade."""
        return self.steps[0][1] if self.is_banding else None

    @property
    def half(self) -> float:
        """The similarity at which a pair is as likely found as missed."""
        return self.similarity_at(0.5)

    @property
    def estimate(self) -> float | None:
        """The textbook's estimate of the threshold, (1/b)^(1/r); None but for a banding."""
        return (1 / self.steps[1][1]) ** (1 / self.steps[0][1]) if self.is_banding else None

    def probability(self, s: Similarity) -> Similarity:
        """Tell how likely a pair of similarity s is to become a candidate."""
        p = unit_values("a similarity", s)
        return like_given(s, self._climb(p, 1 - p)[0])

    def miss(self, s: Similarity) -> Similarity:
        """Tell how likely a pair of similarity s is to be missed: 1 - P(s), every digit of it."""
        p = unit_values("a similarity", s)
        return like_given(s, self._climb(p, 1 - p)[1])

    def similarity_at(self, chance: Similarity) -> Similarity:
        """Tell at which similarity a pair becomes a candidate with this probability.

        Every step has an inverse, so this needs no search.
        """
        p = unit_values("a probability", chance)
        return like_given(chance, self._descend(p, 1 - p))

    def steepest(self) -> float:
        """Tell the similarity at which the curve climbs fastest, to about seven digits."""
        low, high, best = 0.0, 1.0, 0.0
        for _ in range(4):
            chances = np.linspace(low, high, 1001)
            similarities = self._descend(chances, 1 - chances)
            top = int(np.argmax(self._slope(similarities)))
            low, high = float(chances[max(top - 1, 0)]), float(chances[min(top + 1, 1000)])
            best = float(similarities[top])
        return best

    def curve(self, threshold: float | None = None, *, metric: str = "jaccard") -> Curve:
        """Give the curve as points, with its areas of false positives and false negatives.

        They are told apart by a threshold; without one, by where the chance is one half.
        """
        cosine = metric == "cosine"
        split = self.half if threshold is None else threshold
        if threshold is not None and cosine:
            split = equal_bits(threshold)
        wrong = errors(self, split)
        # Where the curve is steep, points that are as far apart in height as others in width.
        chances = np.linspace(0, 1, 101)
        steep = self._descend(chances, 1 - chances)
        points: Floats = np.union1d(np.union1d(chances, steep), [split])
        estimate = self.estimate
        if cosine:
            estimate = None if estimate is None else cosine_of_bits(estimate)
        return Curve(
            label=self.name(metric),
            similarities=np.asarray(cosine_of_bits(points) if cosine else points, np.float64),
            chances=self._climb(points, 1 - points)[0],
            half=cosine_of_bits(self.half) if cosine else self.half,
            estimate=estimate,
            split=cosine_of_bits(split) if cosine else split,
            false_positives=wrong.false_candidates,
            false_negatives=wrong.missed,
            metric=metric,
        )

    def _climb(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        for kind, n in self.steps:
            p, q = _step(kind, p, q, n)
        return p, q

    def _descend(self, p: Floats, q: Floats) -> Floats:
        for kind, n in reversed(self.steps):
            p, q = _step(kind, p, q, 1 / n)
        return p

    def _slope(self, s: Floats) -> Floats:
        slope, p, q = np.ones_like(s), s, 1 - s
        for kind, n in self.steps:
            slope = slope * n * (p if kind == "and" else q) ** (n - 1)
            p, q = _step(kind, p, q, n)
        return slope


@dataclass(frozen=True, eq=False)
class Distribution:
    """How many pairs there are of each similarity: points, and the weight of each.

    The weights are counts or shares; what is expected of them comes in the same unit.
    """

    similarities: Floats
    weights: Floats

    def __post_init__(self) -> None:
        """Check both, and keep copies that nobody can change."""
        similarities = unit_values("a similarity", self.similarities).copy()
        weights = np.array(self.weights, dtype=np.float64)
        if similarities.ndim != 1 or similarities.shape != weights.shape:
            raise SettingsError(
                "a distribution needs one weight for each similarity, not shapes "
                f"{weights.shape} and {similarities.shape}: for example [0.2, 0.9] and [40, 2]"
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise SettingsError("the weights of a distribution are numbers from 0 upward")
        for name, values in (("similarities", similarities), ("weights", weights)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def from_samples(cls, similarities: ArrayLike, *, pairs: float | None = None) -> Self:
        """Weigh measured similarities alike: one each, or `pairs` in all where they stand for more.

        A thousand random pairs of ten thousand documents stand for 49,995,000.
        """
        points = np.asarray(similarities, dtype=np.float64)
        weight = 1.0 if pairs is None else pairs / max(points.size, 1)
        return cls(points, np.full(points.shape, weight))

    @classmethod
    def from_histogram(cls, counts: ArrayLike, edges: ArrayLike) -> Self:
        """Take what `numpy.histogram` returns, each count spread evenly over its bin.

        A curve can rise from end to end within one bin: its middle alone would not do.
        """
        heights, bounds = np.asarray(counts, dtype=np.float64), np.asarray(edges, dtype=np.float64)
        if heights.ndim != 1 or bounds.shape != (heights.size + 1,) or (np.diff(bounds) <= 0).any():
            raise SettingsError(
                "a histogram needs rising edges, one more than its counts: "
                "for example counts [40, 2] and edges [0, 0.5, 1]"
            )
        within = (np.arange(32) + 0.5) / 32
        points = bounds[:-1, None] + np.diff(bounds)[:, None] * within
        return cls(points.ravel(), np.repeat(heights / 32, 32))


@dataclass(frozen=True)
class Errors:
    """What a cascade gets wrong at a threshold, in expectation.

    A share of nothing is 0. Counts are in the unit of the distribution's weights; for the uniform
    one they are the areas under and over the curve.
    """

    missed_share: float
    """The share of the pairs at or above the threshold that are missed: false negatives."""
    false_share: float
    """The share of the candidates that are below the threshold: work for the exact check."""
    passed_share: float
    """The share of the pairs below the threshold that become candidates: false positives."""
    missed: float
    false_candidates: float
    candidates: float


def errors(cascade: Cascade, threshold: float, distribution: Distribution | None = None) -> Errors:
    """Weigh false negatives and false positives over a distribution of similarities.

    Without one, every similarity is as likely as any other: `missed` is the area over the curve
    from the threshold to 1, `false_candidates` the area under it from 0 to the threshold.
    """
    unit_values("a threshold", threshold)
    if distribution is None:
        others, other_weights = _quadrature(cascade, 0.0, threshold)
        alike, alike_weights = _quadrature(cascade, threshold, 1.0)
    else:
        above = distribution.similarities >= threshold
        others, other_weights = distribution.similarities[~above], distribution.weights[~above]
        alike, alike_weights = distribution.similarities[above], distribution.weights[above]
    found_chance, missed_chance = cascade._climb(alike, 1 - alike)
    missed = float((alike_weights * missed_chance).sum())
    found = float((alike_weights * found_chance).sum())
    passed = float((other_weights * cascade.probability(others)).sum())
    return Errors(
        missed_share=_share(missed, missed + found),
        false_share=_share(passed, passed + found),
        passed_share=_share(passed, float(other_weights.sum())),
        missed=missed,
        false_candidates=passed,
        candidates=passed + found,
    )


def probability(s: Similarity, bands: int, rows: int) -> Similarity:
    """Tell how likely a pair of similarity s shares a bucket: 1 - (1 - s^rows)^bands."""
    return Cascade.banding(bands, rows).probability(s)


def miss(s: Similarity, bands: int, rows: int) -> Similarity:
    """Tell how likely a pair of similarity s shares no bucket: (1 - s^rows)^bands."""
    return Cascade.banding(bands, rows).miss(s)


def approximation(s: Similarity, bands: int, rows: int) -> Similarity:
    """Tell 1 - exp(-bands s^rows), which `probability` comes to where s^rows is small."""
    (_, r), (_, b) = Cascade.banding(bands, rows).steps
    return like_given(s, -np.expm1(-b * unit_values("a similarity", s) ** r))


def threshold_estimate(bands: int, rows: int) -> float:
    """Estimate the threshold of a banding as the textbook does: (1/bands)^(1/rows)."""
    return cast("float", Cascade.banding(bands, rows).estimate)


def threshold_half(bands: int, rows: int) -> float:
    """Tell the threshold of a banding: the similarity found with probability 1/2."""
    return Cascade.banding(bands, rows).half


def equal_bits(cosine: Similarity) -> Similarity:
    """Tell how likely a random hyperplane has two vectors on one side: 1 - angle/pi.

    This is the chance of a bit of a sketch to be equal, as the similarity itself is of a minhash.
    """
    numbers = np.asarray(cosine, dtype=np.float64)
    if not ((numbers >= -1) & (numbers <= 1)).all():
        raise SettingsError(f"a cosine lies between -1 and 1, for example 0.8, not {cosine}")
    # By the half angle, which keeps its digits where the cosine is near 1 or -1.
    angle = 2 * np.arctan2(np.sqrt(1 - numbers), np.sqrt(1 + numbers))
    return like_given(cosine, 1 - angle / np.pi)


def cosine_of_bits(share: Similarity) -> Similarity:
    """Tell the cosine of two vectors that agree in this share of their bits."""
    return like_given(share, np.cos(np.pi * (1 - unit_values("a share of bits", share))))


def table(
    cascade: Cascade, at: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
) -> list[tuple[float, float]]:
    """List similarities, each with its probability of becoming a candidate."""
    return [(s, cascade.probability(s)) for s in at]


def signature_bytes(documents: int, rows: int) -> int:
    """Tell how much memory the signatures of so many documents take."""
    check_whole("documents", documents, least=0, example=100_000)
    check_whole("rows", rows, example=100)
    return documents * rows * BYTES_PER_ROW


def _step(kind: str, p: Floats, q: Floats, n: float) -> tuple[Floats, Floats]:
    """Raise p to the n-th power for `and`, q = 1 - p for `or`, and give both with full digits."""
    if kind == "or":
        q, p = _step("and", q, p, n)
        return p, q
    with np.errstate(divide="ignore"):
        logarithm = n * np.where(q < 0.5, np.log1p(-q), np.log(p))
        return np.where(q < 0.5, np.exp(logarithm), p**n), -np.expm1(logarithm)


def _quadrature(cascade: Cascade, low: float, high: float) -> tuple[Floats, Floats]:
    """Give points and weights that integrate the curve, and one minus it, from low to high.

    The pieces end where the odds P : 1 - P have grown by a given factor, so that none of them
    holds more of the rise, or of either tail, than the Gauss-Legendre rule can follow.
    """
    odds = np.arange(-700.0, 701.0, 20.0)
    ends = cascade._descend(np.exp(-np.logaddexp(0, -odds)), np.exp(-np.logaddexp(0, odds)))
    ends = np.clip(np.concatenate(([0.0], ends, [1.0])), low, high)
    nodes, weights = _gauss_legendre()
    widths = np.diff(ends)[:, None]
    points = ends[:-1, None] + widths * nodes
    return np.clip(points, low, high).ravel(), (widths * weights).ravel()


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(32)
    return (nodes + 1) / 2, weights / 2


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _not_a_step(text: object) -> SettingsError:
    return SettingsError(
        f"{quoted(text)} is not a step of a cascade: write and:n or or:n with a whole n from 1 "
        "upward, or bands:n rows:n, for example 'and:5 or:20'"
    )
