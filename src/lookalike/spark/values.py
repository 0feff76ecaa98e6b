"""The values of a column that documents are preferred or ordered by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it
from pyspark.sql import types as T  # noqa: N812

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting
from lookalike.spark.columns import WHOLE, column_named
from lookalike.spark.frames import collected

if TYPE_CHECKING:
    from pyspark.sql import Column

    from lookalike.spark.columns import Source

__all__ = ["value_of"]

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
"""What counts as a number where it is written as text."""


def value_of(source: Source, name: str, *, what: str) -> tuple[Column, T.DataType]:
    """Give the values of a column as they sort, null where there is none, and their type.

    Numbers that are written as text sort as numbers, if all are.
    """
    option = setting("order" if what == "order" else "keep")
    kind = source.frame.schema[name].dataType
    column = column_named(name)
    if isinstance(kind, (*WHOLE, T.BooleanType)):
        return _needed(source, column.cast("bigint"), name, option), T.LongType()
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        given = F.when(~F.isnan(column), column.cast("double"))
        return _needed(source, given, name, option), T.DoubleType()
    if isinstance(kind, T.DecimalType):
        return _needed(source, column, name, option), kind
    if isinstance(kind, (T.DateType, T.TimestampType, T.TimestampNTZType)):
        return _needed(source, column.cast("string"), name, option), T.StringType()
    if not isinstance(kind, T.StringType):
        raise SourceError(
            f"column {quoted(name)} is of type {kind.simpleString()}, which has no order: name one "
            f"of numbers or of text in {option}"
        )
    return _written(source, F.when(column != "", column), name, option)


def _needed(source: Source, column: Column, name: str, option: str) -> Column:
    (found,) = collected(
        source.frame.select(column.alias("value")).agg(
            F.count("*").alias("rows"), F.count("value").alias("values")
        )
    )
    if found["rows"] and not found["values"]:
        raise SourceError(
            f"no document has a value in column {quoted(name)}: name another in {option}"
        )
    return column


def _written(source: Source, column: Column, name: str, option: str) -> tuple[Column, T.DataType]:
    """Give values that are written as text: numbers where all are, text where none is."""
    is_number = F.col("value").rlike(NUMBER)
    (found,) = collected(
        source.frame.select(column.alias("value")).agg(
            F.count("*").alias("rows"),
            F.count("value").alias("values"),
            F.sum(is_number.cast("bigint")).alias("numbers"),
            F.min(F.when(~is_number, F.col("value"))).alias("wrong"),
            F.bool_and(F.col("value").rlike(r"^\s*[+-]?\d{1,18}\s*$")).alias("whole"),
        )
    )
    if found["rows"] and not found["values"]:
        raise SourceError(
            f"no document has a value in column {quoted(name)}: name another in {option}"
        )
    numbers = found["numbers"] or 0
    if numbers == found["values"] and numbers:
        if found["whole"]:
            return F.trim(column).cast("bigint"), T.LongType()
        return F.trim(column).cast("double"), T.DoubleType()
    if numbers:
        raise SourceError(
            f"column {quoted(name)} holds values that cannot be compared with each other, numbers "
            f"and {quoted(found['wrong'])}: name one of numbers, or of text, in {option}"
        )
    return column, T.StringType()
