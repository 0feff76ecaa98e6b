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
from lookalike.spark.values import value_of
from lookalike.spark.workers import identify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import CanonicalForm
    from lookalike.spark.columns import Source
    from lookalike.spark.frames import Frames

__all__ = ["Identified", "identified"]


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


def identified(
    source: Source, form: CanonicalForm, frames: Frames, *, keep: str = "first", order: str | None
) -> Identified:
    """Read all documents once, and name them by their contents."""
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
        given, kind = value_of(source, column, what=name)
        others.append(given.alias(name))
        types[name] = kind
    fields = [
        T.StructField("id", source.ids.kind),
        *(T.StructField(name, kind) for name, kind in types.items()),
        T.StructField("node", T.BinaryType()),
        T.StructField("bytes", T.LongType()),
        T.StructField("characters", T.LongType()),
        T.StructField("problem", T.StringType()),
    ]
    made = mapped(source.documents(*others), identify, T.StructType(fields), form)
    documents = frames.keep(made)
    source, read, empty = _checked(source, documents)
    if read == empty and not source.documents().where("content is not null").limit(1).count():
        # As locally, it is not known what documents are of which none was seen.
        form = replace(form, kind=None, dimension=0)
    columns = preference(keep, source.ids, types.get("order"), types.get("value"))
    place = F.struct(*(one.alias(f"k{i}") for i, one in enumerate(columns)), F.col("id"))
    nodes = (
        documents.where("bytes > 0")
        .groupBy("node")
        .agg(
            F.min(place).alias("place"), F.count("*").alias("copies"), F.max("bytes").alias("bytes")
        )
    )
    return Identified(source, form, documents, frames.keep(nodes), read, empty)


def _checked(source: Source, documents: DataFrame) -> tuple[Source, int, int]:
    """Refuse ids that repeat or are missing, and documents that cannot be read; count the rest."""
    is_text = isinstance(source.ids.kind, T.StringType)
    digits = F.col("id").rlike("^[0-9]+$") if is_text else F.lit(False)
    by_id = documents.groupBy("id").agg(
        F.count("*").alias("n"),
        F.sum((F.col("bytes") == 0).cast("bigint")).alias("empty"),
        F.min(F.when(F.col("problem").isNotNull(), F.struct("id", "problem"))).alias("problem"),
    )
    (found,) = collected(
        by_id.agg(
            F.sum("n").alias("read"),
            F.sum("empty").alias("empty"),
            F.max("n").alias("most"),
            F.min(F.when(F.col("n") > 1, F.col("id"))).alias("repeated"),
            F.sum(F.when(F.col("id").isNull(), F.col("n"))).alias("unnamed"),
            F.min("problem").alias("problem"),
            F.bool_and(digits).alias("counted"),
        )
    )
    where = f"column {quoted(source.id_column)}"
    if found["unnamed"]:
        raise SourceError(
            f"{found['unnamed']:,} rows have no id in {where}: give every document one"
        )
    if (found["most"] or 0) > 1:
        raise SourceError(
            f"id {quoted(found['repeated'])} appears in more than one row of {where}: name another "
            f"by {setting('id')}, or give every document an id of its own"
        )
    if found["problem"] is not None:
        problem = found["problem"]
        raise SourceError(
            f"document {quoted(problem['id'])} {problem['problem']}: fix or remove it"
        )
    ids = replace(source.ids, counted=bool(found["counted"]))
    return replace(source, ids=ids), found["read"] or 0, found["empty"] or 0
