"""What the results of `find` and `dedup` on frames have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe
    from lookalike.settings import Settings
    from lookalike.spark.job import SparkJob

__all__ = ["SparkResult"]


@dataclass(frozen=True)
class SparkResult:
    """A job that ran, and how it was done."""

    job: SparkJob
    max_rounds: int | None = None

    @property
    def plan(self) -> Plan:
        """Bands, rows, and how surely they find a pair."""
        return self.job.plan

    @property
    def recipe(self) -> Recipe:
        """How documents became keys and scores."""
        return self.job.recipe

    @property
    def settings(self) -> Settings:
        """The settings that ran."""
        return self.job.resolved()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before trusting the result."""
        return tuple(self.job.choice.chosen.warnings)

    def release(self) -> None:
        """Let go of what is kept on the workers; frames that were not read yet are made anew."""
        self.job.frames.release()
