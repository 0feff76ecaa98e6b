"""Measure signatures alone, from hashes already made: python -m benchmarks.signatures.

Each makes them of the same sets of random 64-bit elements, in a process of its own, on one core,
and in an environment of its own. Beside the time stands the error: how far the estimates of pairs
of known similarity are from it, and how far those of independent minima would be.
"""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contestants.texts import Hashes, fastsketchlsh, rensa
from benchmarks.environments import NotInstalledError, interpreter

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "signatures.json"
SIZES = (50, 200, 1000, 5000)
ROWS = (64, 128, 256)
SIMILARITIES = (0.2, 0.5, 0.8, 0.95)
ELEMENTS, PAIRED, RUNS = 4_000_000, 1_500_000, 5
SEED = 1

Made = Callable[[], Any]
Maker = Callable[[Hashes, npt.NDArray[np.int64], int], tuple[Made, Callable[[Any], Any]]]


@dataclass
class Figure:
    """One way to make signatures, for sets of a size and signatures of so many rows."""

    name: str
    size: int
    rows: int
    nanoseconds: float
    """An element."""
    millions: float
    """Of elements in a second."""
    errors: dict[str, float]
    """By similarity, the root of the mean square of the estimates' errors."""
    biases: dict[str, float]
    expected: dict[str, float]
    """The errors of independent minima."""


def lookalike(
    elements: Hashes, ends: npt.NDArray[np.int64], rows: int
) -> tuple[Made, Callable[[Any], Any]]:
    from lookalike.sketches.minhash import sign_sets
    from lookalike.text.shingles import Sets

    sets = Sets(elements, ends)
    return lambda: sign_sets(sets, rows=rows, seed=SEED), np.asarray


def rensa_full(
    elements: Hashes, ends: npt.NDArray[np.int64], rows: int
) -> tuple[Made, Callable[[Any], Any]]:
    from rensa import RMinHash

    make, places = RMinHash.digest_matrix_from_flat_token_hashes, ends.astype(np.uint64)
    return lambda: make(elements, places, rows, SEED), lambda made: np.array(made.to_rows())


def rensa_rho(
    elements: Hashes, ends: npt.NDArray[np.int64], rows: int
) -> tuple[Made, Callable[[Any], Any]]:
    from rensa import RMinHash

    make, places = RMinHash.digest_matrix_from_flat_token_hashes_rho, ends.astype(np.uint64)
    return lambda: make(elements, places, rows, SEED), lambda made: np.array(made.to_rows())


def fast_sketch(
    elements: Hashes, ends: npt.NDArray[np.int64], rows: int
) -> tuple[Made, Callable[[Any], Any]]:
    from FastSketchLSH import FastSimilaritySketch

    make, places = FastSimilaritySketch(size=rows, seed=SEED).batch_csr, ends.astype(np.uint64)
    return lambda: make(elements, places, prehashed=True, num_threads=1), np.asarray


@dataclass(frozen=True)
class Way:
    """A way to make signatures, the distribution it is in, and what that needs installed."""

    title: str
    make: Maker
    distribution: str
    requires: tuple[str, ...] = ()
    environment: str = ""


WAYS = {
    "lookalike": Way("Lookalike", lookalike, "lookalike"),
    "rensa": Way("rensa, R-MinHash", rensa_full, "rensa", tuple(rensa.REQUIRES), "rensa"),
    "rensa-rho": Way(
        "rensa, rho (some positions)", rensa_rho, "rensa", tuple(rensa.REQUIRES), "rensa"
    ),
    "fastsketchlsh": Way(
        "FastSketchLSH",
        fast_sketch,
        "FastSketchLSH",
        tuple(fastsketchlsh.REQUIRES),
        "fastsketchlsh",
    ),
}


