"""A recipe that is guessed before documents are read, so that one pass names and sketches them.

The recipe of a job is chosen by a sample that is known only after all documents were read. What it
makes of a document is mostly known before: signatures do not depend on bands and rows, and the
shingle of a few hundred documents is that of all. Where the guess was wrong, all is sketched again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.base.errors import LookalikeError
from lookalike.recipe import Sample, choose
from lookalike.spark.first_pass import SKETCH_ROWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import CanonicalForm, Recipe
    from lookalike.settings import Settings
    from lookalike.spark.columns import Source

__all__ = ["FirstPass", "guessed"]

SEEN_DOCUMENTS = 200
SEEN_CHARACTERS = 1 << 14
"""Of each, by which the shingle is guessed."""


@dataclass(frozen=True)
class FirstPass:
    """What the first pass made of the documents beside their names."""

    guess: Recipe | None
    made: DataFrame
    """named, sketches, texts: of batches, and of tasks; null where a row has none."""

    def serves(self, recipe: Recipe) -> bool:
        """Tell whether the sketches are those of the recipe, as far as it needs them."""
        return (
            self.guess is not None
            and not recipe.by_sketches
            and recipe.cascade is not None
            and recipe.cascade.rows <= SKETCH_ROWS
            and recipe.sketching() == self.guess.sketching()
        )

    @property
    def named(self) -> DataFrame:
        """The documents of each batch with their names: named."""
        return self.made.where("named is not null").select("named")

    @property
    def sketches(self) -> DataFrame:
        """The sketches of each batch: sketches."""
        return self.made.where("sketches is not null").select("sketches")

    @property
    def texts(self) -> DataFrame:
        """The documents of each task with the smallest fingerprints: texts."""
        return self.made.where("texts is not null").select("texts")


def guessed(settings: Settings, source: Source, form: CanonicalForm) -> Recipe | None:
    """Guess the recipe; None where sketches by a guess would seldom serve.

    Bits of hyperplanes cost more the more of them are made, and how many are needed is not known.
    """
    if settings.metric != "jaccard" or settings.simhash is not None or settings.estimate:
        return None
    seen = pa.array([], pa.string())
    if settings.shingle == "auto" and form.kind == "text":
        heads = source.documents().where(F.col("content").isNotNull())
        heads = heads.select(F.substring("content", 1, SEEN_CHARACTERS).alias("content"))
        column = heads.limit(SEEN_DOCUMENTS).toArrow()["content"]
        seen = pa.concat_arrays(column.chunks) if len(column) else seen
    try:
        sample = replace(Sample.of_array(seen, settings), form=form)
        return choose(settings, sample).recipe
    except LookalikeError:
        # What is wrong with a document is said of the whole frame, by its id.
        return None
