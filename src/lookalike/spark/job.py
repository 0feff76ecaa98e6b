"""The steps that `find` and `dedup` share: identify, choose, encode, bring together, score."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.recipe import CanonicalForm, JoinResources, check
from lookalike.spark.arrow import fixed_column
from lookalike.spark.buckets import Slices, all_pairs, paired, pairs_of_small
from lookalike.spark.choosing import MEMORY, Choice, choice_for
from lookalike.spark.columns import Source
from lookalike.spark.documents import Identified, identified
from lookalike.spark.frames import Frames, mapped
from lookalike.spark.guessing import guessed
from lookalike.spark.links import LINKS, counted_links, pack_links, unpacked_links
from lookalike.spark.packing import PACKED, pack
from lookalike.spark.placing import totals_of
from lookalike.spark.scoring import Content, scored
from lookalike.spark.workers import encode, encode_packed, pack_sketches

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe
    from lookalike.settings import Settings

__all__ = ["SparkJob"]

ENCODED = "node binary, bytes bigint, keys array<bigint>, check binary, data binary"


@dataclass
class SparkJob:
    """The steps of one job, as far as they have run."""

    settings: Settings
    frames: Frames
    documents: Identified
    choice: Choice
    content: Content
    packed_links: DataFrame
    """The similar pairs of distinct documents, each once, packed."""
    counts: dict[str, int]
    seconds: dict[str, float] = field(default_factory=dict)
    large: DataFrame | None = None
    """band, key, node, bytes, check, home: rows of large buckets that are not paired yet."""

    @property
    def links(self) -> DataFrame:
        """The similar pairs of distinct documents one by one, as `links.LINKS` says."""
        return unpacked_links(self.packed_links, self.documents.source.ids)

    @property
    def recipe(self) -> Recipe:
        """The recipe of the job."""
        return self.choice.chosen.recipe

    @property
    def plan(self) -> Plan:
        """The plan that the recipe follows."""
        return self.choice.chosen.plan

    def resolved(self) -> Settings:
        """Give the settings that ran."""
        recipe, plan = self.recipe, self.plan
        planned = plan.cascade if plan.distance is None else None
        return self.settings.resolved(
            shingle=recipe.shingle or self.settings.shingle,
            normalise=str(recipe.form.normalisation),
            cascade=str(planned) if planned else None,
            weights=recipe.weights,
        )

    @classmethod
    def run(
        cls,
        frame: DataFrame,
        settings: Settings,
        *,
        columns: dict[str, Any],
        keep: str = "first",
        order: str | None = None,
        pair_large: bool = True,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> SparkJob:
        """Find the similar pairs of distinct documents; without `pair_large`, of small buckets."""
        check(settings)
        source = Source.of(frame, **columns)
        frames = Frames(frame.sparkSession)
        steps = Steps(progress)
        with steps("read"):
            form = source.form_of(CanonicalForm.of(settings))
            guess = guessed(settings, source, form)
            documents = identified(
                source, form, frames, guess=guess, keep=keep, order=order, with_copies=pair_large
            )
        with steps("plan"):
            choice = choice_for(settings, documents, frames)
        recipe = choice.chosen.recipe
        counts = {
            "read": documents.read,
            "empty": documents.empty,
            "identical": documents.read - documents.empty - documents.distinct,
        }
        large = None
        if recipe.cascade is None:
            content = Content(recipe, documents)
            with steps("compare"):
                links = _every_pair(choice, frames)
                counts["candidates"] = documents.distinct * (documents.distinct - 1) // 2
        else:
            with steps("band"):
                slices = Slices.of(documents.distinct, recipe, frames)
                content, packed = _encoded(documents, recipe, slices, frames)
                met = paired(packed, slices, recipe, frames, every=pair_large)
                if pair_large or met.large is None:
                    pairs = frames.keep(all_pairs(met, recipe, documents.distinct, frames))
                else:
                    pairs, large = frames.keep(pairs_of_small(met)), met.large
                totals = totals_of(pairs)
                counts["candidates"] = totals.pairs
            with steps("compare"):
                links = frames.keep(scored(pairs, totals, content, frames, whole=pair_large))
        with steps("compare"):
            counts["links"] = counted_links(links)
        facts = settings, frames, documents, choice, content
        return cls(*facts, links, counts, steps.seconds, large)


class Steps:
    """The steps of a job as they begin and end, and how long they took."""

    def __init__(self, progress: Callable[[str, int, int], None] | None) -> None:
        """Begin; `progress` hears the name of a step, and how much of it is done."""
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._name, self._began = "", 0.0

    def __call__(self, name: str) -> Steps:
        """Name the step that begins."""
        self._name = name
        return self

    def __enter__(self) -> None:
        """Begin a step."""
        self._began = time.perf_counter()
        if self._progress is not None:
            self._progress(self._name, 0, 1)

    def __exit__(self, *_: object) -> None:
        """End it."""
        took = time.perf_counter() - self._began
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + took
        if self._progress is not None:
            self._progress(self._name, 1, 1)


def _encoded(
    documents: Identified, recipe: Recipe, slices: Slices, frames: Frames
) -> tuple[Content, DataFrame]:
    """Encode all documents: what they are scored by, and their rows of buckets, packed by slice.

    Rows of copies may come more than once, and meet in the buckets.
    """
    if documents.first_pass.serves(recipe):
        sketches = documents.first_pass.sketches
        packed = mapped(sketches, pack_sketches, PACKED, recipe.dump(), slices.count)
        return Content(recipe, documents), packed
    rows = documents.source.documents().drop("id")
    if not recipe.by_sketches:
        packed = mapped(rows, encode_packed, PACKED, recipe.dump(), slices.count)
        return Content(recipe, documents), packed
    made = mapped(rows, encode, ENCODED, recipe.dump())
    first = [F.first(name).alias(name) for name in made.columns if name != "node"]
    sketches = frames.keep(made.groupBy("node").agg(*first))
    keys = F.posexplode("keys").alias("band", "key")
    apart = sketches.select("node", "bytes", "check", keys)
    packed = mapped(apart, pack, PACKED, slices.count)
    return Content(recipe, documents, sketches.select("node", "data")), packed


def _every_pair(choice: Choice, frames: Frames) -> DataFrame:
    """Compare the few documents of a small frame with each other, all of which are sampled."""
    rows = np.arange(len(choice.sample))
    texts = choice.sample.chosen(rows)
    join = choice.chosen.recipe.every(texts, rows, JoinResources(MEMORY))
    found = [join.compare(first, second, None) for first, second in join.blocks]
    ends = [
        np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in found)])
        for name in ("first", "second")
    ]
    a, b = np.minimum(*ends), np.maximum(*ends)
    rows = pa.RecordBatch.from_pydict(
        {
            "a": fixed_column(choice.nodes[a]),
            "b": fixed_column(choice.nodes[b]),
            "a_id": choice.ids.take(pa.array(a)),
            "b_id": choice.ids.take(pa.array(b)),
            "similarity": np.concatenate([np.empty(0), *(one.similarity for one in found)]),
            "members": pa.nulls(len(a), pa.int64()),
            "lowest": pa.nulls(len(a), pa.float64()),
        }
    )
    return frames.of_table(pa.Table.from_batches([pack_links(rows)]), LINKS)
