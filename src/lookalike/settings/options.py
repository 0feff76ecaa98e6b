"""Every option, declared once, as a field of a small class that commands share.

The keywords of the Python functions, the options of the command line and the reference are made of
these fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.options import option

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

__all__ = [
    "FOLDER",
    "FORMATS",
    "MARKUPS",
    "METRICS",
    "RULES",
    "WEIGHTS",
    "Across",
    "Assumed",
    "Banded",
    "Chosen",
    "Cleaned",
    "Clustered",
    "Drawn",
    "Encoded",
    "Estimated",
    "FromFiles",
    "Grouped",
    "Indexed",
    "Inside",
    "Keeping",
    "Listed",
    "MainText",
    "Markup",
    "MatrixFile",
    "Measured",
    "Normalised",
    "Passages",
    "Records",
    "Resources",
    "Ruled",
    "Seeded",
    "Shingled",
    "Similar",
    "TableLayout",
    "Taught",
    "TextField",
    "VectorField",
    "Weighted",
    "Working",
    "Written",
    "WrittenFolder",
]

METRICS = ("jaccard", "cosine")
RULES = ("similar", "contained")
WEIGHTS = ("counts", "binary", "log", "tf-idf")
FORMATS = ("table", "jsonl", "csv", "parquet")
FOLDER = "folder"
"""The group of a file that has no columns: the first folder below the source."""
MARKUPS = ("html",)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Similar:
    """From where on documents are similar, and how surely that is found."""

    threshold: float = option(
        0.8, "Similarity from which two documents are a pair.", short="-t", is_share=True
    )
    recall: float = option(
        0.99,
        "Chance that a pair at the threshold is found; 1 finds every pair, by an exact join.",
        is_share=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Inside:
    """From where on a document is inside another."""

    containment: float = option(
        0.9,
        "Share of a document's shingles that another must have.",
        metavar="SHARE",
        short="-t",
        is_share=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Shingled:
    """What is compared."""

    shingle: str = option(
        "auto",
        "What is compared: runs of K characters or of K words; auto chooses K characters.",
        metavar="auto|chars:K|words:K",
        short="-s",
    )
    multiset: bool = option(False, "Count how often a shingle occurs, not only whether.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Banded:
    """Bands and rows as given, instead of a plan."""

    bands: int | None = option(
        None, "Number of bands, instead of a plan; give the rows of each too.", example=20
    )
    rows: int | None = option(
        None, "Rows of a band, instead of a plan; give the bands too.", example=5
    )
    cascade: str | None = option(
        None, "Any AND/OR cascade, as 'and:4 or:4 and:2', instead of a plan.", metavar="SPEC"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Measured:
    """How two documents are compared."""

    metric: str = option(
        "jaccard", "Jaccard of sets of shingles; cosine of counts, or of vectors.", choices=METRICS
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Weighted:
    """What a shingle counts for."""

    weights: str | None = option(
        None,
        "What a shingle counts for in the cosine and simhash; default counts.",
        choices=WEIGHTS,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Estimated:
    """Scores that are told from sketches, not from the documents themselves."""

    estimate: bool = option(False, "Score by signatures, labelled estimated; no exact check.")
    simhash: int | None = option(
        None,
        "Report instead every pair whose 64-bit fingerprints differ in at most so many.",
        metavar="BITS",
        example=3,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Cleaned:
    """What is left out before documents are compared."""

    ignore: str | os.PathLike[str] | None = option(
        None,
        "Text whose shingles do not count; in Python a text, or a Path.",
        metavar="FILE",
        is_path=True,
    )
    max_df: float | None = option(
        None,
        "Shingles in more than this share of the distinct documents do not count.",
        metavar="SHARE",
        example=0.1,
        is_share=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Normalised:
    """What is made equal before documents are compared."""

    normalise: str = option(
        "default",
        "default, none, or some of keep-case, strip-accents, strip-digits, strip-punctuation, "
        "with commas between.",
        metavar="OPTIONS",
        also=("normalize",),
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Seeded:
    """The random hash functions."""

    seed: int = option(
        1, "Seed of the random hash functions; without effect where every pair is compared."
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Drawn:
    """Which sketches, and of what length."""

    columns: str | Sequence[str] | None = option(
        None,
        "Some of simhash, minhash, bits; default simhash,minhash, and bits for vectors.",
        metavar="NAMES",
    )
    rows: int = option(128, "Rows of a minhash signature.")
    bits: int = option(256, "Bits of hyperplanes: a multiple of 32, 64 to 2048.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Keeping:
    """Which of similar documents stays."""

    keep: str = option(
        "first",
        "Which of similar documents stays: first, last, longest, shortest, max:COLUMN or "
        "min:COLUMN.",
        metavar="POLICY",
    )
    against: Any = option(
        None,
        "Reference corpus, or index: what is similar to one of its documents goes; it is never "
        "touched. May be given several times.",
        metavar="REF",
        is_list=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Indexed:
    """An index that grows by what is kept."""

    index: Any = option(
        None,
        "Index of what was kept before: what is similar to one of its documents goes, and what is "
        "kept is added to it.",
        metavar="INDEX",
    )
    metadata: Any = option(
        None,
        "Column of the source that the index keeps with each document. May be given several times.",
        metavar="COLUMN",
        is_list=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Ruled:
    """For what a document is removed."""

    rule: str = option(
        "similar",
        "What goes: what is similar to a kept document, or only what is contained in one, so that "
        "nothing is lost that no kept document has.",
        choices=RULES,
    )
    containment: float | None = option(
        None,
        "With the rule contained: share of a document's shingles that a kept one must have; "
        "default 1.",
        metavar="SHARE",
        example=0.9,
        is_share=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Across:
    """With which corpus another is compared."""

    against: Any = option(
        None,
        "Compare the documents with those of this corpus alone, not with each other. May be given "
        "several times.",
        metavar="REF",
        is_list=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Grouped:
    """Which documents are never compared with each other."""

    groups: str | None = option(
        None,
        "Column by which documents are grouped: two of one group are no pair, and one without a "
        "value is a group of its own; 'folder' groups files without columns by the first folder "
        "below the source.",
        metavar="COLUMN",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Listed:
    """How much is listed."""

    most: int = option(20, "Passages that are listed, at the most.", short="-n")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Passages:
    """Which shared passages count."""

    shortest: int = option(5, "Words that a shared passage has at the least.", also=("words",))


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Assumed:
    """What is assumed of a corpus, and of its signatures."""

    documents: int = option(1_000_000, "How many documents there are.", short="-n")
    background: float | None = option(
        None, "How similar two random documents are; by default 0.05.", example=0.05, is_share=True
    )
    shingles: float | None = option(
        None, "Shingles of a document, on average; by default 1000.", example=1000
    )
    signature: int | None = option(
        None,
        "Rows of a signature, with the cosine bits: choose the best bands that so many allow.",
        example=128,
    )
    miss_weight: float | None = option(
        None,
        "With a signature: 1 for few misses, 0 for few false candidates, by default 0.5.",
        example=0.5,
        is_share=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Taught:
    """A lesson on a few documents, with signatures that are short enough to read."""

    shingle: str | None = option(
        None,
        "What is compared; by default chars:3, of lists their tokens.",
        metavar="chars:K|words:K",
        short="-s",
    )
    bands: int = option(6, "Bands of the signatures.")
    rows: int = option(3, "Rows of a band.")
    threshold: float = option(
        0.7, "Similarity from which two documents are a pair.", short="-t", is_share=True
    )
    # With this seed, the sample also has candidates that the exact check refuses.
    seed: int = option(21, "Of the random hash functions.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class TextField:
    """Which field of a record is read."""

    text: str | list[str] | tuple[str, ...] | None = option(
        None,
        "Field that holds the text. May be given several times: they are joined with a blank line "
        "between.",
        metavar="COLUMN",
        is_list=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Markup:
    """What the text of a record is written in."""

    markup: str | None = option(
        None,
        "What the text of records is written in: html, of which the text of the page is read.",
        choices=MARKUPS,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MainText:
    """How much of a page is read."""

    main_text: bool = option(
        False, "Of HTML read only the main text, without menus and the like; needs lookalike[web]."
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class VectorField:
    """Which field of a record holds a vector."""

    vector: str | None = option(
        None, "Field that holds a vector, instead of text.", metavar="COLUMN"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Records:
    """Which field holds the id, and what becomes of records that cannot be read."""

    id: str | None = option(
        None, "Field that holds the id; none for the place, as file:row.", metavar="COLUMN"
    )
    skip_bad: bool = option(False, "Skip what cannot be read; count and name it.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Encoded:
    """How text is read that is not UTF-8."""

    encoding: str | None = option(
        None,
        "Encoding of text that is not UTF-8 and declares none, as cp1252 or shift_jis. By default "
        "files that are one document are read by a guess, which is said; tables are refused.",
        metavar="NAME",
    )
    strict_encoding: bool = option(False, "Refuse to guess the encoding of a file.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class TableLayout:
    """How files that hold many documents are laid out, where they do not tell."""

    lines: bool = option(
        False, "Each line of a text file is a document, whatever the ending of the file."
    )
    delimiter: str | None = option(
        None,
        "What splits the columns of .csv and .tsv files: a character, or tab; by default told by "
        "the header.",
        metavar="CHAR",
    )
    no_header: bool = option(
        False, "The .csv and .tsv files have no header: columns are named 1, 2, …"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Chosen:
    """Which files of a folder are read."""

    include: Any = option(
        None,
        "Read only files of folders whose name, or path below the folder, matches. May be given "
        "several times.",
        metavar="PATTERN",
        is_list=True,
    )
    exclude: Any = option(
        None,
        "Skip files and folders that match. May be given several times.",
        metavar="PATTERN",
        is_list=True,
    )
    all_files: bool = option(
        False, "Read hidden files too, and what .gitignore files leave out.", also=("all",)
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class FromFiles(Chosen, Encoded, TableLayout, Records, MainText, Markup):
    """How files become documents."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Written:
    """Where the result is written."""

    out: str | os.PathLike[str] | None = option(
        None,
        "Write here: to a file that ends in .jsonl, .csv or .parquet, or to a new folder; with a "
        "record of the run.",
        metavar="PATH",
        short="-o",
        is_path=True,
    )

    format: str | None = option(
        None,
        "A table for a person, or everything for a program; by default as the file's name ends.",
        choices=FORMATS,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Clustered:
    """Where the clusters are written."""

    clusters: str | os.PathLike[str] | None = option(
        None, "Write the clusters too: id, cluster, …", metavar="FILE", is_path=True
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WrittenFolder:
    """The folder that the result is written to."""

    out: str | os.PathLike[str] | None = option(
        None, "Folder of the results, new or empty.", metavar="DIR", short="-o", is_path=True
    )
    list_only: bool = option(
        False, "Write the ids of the kept documents, not the documents.", also=("list",)
    )
    drop_unread: bool = option(False, "Leave out of the kept files those that cannot be read.")
    annotate: bool = option(
        False,
        "Write all documents, with the columns cluster, cluster_size, kept and similarity added, "
        "instead of the kept ones.",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Working:
    """Where the work of a job is kept."""

    work: str | os.PathLike[str] | None = option(
        None,
        "Keep the work here: a stopped job goes on, another threshold is not read again.",
        metavar="FOLDER",
        is_path=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Resources:
    """What a job may use, and who hears of it."""

    memory: str | float | None = option(
        None, "Most memory to use, as 2GB; by default half of what is free.", metavar="SIZE"
    )
    threads: int | None = option(None, "Threads to use; by default one a processor.", example=4)
    progress: Callable[[str, int, int], None] | bool | None = option(
        None,
        "Called with the stage, how much of it is done, and how much there is; of read, add and "
        "query these are bytes. True shows it on standard error, in a notebook below the cell.",
        python_only=True,
    )
    say: Callable[[str], None] | None = option(
        None, "Called with each line that a user should know while the job runs.", python_only=True
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MatrixFile:
    """What a lesson on a matrix is on."""

    matrix: str | os.PathLike[str] | None = option(
        None,
        "A characteristic matrix instead of documents: 0 and 1, a row for each element, a column "
        "for each set.",
        metavar="FILE",
        is_path=True,
    )
