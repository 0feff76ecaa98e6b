"""Measure Lookalike and its peers: python -m benchmarks, with what is measured, or tables or plot.

Each contestant gets the same data and the same job, in a process of its own, after a small run that
is not counted, since Lookalike compiles in it. Recall is measured against the true pairs of
a sample of the data, found by comparing; precision by comparing pairs that were found.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import corpus, index, table
from benchmarks.contestants import HELPED, Entry, entries
from benchmarks.contestants.indexes import ENTRIES
from benchmarks.environments import NotInstalledError, interpreter
from benchmarks.job import Job
from benchmarks.judging import Judge
from benchmarks.measuring import Measured, measure, store
from benchmarks.shingles import Shingles
from benchmarks.truth import Sampled, TrueFile, TrueTexts, TrueVectors
from benchmarks.vectors import vectors

BANDS, ROWS = 12, 5  # a pair of 0.8 is found with a probability of 0.99
# For each benchmark of texts in memory: how many by default, words in a row, metric, threshold.
IN_MEMORY = {
    "simhash": (10_000, 3, "cosine", 0.9),
    "cosine": (10_000, 3, "cosine", 0.9),
}
SHINGLE = {"texts": "words:5", "spark": "chars:9"}
"""What is compared by default; the peer on Spark knows characters alone."""
DISTANCE = 3
SPARK_LIMIT = 240.0
"""Seconds that a peer on Spark has, for all sizes together: all end in some 20 minutes."""
SMALL = 1000


def main(given: Sequence[str] | None = None) -> None:
    """Run one benchmark, print its table, and keep its figures."""
    words = list(sys.argv[1:] if given is None else given)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "texts")
    parser = _parser()
    asked = parser.parse_args(words)
    if asked.benchmark == "tables":
        table.show_results()
        return
    if asked.benchmark == "plot":
        from benchmarks.plot import draw

        draw()
        return
    known: Collection[str] = ENTRIES if asked.benchmark == "index" else entries(asked.benchmark)
    for name in asked.peers or ():
        if name not in known:
            parser.error(f"{name!r} takes no part in {asked.benchmark}: use {', '.join(known)}")
    if asked.benchmark == "index":
        index.run(asked)
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.benchmark in ("texts", "spark"):
            _whole_jobs(asked, Path(folder))
        else:
            _in_memory(asked, Path(folder))


def _whole_jobs(asked: argparse.Namespace, folder: Path) -> None:
    """Have each read the same file, and give the pairs."""
    shingles: Shingles = asked.shingle
    options = {shingles.unit: shingles.size, "bands": BANDS, "rows": ROWS, "memory": asked.memory}
    job = Job(asked.threshold, asked.threads, asked.seed, options)
    made = corpus.made(asked.documents, asked.seed)
    _, kind = corpus.corpus_of(asked.seed)
    truth = TrueFile(
        made.path,
        made.corpus.originals(made.count),
        shingles,
        job,
        sample=asked.sample,
        cache=corpus.CACHE,
    )
    judge = Judge(truth, job, made.count, made.size)
    told = f"{made.count:,} documents, {made.size / 1e6:,.1f} MB of {kind}"
    about = {"told": told, "bytes": made.size, "truth": truth.wanted(made.count).told}
    sizes = [size for size in (made.count // 100, made.count // 10) if size >= SMALL]
    sizes = sizes or [max(made.count // 10, 1)]
    on_spark = asked.benchmark == "spark"

    def run(name: str, entry: Entry, count: int = made.count) -> Measured:
        # A peer reads Parquet; Lookalike reads what is asked for.
        suffix = "parquet" if entry.requires or on_spark else asked.format
        fewer = [size for size in sizes if size < count]
        if on_spark:
            # A job takes seconds whatever its size: from a very small one nothing can be told. Of
            # peers that do not come to all documents it is found out how far they come.
            fewer = _ladder(count) if entry.requires else fewer[-1:]
        files = [(size, corpus.made(size, asked.seed, suffix).path) for size in (*fewer, count)]
        python = sys.executable
        if entry.requires:
            python = str(interpreter(name.removesuffix(HELPED), entry.requires))
        few = corpus.made(SMALL, asked.seed, suffix).path if on_spark else None
        return measure(
            folder,
            asked.benchmark,
            name,
            job,
            asked.limit,
            files=files,
            few=few,
            python=python,
        )

    name = f"{asked.benchmark}-{made.count}"
    name += f"-{shingles}".replace(":", "") if str(shingles) != SHINGLE[asked.benchmark] else ""
    name += f"-{asked.format}" if asked.format != "parquet" else ""
    name += f"-{asked.memory}" if asked.memory else ""
    own = f"lookalike-spark-{asked.threads}"
    beside = partial(run, own, entries("spark")[own]) if on_spark else None
    _compete(asked, judge, "documents", about, name, run, beside)


def _ladder(count: int) -> list[int]:
    """Give sizes up to a count, each about twice the one before."""
    steps = [digit * 10**power for power in range(3, 10) for digit in (1, 2, 5)]
    return [size for size in steps if size < count]


def _in_memory(asked: argparse.Namespace, folder: Path) -> None:
    """Give each the same data in memory."""
    options = {"distance": DISTANCE} if asked.benchmark == "simhash" else {}
    job = Job(asked.threshold, asked.threads, asked.seed, options)
    data: Any
    truth: TrueVectors | TrueTexts
    if asked.benchmark == "vectors":
        data = vectors(asked.count, asked.dimension, asked.seed, asked.topic)
        kind = " with topics" if asked.topic else ""
        told = f"{asked.count:,} vectors{kind} of {asked.dimension} numbers"
        told += f", {data.nbytes / 1e6:,.0f} MB"
        name = f"vectors-{asked.count}{'-topics' if asked.topic else ''}"
        truth, unit, size = TrueVectors(data), "vectors", 0
    else:
        data = corpus.word_texts(asked.documents, asked.seed)
        size = sum(map(len, map(str.encode, data)))
        told = f"{asked.documents:,} documents, {size / 1e6:,.1f} MB"
        name = f"{asked.benchmark}-{asked.documents}"
        _, words, metric, _ = IN_MEMORY[asked.benchmark]
        truth, unit = TrueTexts(data, words, metric), "documents"
    judge = Judge(Sampled(truth, job, asked.sample), job, len(data), size, asked.sample)
    about = {"told": told, "truth": judge.truth.wanted(len(data)).told}
    store(folder, data)

    def run(name: str, entry: Entry) -> Measured:
        try:
            version(entry.distribution)
        except PackageNotFoundError:
            return Measured(None, problem=f"{entry.distribution} is not installed")
        return measure(folder, asked.benchmark, name, job, asked.limit)

    _compete(asked, judge, unit, about, name, run)


def _compete(
    asked: argparse.Namespace,
    judge: Judge,
    unit: str,
    about: dict[str, Any],
    name: str,
    run: Callable[[str, Entry], Measured],
    beside: Callable[[int], Measured] | None = None,
) -> None:
    """Run one after the other, print a row of each, and keep the rows.

    Where one does not come to all documents, `beside` runs Lookalike on as many.
    """
    print(
        f"{about['told']}; {judge.sought():,} true pairs sought of {judge.job.threshold:g} or more"
    )
    print(f"{judge.job.threads} threads\n")
    print(table.heading(unit, asked.benchmark == "simhash"), flush=True)
    arguments = {key: value for key, value in vars(asked).items() if key != "json"}
    rows: dict[str, table.Row] = {}
    for one, entry in entries(asked.benchmark).items():
        if asked.peers is not None:
            if one not in ("pyarrow", "lookalike", *asked.peers):
                continue
        elif one.endswith(HELPED) and not asked.helped:
            continue
        row = rows[one] = _row(one, entry, judge, run)
        if beside is not None and row.estimated:
            own = beside(row.done)
            row.beside = own.seconds if own.is_whole(()) else None
        row.times = _ratio(row, rows.get("lookalike"))
        row.reads = _ratio(row, rows.get("pyarrow"))
        print(table.line(row), flush=True)
        path = asked.json or table.RESULTS / f"{name}.json"
        table.write(path, arguments, about, list(rows.values()))
    print(table.legend(list(rows.values())), end="")


def _row(name: str, entry: Entry, judge: Judge, run: Callable[[str, Entry], Measured]) -> table.Row:
    why_not = entry.needs() if entry.needs else None
    try:
        measured = Measured(None, problem=why_not) if why_not else run(name, entry)
    except NotInstalledError as error:
        measured = Measured(None, problem=str(error))
    row = judge.row(_title(entry, measured.versions), measured)
    row.note, row.versions = entry.note, measured.versions
    return row


def _title(entry: Entry, versions: dict[str, str]) -> str:
    """Name a contestant with the version that ran."""
    newest = next(iter(versions.values()), "")
    return entry.title if newest in entry.title else f"{entry.title} {newest}"


def _ratio(row: table.Row, other: table.Row | None) -> float | None:
    return row.seconds / other.seconds if other and other.seconds and row.seconds else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    benchmarks = parser.add_subparsers(dest="benchmark", required=True)
    for name, told in (("texts", "a file of texts"), ("spark", "the same on Spark")):
        one = benchmarks.add_parser(name, help=f"{told}, by their Jaccard similarity")
        _whole_job_options(one, SHINGLE[name])
        if name == "spark":
            one.set_defaults(limit=SPARK_LIMIT)
    for name, (count, words, metric, threshold) in IN_MEMORY.items():
        one = benchmarks.add_parser(name, help=f"texts as words:{words}, by {metric}")
        one.add_argument("--documents", type=int, default=count)
        one.add_argument("--threshold", type=float, default=threshold)
        _common(one, 10_000)
    one = benchmarks.add_parser("vectors", help="vectors, by their cosine")
    one.add_argument("--count", type=int, default=20_000)
    one.add_argument("--dimension", type=int, default=384)
    one.add_argument("--threshold", type=float, default=0.9)
    one.add_argument("--topic", type=float, default=0.0, help="cosine within a topic, beyond 0.15")
    _common(one, 10_000)
    one = benchmarks.add_parser("index", help="indexes that last: add, query and admit texts")
    one.add_argument("--documents", type=int, default=100_000)
    one.add_argument("--skewed", action="store_true", help="one in five begins as all of these do")
    one.add_argument("--threshold", type=float, default=0.8)
    one.add_argument("--memory", help="what Lookalike may use to add in bulk, as 2GB")
    one.add_argument("--pieces", type=int, default=1, help="short documents: so many of each text")
    one.add_argument("--queries", type=int, default=2000, help="documents that are looked for")
    one.add_argument("--admissions", type=int, default=5000, help="documents that are admitted")
    _common(one)
    benchmarks.add_parser("tables", help="set the results into docs/benchmarks.md")
    benchmarks.add_parser("plot", help="draw the results of texts")
    return parser


def _whole_job_options(parser: argparse.ArgumentParser, shingle: str) -> None:
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--shingle", type=Shingles.parse, default=shingle)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--format", choices=("parquet", "jsonl"), default="parquet")
    parser.add_argument("--memory", help="what Lookalike may use, as 1.5GB")
    parser.add_argument(
        "--helped",
        action="store_true",
        help="run peers also with more help than their documentation shows",
    )
    _common(parser, 2000)


def _common(parser: argparse.ArgumentParser, sample: int | None = None) -> None:
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for each peer")
    if sample is not None:
        parser.add_argument(
            "--sample", type=int, default=sample, help="documents compared with all"
        )
    parser.add_argument("--peers", type=lambda text: text.split(","), help="only these, as a,b")
    parser.add_argument("--json", type=Path, help="the file for the figures")


if __name__ == "__main__":
    main()
