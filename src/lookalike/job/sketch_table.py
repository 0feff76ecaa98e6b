"""The sketches of documents as a table, for those who want nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError
from lookalike.base.threads import in_order, pieces
from lookalike.base.wording import setting
from lookalike.planning.plan import MOST_GIVEN
from lookalike.recipe.metrics import Cosine, Fingerprints, Jaccard
from lookalike.settings import FORMAT
from lookalike.sketches import hyperplanes
from lookalike.text.shingles import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lookalike.job.job import Job
    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical

__all__ = ["KINDS", "MOST_BITS", "Wanted", "sketch_tables"]

KINDS = ("simhash", "minhash", "bits")
LEAST_BITS, MOST_BITS = 64, 2048


@dataclass(frozen=True)
class Wanted:
    """Which sketches, and of what length."""

    columns: Sequence[str] | None = None
    """Some of simhash, minhash and bits; by default the first two, or the last for vectors."""
    rows: int = 128
    """Of a minhash signature."""
    bits: int = 256
    """Of hyperplanes; a multiple of 32 from 64 to 2048."""
    multiset: bool = False
    """Signatures count how often a shingle occurs."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", self.columns.replace(",", " ").split())
        for name in self.columns or ():
            if name not in KINDS:
                raise SettingsError(f"column {name!r} is unknown: use some of {', '.join(KINDS)}")
        if self.columns is not None and not self.columns:
            raise SettingsError(f"{setting('columns')} is empty: use some of {', '.join(KINDS)}")
        if not _is_whole(self.rows) or not 1 <= self.rows <= MOST_GIVEN:
            raise SettingsError(
                f"{setting('rows', self.rows)}: use a whole number from 1 to {MOST_GIVEN:,}, as 128"
            )
        whole = _is_whole(self.bits)
        if not whole or not LEAST_BITS <= self.bits <= MOST_BITS or self.bits % hyperplanes.WORD:
            raise SettingsError(
                f"{setting('bits', self.bits)}: use a multiple of {hyperplanes.WORD} from "
                f"{LEAST_BITS} to {MOST_BITS:,}, as 256"
            )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def sketch_tables(job: Job, wanted: Wanted) -> Iterator[pa.Table]:
    """Give the sketches in the order of the source, a table at a time; the first is empty.

    `simhash` is a 64-bit fingerprint, `minhash` the rows of a signature, `bits` those of
    hyperplanes, 32 to a word. An empty document has none: they are null.
    """
    job.prepare("sketch")
    metric = job.recipe.metric
    if not isinstance(metric, Cosine):
        raise SettingsError("sketches are made with the metric cosine")
    columns = tuple(wanted.columns or (KINDS[:2] if metric.shingling else KINDS[2:]))
    if metric.shingling is None and set(columns) != {"bits"}:
        raise SettingsError(
            "simhash and minhash are of text: vectors have bits alone; use "
            f"{setting('columns', 'bits')}"
        )
    maker = _Maker(metric, columns, wanted)
    metadata = {"lookalike.fingerprint": _fingerprint(job, columns, wanted), **maker.told()}
    texts, ids = job.texts, job.collection.ids
    every = np.arange(len(ids), dtype=np.int64)
    yield maker.table(texts, ids, every[:0], metadata)
    # Of short texts the sketches take more than the texts do.
    cut = pieces(texts.lengths(every) + maker.bytes_each(), PIECE_BYTES)
    done = 0
    for table in in_order(
        lambda piece: maker.table(texts, ids, every[piece], metadata), cut, job.running.threads
    ):
        done += len(table)
        job.running.progress("sketch", done, len(ids))
        yield table
    job.finish()


def _fingerprint(job: Job, columns: tuple[str, ...], wanted: Wanted) -> str:
    """Name in 16 hexadecimal digits all that decides the columns, and nothing that does not."""
    settings = job.resolved()
    names = ("shingle", "weights", "normalise", "seed", "ignore", "max_df")
    plain = {name: getattr(settings, name) for name in names} | {"columns": columns}
    if "minhash" in columns:
        plain |= {"rows": wanted.rows, "multiset": wanted.multiset}
    if "bits" in columns:
        plain |= {"bits": wanted.bits}
    if settings.weights == "tf-idf" or settings.max_df is not None:
        # Then a sketch depends on the other documents too.
        prints = np.sort(job.texts.fingerprints[job.rows, 0])
        plain |= {"corpus": hashlib.sha256(prints.tobytes()).hexdigest()}
    told = json.dumps({"format": FORMAT, **plain}, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Maker:
    metric: Cosine
    columns: tuple[str, ...]
    wanted: Wanted

    def bytes_each(self) -> int:
        """Tell how much the sketches of a document take, some of them twice while they are made."""
        sizes = {"simhash": 8, "minhash": 4 * self.wanted.rows, "bits": self.wanted.bits // 8}
        return 2 * sum(sizes[name] for name in self.columns)

    def told(self) -> dict[str, str]:
        """Say what the columns are, for the file."""
        sets = "multisets" if self.wanted.multiset else "sets"
        shingling, weights = self.metric.shingling, self.metric.weighting.name
        of_bits = "vectors" if shingling is None else f"{weights} of {shingling}"
        said = {
            "simhash": f"64 bits of {weights} of {shingling}",
            "minhash": f"{self.wanted.rows} rows of {sets} of {shingling}, seed {self.metric.seed}",
            "bits": f"{self.wanted.bits} bits of {of_bits}, seed {self.metric.seed}",
        }
        return {f"lookalike.{name}": said[name] for name in self.columns}

    def table(
        self, texts: Texts, ids: Any, rows: NDArray[np.int64], metadata: dict[str, str]
    ) -> pa.Table:
        """Make the sketches of some documents."""
        filled = texts.lengths(rows) > 0
        part, mine = texts.part(rows[filled])
        columns = {"id": ids.take(rows)}
        for name in self.columns:
            values, bare = self._made(name, part, mine)
            there = filled.copy()
            there[filled] = ~bare
            columns[name] = _spread(values[~bare], there)
        return pa.table(columns, metadata=metadata)

    def _made(
        self, name: str, part: Canonical, mine: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        metric, shingling = self.metric, self.metric.shingling
        if name == "bits" or shingling is None:
            return metric.sketch(part, mine, self.wanted.bits // hyperplanes.WORD)
        if name == "simhash":
            prints = Fingerprints(metric.seed, shingling, metric.weighting)
            words, empty = prints.sketch(part, mine, prints.always_stored)
            return words.view("<u8").reshape(-1), empty
        sets = Jaccard(replace(shingling, multiset=self.wanted.multiset), metric.seed)
        return sets.sketch(part, mine, self.wanted.rows)


def _spread(values: NDArray[Any], there: NDArray[np.bool_]) -> pa.Array:
    """Make a column of values, with a null wherever there is none."""
    places = np.where(there, np.cumsum(there) - 1, 0)
    absent = pa.array(places, mask=~there)
    if values.ndim == 1:
        return pa.array(values).take(absent)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1]).take(absent)
