"""Which columns of a frame are the id and the document, and how ids and preferences sort."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it
from pyspark.sql import types as T  # noqa: N812

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting
from lookalike.cluster.keep import column_of
from lookalike.read.batches import BETWEEN, NO_ID, listed, pick_id_column, pick_text_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lookalike.recipe import CanonicalForm

__all__ = ["Ids", "Source", "column_named", "descending", "preference"]

WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
NO_IDS = (T.BinaryType, T.BooleanType, T.ArrayType, T.MapType, T.StructType, T.NullType)
TURNED_HEX = "FEDCBA9876543210"
AFTER_HEX = "~"
"""Sorts after every digit, so that of two texts the longer one comes first when turned round."""


def column_named(name: str) -> Column:
    """Give a column by its name, which may hold dots."""
    escaped = name.replace("`", "``")
    return F.col(f"`{escaped}`")


def descending(column: Column, kind: T.DataType) -> Column:
    """Give values that sort upwards as those of the column sort downwards."""
    if isinstance(kind, WHOLE):
        # The smallest number has no negative one.
        return F.bitwise_not(column.cast("bigint"))
    if isinstance(kind, T.StringType):
        digits = F.hex(F.encode(column, "UTF-8"))
        return F.concat(F.translate(digits, TURNED_HEX[::-1], TURNED_HEX), F.lit(AFTER_HEX))
    return -column


@dataclass(frozen=True)
class Ids:
    """What ids are, and how they sort: as those of the local engine do."""

    kind: T.DataType
    """Whole numbers or text."""
    counted: bool = False
    """All are text that is made of digits, and sort as people count."""

    def keys(self, column: str = "id") -> list[Column]:
        """Give the columns by which ids sort, the last of which is the id itself."""
        given = F.col(column)
        if not self.counted:
            return [given]
        digits = F.regexp_replace(given, "^0+", "")
        return [F.length(digits), digits, given]

    def key_types(self) -> list[T.DataType]:
        """Give the types of those columns."""
        if not self.counted:
            return [self.kind]
        return [T.LongType(), T.StringType(), T.StringType()]

    @property
    def type_name(self) -> str:
        """Give the type as a schema names it."""
        return str(self.kind.simpleString())


@dataclass(frozen=True)
class Source:
    """A frame of documents: which column is the id, and what a document is."""

    frame: DataFrame
    id_column: str
    ids: Ids
    content: Column
    content_type: T.DataType
    columns: tuple[str, ...] = ()
    """Others that are needed: to prefer by, and to order by."""

    @classmethod
    def of(cls, frame: DataFrame, *, text: Any, id: str | None, vector: str | None) -> Source:
        """Find the columns, and refuse what cannot be a document or an id."""
        names = frame.columns
        _refuse_ambiguous(names)
        if id == NO_ID:
            raise SourceError(
                f"the rows of a frame have no places to take for ids: name a column by "
                f"{setting('id')}"
            )
        id_column = pick_id_column(names, id)
        if id_column is None:
            raise SourceError(
                "the rows of a frame have no places to take for ids: say which column holds them "
                f"({setting('id')}); there are {listed(names)}"
            )
        chosen = pick_text_columns(names, text, vector)
        content, kind = _content(frame, chosen, vector)
        return cls(frame, id_column, _ids(frame, id_column), content, kind)

    @property
    def id(self) -> Column:
        """The id of each row, as results hold it."""
        return column_named(self.id_column).cast(self.ids.kind)

    def documents(self, *columns: Column) -> DataFrame:
        """Give the id and the document of each row, and other columns."""
        return self.frame.select(self.id.alias("id"), self.content.alias("content"), *columns)

    def form_of(self, form: CanonicalForm) -> CanonicalForm:
        """Fix what the documents are in the canonical form."""
        if not isinstance(self.content_type, T.ArrayType):
            return replace(form, kind="text")
        if isinstance(self.content_type.elementType, T.StringType):
            return replace(form, kind="tokens")
        sizes = F.size(F.col("content"))
        found = (
            self.documents().where(F.col("content").isNotNull() & (sizes > 0))
            .agg(F.min(sizes).alias("least"), F.max(sizes).alias("most"))
            .toArrow().to_pylist()[0]
        )  # fmt: skip
        if found["least"] != found["most"]:
            raise SourceError(
                f"vectors have from {found['least']:,} to {found['most']:,} numbers: give all of "
                "them as many"
            )
        return replace(form, kind="vectors", dimension=found["most"] or 0)


def _refuse_ambiguous(names: list[str]) -> None:
    """Refuse two columns of one name, of which none could be asked for."""
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise SourceError(
            f"column {quoted(repeated[0])} is there twice: give each a name of its own"
        )


def _ids(frame: DataFrame, name: str) -> Ids:
    kind = frame.schema[name].dataType
    if isinstance(kind, NO_IDS):
        raise SourceError(
            f"ids are numbers or strings, and column {quoted(name)} is of type "
            f"{kind.simpleString()}: name another by {setting('id')}"
        )
    return Ids(T.LongType() if isinstance(kind, WHOLE) else T.StringType())


def _content(frame: DataFrame, names: list[str], vector: str | None) -> tuple[Column, T.DataType]:
    """Give the document of each row, and what it is."""
    kinds = [frame.schema[name].dataType for name in names]
    for name, kind in zip(names, kinds, strict=True):
        _check_kind(name, kind, vector)
    if len(names) > 1:
        if any(isinstance(kind, T.ArrayType) for kind in kinds):
            raise SourceError(
                f"only texts can be joined: name one column of lists by {setting('text')}"
            )
        return _joined(names), T.StringType()
    (name,), (kind,) = names, kinds
    column = column_named(name)
    if isinstance(kind, T.ArrayType) and not isinstance(kind.elementType, T.StringType):
        return column.cast("array<double>"), T.ArrayType(T.DoubleType())
    return column, kind


def _joined(names: list[str]) -> Column:
    """Join texts with a blank line between those that are not empty."""
    filled = [
        F.when(column_named(name) != "", column_named(name)) for name in names
    ]  # which leaves out nulls, as `concat_ws` does
    return F.concat_ws(BETWEEN, *filled)


def _check_kind(name: str, kind: T.DataType, vector: str | None) -> None:
    numbers = (T.FloatType, T.DoubleType)
    if vector is not None:
        if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, (*numbers, *WHOLE)):
            return
        raise SourceError(
            f"column {quoted(name)} is of type {kind.simpleString()}, and a vector is an array of "
            f"numbers: name another by {setting('vector')}"
        )
    if isinstance(kind, T.StringType):
        return
    if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, (T.StringType, *numbers)):
        return
    raise SourceError(
        f"column {quoted(name)} is of type {kind.simpleString()}, not text: name another by "
        f"{setting('text')}"
    )


def preference(
    keep: str, ids: Ids, order: T.DataType | None, value: T.DataType | None
) -> list[Column]:
    """Give the columns by which documents sort, those first that would rather be kept.

    Of equal ones the id decides, last of all. The columns are those of the identified documents:
    `characters`, `value` and `order`.
    """
    column_of(keep)
    last = keep == "last"
    columns: list[Column] = []
    if keep in ("first", "last") and order is not None:
        given = F.col("order")
        columns = [given.isNull(), descending(given, order) if last else given]
    elif keep in ("longest", "shortest"):
        characters = F.col("characters")
        columns = [-characters if keep == "longest" else characters]
    elif value is not None:
        given = F.col("value")
        largest = keep.startswith("max:")
        columns = [given.isNull(), descending(given, value) if largest else given]
    keys = ids.keys()
    if last:
        keys = [descending(one, kind) for one, kind in zip(keys, ids.key_types(), strict=True)]
    return [*columns, *keys]
