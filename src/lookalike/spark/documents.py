"""The documents of a frame: each with the name of its content, and each content once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it
from pyspark.sql import types as T  # noqa: N812

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting
from lookalike.cluster.keep import column_of
from lookalike.read.batches import listed
from lookalike.spark.arrow import NODE_BYTES
from lookalike.spark.columns import preference
from lookalike.spark.frames import collected, mapped
from lookalike.spark.guessing import FirstPass
from lookalike.spark.naming import (
    CONTENTS,
    LISTED_COPIES,
    NAMES,
    SLICED,
    first_names,
    gather,
    ids_of_needed,
    pack_contents,
    slice_named,
    unpack_contents,
    unpack_named,
)
from lookalike.spark.values import value_of
from lookalike.spark.workers import NAMED, identify, problems

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from lookalike.recipe import CanonicalForm, Recipe
    from lookalike.spark.columns import Source
    from lookalike.spark.frames import Frames

__all__ = ["Identified", "identified"]

DOCUMENT_BYTES = 64
"""Of the id and the name of a document, about."""
ENOUGH = 2
"""How many times as many names as are asked for are looked at, before all are."""


@dataclass(frozen=True)
class Identified:
    """Documents by the names of their contents."""

    source: Source
    form: CanonicalForm
    first_pass: FirstPass
    contents: DataFrame
    """slice, contents, copied: each content once, without the empty one, by slice; kept, packed."""
    slices: int
    read: int
    empty: int
    distinct: int
    most_copies: int
    """Of one content, that of the most documents."""
    with_copies: bool = True
    """Whether documents of contents that several have are listed."""
    id_bytes: int = 0
    """Of an id that is text, on average."""
    ordered: DataFrame | None = None
    """node, place, copies, bytes: contents whose first documents are not those of the first ids."""

    @property
    def by_id(self) -> bool:
        """Whether documents are preferred by their ids alone."""
        return self.ordered is None

    def place_of(self, id_column: str) -> Column:
        """Give the place of a content by the id of its first document, where ids alone count."""
        keys = (key.alias(f"k{i}") for i, key in enumerate(self.source.ids.keys(id_column)))
        return F.struct(*keys, F.col(id_column).alias("id"))

    @property
    def nodes(self) -> DataFrame:
        """node, place, copies, bytes: each content once, without the empty one.

        The place sorts as documents are preferred, and its last field is the id of the one that
        stands for all.
        """
        if self.ordered is not None:
            return self.ordered
        return self._unpacked().withColumn("place", self.place_of("id"))

    @property
    def filled(self) -> DataFrame:
        """The documents that are not empty: node, id."""
        named = self.first_pass.named
        schema = f"node binary, id {self.source.ids.type_name}"
        return mapped(named, unpack_named, schema, ("node", "id"))

    @property
    def copied(self) -> DataFrame:
        """Those of contents that several documents have: node, id."""
        return self.filled.join(self.several.select("node"), "node")

    @property
    def copies(self) -> DataFrame | None:
        """Those of contents that several documents have, packed: copied; None if not all are."""
        if not self.with_copies or self.ordered is not None or self.most_copies > LISTED_COPIES:
            return None
        return self.contents.where("copied is not null").select("copied")

    @property
    def several(self) -> DataFrame:
        """Contents that several documents have: node, id, copies; the id is that of the first."""
        return self._unpacked(several=True).select("node", "id", "copies")

    def first(self, count: int) -> pa.Table:
        """Give so many contents of the smallest names, in their order: node, id, copies, bytes."""
        below = None
        if self.distinct > ENOUGH * count:
            # Names are spread evenly.
            below = (ENOUGH * count << 8 * NODE_BYTES) // self.distinct
        found = self._first(count, below)
        return found if below is None or len(found) == count else self._first(count, None)

    def _first(self, count: int, below: int | None) -> pa.Table:
        bound = None if below is None else below.to_bytes(NODE_BYTES, "big")
        packed = self.contents.select("contents")
        found = mapped(packed, first_names, self._columns, bound, count).toArrow()
        return found.sort_by("node").slice(0, count).combine_chunks()

    def ids_of(self, needed: DataFrame) -> DataFrame:
        """Give what chunks need, packed by slice, one by one with the ids: chunk, node, id."""
        kind = F.lit(NAMES).alias("kind")
        contents = self.contents.select("slice", kind, F.col("contents").alias("rows"))
        together = contents.unionByName(needed).repartitionById(self.slices, "slice")
        together = together.sortWithinPartitions("slice", "kind")
        schema = f"chunk bigint, node binary, id {self.source.ids.type_name}"
        return mapped(together, ids_of_needed, schema)

    @property
    def _columns(self) -> str:
        return f"node binary, id {self.source.ids.type_name}, copies bigint, bytes bigint"

    def _unpacked(self, *, several: bool = False) -> DataFrame:
        packed = self.contents.select("contents")
        return mapped(packed, unpack_contents, self._columns, several)


def identified(
    source: Source,
    form: CanonicalForm,
    frames: Frames,
    *,
    guess: Recipe | None,
    keep: str = "first",
    order: str | None,
    with_copies: bool = True,
) -> Identified:
    """Read all documents once, name them by their contents, and sketch them by a guess.

    With `with_copies`, documents of contents that several have are listed, unless they are many.
    """
    value = column_of(keep)
    frame, types = source.frame, {}
    others = []
    for name, column in (("order", order), ("value", value)):
        if column is None:
            continue
        if column not in frame.columns:
            raise SourceError(
                f"there is no column {quoted(column)} for "
                f"{setting('order' if name == 'order' else 'keep')}: there are "
                f"{listed(frame.columns)}"
            )
        value_column, kind = value_of(source, column, what=name)
        others.append(value_column.alias(name))
        types[name] = kind
    by_length = keep in ("longest", "shortest")
    given = form, by_length, None if guess is None else guess.dump()
    made = frames.keep(mapped(source.documents(*others), identify, NAMED, *given))
    first_pass = FirstPass(guess, made)
    source, read, empty, id_bytes = _checked(source, form, made)
    if read == empty and not source.documents().where("content is not null").limit(1).count():
        # As locally, it is not known what documents are of which none was seen.
        form = replace(form, kind=None, dimension=0)
    # Of a content the first id travels, and that of each copy.
    slices = frames.partitions_for(read, DOCUMENT_BYTES + 2 * id_bytes)
    by_id = keep == "first" and order is None
    key = "S16" if isinstance(source.ids.kind, T.StringType) else "i8"
    counted = source.ids.counted
    sliced = mapped(first_pass.named, slice_named, SLICED, slices, counted, by_id)
    how = counted, key, with_copies
    contents = frames.keep(_gathered(sliced, slices, how))
    ordered = None
    if not by_id:
        fields = [
            T.StructField("node", T.BinaryType()),
            T.StructField("id", source.ids.kind),
            T.StructField("bytes", T.LongType()),
            *(T.StructField(name, kind) for name, kind in types.items()),
            *([T.StructField("characters", T.LongType())] if by_length else []),
        ]
        names = tuple(field.name for field in fields)
        rows = mapped(first_pass.named, unpack_named, T.StructType(fields), names)
        columns = preference(keep, source.ids, types.get("order"), types.get("value"))
        ordered = frames.keep(_contents(rows, columns))
    distinct, most_copies = _counted(contents, source)
    if ordered is not None:
        each = ordered.select("node", F.col("place.id").alias("id"), "copies", "bytes")
        sliced = mapped(each, pack_contents, SLICED, slices)
        contents = frames.keep(_gathered(sliced, slices, how))
        distinct, most_copies = _counted(contents, source)
    counts = read, empty, distinct, most_copies
    known = *counts, with_copies, id_bytes, ordered
    return Identified(source, form, first_pass, contents, slices, *known)


def _gathered(sliced: DataFrame, slices: int, given: tuple[bool, str, bool]) -> DataFrame:
    """Bring contents and ids together by slice, with what `naming.gather` is given."""
    together = sliced.repartitionById(slices, "slice").sortWithinPartitions("slice", "kind")
    return mapped(together, gather, CONTENTS, *given)


def _counted(contents: DataFrame, source: Source) -> tuple[int, int]:
    """Count the contents, and the most documents of one; refuse ids that repeat."""
    (found,) = collected(
        contents.agg(
            F.sum("distinct").alias("distinct"),
            F.max("most_copies").alias("copies"),
            F.sum("repeated").alias("repeated"),
        )
    )
    if found["repeated"]:
        by_id = source.documents().groupBy("id").agg(F.count("*").alias("n"))
        (repeated,) = collected(by_id.where("n > 1").agg(F.min("id").alias("id")))
        raise SourceError(
            f"id {quoted(repeated['id'])} appears in more than one row of column "
            f"{quoted(source.id_column)}: name another by {setting('id')}, or give every document "
            "an id of its own"
        )
    return found["distinct"] or 0, found["copies"] or 0


def _contents(documents: DataFrame, columns: list[Column]) -> DataFrame:
    """Give each content once, with the first place of its documents in the order of preference."""
    place = F.struct(*(one.alias(f"k{i}") for i, one in enumerate(columns)), F.col("id"))
    return documents.groupBy("node").agg(
        F.min(place).alias("place"), F.count("*").alias("copies"), F.max("bytes").alias("bytes")
    )


def _checked(source: Source, form: CanonicalForm, made: DataFrame) -> tuple[Source, int, int, int]:
    """Refuse ids that are missing, and documents that cannot be read.

    Counts all, and those that are empty, and gives the bytes of an id.
    """
    names = ("rows", "empty", "unnamed", "problems", "id_bytes")
    counted = F.bool_and("counted").alias("counted")
    (found,) = collected(made.agg(*(F.sum(name).alias(name) for name in names), counted))
    if found["unnamed"]:
        raise SourceError(
            f"{found['unnamed']:,} rows have no id in column {quoted(source.id_column)}: give "
            "every document one"
        )
    if found["problems"]:
        schema = f"id {source.ids.type_name}, problem string"
        wrong = mapped(source.documents(), problems, schema, form)
        (first,) = collected(wrong.agg(F.min(F.struct("id", "problem")).alias("first")))
        problem = first["first"]
        raise SourceError(
            f"document {quoted(problem['id'])} {problem['problem']}: fix or remove it"
        )
    ids = replace(source.ids, counted=bool(found["counted"]))
    read = found["rows"] or 0
    id_bytes = (found["id_bytes"] or 0) // max(read, 1)
    return replace(source, ids=ids), read, found["empty"] or 0, id_bytes
