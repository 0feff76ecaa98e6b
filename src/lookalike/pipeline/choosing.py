"""The shingle and the plan of a job, by what was read, and what speaks against them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike import background as sampling
from lookalike import boilerplate, frequencies, planning
from lookalike.errors import SettingsError
from lookalike.normalise import normalise
from lookalike.shingle import PIECE, Shingling, ignoring
from lookalike.texts import Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.groups import Groups
    from lookalike.normalise import Canonical, Normalisation
    from lookalike.pipeline.reading import Collection
    from lookalike.planning import Plan
    from lookalike.settings import Settings

__all__ = ["choose"]

SCRIPT_SAMPLE = 200
"""Documents that tell the script of a corpus."""
LEAST_ESTIMATED = 128
"""Rows of a signature that scores are estimated from, at the least."""
MOSTLY = 0.5
"""Share of empty documents above which the text column is doubted."""
MANY_FALSE = 100
"""False candidates for each document above which a plan is as good as quadratic."""


def choose(
    collection: Collection,
    groups: Groups,
    settings: Settings,
    options: Normalisation,
    *,
    ignored: str | None,
    threads: int,
) -> tuple[Shingling, Plan, list[str]]:
    """Choose the shingle, leave out those that do not count, plan, and say what is doubtful."""
    texts, rows = collection.texts, groups.representatives
    sample = texts.chosen(sampling.sample(texts, rows))
    every = np.arange(len(sample))
    shingling, reason = _shingling(collection, rows, settings, sample)
    table = _ignored(collection, rows, settings, options, shingling, ignored, threads)
    if table is not None:
        shingling = replace(shingling, ignored=table)
    background = sampling.measure(sample, every, shingling)
    warnings = sampling.doubts(sample, every, shingling, background)
    plan = planning.plan_for(settings, len(groups), background)
    estimated = max(plan.signature, LEAST_ESTIMATED) if settings.estimate else 0
    name = f"{shingling} multiset" if settings.multiset else str(shingling)
    plan = replace(plan, shingle=name, shingle_reason=reason, estimated=estimated)
    return shingling, plan, warnings + _doubts(collection, groups, settings, plan)


def _shingling(
    collection: Collection, rows: NDArray[np.int64], settings: Settings, sample: Canonical
) -> tuple[Shingling, str]:
    multiset = settings.multiset
    if collection.tokens:
        return Shingling.parse("tokens", multiset=multiset), "as given"
    if settings.shingle != "auto":
        return Shingling.parse(settings.shingle, multiset=multiset), "as given"
    texts = collection.texts
    few = sampling.smallest_prints(texts.fingerprints, rows, SCRIPT_SAMPLE)
    heads = texts.chosen(few, most=sampling.HEAD)
    usual = sampling.usual_size(heads, np.arange(len(few)))
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
        if collection.tokens:
            raise SettingsError("a text to ignore is for text: these documents are tokens")
        texts = pa.array(boilerplate.paragraphs(ignored), pa.large_string())
        hashes.append(boilerplate.hashes_of(normalise(texts, options), shingling))
    if settings.max_df is not None:
        hashes.append(
            frequencies.frequent(
                lambda: Selection(collection.texts, rows).parts(PIECE),
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
        found.append(
            f"{empty:,} of {documents:,} documents are empty: is this the column of the text? "
            "--text names another"
        )
    false = plan.false_candidates
    if false > MANY_FALSE * max(1, plan.documents) and settings.containment is None:
        found.append(
            f"at threshold {settings.threshold:g} some {false / plan.documents:,.0f} "
            "false candidates are expected for each document, as if nearly every pair were "
            "compared: raise the threshold, or use longer shingles"
        )
    return found
