"""The documents of the benchmark of indexes: as they are made, or many with the same beginning."""

from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
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

    def __init__(self, count: int, seed: int, *, skewed: bool, pieces: int = 1) -> None:
        """Take texts as they are made, or each cut into so many documents: of ten million, whole
        ones would take twenty gigabytes."""
        self.count, self.seed, self.skewed, self.pieces = count, seed, skewed, pieces
        self.corpus, kind = corpus.corpus_of(seed)
        self.kind = kind + (f", one in {CROWD} behind a common boilerplate" if skewed else "")
        self.kind += f", each cut into {pieces}" if pieces > 1 else ""

    @cached_property
    def boilerplate(self) -> str:
        """A text that is longer than any document."""
        other = Corpus(self.corpus.sources, seed=self.seed + 1, copies=0, dense=0)
        return " ".join(other.texts(0, 50))

    def file(self, count: int) -> Path:
        """Give the file of the first documents, written where it is not there yet."""
        if not self.skewed and self.pieces == 1:
            return corpus.made(count, self.seed).path
        few = corpus.made(min(count, BLOCK), self.seed).path
        how = ("-skewed" if self.skewed else "") + (f"-{self.pieces}" if self.pieces > 1 else "")
        path = few.with_name(f"{few.stem}-{count}{how}.parquet")
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
        if self.pieces == 1:
            return self.corpus.originals(count)
        numbers = np.arange(count)
        whole = self.corpus.originals(-(-count // self.pieces))
        return whole[numbers // self.pieces] * self.pieces + numbers % self.pieces

    def _texts(self, begin: int, end: int) -> list[str]:
        if self.pieces == 1:
            return self._whole(begin, end)
        first = begin // self.pieces
        cut = [
            one for text in self._whole(first, -(-end // self.pieces)) for one in self._cut(text)
        ]
        return cut[begin - first * self.pieces : end - first * self.pieces]

    def _cut(self, text: str) -> list[str]:
        words = text.split()
        ends = [len(words) * piece // self.pieces for piece in range(self.pieces + 1)]
        return [" ".join(words[begin:end]) for begin, end in pairwise(ends)]

    def _whole(self, begin: int, end: int) -> list[str]:
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
