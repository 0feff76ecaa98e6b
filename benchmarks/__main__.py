"""Measure: python -m benchmarks [--documents N] [--seed S].

Each contestant gets the same texts, shingles, bands and rows. The first run of each is not
counted, since Lookalike compiles in it; of three more the fastest is.
"""

import argparse
import time
from importlib.metadata import version

from benchmarks.contestants import CONTESTANTS, exact
from benchmarks.corpus import documents

BANDS, ROWS = 12, 5


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument("--documents", type=int, default=5000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    texts = documents(given.documents, given.seed)
    size = sum(map(len, texts)) / 1e6
    truth = exact(texts)
    print(f"{len(texts):,} documents, {size:.1f} MB, {len(truth):,} pairs at 0.8 or above")
    print(f"{BANDS} bands of {ROWS} rows of words:5; one machine, one run\n")
    print(f"{'':24}{'seconds':>9}{'MB/s':>9}{'recall':>9}{'precision':>11}{'times':>9}")
    fastest = None
    for name, contestant in CONTESTANTS.items():
        contestant(texts[:100], BANDS, ROWS)
        seconds = []
        for _ in range(3 if fastest is None else 1):
            begin = time.perf_counter()
            found = contestant(texts, BANDS, ROWS)
            seconds.append(time.perf_counter() - begin)
        spent = min(seconds)
        fastest = fastest or spent
        right = len(found & truth)
        recall, precision = right / max(len(truth), 1), right / max(len(found), 1)
        label = f"{name} {version(name)}"
        print(
            f"{label:24}{spent:9.3f}{size / spent:9.1f}{recall:9.4f}{precision:11.4f}"
            f"{spent / fastest:9.1f}"
        )


if __name__ == "__main__":
    main()
