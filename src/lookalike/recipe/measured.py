"""What a sample of a corpus tells, whatever the threshold: the metric and how similar chance makes.

It can be written down, so that another search of the same corpus need not measure again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import LookalikeError
from lookalike.planning.sampling import Background
from lookalike.recipe import saved

if TYPE_CHECKING:
    from lookalike.recipe.metrics import Metric
    from lookalike.settings import Settings

__all__ = ["Measured", "deciding"]

DECIDING = ("shingle", "metric", "weights", "multiset", "seed", "ignore", "max_df", "simhash")
"""Settings that decide what is measured, on the same documents in the same form."""


@dataclass(frozen=True)
class Measured:
    """The metric with its tables, and how similar random documents are by it."""

    metric: Metric
    background: Background
    name: str
    """Of the shingle, for the plan."""
    what: str
    """What the documents consist of, for the plan."""
    reason: str | None
    """Why this shingle."""
    warnings: list[str]

    def dump(self, decided_by: dict[str, Any]) -> str:
        """Write it as JSON, with what decided it."""
        background = self.background
        close = background.close
        content = {
            "format": saved.FORMAT,
            "decided_by": decided_by,
            "metric": saved.plain_metric(self.metric),
            "similarities": saved.packed(background.similarities),
            "shingles": background.shingles,
            "dense": background.dense,
            "close": None if close is None else saved.packed(close),
            "close_pairs": background.close_pairs,
            "name": self.name,
            "what": self.what,
            "reason": self.reason,
            "warnings": self.warnings,
        }
        text = json.dumps(content, sort_keys=True)
        return json.dumps({"digest": _digest(text), "content": content}, sort_keys=True)

    @classmethod
    def load(cls, text: str | bytes, decided_by: dict[str, Any]) -> Measured | None:
        """Read what `dump` wrote; None where something else decides, or where it is damaged."""
        try:
            whole = json.loads(text)
            plain = whole["content"]
            if whole["digest"] != _digest(json.dumps(plain, sort_keys=True)):
                return None
            if plain["format"] != saved.FORMAT or plain["decided_by"] != decided_by:
                return None
            close = plain["close"]
            background = Background(
                saved.unpacked(plain["similarities"], np.float64),
                plain["shingles"],
                plain["dense"],
                None if close is None else saved.unpacked(close, np.float64),
                plain["close_pairs"],
            )
            metric = saved.metric_of(plain["metric"])
        except (LookalikeError, LookupError, OSError, TypeError, ValueError):
            return None
        facts = plain["name"], plain["what"], plain["reason"], plain["warnings"]
        return cls(metric, background, *facts)


def deciding(settings: Settings, *, close: bool) -> dict[str, Any]:
    """Give all that decides what is measured of a corpus.

    `close` says whether a larger sample is looked at too.
    """
    given = settings.as_dict()
    return {name: given[name] for name in DECIDING} | {"close": close}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
