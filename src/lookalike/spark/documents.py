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
from lookalike.spark.columns import preference
from lookalike.spark.frames import collected, mapped
from lookalike.spark.guessing import FirstPass
from lookalike.spark.values import value_of
from lookalike.spark.workers import identify, problems

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lookalike.recipe import CanonicalForm, Recipe
    from lookalike.spark.columns import Source
    from lookalike.spark.frames import Frames

__all__ = ["Identified", "identified"]

DOCUMENT_BYTES = 64
"""Of the id and the name of a document, about."""


@dataclass(frozen=True)
class Identified:
    """Documents by the names of their contents."""

    source: Source
    form: CanonicalForm
    documents: DataFrame
    """id, node, bytes: a row for each document, empty ones too."""
    nodes: DataFrame
    """node, place, copies, bytes: each content once, without the empty one. The place sorts as
    documents are preferred, and its last field is the id of the one that stands for all."""
    read: int
    empty: int
    by_id: bool
    """Documents are preferred by their ids alone."""
    first_pass: FirstPass

    def place_of(self, id_column: str) -> Column:
        """Give the place of a content by the id of its first document, where ids alone count."""
        keys = (key.alias(f"k{i}") for i, key in enumerate(self.source.ids.keys(id_column)))
        return F.struct(*keys, F.col(id_column).alias("id"))

    @property
    def filled(self) -> DataFrame:
        """The documents that are not empty: node, id."""
        return self.documents.where("bytes > 0").select("node", "id")

    @property
    def copied(self) -> DataFrame:
        """Those of contents that several documents have: node, id."""
        return self.filled.join(self.several.select("node"), "node")

    @property
    def several(self) -> DataFrame:
        """Contents that several documents have: node, id, copies; the id is that of the first."""
        first = F.col("place.id").alias("id")
        return self.nodes.where("copies > 1").select("node", first, "copies")


def identified(
    source: Source,
    form: CanonicalForm,
    frames: Frames,
    *,
    guess: Recipe | None,
    keep: str = "first",
    order: str | None,
) -> Identified:
    """Read all documents once, name them by their contents, and sketch them by a guess."""
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
    fields = [
        T.StructField("id", source.ids.kind),
        *(T.StructField(name, kind) for name, kind in types.items()),
        T.StructField("node", T.BinaryType()),
        T.StructField("bytes", T.LongType()),
    ]
    by_length = keep in ("longest", "shortest")
    if by_length:
        fields.append(T.StructField("characters", T.LongType()))
    named_by = [field.name for field in fields]
    fields += [T.StructField(name, T.BinaryType()) for name in ("sketches", "texts")]
    given = form, by_length, None if guess is None else guess.dump()
    made = frames.keep(mapped(source.documents(*others), identify, T.StructType(fields), *given))
    named = made.select(*named_by)
    source, read, empty = _checked(source, form, named)
    # All that is asked of documents later is by content: they are brought together once.
    parts = frames.partitions_for(read, DOCUMENT_BYTES)
    documents = frames.keep(named.repartition(parts, "node"))
    if read == empty and not source.documents().where("content is not null").limit(1).count():
        # As locally, it is not known what documents are of which none was seen.
        form = replace(form, kind=None, dimension=0)
    columns = preference(keep, source.ids, types.get("order"), types.get("value"))
    by_id = keep == "first" and order is None
    by_number = by_id and isinstance(source.ids.kind, T.LongType)
    nodes = frames.keep(_contents(documents.where("bytes > 0"), columns, by_number=by_number))
    first_pass = FirstPass(guess, made)
    return Identified(source, form, documents, nodes, read, empty, by_id, first_pass)


def _contents(documents: DataFrame, columns: list[Column], *, by_number: bool) -> DataFrame:
    """Give each content once, with the first place of its documents in the order of preference."""
    by_content = documents.groupBy("node")
    counts = F.count("*").alias("copies"), F.max("bytes").alias("bytes")
    if by_number:
        # Spark groups by hash where it keeps numbers alone, and sorts all rows where it does not.
        found = by_content.agg(F.min("id").alias("id"), *counts)
        place = F.struct(F.col("id").alias("k0"), "id").alias("place")
        return found.select("node", place, "copies", "bytes")
    place = F.struct(*(one.alias(f"k{i}") for i, one in enumerate(columns)), F.col("id"))
    return by_content.agg(F.min(place).alias("place"), *counts)


def _checked(source: Source, form: CanonicalForm, documents: DataFrame) -> tuple[Source, int, int]:
    """Refuse ids that repeat or are missing, and documents that cannot be read; count the rest."""
    is_text = isinstance(source.ids.kind, T.StringType)
    digits = F.col("id").rlike("^[0-9]+$") if is_text else F.lit(False)
    # Numbers alone, so that Spark groups by hash; what is wrong is looked for where something is.
    by_id = documents.groupBy("id").agg(
        F.count("*").alias("n"),
        F.count_if(F.col("bytes") == 0).alias("empty"),
        F.count_if(F.col("bytes").isNull()).alias("problems"),
    )
    (found,) = collected(
        by_id.agg(
            F.sum("n").alias("read"),
            F.sum("empty").alias("empty"),
            F.max("n").alias("most"),
            F.sum(F.when(F.col("id").isNull(), F.col("n"))).alias("unnamed"),
            F.sum("problems").alias("problems"),
            F.bool_and(digits).alias("counted"),
        )
    )
    where = f"column {quoted(source.id_column)}"
    if found["unnamed"]:
        raise SourceError(
            f"{found['unnamed']:,} rows have no id in {where}: give every document one"
        )
    if (found["most"] or 0) > 1:
        (repeated,) = collected(by_id.where("n > 1").agg(F.min("id").alias("id")))
        raise SourceError(
            f"id {quoted(repeated['id'])} appears in more than one row of {where}: name another "
            f"by {setting('id')}, or give every document an id of its own"
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
    return replace(source, ids=ids), found["read"] or 0, found["empty"] or 0
