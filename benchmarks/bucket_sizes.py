"""How large buckets become on corpora past one machine: python -m benchmarks.bucket_sizes.

A simulation, not a measurement. Documents stand on templates, whose sizes follow a power law, as
those of pages on the web do: few templates have very many. A document takes a share of its
shingles from its template. In a row of a signature it has the template's minimum where that is
smaller than its own; given the template's minimum, that is a share of all its documents:
U^((1-c)/c) for a share of shingles c and a uniform U. A bucket of a band needs it in every row.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import table

SMALLEST = 1000
"""Documents of a template from which on it is drawn; smaller ones fill no large bucket."""
FILE = table.RESULTS / "bucket-sizes.json"


@dataclass(frozen=True)
class Model:
    """What a corpus is like."""

    documents: int
    bands: int
    rows: int
    exponent: float = 2.0
    """Of the power law: how many templates have m documents falls as m to the minus this."""
    templated: float = 0.3
    """The share of documents that stand on a template."""
    shared: tuple[float, float] = (2.0, 2.0)
    """Of the Beta distribution of the share of shingles that a template gives."""
    seed: int = 1


@dataclass(frozen=True)
class Sizes:
    """What the buckets of a corpus are like, of all bands together."""

    templates: int
    """Those that were drawn."""
    largest_template: int
    largest_bucket: int
    hot_buckets: int
    """Those with more documents than a block holds."""
    hot_rows: float
    """Rows in those, for each document of the corpus."""
    pairs_per_document: float
    """Pairs in the buckets of the fullest band, for each document."""
    cells: float
    """Pairs of blocks, a task's work each at the most, for each million documents."""
    copies: float
    """How often a row of a large bucket is sent, to meet the other blocks."""


def template_sizes(model: Model, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw the sizes of the large templates, no larger than all documents that have one."""
    most = model.templated * model.documents
    power = model.exponent - 1
    # Templates of one document or more hold all templated documents: the sum of a power law.
    sizes = np.logspace(0, np.log10(most), 4000)
    density = sizes**-model.exponent
    step = np.gradient(sizes)
    templates = most / np.sum(sizes * density * step) * np.sum(density * step)
    count = random.poisson(templates * SMALLEST**-power)
    drawn = SMALLEST * (1 - random.random(count)) ** (-1 / power)
    sizes_drawn: npt.NDArray[np.int64] = np.minimum(drawn, most).astype(np.int64)
    return sizes_drawn


def simulated(model: Model, block_rows: int) -> Sizes:
    """Draw one corpus, and measure its buckets."""
    random = np.random.default_rng(model.seed)
    sizes = template_sizes(model, random)
    share = random.beta(*model.shared, len(sizes)).clip(1e-6, 1 - 1e-6)
    largest = hot_buckets = 0
    hot_rows = cells = copied = fullest = 0.0
    for _ in range(model.bands):
        uniform = random.random((model.rows, len(sizes)))
        held = np.prod(uniform ** ((1 - share) / share), axis=0)
        buckets = sizes * held
        hot = buckets[buckets > block_rows]
        blocks = np.ceil(hot / block_rows)
        largest = max(largest, int(buckets.max(initial=0)))
        hot_buckets += len(hot)
        hot_rows += float(hot.sum())
        copied += float((hot * blocks).sum())
        cells += float((blocks * (blocks + 1) / 2).sum())
        fullest = max(fullest, float((buckets * (buckets - 1) / 2).clip(0).sum()))
    return Sizes(
        len(sizes),
        int(sizes.max(initial=0)),
        largest,
        hot_buckets,
        hot_rows / model.documents,
        fullest / model.documents,
        cells / model.documents * 1e6,
        copied / hot_rows if hot_rows else 0.0,
    )


def main() -> None:
    """Simulate corpora of growing size, print what their buckets are like, and keep it."""
    from lookalike import plan
    from lookalike.spark.pairing import BLOCK_ROWS

    parser = argparse.ArgumentParser(prog="python -m benchmarks.bucket_sizes", description=__doc__)
    parser.add_argument("--exponent", type=float, nargs="*", default=[1.8, 2.0, 2.2])
    parser.add_argument("--json", type=Path, default=FILE)
    asked = parser.parse_args()
    kept = []
    for exponent in asked.exponent:
        for documents in (10**6, 10**7, 10**8, 10**9, 10**10):
            chosen = plan(threshold=0.8, recall=0.99, documents=documents)
            model = Model(documents, chosen.bands or 1, chosen.rows or 1, exponent)
            sizes = simulated(model, BLOCK_ROWS)
            kept.append({"model": asdict(model), "sizes": asdict(sizes)})
            print(f"{exponent:g} {documents:>14,} {chosen.bands} x {chosen.rows} {sizes}")
    asked.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