def main() -> None:
    """Measure all and show them, or one of them, for the parent."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.signatures")
    arguments.add_argument("--ways", default=",".join(WAYS), help="which, with commas between")
    arguments.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    arguments.add_argument("--output", type=Path, default=RESULTS)
    asked = arguments.parse_args()
    if asked.one:
        for figure in measured(asked.one):
            print(json.dumps(asdict(figure)), flush=True)
        print(json.dumps({"version": version(WAYS[asked.one].distribution)}))
        return
    figures: list[Figure] = []
    problems: dict[str, str] = {}
    versions: dict[str, str] = {}
    for name in asked.ways.split(","):
        try:
            told = in_its_own_process(name)
        except (NotInstalledError, subprocess.CalledProcessError) as problem:
            problems[name] = str(problem).splitlines()[0]
            continue
        figures += [Figure(**one) for one in told[:-1]]
        versions[name] = told[-1]["version"]
    show(figures, problems)
    kept = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": {"processor": _processor(), "python": platform.python_version()},
        "versions": versions,
        "problems": problems,
        "figures": [asdict(figure) for figure in figures],
    }
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(kept, indent=1) + "\n")


def in_its_own_process(name: str) -> list[dict[str, Any]]:
    """Measure one way in its environment, with one thread."""
    way = WAYS[name]
    python = interpreter(way.environment, way.requires) if way.requires else sys.executable
    pools = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")
    threads = {f"{pool}_NUM_THREADS": "1" for pool in pools} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [str(python), "-m", "benchmarks.signatures", "--one", name],
        env={**os.environ, **threads},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(name: str) -> Iterator[Figure]:
    """Measure one way for all sizes of sets and signatures, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    make = WAYS[name].make
    for rows in ROWS:
        for size in SIZES:
            random = np.random.default_rng([SEED, size])
            sets = random_sets(random, ELEMENTS // size, size)
            seconds = fastest(make, sets, rows)
            errors, biases, expected = {}, {}, {}
            for similarity in SIMILARITIES:
                wrong, known = estimates(make, random, size, rows, similarity)
                errors[str(similarity)] = float(np.sqrt(np.mean(wrong**2)))
                biases[str(similarity)] = float(np.mean(wrong))
                expected[str(similarity)] = float(np.sqrt(known * (1 - known) / rows))
            each = seconds / sets.size
            yield Figure(name, size, rows, each * 1e9, 1e-6 / each, errors, biases, expected)


def random_sets(random: np.random.Generator, count: int, size: int) -> Hashes:
    """Give sets of random elements, a row each, sorted."""
    return np.sort(random.integers(0, 2**64, (count, size), np.uint64), axis=1)


def fastest(make: Maker, sets: Hashes, rows: int) -> float:
    """Give the seconds that all signatures take of the one core, the least of some runs."""
    sign, _ = make(*_flat(sets), rows)
    make(*_flat(sets[:10]), rows)[0]()  # not counted: Lookalike compiles
    seconds = []
    for _ in range(RUNS):
        begin = time.process_time()
        sign()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def estimates(
    make: Maker, random: np.random.Generator, size: int, rows: int, similarity: float
) -> tuple[npt.NDArray[np.float64], float]:
    """Estimate pairs of two sets of a size and similarity; give the errors, and the similarity."""
    shared = round(2 * size * similarity / (1 + similarity))
    known = shared / (2 * size - shared)
    both = random.integers(0, 2**64, (PAIRED // size, 2 * size - shared), np.uint64)
    first, second = np.sort(both[:, :size], axis=1), np.sort(both[:, size - shared :], axis=1)
    sign, read = make(*_flat(np.concatenate([first, second])), rows)
    signatures = read(sign())
    equal = signatures[: len(both)] == signatures[len(both) :]
    return equal.mean(axis=1) - known, known


def _flat(sets: Hashes) -> tuple[Hashes, npt.NDArray[np.int64]]:
    count, size = sets.shape
    return sets.ravel(), np.arange(count + 1, dtype=np.int64) * size


def show(figures: list[Figure], problems: dict[str, str]) -> None:
    """Set the figures, those that are compared under each other."""
    said = "".join(f"{f'at {similarity}':>16}" for similarity in SIMILARITIES)
    print(f"{'':30}{'ns/element':>11}{'million/s':>11}   error, in those of independent minima")
    print(f"{'':52}{said}")
    for rows in ROWS:
        for size in SIZES:
            print(f"{rows} rows, sets of {size:,}")
            for one in figures:
                if (one.rows, one.size) != (rows, size):
                    continue
                errors = "".join(
                    f"{f'{error:.4f} ({error / one.expected[at]:.2f})':>16}"
                    for at, error in one.errors.items()
                )
                title = WAYS[one.name].title
                print(f"  {title:28}{one.nanoseconds:11.2f}{one.millions:11,.0f}{errors}")
    for name, problem in problems.items():
        print(f"{WAYS[name].title}: {problem}")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if "model name" in line:
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
