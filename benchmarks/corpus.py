"""The texts that are searched: real ones where they are at hand, stitched and edited."""

import hashlib
import json
import os
import random
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

import pyarrow.compute as pc
from pyarrow import parquet

from benchmarks.shingles import words_of
from lookalike.learn.corpora import Corpus, real_texts

CACHE = Path(__file__).parent / ".corpora"
REAL = Path(__file__).parent.parent.parent / "shared" / "data"
LEAST = 5
"""Words that a text of `word_texts` has: not every contestant has shingles for fewer."""


@dataclass(frozen=True)
class Made:
    """A corpus in a file."""

    path: Path
    count: int
    size: int
    """The bytes of its texts, as UTF-8."""
    corpus: Corpus


def real_folder() -> Path:
    """Give the folder of real texts, which need not be there."""
    return Path(os.environ.get("LOOKALIKE_DATA", REAL))


@cache
def corpus_of(seed: int) -> tuple[Corpus, str]:
    """Give the corpus of a seed, and what it is made of."""
    folder = real_folder()
    if any(folder.glob("*/docs.jsonl")):
        return Corpus(real_texts(folder), seed=seed), "real texts, stitched"
    return Corpus(made_texts(), seed=seed), "texts of made words, since LOOKALIKE_DATA names none"


def made_texts(count: int = 2000) -> list[str]:
    """Make texts of a made vocabulary, as unevenly frequent as that of prose."""
    choice = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgk"
    vocabulary = ["".join(choice.choices(letters, k=choice.randint(2, 9))) for _ in range(20_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))

    def sentence() -> str:
        words = choice.choices(vocabulary, cum_weights=weights, k=choice.randint(6, 30))
        return " ".join(words).capitalize() + "."

    return [" ".join(sentence() for _ in range(choice.randint(5, 60))) for _ in range(count)]


def made(count: int, seed: int, kind: str = "parquet") -> Made:
    """Give the file of the first documents of a corpus, written where it is not there yet."""
    corpus, _ = corpus_of(seed)
    few = "\n".join(corpus.texts(0, 200))
    # Other sources or another generator make another file.
    name = f"{count}-{seed}-{hashlib.sha256(few.encode()).hexdigest()[:8]}"
    path, about = CACHE / f"{name}.{kind}", CACHE / f"{name}.json"
    CACHE.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        corpus.write(path, count)
    if not about.exists():
        about.write_text(json.dumps({"bytes": _size(path)}))
    return Made(path, count, json.loads(about.read_text())["bytes"], corpus)


def word_texts(count: int, seed: int) -> list[str]:
    """Give texts as their words with blanks between, for contestants that cut at blanks."""
    corpus, _ = corpus_of(seed)
    texts: list[str] = []
    begin = 0
    while len(texts) < count:
        some = (words_of(text) for text in corpus.texts(begin, begin + count))
        texts += [" ".join(words) for words in some if len(words) >= LEAST]
        begin += count
    return texts[:count]


def _size(path: Path) -> int:
    """Count the bytes of a file's texts."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            return sum(len(json.loads(line)["text"].encode()) for line in lines)
    with parquet.ParquetFile(path) as file:
        batches = file.iter_batches(columns=["text"])
        return sum(pc.sum(pc.binary_length(batch["text"])).as_py() or 0 for batch in batches)
