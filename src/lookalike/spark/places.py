"""Where tables are read and written: paths of this machine, and addresses of stores."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import OutputError
from lookalike.results.record import RUN, write_record
from lookalike.write.files import beside, check_apart, check_new, json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Place", "absolute", "exists", "listed", "usual_scheme"]

SCHEME = re.compile(r"([A-Za-z][\w+.-]+):/")


def absolute(name: str) -> str:
    """Give a path or an address as Spark takes it, whatever folder its processes run in."""
    found = SCHEME.match(name)
    if found is None:
        return str(Path(name).absolute())
    # What Spark reads from S3 with is called s3a.
    return re.sub(r"^s3n?://", "s3a://", name)


def listed(session: SparkSession, *names: str) -> DataFrame:
    """List files: path, length, modificationTime, and the columns that names of folders tell."""
    return session.read.format("binaryFile").load([*names]).drop("content")


def exists(session: SparkSession, name: str) -> bool:
    """Tell whether there is something at a place."""
    from pyspark.errors import AnalysisException

    try:
        _ = listed(session, name).columns  # a server looks when it is asked
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            return False
        raise
    return True


def usual_scheme(session: SparkSession, sources: Sequence[str]) -> str:
    """Tell of which kind a path without a scheme is, as this cluster is configured."""
    for source in sources:
        if SCHEME.match(source) is None:
            found = listed(session, absolute(source)).select("path").head(1)
            return str(found[0][0]).partition(":")[0] if found else "file"
    return str(session.conf.get("spark.hadoop.fs.defaultFS", "file:/") or "").partition(":")[0]


@dataclass(frozen=True)
class Place:
    """A folder of results, which appears as a whole, or is whole once its record is there."""

    session: SparkSession
    name: str
    """As it was given."""
    here: bool
    """On this machine, by whose own means it is written as a whole."""

    @classmethod
    def of(cls, session: SparkSession, name: str, usual: str, *, remote: bool) -> Place:
        """Tell what kind of place a name is: one without a scheme is of the usual one.

        Of a server the files of this machine, if there are any, are another's.
        """
        found = SCHEME.match(name)
        scheme = found[1].lower() if found else usual
        return cls(session, name, here=not remote and scheme == "file")

    @property
    def _path(self) -> Path:
        return Path(os.path.realpath(re.sub(r"^file:(//)?(?=/)", "", self.name)))

    @property
    def target(self) -> str:
        """Where tables are to be written."""
        return str(beside(self._path, "partial")) if self.here else absolute(self.name).rstrip("/")

    def done(self) -> dict[str, Any] | None:
        """Give the record of a job that is done here, or None; what is not of one is refused."""
        record = self._record()
        if record is None and self.here:
            check_new(self._path)
        elif record is None and exists(self.session, self.target):
            raise OutputError(
                f"{self.name} holds something, and no record of a finished job: remove it, or name "
                "another folder"
            )
        return record

    def check_apart(self, sources: Sequence[str]) -> None:
        """Refuse a place in or around what is read."""
        if self.here:
            check_apart(self._path, [one for one in sources if SCHEME.match(one) is None])
            return
        target = absolute(self.name).rstrip("/") + "/"
        for source in sources:
            read = absolute(source).rstrip("/") + "/"
            if target.startswith(read) or read.startswith(target):
                raise OutputError(
                    f"{self.name} and {source} are one inside the other, and input is never "
                    "changed: write to a folder elsewhere"
                )

    def _record(self) -> dict[str, Any] | None:
        try:
            if self.here:
                text = (self._path / RUN).read_text()
            else:
                place = f"{self.target}/{RUN}"
                if not exists(self.session, place):
                    return None
                lines = self.session.read.text(place, wholetext=True).toArrow().to_pylist()
                text = lines[0]["value"] if lines else ""
            record: dict[str, Any] = json.loads(text)
        except (OSError, ValueError):
            return None
        return record

    def begin(self) -> None:
        """Make way: what an earlier try left beside the folder goes."""
        if self.here:
            shutil.rmtree(self.target, ignore_errors=True)
            Path(self.target).mkdir()

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record, and let the folder appear."""
        if not self.here:
            text = self.session.createDataFrame([(json_text(record),)], "value string")
            text.coalesce(1).write.text(f"{self.target}/{RUN}")
            return
        partial, folder = Path(self.target), self._path
        for left in partial.rglob(".*.crc"):
            left.unlink()
        write_record(partial / RUN, record)
        if folder.exists():
            folder.rmdir()
        partial.replace(folder)

    def give_up(self) -> None:
        """Leave nothing where the job failed; at a store there is no record, which says so."""
        if self.here:
            shutil.rmtree(self.target, ignore_errors=True)
