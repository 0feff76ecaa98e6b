"""Options that commands share, each in one place."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Bands",
    "Cascade",
    "Estimate",
    "Id",
    "Ignore",
    "MaxDf",
    "Memory",
    "Metric",
    "MetricName",
    "Multiset",
    "Normalise",
    "Out",
    "Quiet",
    "Recall",
    "Rows",
    "Seed",
    "Shingle",
    "SkipBad",
    "Source",
    "Text",
    "Threads",
    "Threshold",
    "Vector",
    "WeightName",
    "Weights",
    "WorkFolder",
]


class MetricName(StrEnum):
    """How two documents are compared."""

    jaccard = "jaccard"
    cosine = "cosine"


class WeightName(StrEnum):
    """What a shingle counts for in the cosine."""

    counts = "counts"
    binary = "binary"
    log = "log"
    tf_idf = "tf-idf"


Threshold = Annotated[
    float, typer.Option("--threshold", "-t", help="Similarity from which two documents are a pair.")
]
Recall = Annotated[
    float,
    typer.Option(
        "--recall",
        help="Chance that a pair at the threshold is found; 1 finds every pair, by an exact join.",
    ),
]
Shingle = Annotated[
    str,
    typer.Option("--shingle", "-s", metavar="auto|chars:K|words:K", help="What is compared."),
]
Multiset = Annotated[
    bool, typer.Option("--multiset", help="Count how often a shingle occurs, not only whether.")
]
Bands = Annotated[
    int | None, typer.Option("--bands", help="Bands, instead of a plan; with --rows.")
]
Rows = Annotated[
    int | None, typer.Option("--rows", help="Rows of a band, instead of a plan; with --bands.")
]
Cascade = Annotated[
    str | None,
    typer.Option("--cascade", metavar="SPEC", help="Any AND/OR cascade, as 'and:4 or:4 and:2'."),
]
Estimate = Annotated[
    bool,
    typer.Option("--estimate", help="Score by signatures, labelled estimated; no exact check."),
]
Normalise = Annotated[
    str,
    typer.Option(
        "--normalise",
        "--normalize",
        metavar="OPTIONS",
        help="default, none, or some of keep-case, strip-accents, strip-digits, "
        "strip-punctuation, with commas between.",
    ),
]
Text = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="Field that holds the text.")
]
Vector = Annotated[
    str | None,
    typer.Option("--vector", metavar="COLUMN", help="Field that holds a vector, instead of text."),
]
Metric = Annotated[
    MetricName,
    typer.Option("--metric", help="Jaccard of sets of shingles; cosine of counts, or of vectors."),
]
Weights = Annotated[
    WeightName | None,
    typer.Option(
        "--weights", help="What a shingle counts for in the cosine and simhash; default counts."
    ),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Field that holds the id.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write here, not to standard output; replaces a file.",
    ),
]
Source = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Folders, files (.txt .md .html .pdf .docx; .jsonl .csv .tsv, also .gz and .zst; "
        ".parquet; .npy for vectors), patterns, addresses as s3://…, or - for JSONL on "
        "standard input.",
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Pass over what cannot be read; count and name it."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="Bound, as 2GB; by default half of what is free."
    ),
]
WorkFolder = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="FOLDER",
        help="Keep the work here: a stopped job goes on, another threshold is not read again.",
    ),
]
Ignore = Annotated[
    Path | None,
    typer.Option("--ignore", metavar="FILE", help="Text whose shingles do not count."),
]
MaxDf = Annotated[
    float | None,
    typer.Option(
        "--max-df",
        metavar="SHARE",
        help="Shingles in more than this share of the documents do not count.",
    ),
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Threads; by default one a processor.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of the random hash functions.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but errors.")]
