"""Corpora of any size with known near-duplicates, to try settings on and to measure by.

>>> from lookalike.learn.corpora import Corpus
>>> corpus = Corpus(["One sentence. Another one here.", "A third, and then a fourth sentence."])
>>> corpus.text(0) == Corpus(corpus.sources).text(0)
True

Document number i depends on the sources, the seed and i alone: parts can be made in any order and
by several processes, and the first thousand of a million are the corpus of a thousand.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import OutputError, SettingsError, SourceError
from lookalike.base.randomness import GOLDEN, check_seed, mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["DEGREES", "EDITS", "Corpus", "Origin", "real_texts"]

DEGREES = {
    "exact": (0.0, 0.0),
    "words": (0.005, 0.16),
    "typos": (0.001, 0.02),
    "front": (0.01, 0.3),
    "shuffled": (0.05, 1.0),
    "boilerplate": (0.0, 0.0),
    "truncated": (0.02, 0.4),
}
"""What is done to a copy, and from which degree to which.

words: the share of words (of characters, in scripts without blanks) that are replaced. typos: of
characters that are replaced, left out, doubled or swapped with the next. front: words put in front
of it, as a share of its length. shuffled: the share of sentences that are moved. boilerplate: a
header and a footer of a small set. truncated: the share that is cut off at the end.
"""
EDITS = tuple(DEGREES)
DATA_VARIABLE = "LOOKALIKE_DATA"

# An original's length in bytes: half of them are longer than the median, the mean is twice that.
MEDIAN_BYTES, SPREAD, MAX_BYTES = 1000, 1.2, 60_000
SHORT_SHARE = 0.02  # the share of originals that are one sentence
MAX_RUN_BYTES = 700  # bytes in a row, at most, from one place of the sources
# A document of one run or two would come again in a large corpus, and be like more and more others.
REWORDED_UP_TO_BYTES, REWORDED_SHARE = (
    2 * MAX_RUN_BYTES,
    1 / 8,
)  # up to how many bytes some words are replaced, and which share
NEAR_DOCUMENTS = 1000  # half of the copies have their original among so many before them
WORDS_PER_DOCUMENT = 4  # random words of the seed that say what a document is

_DENSE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_IS_DENSE = re.compile(f"[{_DENSE}]")
_SENTENCE = re.compile(
    r"""[.!?]["'”’)\]]*\s+ | [。！？]["”’」』）]*\s* | \n\s*\n\s* | \n(?=\s*[\d*•-])""", re.VERBOSE
)
_HEADERS = (
    "Skip to content. Home, News, Sport, Business, Weather, Video, More. Sign in or register.",
    "Printed from the archive. All times are local. Subscribe for full access to every issue.",
    "This message was sent to the list of members. Please do not reply to this address.",
    "首页 新闻 体育 财经 天气 视频 更多。登录或者注册以后阅读全文。",
)
_FOOTERS = (
    "Copyright the publisher and contributors. All rights reserved. Terms of use. Privacy policy.",
    "Share this page with friends. Related stories: most read, most shared, most discussed today.",
    "To leave the list, write to the administrator with the word unsubscribe in the subject line.",
    "版权所有，未经许可不得转载。联系我们。使用条款。隐私政策。",
)


@dataclass(frozen=True)
class Origin:
    """Where a document comes from."""

    original: int
    """The number of the document that it is a copy of; its own where it is an original."""
    edit: str
    """What was done to the copy, one of `EDITS`; nothing for an original."""
    degree: float
    """How much of it was done, see `DEGREES`."""


class Corpus:
    """Documents made of other texts: stitched originals, and edited copies of them.

    An original is stitched from runs of sentences of the sources, and a short one has some of its
    words replaced, so that there are as many different ones as anyone asks for. `copies` is the
    share of documents that are an edited copy of an earlier original; `dense` is the share of
    originals in scripts whose characters are words or syllables (Chinese, Japanese, Korean), where
    the sources have any.
    """

    def __init__(
        self,
        sources: Sequence[str],
        *,
        seed: int = 1,
        copies: float = 1 / 3,
        dense: float = 0.1,
    ) -> None:
        """Take the texts that documents are made of; blank ones are left out."""
        check_seed(seed)
        for name, share in (("copies", copies), ("dense", dense)):
            if not 0 <= share <= 1:
                raise SettingsError(f"{name} {share}: use a share from 0 to 1")
        self.sources = list(sources)
        self.seed, self.copies, self.dense = seed, copies, dense
        kinds: dict[bool, list[str]] = {False: [], True: []}
        for text in self.sources:
            if text.strip():
                kinds[_is_dense(text)].append(text.strip())
        if not any(kinds.values()):
            raise SettingsError("a corpus of no texts: give it sources that are not blank")
        self._spaced = _Pool(kinds[False] or kinds[True])
        self._dense = _Pool(kinds[True] or kinds[False])

    def text(self, number: int) -> str:
        """Make one document."""
        return next(self.texts(number, number + 1))

    def texts(self, begin: int, end: int) -> Iterator[str]:
        """Make the documents from one number up to another."""
        _check_range(begin, end)
        for start in range(begin, end, 1 << 14):
            numbers = np.arange(start, min(start + (1 << 14), end), dtype=np.int64)
            originals, words = self._origins(numbers)
            edits, degrees = _edits(words)
            rows = zip(
                numbers.tolist(), originals.tolist(), edits.tolist(), degrees.tolist(), strict=True
            )
            for number, original, edit, degree in rows:
                text, pool = self._original(original)
                if number != original:
                    chance = self._chance(number)
                    text = _EDITORS[EDITS[edit]](text, degree, chance, pool)
                yield text

    def origin(self, number: int) -> Origin:
        """Tell where a document comes from, without making it."""
        _check_range(number, number + 1)
        originals, words = self._origins(np.array([number], np.int64))
        if originals[0] == number:
            return Origin(number, "", 0.0)
        edits, degrees = _edits(words)
        return Origin(int(originals[0]), EDITS[edits[0]], float(degrees[0]))

    def originals(self, count: int) -> NDArray[np.int64]:
        """Give the number of the original of each of the first documents."""
        _check_range(0, count)
        return self._origins(np.arange(count, dtype=np.int64))[0]

    def write(self, path: str | Path, count: int) -> None:
        """Write the first documents to a Parquet or a JSONL file, as `id` and `text`.

        The file appears whole or not at all.
        """
        path = Path(path)
        _check_range(0, count)
        writers: dict[str, Callable[[Path, int], None]] = {
            ".parquet": self._write_parquet,
            ".jsonl": self._write_jsonl,
        }
        if path.suffix not in writers:
            raise SettingsError(f"{path}: name a .parquet or a .jsonl file")
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            writers[path.suffix](part, count)
            part.replace(path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"{path} cannot be written: {reason}") from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _write_parquet(self, path: Path, count: int) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
        with parquet.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as out:
            for begin in range(0, count, 10_000):
                end = min(begin + 10_000, count)
                columns = [range(begin, end), list(self.texts(begin, end))]
                out.write_table(pa.table(columns, schema=schema))

    def _write_jsonl(self, path: Path, count: int) -> None:
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for number, text in enumerate(self.texts(0, count)):
                line = json.dumps({"id": number, "text": text}, ensure_ascii=False)
                out.write(line + "\n")

    def _origins(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Give the originals of documents, and the random words that say what each is."""
        words = self._words(numbers)
        originals = self._parents(numbers, words)
        moving = np.flatnonzero(originals != numbers)
        while len(moving):
            # A copy is one of an original: where it fell on a copy, it goes to that one's.
            before = originals[moving]
            after = self._parents(before, self._words(before))
            originals[moving] = after
            moving = moving[after != before]
        return originals, words

    def _parents(self, numbers: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Give the earlier document that each would be a copy of; itself where it is none."""
        chance = words.astype(np.float64) / 2.0**64
        is_copy = (chance[:, 0] < self.copies) & (numbers > 0)
        # The low bit says whether it is a near one, the word as a whole which.
        near = (words[:, 0] & np.uint64(1)).astype(bool)
        reach = np.where(near, np.minimum(numbers, NEAR_DOCUMENTS), numbers)
        back = 1 + (chance[:, 1] * reach).astype(np.int64)
        parents: NDArray[np.int64] = numbers - np.where(is_copy, np.minimum(back, numbers), 0)
        return parents

    def _words(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        first = numbers[:, None] * WORDS_PER_DOCUMENT + 1
        steps = (first + np.arange(WORDS_PER_DOCUMENT)).astype(np.uint64)
        return mixed(np.uint64(self.seed) + steps * GOLDEN)

    def _chance(self, number: int) -> random.Random:
        # A seed of text is hashed by SHA-512, the same everywhere; of the generator only random()
        # is used, which Python promises never to change.
        return random.Random(f"{self.seed} {number}")  # noqa: S311 - a seed to repeat by, no secret

    def _original(self, number: int) -> tuple[str, _Pool]:
        chance = self._chance(number)
        pool = self._dense if chance.random() < self.dense else self._spaced
        text = pool.stitched(chance)
        if len(text) * pool.bytes_each <= REWORDED_UP_TO_BYTES:
            text = _other_words(text, REWORDED_SHARE, chance, pool)
        return text, pool


class _Pool:
    """Source texts of one kind of script, one after the other, and where their sentences begin."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.dense = _is_dense(texts[0])
        self.text = "\n".join(texts)
        least = 10 if self.dense else 30
        begins = [0]
        for found in _SENTENCE.finditer(self.text):
            if found.end() - begins[-1] >= least:
                begins.append(found.end())
        if len(self.text) - begins[-1] < least and len(begins) > 1:
            begins.pop()
        self.begins = [*begins, len(self.text)]
        self.bytes_each = 3 if self.dense else 1

    def stitched(self, chance: random.Random) -> str:
        """Put runs of sentences together, up to a random length."""
        if chance.random() < SHORT_SHARE:
            return self.run(chance, 1).strip()
        deviation = NormalDist().inv_cdf(max(chance.random(), 1e-9))
        left = min(int(MEDIAN_BYTES * math.exp(SPREAD * deviation)), MAX_BYTES) // self.bytes_each
        runs: list[str] = []
        while left > 0 or not runs:
            run = self.run(
                chance, min(left, int(chance.random() * MAX_RUN_BYTES) // self.bytes_each)
            )
            runs.append(run)
            left -= len(run)
        return "".join(runs).strip()

    def run(self, chance: random.Random, length: int) -> str:
        """Cut out sentences in a row, one or more, of about a length together."""
        first = int(chance.random() * (len(self.begins) - 1))
        begin = self.begins[first]
        last = bisect_left(self.begins, begin + length, first + 1, len(self.begins) - 1)
        run = self.text[begin : self.begins[last]]
        return run if self.dense or run[-1:].isspace() else run + " "

    def word(self, chance: random.Random) -> str:
        """Take a word, or a character of a script without blanks."""
        while True:
            at = int(chance.random() * len(self.text))
            if self.dense:
                if _IS_DENSE.match(self.text, at) or len(self.text) < 100:
                    return self.text[at]
                continue
            begin = self.text.rfind(" ", max(at - 40, 0), at) + 1 or max(at - 40, 0)
            words = self.text[begin : begin + 60].split(None, 1)
            if words:
                return words[0]


def real_texts(folder: str | Path | None = None) -> list[str]:
    """Read the `text` of every docs.jsonl that is one level below a folder.

    Without a folder, it is the one that the environment's LOOKALIKE_DATA names.
    """
    named = folder or os.environ.get(DATA_VARIABLE)
    if not named:
        raise SourceError(f"no folder of real texts: name one, or set {DATA_VARIABLE}")
    paths = sorted(Path(named).glob("*/docs.jsonl"))
    if not paths:
        raise SourceError(
            f"{named} has no */docs.jsonl: name a folder of real texts, see {DATA_VARIABLE}"
        )
    texts: list[str] = []
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for row, line in enumerate(lines, 1):
                try:
                    texts.append(str(json.loads(line)["text"]))
                except (ValueError, KeyError, TypeError):
                    raise SourceError(f"{path}:{row}: no JSON with a text, fix the line") from None
    return texts


def _check_range(begin: int, end: int) -> None:
    if begin < 0 or end < begin:
        raise SettingsError(f"documents {begin} to {end}: numbers count up from 0")


def _is_dense(text: str) -> bool:
    """Tell whether a text, by its beginning, is in a script whose characters are words."""
    some = text.strip()[:200]
    return 3 * len(_IS_DENSE.findall(some)) > len(some)


def _edits(words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give each copy's kind of edit, by its place among the edits, and the degree."""
    chance = words.astype(np.float64) / 2.0**64
    kinds = np.minimum((chance[:, 2] * len(EDITS)).astype(np.int64), len(EDITS) - 1)
    bounds = np.array(list(DEGREES.values()))
    least, most = np.maximum(bounds[kinds], 1e-9).T
    # As many from 1 to 2 of a hundred as from 8 to 16.
    degrees = np.where(bounds[kinds, 1] > 0, least * (most / least) ** chance[:, 3], 0.0)
    return kinds, degrees


def _exact(text: str, _degree: float, _chance: random.Random, _pool: _Pool) -> str:
    return text


def _other_words(text: str, degree: float, chance: random.Random, pool: _Pool) -> str:
    words = list(text) if pool.dense else text.split(" ")
    for _ in range(max(1, round(len(words) * degree))):
        words[int(chance.random() * len(words))] = pool.word(chance)
    return ("" if pool.dense else " ").join(words)


def _typos(text: str, degree: float, chance: random.Random, pool: _Pool) -> str:
    count = max(1, round(len(text) * degree))
    places = sorted({int(chance.random() * len(text)) for _ in range(count)})
    parts, end = [], 0
    for at in places:
        if at < end:
            continue
        kind = int(chance.random() * 4)
        parts.append(text[end:at])
        if kind == 0:
            parts.append(pool.word(chance)[0])
        elif kind == 1:
            parts.append(2 * text[at])
        elif kind == 2:
            parts.append(text[at + 1 : at + 2] + text[at])
        end = at + (2 if kind == 2 else 1)
    return "".join([*parts, text[end:]])


def _words_in_front(text: str, degree: float, chance: random.Random, pool: _Pool) -> str:
    length = max(1, int(len(text) * degree))
    run = pool.run(chance, length)[: max(length, 8)]
    if not pool.dense:
        run = run.rpartition(" ")[0] or run
    return run.rstrip() + ("" if pool.dense else " ") + text


def _shuffled(text: str, degree: float, chance: random.Random, pool: _Pool) -> str:
    ends = [found.end() for found in _SENTENCE.finditer(text)]
    cuts = [0, *(end for end in ends if end < len(text)), len(text)]
    sentences = [text[a:b] for a, b in pairwise(cuts)]
    if not pool.dense and not sentences[-1][-1:].isspace():
        sentences[-1] += " "
    for _ in range(max(1, round(len(sentences) * degree))):
        moved = sentences.pop(int(chance.random() * len(sentences)))
        sentences.insert(int(chance.random() * (len(sentences) + 1)), moved)
    return "".join(sentences).rstrip()


def _boilerplate(text: str, _degree: float, chance: random.Random, pool: _Pool) -> str:
    which = slice(-1, None) if pool.dense else slice(0, -1)
    headers, footers = _HEADERS[which], _FOOTERS[which]
    header = headers[int(chance.random() * len(headers))]
    footer = footers[int(chance.random() * len(footers))]
    return f"{header}\n\n{text}\n\n{footer}"


def _truncated(text: str, degree: float, _chance: random.Random, pool: _Pool) -> str:
    kept = text[: max(1, len(text) - max(1, int(len(text) * degree)))]
    if not pool.dense:
        kept = kept.rpartition(" ")[0] or kept
    return kept.rstrip()


_EDITORS: dict[str, Callable[[str, float, random.Random, _Pool], str]] = {
    "exact": _exact,
    "words": _other_words,
    "typos": _typos,
    "front": _words_in_front,
    "shuffled": _shuffled,
    "boilerplate": _boilerplate,
    "truncated": _truncated,
}
