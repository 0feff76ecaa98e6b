"""The documents of the benchmark of indexes: as they are made, or many with the same beginning."""

from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from benchmarks import corpus
from benchmarks.job import Rows
from benchmarks.truth import sampled
from lookalike.learn.corpora import Corpus

CROWD = 5
"""One family in so many begins with the same boilerplate."""
BLOCK = 10_000
SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


class Documents:
    """So many documents in a file, and as many after them as are asked for."""

    def __init__(self, count: int, seed: int, *, skewed: bool) -> None:
        self.count, self.seed, self.skewed = count, seed, skewed
        self.corpus, kind = corpus.corpus_of(seed)
        self.kind = kind + (f", one in {CROWD} behind a common boilerplate" if skewed else "")

    @cached_property
    def boilerplate(self) -> str:
        """A text that is longer than any document."""
        other = Corpus(self.corpus.sources, seed=self.seed + 1, copies=0, dense=0)
        return " ".join(other.texts(0, 50))

    def file(self, count: int) -> Path:
        """Give the file of the first documents, written where it is not there yet."""
        plain = corpus.made(count, self.seed).path
        if not self.skewed:
            return plain
        path = plain.with_name(f"{plain.stem}-skewed.parquet")
        if not path.exists():
            part = path.with_suffix(".part")
            self._write(part, 0, count)
            part.replace(path)
        return path

    def write_following(self, path: Path, count: int) -> None:
        """Write the documents that come after those of the file."""
        self._write(path, self.count, self.count + count)

    def write_sample(self, path: Path, count: int) -> None:
        """Write some of the documents of the file, chosen at random."""
        numbers = sampled(self.count, count, self.seed).tolist()
        columns = [numbers, [self.text(number) for number in numbers]]
        parquet.write_table(pa.table(columns, schema=SCHEMA), path)

    def text(self, number: int) -> str:
        """Give one document."""
        return self._texts(number, number + 1)[0]

    def originals(self, count: int) -> Rows:
        """Give the number of the original of each of the first documents."""
        return self.corpus.originals(count)

    def _texts(self, begin: int, end: int) -> list[str]:
        texts = list(self.corpus.texts(begin, end))
        if not self.skewed:
            return texts
        families = (self.corpus.origin(number).original for number in range(begin, end))
        return [
            text if family % CROWD else f"{self.boilerplate[: len(text)]} {text}"
            for text, family in zip(texts, families, strict=True)
        ]

    def _write(self, path: Path, begin: int, end: int) -> None:
        with parquet.ParquetWriter(path, SCHEMA, compression="snappy") as out:
            for start in range(begin, end, BLOCK):
                stop = min(start + BLOCK, end)
                columns = [range(start, stop), self._texts(start, stop)]
                out.write_table(pa.table(columns, schema=SCHEMA))
