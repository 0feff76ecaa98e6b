"""What a job is told of documents that were seen before, in an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.base.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lookalike.job.read import Described
    from lookalike.planning.plan import Plan
    from lookalike.recipe import CanonicalForm, Recipe
    from lookalike.text.normalise import Canonical

__all__ = ["LOOK_UP", "Best", "Seen"]

LOOK_UP = "look_up"
"""The stage in which documents are looked up."""


class Best(NamedTuple):
    """Of documents that were looked up, those with a similar one, and the most similar of each."""

    rows: list[int]
    similarity: list[float]
    of: list[int]
    """In which of the indexes it is."""
    ids: list[str]


@dataclass(frozen=True)
class Seen:
    """What a job is told of indexes: how they compare documents, and what they say of new ones."""

    recipe: Recipe
    plan: Plan
    prepare: Callable[[Canonical], Any]
    """Makes of documents what is asked for, on several threads at once."""
    ask: Callable[[Any], Best]
    whole_ids: Callable[[], bool]
    """Whether all ids of the indexes are whole numbers."""
    reading: dict[str, Any]
    """What a work folder must agree with: which indexes, by which recipe."""
    addresses: Sequence[str]
    grows: bool = False
    """What is kept is added to one of them: what they were asked once is not asked again."""
    described: Described | None = None

    def check(self, form: CanonicalForm) -> None:
        """Refuse documents of another kind than those of the indexes."""
        mine = self.recipe.form
        if form.kind is None:
            return
        names = " and ".join(self.addresses)
        if form.kind != mine.kind:
            raise SourceError(
                f"the source holds {_described(form)} and {names} {_described(mine)}: give an "
                "index of the same"
            )
        if form.dimension != mine.dimension:
            raise SourceError(
                f"the vectors of the source have {form.dimension:,} numbers and those of {names} "
                f"{mine.dimension:,}: give an index of the same"
            )


def _described(form: CanonicalForm) -> str:
    names = {"text": "texts", "tokens": "lists of tokens", "sparse": "sparse vectors"}
    return names.get(form.kind or "", str(form.kind))
