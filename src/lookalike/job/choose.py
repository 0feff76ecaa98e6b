"""What a job compares and by which plan, chosen by what was read, and what speaks against it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError
from lookalike.candidates.hamming import block_masks, expected_meetings
from lookalike.job.metrics import Cosine, Fingerprints, Jaccard
from lookalike.planning import plan as planning
from lookalike.planning import sampling
from lookalike.text import boilerplate, document_frequencies
from lookalike.text.documents import Selection
from lookalike.text.normalise import normalise
from lookalike.text.shingles import HEAD, PIECE_BYTES, Shingling, ignoring, usual_size
from lookalike.text.vectors import matrix
from lookalike.text.weighted_shingles import Rarity, Weighting, listed_bags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.candidates.identical import Groups
    from lookalike.job.metrics import Metric
    from lookalike.job.read import Collection
    from lookalike.planning.plan import Plan
    from lookalike.planning.sampling import Background
    from lookalike.settings import Settings
    from lookalike.text.normalise import Canonical, Normalisation

__all__ = ["check", "choose"]

SCRIPT_SAMPLE = 200
"""Documents that tell the script of a corpus."""
LEAST_ESTIMATED = 128
"""Rows of a signature that scores are estimated from, at the least."""
LEAST_BITS = 1024
"""Bits of a sketch that they are, at the least: a bit tells less than a minhash."""
WEIGHED = {
    "counts": "shingle counts",
    "binary": "shingles",
    "log": "shingles by log counts",
    "tf-idf": "shingles by tf-idf",
}
MOSTLY = 0.5
"""Share of empty documents above which the text column is doubted."""
MANY_FALSE = 100
"""False candidates for each document above which a plan is as good as quadratic."""


def check(settings: Settings) -> None:
    """Refuse what no corpus could be searched by, before one is read."""
    if settings.shingle != "auto":
        Shingling.parse(settings.shingle, multiset=settings.multiset)
    if not settings.planned:
        planning.given_cascade(settings)


def choose(
    collection: Collection,
    groups: Groups,
    settings: Settings,
    options: Normalisation,
    *,
    ignored: str | None,
    threads: int,
) -> tuple[Metric, Plan, list[str]]:
    """Choose the shingle, leave out those that do not count, plan, and say what is doubtful."""
    texts, rows = collection.texts, groups.representatives
    sample = texts.chosen(sampling.sample(texts, rows))
    metric: Metric
    if collection.kind in ("vectors", "sparse"):
        metric, background = _vectors(collection, settings, sample, ignored)
        name, what, reason = _dimensions(collection), "vectors", None
        warnings = []
    else:
        shingling, reason = _shingling(collection, rows, settings, sample)
        table = _ignored(collection, rows, settings, options, shingling, ignored, threads)
        if table is not None:
            shingling = replace(shingling, ignored=table)
        metric = _metric(collection, rows, settings, shingling, threads)
        every = np.arange(len(sample))
        if isinstance(metric, Cosine):
            background = sampling.measure_bags(metric.bags(sample, every))
        else:
            background = sampling.measure(sample, every, shingling)
            if settings.planned and not settings.exact:
                larger = texts.chosen(sampling.close_sample(texts, rows))
                background = sampling.with_close_pairs(background, larger, shingling)
        warnings = sampling.doubts(sample, every, shingling, background)
        name = f"{shingling} multiset" if settings.multiset else str(shingling)
        what = WEIGHED[metric.weighting.name] if isinstance(metric, Cosine) else "shingles"
    if isinstance(metric, Fingerprints):
        meetings = expected_meetings([np.uint64(mask) for mask in metric.masks], len(groups))
        plan = planning.plan_of_blocks(
            metric.distance, len(groups), background, len(metric.masks), meetings
        )
    else:
        plan = planning.plan_for(settings, len(groups), background)
    plan = replace(plan, shingle=name, shingle_reason=reason, what=what)
    if settings.estimate:
        least = LEAST_BITS if settings.metric == "cosine" else LEAST_ESTIMATED
        plan = replace(plan, estimated=max(plan.signature, least))
    return metric, plan, warnings + _doubts(collection, groups, settings, plan)


def _dimensions(collection: Collection) -> str:
    return "sparse" if collection.kind == "sparse" else f"{collection.dimension:,}-dimensional"


def _vectors(
    collection: Collection, settings: Settings, sample: Canonical, ignored: str | None
) -> tuple[Cosine, Background]:
    """Compare vectors, after refusing what is for text alone."""
    for name, given in (
        ("containment", settings.containment is not None),
        ("simhash", settings.simhash is not None),
        ("a shingle", settings.shingle != "auto"),
        ("a weighting", settings.weights is not None),
        ("max-df", settings.max_df is not None),
        ("a text to ignore", ignored is not None),
    ):
        if given:
            raise SettingsError(f"{name} is for text: these documents are vectors, leave it out")
    if settings.metric != "cosine":
        raise SettingsError(
            "vectors are compared by their angle: use --metric cosine (metric='cosine')"
        )
    if collection.kind == "sparse":
        bags = listed_bags(sample)
        return Cosine(settings.seed), sampling.measure_bags(bags)
    dimension = collection.dimension
    metric = Cosine(settings.seed, dimension=dimension)
    return metric, sampling.measure_vectors(matrix(sample, dimension))


def _metric(
    collection: Collection,
    rows: NDArray[np.int64],
    settings: Settings,
    shingling: Shingling,
    threads: int,
) -> Metric:
    if settings.metric == "jaccard" and settings.simhash is None:
        return Jaccard(shingling, settings.seed)
    weighting = Weighting(settings.weights or "counts")
    if weighting.name == "tf-idf":
        rarity = Rarity.of(
            lambda: Selection(collection.texts, rows).parts(PIECE_BYTES),
            shingling,
            len(rows),
            threads,
        )
        weighting = replace(weighting, rarity=rarity)
    if settings.simhash is not None:
        masks = block_masks(settings.simhash, len(rows))
        return Fingerprints(
            settings.seed,
            shingling,
            weighting,
            distance=settings.simhash,
            masks=tuple(map(int, masks)),
        )
    return Cosine(settings.seed, shingling, weighting)


def _shingling(
    collection: Collection, rows: NDArray[np.int64], settings: Settings, sample: Canonical
) -> tuple[Shingling, str]:
    multiset = settings.multiset
    if collection.kind == "tokens":
        return Shingling.parse("tokens", multiset=multiset), "as given"
    if settings.shingle != "auto":
        return Shingling.parse(settings.shingle, multiset=multiset), "as given"
    texts = collection.texts
    few = sampling.smallest_prints(texts.fingerprints, rows, SCRIPT_SAMPLE)
    heads = texts.chosen(few, most=HEAD)
    usual = usual_size(heads, np.arange(len(few)))
    shingling, _, reason = sampling.choose_shingle(
        sample, np.arange(len(sample)), multiset=multiset, smallest=usual
    )
    return shingling, reason


def _ignored(
    collection: Collection,
    rows: NDArray[np.int64],
    settings: Settings,
    options: Normalisation,
    shingling: Shingling,
    ignored: str | None,
    threads: int,
) -> NDArray[np.uint64] | None:
    """Lay out the shingles that do not count, where there are any."""
    hashes = [np.empty(0, np.uint64)]
    if ignored is not None:
        if collection.kind == "tokens":
            raise SettingsError("a text to ignore is for text: these documents are tokens")
        texts = pa.array(boilerplate.paragraphs(ignored), pa.large_string())
        hashes.append(boilerplate.hashes_of(normalise(texts, options), shingling))
    if settings.max_df is not None:
        hashes.append(
            document_frequencies.frequent(
                lambda: Selection(collection.texts, rows).parts(PIECE_BYTES),
                shingling,
                # What stands in one document only is shared by none.
                share=max(settings.max_df, 1 / max(1, len(rows))),
                documents=len(rows),
                threads=threads,
            )
        )
    return ignoring(np.unique(np.concatenate(hashes)))


def _doubts(collection: Collection, groups: Groups, settings: Settings, plan: Plan) -> list[str]:
    found = []
    documents = len(collection)
    empty = int(np.count_nonzero(groups.of_document < 0))
    if empty > MOSTLY * documents:
        vectors = collection.kind in ("vectors", "sparse")
        column, option = ("vectors", "--vector") if vectors else ("text", "--text")
        found.append(
            f"{empty:,} of {documents:,} documents are empty: is this the column of the {column}? "
            f"{option} names another"
        )
    false = plan.false_comparisons
    if false > MANY_FALSE * max(1, plan.documents) and settings.simhash is not None:
        found.append(
            f"with {settings.simhash} bits some {false / plan.documents:,.0f} chance meetings are "
            "expected for each document, as if nearly every pair were compared: use fewer bits"
        )
    elif false > MANY_FALSE * max(1, plan.documents) and settings.containment is None:
        found.append(
            f"at threshold {settings.threshold:g} some {false / plan.documents:,.0f} "
            "false candidates are expected for each document, as if nearly every pair were "
            "compared: raise the threshold, or use longer shingles"
        )
    return found
