"""Measure text to signatures, and how soon a first answer comes: python -m benchmarks.kernels.

Texts of three scripts, each cut into shingles and signed by one call, on one thread and on all; and
the command line from a cold and from a warm cache of compiled code.
"""

import argparse
import datetime as dt
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.corpus import real_folder
from benchmarks.table import RESULTS, machine
from lookalike.learn.corpora import Corpus, real_texts
from lookalike.sketches.minhash import sign_texts
from lookalike.text.normalise import Canonical, normalise
from lookalike.text.shingles import Shingling

SHINGLES = ("words:5", "chars:9")
ROWS = 128
RUNS, COLD_STARTS, WARM_STARTS = 20, 3, 7
"""How often signing and the command line run; the fastest counts."""
CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхийклмнопярстувжщызАБЦДЕФГХИЙКЛМНОПЯРСТУВЖЩЫЗ",
)


def scripts(size: int) -> dict[str, Canonical]:
    """Give canonical texts of about so many bytes, by script.

    Documents are stitched from the real texts, as those of whole jobs are. There is no Cyrillic
    among them: English words are written in its letters. The Chinese texts are poems, of 60
    characters each; they stand also as they are, to show what short documents cost.
    """
    real = real_texts(real_folder())
    latin = [text for text in real if text.isascii()]
    dense = [text for text in real if len(text.encode()) > 2 * len(text)]
    english = _as_many(stitched(latin, dense=0), size)
    written = {
        "ASCII": english,
        "Cyrillic": [text.translate(CYRILLIC) for text in english[: len(english) // 2]],
        "Chinese": _as_many(stitched(dense, dense=1), size),
        "Chinese poems": _as_many(itertools.cycle(dense), size),
    }
    return {name: normalise(pa.array(texts)) for name, texts in written.items()}


def stitched(sources: list[str], dense: float) -> Iterator[str]:
    """Make originals without end."""
    some = Corpus(sources, seed=1, copies=0, dense=dense)
    return map(some.text, itertools.count())


def _as_many(texts: Iterator[str], size: int) -> list[str]:
    """Take texts until they have so many bytes."""
    taken, total = [], 0
    for text in texts:
        taken.append(text)
        total += len(text.encode())
        if total >= size:
            break
    return taken


def fastest(*works: Callable[[], Any]) -> list[tuple[float, float]]:
    """Give the seconds of the fastest run of each, by the clock and of this thread.

    They run in turn, so that a moment in which the machine is slow tells against none of them.
    """
    spent = []
    for turn in range(RUNS + 1):
        for work in works:
            begin = time.perf_counter(), time.thread_time()
            work()
            end = time.perf_counter(), time.thread_time()
            if turn:
                spent.append([after - before for before, after in zip(begin, end, strict=True)])
    by_work = np.array(spent).reshape(RUNS, len(works), 2).min(axis=0)
    return [(clock, own) for clock, own in by_work.tolist()]


def signing(size: int, threads: int) -> list[dict[str, Any]]:
    """Sign texts of each script."""
    rows = []
    for script, documents in scripts(size).items():
        for shingle in SHINGLES:
            shingling = Shingling.parse(shingle)

            def sign(count: int, texts: Canonical = documents, cut: Shingling = shingling) -> Any:
                return sign_texts(texts, cut, rows=ROWS, seed=1, threads=count)

            megabytes = len(documents.data) / 1e6
            each = len(documents.data) / len(documents)
            alone, together = fastest(lambda: sign(1), lambda: sign(threads))
            one, core, every = (megabytes / spent for spent in (*alone, together[0]))
            scaling = every / one / threads
            rows.append(
                {
                    "script": script,
                    "shingle": shingle,
                    "bytes a document": each,
                    "a core": core,
                    "one thread": one,
                    "all threads": every,
                    "scaling": scaling,
                }
            )
            print(
                f"{script:14}{shingle:9}{each:6,.0f} bytes{core:6,.0f} MB/s a core"
                f"{one:6,.0f} on one thread{every:6,.0f} on {threads}: {scaling:.0%}",
                flush=True,
            )
    return rows


def starting() -> dict[str, float]:
    """Time the command line with no compiled code at hand, and with all, the fastest of several.

    `find` comes after `compare`, and compiles what that did not.
    """
    spent: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("a.txt", "b.txt")]
        for path, text in zip(paths, real_texts(real_folder())[:2], strict=True):
            path.write_text(text)

        def run(command: str, state: str, cache: str) -> None:
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, cache))}
            # Python keeps what it compiles too, unless it is told not to.
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            words = [sys.executable, "-m", "lookalike", command, *map(str, paths)]
            begin = time.perf_counter()
            subprocess.run(words, env=environment, capture_output=True, check=True)
            spent.setdefault(f"{command}, {state}", []).append(time.perf_counter() - begin)

        for cache in map(str, range(COLD_STARTS)):
            for command in ("compare", "find"):
                run(command, "cold", cache)
        for _ in range(WARM_STARTS):
            for command in ("compare", "find"):
                run(command, "warm", cache)
    found = {name: min(times) for name, times in spent.items()}
    for name, seconds in found.items():
        print(f"lookalike {name}: {seconds:.2f} s")
    return found


def main() -> None:
    """Measure, print, and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    np.seterr(all="raise")
    kept = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "signing": signing(asked.megabytes * 1_000_000, asked.threads),
        "starting": starting(),
    }
    (RESULTS / "kernels.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
