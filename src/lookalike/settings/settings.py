"""The settings that decide the result of a job, checked before anything is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.settings.options import (
    METRICS,
    RULES,
    WEIGHTS,
    Banded,
    Cleaned,
    Estimated,
    Grouped,
    Measured,
    Normalised,
    Seeded,
    Shingled,
    Similar,
    Weighted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMAT", "Settings", "check_share", "settings_of"]

FORMAT = 2
"""Raised whenever the same settings begin to give other numbers."""
MAX_DISTANCE = 16
"""Bits of 64 within which fingerprints are searched for; of more, nearly every pair would do."""


def settings_of(options: Any, **others: Any) -> Settings:
    """Give the settings among the options of a command, and what the command itself decides."""
    names = {one.name for one in fields(Settings)} & {one.name for one in fields(options)}
    return Settings(**({name: getattr(options, name) for name in names} | others))


class Digest(str):
    """The digest of a text that itself is not known any more."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Settings(
    Seeded, Normalised, Cleaned, Estimated, Weighted, Measured, Banded, Shingled, Grouped, Similar
):
    """What decides the result of a job, and nothing that does not (threads, files, colours)."""

    ignore: str | None = None
    """A text whose shingles do not count."""
    containment: float | None = None
    """Report instead which documents are inside others, to at least this share."""
    rule: str = "similar"
    """For what a document is removed: being similar to a kept one, or contained in one."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        texts = ("shingle", "normalise", "metric", "rule", "cascade", "ignore", "weights", "groups")
        for name in texts:
            value = getattr(self, name)
            needed = name in ("shingle", "normalise", "metric", "rule")
            if not isinstance(value, str) and (needed or value is not None):
                raise SettingsError(
                    f"{setting(name, value)} is of type {type(value).__name__}, not text"
                )
        for name in ("multiset", "estimate"):
            if not isinstance(value := getattr(self, name), bool):
                raise SettingsError(f"{setting(name, value)}: use True or False")
        for name in ("bands", "rows"):
            value = getattr(self, name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))
            elif value is not None:
                raise SettingsError(f"{setting(name, value)}: use a whole number from 1, as 5")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SettingsError(f"{setting('seed', self.seed)}: use a whole number, as 1")
        if not 0 <= self.seed < 1 << 64:
            raise SettingsError(
                f"{setting('seed', self.seed)}: use a whole number from 0 to 2^64 - 1"
            )
        check_share("threshold", self.threshold, "0.8")
        if self.threshold == 0:
            raise SettingsError(
                f"{setting('threshold', 0)} makes every pair similar: use one above 0, as 0.8"
            )
        check_share("recall", self.recall, "0.99")
        # A threshold of NumPy's is the same setting as Python's.
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "recall", float(self.recall))
        if (self.bands is None) != (self.rows is None):
            raise SettingsError(
                f"{setting('bands')} and {setting('rows')} go together: give both, as "
                f"{setting('bands', 20)} and {setting('rows', 5)}"
            )
        if self.cascade is not None and self.bands is not None:
            raise SettingsError(
                f"{setting('cascade')} and {setting('bands')} with {setting('rows')} cannot be "
                "used together: give one"
            )
        self._check_rule()
        if self.recall == 1 and not self.planned:
            raise SettingsError(
                f"{setting('recall', 1)} finds every pair without bands: leave it out, or leave "
                f"out {setting('bands')}, {setting('rows')} and {setting('cascade')}"
            )
        for name in ("max_df", "containment"):
            if (value := getattr(self, name)) is not None:
                check_share(name, value, "0.1" if name == "max_df" else "0.9")
                object.__setattr__(self, name, float(value))
        if self.containment == 0:
            raise SettingsError(
                f"{setting('containment', 0)} makes every pair a result: use one above 0, as 0.9"
            )
        if self.containment is not None and self.estimate:
            raise SettingsError(
                f"{setting('containment')} is compared exactly: leave out {setting('estimate')}"
            )
        self._check_metric()
        if self.recall == 1 and self.planned and self.estimate:
            raise SettingsError(
                f"{setting('recall', 1)} compares exactly and has no signatures to estimate from: "
                f"with {setting('estimate')} use one below 1, as {setting('recall', 0.99)}"
            )

    def _check_rule(self) -> None:
        if self.rule not in RULES:
            raise SettingsError(
                f"{setting('rule', self.rule)} is unknown: use {' or '.join(RULES)}"
            )
        if self.rule != "contained":
            return
        if self.containment is None:
            object.__setattr__(self, "containment", 1.0)
        if not self.planned or (self.threshold, self.recall) != (Similar.threshold, Similar.recall):
            raise SettingsError(
                f"{setting('rule', 'contained')} finds all that is contained, exactly: leave out "
                f"{setting('threshold')}, {setting('recall')}, {setting('bands')}, "
                f"{setting('rows')} and {setting('cascade')}"
            )

    def _check_metric(self) -> None:
        if self.metric not in METRICS:
            raise SettingsError(
                f"{setting('metric', self.metric)} is unknown: use {' or '.join(METRICS)}"
            )
        if self.weights is not None and self.weights not in WEIGHTS:
            raise SettingsError(
                f"{setting('weights', self.weights)} is unknown: use {', '.join(WEIGHTS)}"
            )
        distance = self.simhash
        if distance is not None:
            if isinstance(distance, bool) or not isinstance(distance, Integral):
                raise SettingsError(
                    f"{setting('simhash', distance)}: use a whole number of bits, as 3"
                )
            if not 0 <= distance <= MAX_DISTANCE:
                raise SettingsError(
                    f"{setting('simhash', distance)}: use from 0 to {MAX_DISTANCE} bits, as 3"
                )
            object.__setattr__(self, "simhash", int(distance))
            if self.estimate or not self.planned:
                raise SettingsError(
                    f"{setting('simhash')} finds every pair by blocks of its own: leave out "
                    f"{setting('bands')}, {setting('rows')}, {setting('cascade')} and "
                    f"{setting('estimate')}"
                )
            for name, default in (
                ("threshold", Similar.threshold),
                ("recall", Similar.recall),
                ("seed", Seeded.seed),
            ):
                if getattr(self, name) != default:
                    raise SettingsError(
                        f"{setting(name)} does nothing with {setting('simhash')}: leave it out"
                    )
        angular = self.metric == "cosine" or distance is not None
        if self.weights is not None and not angular:
            raise SettingsError(
                f"{setting('weights')} is for {setting('metric', 'cosine')} and for "
                f"{setting('simhash')}: a set has none"
            )
        if self.multiset and angular:
            raise SettingsError(
                f"{setting('multiset')} is for {setting('metric', 'jaccard')}: the cosine and "
                f"simhash count by themselves, see {setting('weights')}"
            )
        if self.containment is not None and angular:
            raise SettingsError(
                f"{setting('containment')} is of sets: leave out {setting('metric', 'cosine')} and "
                f"{setting('simhash')}"
            )

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
        later |= {"rule", "groups"}
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
        raise SettingsError(
            f"{setting(name, value)} is not a number: use one from 0 to 1, as {example}"
        )
    if not 0 <= float(value) <= 1:
        raise SettingsError(f"{setting(name, value)}: use a number from 0 to 1, as {example}")
