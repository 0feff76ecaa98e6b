"""The settings of a job, frozen, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["METRICS", "WEIGHTS", "Settings", "check_share"]

FORMAT = 2
"""Raised whenever the same settings begin to give other numbers."""
METRICS = ("jaccard", "cosine")
WEIGHTS = ("counts", "binary", "log", "tf-idf")
MOST_DISTANCE = 16
"""Bits of 64 within which fingerprints are searched for; of more, nearly every pair would do."""


class Digest(str):
    """The digest of a text that itself is not known any more."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What decides the result of a job, and nothing that does not (threads, files, colours)."""

    threshold: float = 0.8
    """Pairs at or above this similarity are reported."""
    recall: float = 0.99
    """A pair at the threshold is found with at least this probability; 1 compares exactly."""
    shingle: str = "auto"
    """`auto`, `chars:K` or `words:K`."""
    multiset: bool = False
    """Count how often a shingle occurs, not only whether."""
    bands: int | None = None
    rows: int | None = None
    """Bands and rows as given, instead of a plan."""
    cascade: str | None = None
    """Any AND/OR cascade, as `and:4 or:4 and:2`, instead of a plan."""
    estimate: bool = False
    """Score by signatures and skip the exact check."""
    normalise: str = "default"
    """`default`, `none`, or some of keep-case, strip-accents, strip-digits, strip-punctuation."""
    seed: int = 1
    """Of the random hash functions."""
    ignore: str | None = None
    """A text whose shingles do not count."""
    max_df: float | None = None
    """Shingles in more than this share of the distinct documents do not count."""
    containment: float | None = None
    """Report instead which documents are inside others, to at least this share."""
    metric: str = "jaccard"
    """`jaccard` of sets, or `cosine` of weighted shingles or of vectors."""
    weights: str | None = None
    """With the cosine of text: `counts`, `binary`, `log` or `tf-idf`; None for counts."""
    simhash: int | None = None
    """Report instead pairs whose 64-bit fingerprints differ in at most so many bits."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("shingle", "normalise", "metric", "cascade", "ignore", "weights"):
            value = getattr(self, name)
            needed = name in ("shingle", "normalise", "metric")
            if not isinstance(value, str) and (needed or value is not None):
                raise SettingsError(f"{name} {value!r} is of type {type(value).__name__}, not text")
        for name in ("multiset", "estimate"):
            if not isinstance(value := getattr(self, name), bool):
                raise SettingsError(f"{name} {value!r}: use True or False")
        for name in ("bands", "rows"):
            value = getattr(self, name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))
            elif value is not None:
                raise SettingsError(f"{name} {value!r}: use a whole number from 1, as 5")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SettingsError(f"seed {self.seed!r}: use a whole number, as 1")
        check_share("threshold", self.threshold, "0.8")
        if self.threshold == 0:
            raise SettingsError("threshold 0 makes every pair similar: use one above 0, as 0.8")
        check_share("recall", self.recall, "0.99")
        # A threshold of NumPy's is the same setting as Python's.
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "recall", float(self.recall))
        if (self.bands is None) != (self.rows is None):
            raise SettingsError("bands and rows go together: give both, as bands 20 and rows 5")
        if self.cascade is not None and self.bands is not None:
            raise SettingsError("a cascade and bands with rows exclude each other: give one")
        for name in ("max_df", "containment"):
            if (value := getattr(self, name)) is not None:
                check_share(name.replace("_", "-"), value, "0.1" if name == "max_df" else "0.9")
                object.__setattr__(self, name, float(value))
        if self.containment == 0:
            raise SettingsError("containment 0 makes every pair one: use one above 0, as 0.9")
        if self.containment is not None and self.estimate:
            raise SettingsError("containment is compared exactly: leave out the estimate")
        self._check_metric()
        if self.recall == 1 and self.planned and self.estimate:
            raise SettingsError(
                "recall 1 compares exactly and has no signatures to estimate from: "
                "use a recall below 1 with estimates, as 0.99"
            )

    def _check_metric(self) -> None:
        if self.metric not in METRICS:
            raise SettingsError(f"metric {self.metric!r} is unknown: use {' or '.join(METRICS)}")
        if self.weights is not None and self.weights not in WEIGHTS:
            raise SettingsError(f"weights {self.weights!r} are unknown: use {', '.join(WEIGHTS)}")
        distance = self.simhash
        if distance is not None:
            if isinstance(distance, bool) or not isinstance(distance, Integral):
                raise SettingsError(f"simhash {distance!r}: use a whole number of bits, as 3")
            if not 0 <= distance <= MOST_DISTANCE:
                raise SettingsError(f"simhash {distance}: use from 0 to {MOST_DISTANCE} bits, as 3")
            object.__setattr__(self, "simhash", int(distance))
            if self.estimate or not self.planned:
                raise SettingsError(
                    "simhash finds every pair by blocks of its own: leave out bands, rows, the "
                    "cascade and the estimate"
                )
        angular = self.metric == "cosine" or distance is not None
        if self.weights is not None and not angular:
            raise SettingsError("weights are for the cosine and for simhash: a set has none")
        if self.multiset and angular:
            raise SettingsError(
                "a multiset is for jaccard: the cosine and simhash count by themselves, see weights"
            )
        if self.containment is not None and angular:
            raise SettingsError("containment is of sets: leave out the cosine and simhash")

    @property
    def planned(self) -> bool:
        """Whether bands and rows are to be chosen, not given."""
        return self.bands is None and self.cascade is None

    @property
    def exact(self) -> bool:
        """Whether every pair is to be found, without sketches."""
        return self.recall == 1 and self.planned

    @property
    def by_sketches(self) -> bool:
        """Whether scores are told from sketches, not from the documents themselves."""
        return self.estimate or self.simhash is not None

    def resolved(
        self, *, shingle: str, normalise: str, cascade: str | None, weights: str | None = None
    ) -> Settings:
        """Give the settings that ran: what `auto` and the plan came to, spelled in one way."""
        given = self if cascade is None or not self.planned else replace(self, cascade=cascade)
        return replace(given, shingle=shingle, normalise=normalise, weights=weights)

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain values; a text to ignore, which may be long, by its digest."""
        plain = asdict(self)
        if self.ignore is not None and not isinstance(self.ignore, Digest):
            plain["ignore"] = hashlib.sha256(self.ignore.encode()).hexdigest()[:16]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Settings:
        """Make the settings that `as_dict` gave; of a text to ignore the digest is known."""
        ignore = plain.get("ignore")
        return cls(**{**plain, "ignore": None if ignore is None else Digest(ignore)})

    def fingerprint(self) -> str:
        """Name these settings in 16 hexadecimal digits: equal ones alike, others not."""
        # What came later and is not set is left out, so that older fingerprints stay as they are.
        later = {"ignore", "max_df", "containment", "metric", "weights", "simhash"}
        unset = {field.name: field.default for field in fields(self)}
        given = {
            name: value
            for name, value in self.as_dict().items()
            if name not in later or value != unset[name]
        }
        plain = json.dumps({"format": FORMAT, **given}, sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:16]


def check_share(name: str, value: object, example: str) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingsError(f"{name} {value!r} is no number: use one from 0 to 1, as {example}")
    if not 0 <= float(value) <= 1:
        raise SettingsError(f"{name} {float(value):g}: use a number from 0 to 1, as {example}")
