"""The options of every command, each declared once, and the settings of a job.

An option is a field of one of the small classes here, and commands combine these. The keywords of
the Python functions, the options of the command line and the reference are made of their fields.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.options import option
from lookalike.base.wording import setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "FORMATS",
    "METRICS",
    "WEIGHTS",
    "BoilerplateOptions",
    "CompareOptions",
    "ContainedOptions",
    "DedupOptions",
    "FindOptions",
    "LearnOptions",
    "LessonOptions",
    "MatrixLessonOptions",
    "PlanOptions",
    "Settings",
    "SketchFileOptions",
    "SketchOptions",
    "check_share",
    "settings_of",
]

FORMAT = 2
"""Raised whenever the same settings begin to give other numbers."""
METRICS = ("jaccard", "cosine")
WEIGHTS = ("counts", "binary", "log", "tf-idf")
FORMATS = ("table", "jsonl", "csv", "parquet")
MAX_DISTANCE = 16
"""Bits of 64 within which fingerprints are searched for; of more, nearly every pair would do."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Similar:
    """From where on documents are similar, and how surely that is found."""

    threshold: float = option(0.8, "Similarity from which two documents are a pair.", short="-t")
    recall: float = option(
        0.99,
        "Chance that a pair at the threshold is found; 1 finds every pair, by an exact join.",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Inside:
    """From where on a document is inside another."""

    containment: float = option(
        0.9, "Share of a document's shingles that another must have.", metavar="SHARE", short="-t"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Shingled:
    """What is compared."""

    shingle: str = option("auto", "What is compared.", metavar="auto|chars:K|words:K", short="-s")
    multiset: bool = option(False, "Count how often a shingle occurs, not only whether.")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Banded:
    """Bands and rows as given, instead of a plan."""

    bands: int | None = option(None, "Bands, instead of a plan; with the rows of each.")
    rows: int | None = option(None, "Rows of a band, instead of a plan; with the bands.")
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

    seed: int = option(1, "Of the random hash functions.")


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
        "Reference corpus: what is similar to one of its documents goes; it is never touched. "
        "May be given several times.",
        metavar="REF",
        is_list=True,
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
    background: float | None = option(None, "How alike two random documents are; by default 0.05.")
    shingles: float | None = option(None, "Shingles of a document, on average; by default 1000.")
    signature: int | None = option(None, "Rows, or bits with the cosine: the best that they allow.")
    miss_weight: float | None = option(
        None,
        "With a signature: 1 for few misses, 0 for few false candidates, by default 0.5.",
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
    threshold: float = option(0.7, "Similarity from which two documents are a pair.", short="-t")
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
    skip_bad: bool = option(False, "Pass over what cannot be read; count and name it.")


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
        "Pass over files and folders that match. May be given several times.",
        metavar="PATTERN",
        is_list=True,
    )
    all_files: bool = option(
        False, "Read hidden files too, and what .gitignore files leave out.", also=("all",)
    )


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
    drop_unread: bool = option(
        False, "Leave out of the kept files those of a folder that cannot be read."
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
        None, "Bound, as 2GB; by default half of what is free.", metavar="SIZE"
    )
    threads: int | None = option(None, "Threads; by default one a processor.")
    progress: Callable[[str, int, int], None] | bool | None = option(
        None,
        "Told the stage, how much of it is done, and how much there is; of read these are bytes. "
        "True shows it on standard error.",
        python_only=True,
    )
    say: Callable[[str], None] | None = option(
        None, "Told in a line what a user should know while the job runs.", python_only=True
    )


# Of several bases, the fields of the last come first. What a class is not asked for is not made:
# each method of a dataclass is compiled when this module loads.


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FindOptions(
    Resources,
    Working,
    Clustered,
    Written,
    Chosen,
    Records,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Estimated,
    Weighted,
    Measured,
    Banded,
    Shingled,
    Similar,
):
    """Options of `find`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DedupOptions(
    Resources,
    Working,
    Chosen,
    Records,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Weighted,
    Measured,
    Banded,
    Shingled,
    Similar,
    Keeping,
    WrittenFolder,
):
    """Options of `dedup`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ContainedOptions(
    Resources, Working, Written, Chosen, Records, TextField, Normalised, Cleaned, Shingled, Inside
):
    """Options of `contained`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BoilerplateOptions(
    Resources, Working, Written, Chosen, Records, TextField, Normalised, Listed
):
    """Options of `boilerplate`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SketchOptions(
    Resources,
    Chosen,
    Records,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Weighted,
    Shingled,
    Drawn,
):
    """Options of `sketch`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SketchFileOptions(SketchOptions):
    """Options of `write_sketches`."""

    format: str | None = option(
        None, "jsonl, csv or parquet; by default as the name ends.", choices=FORMATS[1:]
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareOptions(Passages, Normalised, Weighted, Measured, Shingled):
    """Options of `compare`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanOptions(Measured, Banded, Assumed, Similar):
    """Options of `plan`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LessonOptions(TextField, Taught):
    """Options of `lesson`."""

    id: str | None = option(
        None, "Field that holds the id; none for the place, as file:row.", metavar="COLUMN"
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MatrixLessonOptions:
    """Options of `matrix_lesson`."""

    hash: Any = option(
        None,
        "With a matrix: a hash function of rows, as '3x+1 mod 5'. May be given several times.",
        metavar="FUNCTION",
        is_list=True,
    )
    permutation: Any = option(
        None,
        "With a matrix: its rows in an order, as 4,3,1,2. May be given several times.",
        metavar="ROWS",
        is_list=True,
    )
    first_row: int | None = option(
        None, "With a matrix: rows are counted from 0 or 1; by default as they are named, or 1."
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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LearnOptions(MatrixLessonOptions, MatrixFile, LessonOptions):
    """Options of the command `learn`: those of the one lesson, and those of the other."""


def settings_of(options: Any, **others: Any) -> Settings:
    """Give the settings among the options of a command, and what the command itself decides."""
    names = {one.name for one in fields(Settings)} & {one.name for one in fields(options)}
    return Settings(**({name: getattr(options, name) for name in names} | others))


class Digest(str):
    """The digest of a text that itself is not known any more."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Settings(
    Seeded, Normalised, Cleaned, Estimated, Weighted, Measured, Banded, Shingled, Similar
):
    """What decides the result of a job, and nothing that does not (threads, files, colours)."""

    ignore: str | None = None
    """A text whose shingles do not count."""
    containment: float | None = None
    """Report instead which documents are inside others, to at least this share."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("shingle", "normalise", "metric", "cascade", "ignore", "weights"):
            value = getattr(self, name)
            needed = name in ("shingle", "normalise", "metric")
            if not isinstance(value, str) and (needed or value is not None):
                raise SettingsError(
                    f"{setting(name, value)} is of type {type(value).__name__}, not text"
                )
        for name in ("multiset", "estimate"):
            if not isinstance(value := getattr(self, name), bool):
                raise SettingsError(f"{setting(name, value)}: use True or False")
        for name in ("bands", "rows"):
            value = getattr(self, name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))
            elif value is not None:
                raise SettingsError(f"{setting(name, value)}: use a whole number from 1, as 5")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SettingsError(f"{setting('seed', self.seed)}: use a whole number, as 1")
        if not 0 <= self.seed < 1 << 64:
            raise SettingsError(
                f"{setting('seed', self.seed)}: use a whole number from 0 to 2^64 - 1"
            )
        check_share("threshold", self.threshold, "0.8")
        if self.threshold == 0:
            raise SettingsError(
                f"{setting('threshold', 0)} makes every pair similar: use one above 0, as 0.8"
            )
        check_share("recall", self.recall, "0.99")
        # A threshold of NumPy's is the same setting as Python's.
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "recall", float(self.recall))
        if (self.bands is None) != (self.rows is None):
            raise SettingsError(
                f"{setting('bands')} and {setting('rows')} go together: give both, as "
                f"{setting('bands', 20)} and {setting('rows', 5)}"
            )
        if self.cascade is not None and self.bands is not None:
            raise SettingsError(
                f"{setting('cascade')} and {setting('bands')} with {setting('rows')} exclude each "
                "other: give one"
            )
        for name in ("max_df", "containment"):
            if (value := getattr(self, name)) is not None:
                check_share(name, value, "0.1" if name == "max_df" else "0.9")
                object.__setattr__(self, name, float(value))
        if self.containment == 0:
            raise SettingsError(
                f"{setting('containment', 0)} makes every pair one: use one above 0, as 0.9"
            )
        if self.containment is not None and self.estimate:
            raise SettingsError(
                f"{setting('containment')} is compared exactly: leave out {setting('estimate')}"
            )
        self._check_metric()
        if self.recall == 1 and self.planned and self.estimate:
            raise SettingsError(
                f"{setting('recall', 1)} compares exactly and has no signatures to estimate from: "
                f"with {setting('estimate')} use one below 1, as {setting('recall', 0.99)}"
            )

    def _check_metric(self) -> None:
        if self.metric not in METRICS:
            raise SettingsError(
                f"{setting('metric', self.metric)} is unknown: use {' or '.join(METRICS)}"
            )
        if self.weights is not None and self.weights not in WEIGHTS:
            raise SettingsError(
                f"{setting('weights', self.weights)} is unknown: use {', '.join(WEIGHTS)}"
            )
        distance = self.simhash
        if distance is not None:
            if isinstance(distance, bool) or not isinstance(distance, Integral):
                raise SettingsError(
                    f"{setting('simhash', distance)}: use a whole number of bits, as 3"
                )
            if not 0 <= distance <= MAX_DISTANCE:
                raise SettingsError(
                    f"{setting('simhash', distance)}: use from 0 to {MAX_DISTANCE} bits, as 3"
                )
            object.__setattr__(self, "simhash", int(distance))
            if self.estimate or not self.planned:
                raise SettingsError(
                    f"{setting('simhash')} finds every pair by blocks of its own: leave out "
                    f"{setting('bands')}, {setting('rows')}, {setting('cascade')} and "
                    f"{setting('estimate')}"
                )
        angular = self.metric == "cosine" or distance is not None
        if self.weights is not None and not angular:
            raise SettingsError(
                f"{setting('weights')} is for {setting('metric', 'cosine')} and for "
                f"{setting('simhash')}: a set has none"
            )
        if self.multiset and angular:
            raise SettingsError(
                f"{setting('multiset')} is for {setting('metric', 'jaccard')}: the cosine and "
                f"simhash count by themselves, see {setting('weights')}"
            )
        if self.containment is not None and angular:
            raise SettingsError(
                f"{setting('containment')} is of sets: leave out {setting('metric', 'cosine')} and "
                f"{setting('simhash')}"
            )

    @property
    def planned(self) -> bool:
        """Whether bands and rows are to be chosen, not given."""
        return self.bands is None and self.cascade is None

    @property
    def exact(self) -> bool:
        """Whether every pair is to be found, without sketches."""
        return self.recall == 1 and self.planned

    @property
    def by_sketches(self) -> bool:
        """Whether scores are told from sketches, not from the documents themselves."""
        return self.estimate or self.simhash is not None

    def resolved(
        self, *, shingle: str, normalise: str, cascade: str | None, weights: str | None = None
    ) -> Settings:
        """Give the settings that ran: what `auto` and the plan came to, spelled in one way."""
        given = self if cascade is None or not self.planned else replace(self, cascade=cascade)
        return replace(given, shingle=shingle, normalise=normalise, weights=weights)

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain values; a text to ignore, which may be long, by its digest."""
        plain = asdict(self)
        if self.ignore is not None and not isinstance(self.ignore, Digest):
            plain["ignore"] = hashlib.sha256(self.ignore.encode()).hexdigest()[:16]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Settings:
        """Make the settings that `as_dict` gave; of a text to ignore the digest is known."""
        ignore = plain.get("ignore")
        return cls(**{**plain, "ignore": None if ignore is None else Digest(ignore)})

    def fingerprint(self) -> str:
        """Name these settings in 16 hexadecimal digits: equal ones alike, others not."""
        # What came later and is not set is left out, so that older fingerprints stay as they are.
        later = {"ignore", "max_df", "containment", "metric", "weights", "simhash"}
        unset = {field.name: field.default for field in fields(self)}
        given = {
            name: value
            for name, value in self.as_dict().items()
            if name not in later or value != unset[name]
        }
        plain = json.dumps({"format": FORMAT, **given}, sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:16]


def check_share(name: str, value: object, example: str) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingsError(
            f"{setting(name, value)} is no number: use one from 0 to 1, as {example}"
        )
    if not 0 <= float(value) <= 1:
        raise SettingsError(f"{setting(name, value)}: use a number from 0 to 1, as {example}")
