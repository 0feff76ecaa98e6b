"""Measure Lookalike and its peers: python -m benchmarks [minhash|vectors|simhash|cosine].

Each contestant gets the same data and the same job, in a process of its own, after a small run that
is not counted, since Lookalike compiles in it. Recall is measured against every pair of a sample
of the data, found by comparing all; precision by comparing each pair that was found.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import corpus, table
from benchmarks.contestants import entries
from benchmarks.job import Job
from benchmarks.judging import Judge
from benchmarks.measuring import measure, store
from benchmarks.truth import TrueTexts, TrueVectors
from benchmarks.vectors import vectors

# For each benchmark of texts: how many by default, words in a row, metric, threshold.
TEXTS = {
    "minhash": (5000, 5, "jaccard", 0.8),
    "simhash": (10_000, 3, "cosine", 0.9),
    "cosine": (10_000, 3, "cosine", 0.9),
}
DISTANCE = 3


def main(given: Sequence[str] | None = None) -> None:
    """Run one benchmark, print its table, and keep its figures."""
    words = list(sys.argv[1:] if given is None else given)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "minhash")
    parser = _parser()
    asked = parser.parse_args(words)
    for name in asked.peers or ():
        if name not in (known := entries(asked.benchmark)):
            parser.error(f"{name!r} takes no part in {asked.benchmark}: use {', '.join(known)}")
    made = _made(asked)
    options = {"distance": DISTANCE} if asked.benchmark == "simhash" else {}
    job = Job(asked.threshold, asked.threads, asked.seed, options)
    judge = Judge(made.truth, job, len(made.data), asked.sample)
    print(f"{made.told}; {judge.sought():,} true pairs at {job.threshold:g} or above in the sample")
    print(f"{job.threads} threads\n")
    print(table.heading(made.unit, asked.benchmark == "simhash"), flush=True)
    rows: list[table.Row] = []
    with tempfile.TemporaryDirectory() as folder:
        store(Path(folder), made.data)
        for name, entry in entries(asked.benchmark).items():
            if asked.peers is not None and name not in ("lookalike", *asked.peers):
                continue
            try:
                title = f"{entry.title} {version(entry.distribution)}"
            except PackageNotFoundError:
                rows.append(table.Row(entry.title, f"{entry.distribution} is not installed"))
            else:
                measured = measure(Path(folder), asked.benchmark, name, job, asked.limit)
                rows.append(judge.row(title, measured))
            if rows[0].seconds and rows[-1].seconds:
                rows[-1].times = rows[-1].seconds / rows[0].seconds
            print(table.line(rows[-1]), flush=True)
    print(table.legend(rows), end="")
    arguments = {key: value for key, value in vars(asked).items() if key != "json"}
    about = {"told": made.told, "true pairs of the sample": judge.sought()}
    table.write(asked.json or table.RESULTS / f"{made.name}.json", arguments, about, rows)


@dataclass(frozen=True)
class Made:
    """The data of a benchmark, and what is true of it."""

    data: Any
    truth: TrueTexts | TrueVectors
    unit: str
    told: str
    name: str


def _made(asked: argparse.Namespace) -> Made:
    if asked.benchmark == "vectors":
        data = vectors(asked.count, asked.dimension, asked.seed, asked.topic)
        kind = " with topics" if asked.topic else ""
        told = f"{asked.count:,} vectors{kind} of {asked.dimension} numbers"
        told += f", {data.nbytes / 1e6:,.0f} MB"
        name = f"vectors-{asked.count}{'-topics' if asked.topic else ''}"
        return Made(data, TrueVectors(data), "vectors", told, name)
    make = corpus.real_documents if asked.real else corpus.documents
    texts = make(asked.documents, asked.seed)
    size = sum(map(len, texts)) / 1e6
    told = f"{asked.documents:,} {'real ' if asked.real else ''}documents, {size:,.1f} MB"
    name = f"{asked.benchmark}-{asked.documents}{'-real' if asked.real else ''}"
    _, words, metric, _ = TEXTS[asked.benchmark]
    return Made(texts, TrueTexts(texts, words, metric), "documents", told, name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.set_defaults(real=False)
    benchmarks = parser.add_subparsers(dest="benchmark", required=True)
    for name, (count, words, metric, threshold) in TEXTS.items():
        one = benchmarks.add_parser(name, help=f"texts as words:{words}, by {metric}")
        one.add_argument("--documents", type=int, default=count)
        one.add_argument("--threshold", type=float, default=threshold)
        one.add_argument("--real", action="store_true", help="real texts, of LOOKALIKE_DATA")
        _common(one)
    one = benchmarks.add_parser("vectors", help="vectors, by their cosine")
    one.add_argument("--count", type=int, default=20_000)
    one.add_argument("--dimension", type=int, default=384)
    one.add_argument("--threshold", type=float, default=0.9)
    one.add_argument("--topic", type=float, default=0.0, help="cosine within a topic, beyond 0.15")
    _common(one)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for each contestant")
    parser.add_argument("--sample", type=int, default=10_000, help="documents to measure recall by")
    parser.add_argument("--peers", type=lambda text: text.split(","), help="only these, as a,b")
    parser.add_argument("--json", type=Path, help="the file for the figures")


if __name__ == "__main__":
    main()
