"""Files of records as frames, and frames as files of the same format, with all their columns.

Lines of JSON go through as they are, to the byte: what Spark makes of one would have other numbers
and another order of fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import OutputError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.spark.places import absolute, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["ANNOTATIONS", "Table"]

KINDS = {
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
    "csv": "csv",
    "tsv": "csv",
    "parquet": "parquet",
}
ENDING = re.compile(r"\.([A-Za-z]+)(?:\.(gz|bz2|zst|lz4|snappy|deflate))?/*$")
CODECS = {"gz": "gzip", "bz2": "bzip2", "zst": "zstd", "lz4": "lz4", "snappy": "snappy"}
SHOWN_ENDINGS = 5
LINE, ORDER = "__lookalike_line", "__lookalike_order"
"""Columns beside those of the documents: the line of a record, and its place."""
ANNOTATIONS = ("cluster", "cluster_size", "kept", "similarity")
WHITE = {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}
CSV = WHITE | {"quote": '"', "escape": '"'}
VERBATIM = WHITE | {
    # No line of JSON holds these signs, and so none is quoted.
    "sep": "\x01",
    "quote": "",
    "escape": "",
    "emptyValue": "",
    "header": False,
    "extension": "jsonl",
}
"""How lines are written as they are to files that are named for what they hold."""


@dataclass(frozen=True)
class Table:
    """Records of one or several sources."""

    frame: DataFrame
    """The columns of the records, and those beside them."""
    kind: str
    codec: str | None
    folders: tuple[str, ...]
    """Columns that names of folders tell, as in `date=2026-01-01/`."""
    reading: dict[str, Any]
    """How they were read, beyond the format."""

    @classmethod
    def read(
        cls,
        session: SparkSession,
        sources: Sequence[str],
        *,
        delimiter: str | None = None,
        no_header: bool = False,
    ) -> Table:
        """Open sources of one format and the same columns."""
        names = [absolute(one) for one in sources]
        found = [_kind_of(session, name, given) for name, given in zip(names, sources, strict=True)]
        kinds = {kind for kind, _, _ in found}
        if len(kinds) > 1:
            raise SourceError(
                f"the sources are of several formats, {' and '.join(sorted(kinds))}: give those of "
                "one format at a time"
            )
        (kind,) = kinds
        if kind != "csv" and (delimiter or no_header):
            name = "delimiter" if delimiter else "no_header"
            raise SourceError(f"there is no .csv or .tsv file for {setting(name)}: leave it out")
        tab = any(ending == "tsv" for _, ending, _ in found)
        reading = {"sep": _sign(delimiter) or ("\t" if tab else ","), "header": not no_header}
        folders = tuple(
            one
            for one in listed(session, *names).columns
            if one not in ("path", "length", "modificationTime")
        )
        read = {"json": _read_json, "csv": _read_csv, "parquet": _read_parquet}[kind]
        frames = read(session, names, reading)
        _check_same(sources, frames)
        frame, *others = [_placed(one, number) for number, one in enumerate(frames)]
        for other in others:
            frame = frame.unionByName(other)
        codecs = {codec for _, _, codec in found}
        codec = codecs.pop() if len(codecs) == 1 else None
        return cls(frame, kind, CODECS.get(codec or ""), folders, reading)

    def write(self, rows: DataFrame, target: str, *, annotated: bool = False) -> None:
        """Write rows of this table in its own format, with the columns that were added to them."""
        if annotated and self.kind == "json":
            rows = rows.withColumn(LINE, _annotated_line())
        if self.kind == "json":
            writer = rows.select(LINE, *self.folders).write.options(**VERBATIM)
        else:
            writer = rows.drop(ORDER).write
            if self.kind == "csv":
                writer = writer.options(**CSV, **self.reading)
        if self.codec is not None and self.kind != "parquet":
            writer = writer.option("compression", self.codec)
        if self.folders:
            writer = writer.partitionBy(*self.folders)
        writer.format("parquet" if self.kind == "parquet" else "csv").save(target)

    def check_names_free(self) -> None:
        """Refuse columns that have the names of those that are to be added."""
        taken = [name for name in ANNOTATIONS if name in self.frame.columns]
        if taken:
            raise OutputError(
                f"the records have a column {quoted(taken[0])} already, and {setting('annotate')} "
                "would add one: rename it"
            )


def _kind_of(session: SparkSession, name: str, given: str) -> tuple[str, str, str | None]:
    """Tell the format of a source, how its name ends, and how it is compressed."""
    from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

    ending = ENDING.search(name)
    if ending and ending[1].lower() in KINDS:
        return KINDS[ending[1].lower()], ending[1].lower(), ending[2]
    inside = F.regexp_extract("path", r"(\.[A-Za-z]+(?:\.(?:gz|bz2|zst|lz4|snappy|deflate))?)$", 1)
    files = listed(session, name).select(inside.alias("ending")).distinct().limit(SHOWN_ENDINGS)
    endings = sorted(row["ending"] for row in files.toArrow().to_pylist())
    known = [match for one in endings if (match := ENDING.search(one)) and match[1] in KINDS]
    # Spark puts a codec before the ending of Parquet, as in .snappy.parquet.
    if len(known) != 1 or len(endings) > 1:
        what = f"files that end in {', '.join(map(quoted, endings))}" if endings else "no files"
        raise SourceError(
            f"{given} holds {what}: Spark reads folders of .jsonl, .csv, .tsv or .parquet files, "
            "of one kind"
        )
    return KINDS[known[0][1]], known[0][1], known[0][2]


def _sign(delimiter: str | None) -> str | None:
    return {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)


def _read_json(
    session: SparkSession, names: Sequence[str], _reading: dict[str, Any]
) -> list[DataFrame]:
    from pyspark.sql import functions as F  # noqa: N812 # as above

    schema = session.read.option("mode", "FAILFAST").json([*names]).schema
    frames = []
    for name in names:
        lines = session.read.text(name).where(F.trim("value") != "")
        folders = [one for one in lines.columns if one != "value"]
        kinds = [one for one in schema if one.name not in folders]
        fields = F.from_json("value", type(schema)(kinds), {"mode": "FAILFAST"})
        parsed = lines.withColumn("__lookalike_record", fields)
        record = [F.col(f"__lookalike_record.{_quoted(one.name)}") for one in kinds]
        place = F.col("_metadata")
        frames.append(
            parsed.select(*record, *map(F.col, folders), F.col("value").alias(LINE), place)
        )
    return frames


def _read_csv(
    session: SparkSession, names: Sequence[str], reading: dict[str, Any]
) -> list[DataFrame]:
    reader = session.read.options(**CSV, **reading, multiLine=True, mode="FAILFAST")
    frames = [reader.csv(name).select("*", "_metadata") for name in names]
    if not reading["header"]:
        frames = [
            one.toDF(*[_number(name) for name in one.columns[:-1]], "_metadata") for one in frames
        ]
    return frames


def _number(name: str) -> str:
    """Name a column without a header by its number, as the engine on one machine does."""
    found = re.fullmatch(r"_c(\d+)", name)
    return str(int(found[1]) + 1) if found else name


def _read_parquet(
    session: SparkSession, names: Sequence[str], _reading: dict[str, Any]
) -> list[DataFrame]:
    # Columns that only some files have are read too.
    reader = session.read.option("mergeSchema", True)
    return [reader.parquet(name).select("*", "_metadata") for name in names]


def _check_same(sources: Sequence[str], frames: Sequence[DataFrame]) -> None:
    first = set(frames[0].columns)
    for source, frame in zip(sources[1:], frames[1:], strict=True):
        differing = sorted(first ^ set(frame.columns))
        if differing:
            has, lacks = (
                (source, sources[0]) if differing[0] in frame.columns else (sources[0], source)
            )
            raise SourceError(
                f"{has} has a column {quoted(differing[0])} and {lacks} has none: sources of one "
                "job have the same columns"
            )


def _placed(frame: DataFrame, number: int) -> DataFrame:
    """Say of each record where it stands among all: by its source, file and place in the file.

    Records of one block of a file are read one after the other, by one task.
    """
    from pyspark.sql import functions as F  # noqa: N812 # as above

    def digits(column: Column) -> Column:
        return F.lpad(F.hex(column), 16, "0")

    block = F.col("_metadata.file_block_start")
    parts = [F.col("_metadata.file_path"), digits(block), digits(F.monotonically_increasing_id())]
    place = F.concat_ws("\x01", F.lit(f"{number:08d}"), *parts)
    return frame.withColumn(ORDER, place).drop("_metadata")


def _annotated_line() -> Column:
    """Add fields to a line of JSON, before the brace that ends it."""
    from pyspark.sql import functions as F  # noqa: N812 # as above

    added = F.to_json(F.struct(*ANNOTATIONS), {"ignoreNullFields": "false"})
    open_line = F.regexp_replace(F.col(LINE), r"\s*\}\s*$", "")
    return F.concat(open_line, F.lit(", "), F.substring(added, 2, 1 << 30))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
