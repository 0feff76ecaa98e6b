"""From settings and a sample of a corpus to a recipe, its plan, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.candidates.hamming import block_masks, expected_meetings
from lookalike.candidates.identical import Groups
from lookalike.planning import bandings, sampling
from lookalike.planning import plan as planning
from lookalike.planning.crowds import crowded_shares
from lookalike.recipe.form import CanonicalForm
from lookalike.recipe.measured import Measured, deciding
from lookalike.recipe.metrics import Cosine, Fingerprints, Jaccard
from lookalike.recipe.recipe import Recipe
from lookalike.settings.options import Normalised
from lookalike.text import boilerplate, document_frequencies
from lookalike.text.documents import Selection
from lookalike.text.shingles import HEAD_BYTES, PIECE_BYTES, Shingling, ignoring, usual_size
from lookalike.text.vectors import matrix
from lookalike.text.weighted_shingles import Rarity, Weighting, weighted_sets_of_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.planning.bandings import Costs
    from lookalike.planning.plan import Plan
    from lookalike.planning.sampling import Background
    from lookalike.recipe.metrics import Metric
    from lookalike.settings import Settings
    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical

__all__ = ["Chosen", "Sample", "check", "choose", "choose_unseen"]

SCRIPT_DOCUMENTS = 200
"""Documents that tell the script of a corpus."""
MIN_ESTIMATED_ROWS = 128
"""Rows of a signature that scores are estimated from, at the least."""
MIN_ESTIMATED_BITS = 1024
"""Bits of a sketch that they are, at the least: a bit tells less than a minhash."""
WEIGHTED_BY = {
    "counts": "shingle counts",
    "binary": "shingles",
    "log": "shingles by log counts",
    "tf-idf": "shingles by tf-idf",
}
UNSEEN_SHINGLE = "chars:6"
"""What is compared where documents come later and none was seen: what news articles get."""
SMALL_DOCUMENTS, SMALL_WEIGHTED_SETS = 200, 10
"""Distinct documents up to which comparing all is cheaper than sketching: sets and vectors, and
sets of weighted shingles, whose products are dearer."""
JOIN_MEMORY_PER_BYTE = 48
"""Memory that the exact join takes for a byte of a document, at the most."""
MOSTLY_EMPTY_SHARE = 0.5
"""Share of empty documents above which the text column is doubted."""
FALSE_CANDIDATES_PER_DOCUMENT = 100
"""False candidates for each document above which a plan is as good as quadratic."""


def check(settings: Settings) -> None:
    """Refuse what no corpus could be searched by, before one is read."""
    if settings.shingle != "auto":
        Shingling.parse(settings.shingle, multiset=settings.multiset)
    if not settings.planned:
        planning.given_cascade(settings)


@dataclass(frozen=True)
class Sample:
    """The distinct documents of a corpus: all of them, or those with the smallest fingerprints.

    A choice looks at the ones with the smallest content fingerprints, so that it is the same
    whatever the order of input, and the same by that part of a corpus as by the whole. Only what
    is counted over all documents, for `max_df` and tf-idf, needs all.
    """

    documents: Canonical | Texts
    rows: NDArray[np.int64]
    """The distinct documents among them, none of which is empty."""
    form: CanonicalForm
    distinct: int
    """Distinct documents of the whole corpus."""
    read: int
    """Documents that were read."""
    empty: int
    """Empty ones among them."""

    @classmethod
    def of(
        cls, documents: Canonical | Texts, groups: Groups, form: CanonicalForm, *, read: int
    ) -> Sample:
        """Take all distinct documents of a corpus."""
        empty = int(np.count_nonzero(groups.of_document < 0))
        return cls(documents, groups.representatives, form, len(groups), read, empty)

    @classmethod
    def of_array(cls, documents: pa.Array, settings: Settings) -> Sample:
        """Take raw documents, as they are, for the corpus."""
        form = CanonicalForm.of(settings).decided_by(documents)
        canonical = form.canonical(documents)
        return cls.of(canonical, Groups.of(canonical), form, read=len(documents))

    @property
    def kind(self) -> str | None:
        """What the documents are."""
        return self.form.kind

    def parts(self) -> Iterator[Canonical]:
        """Give all documents, a piece at a time."""
        return Selection(self.documents, self.rows).parts(PIECE_BYTES)


class Chosen(NamedTuple):
    """A recipe, the plan that it follows, and what a user should know of both."""

    recipe: Recipe
    plan: Plan
    warnings: list[str]


class Keeper(Protocol):
    """Where what was measured is kept for another search of the same corpus."""

    def kept(self) -> bytes | None:
        """Give what was kept, if anything."""

    def keep(self, text: str) -> None:
        """Keep it."""


def choose(
    settings: Settings,
    sample: Sample,
    *,
    threads: int = 1,
    memory: int | None = None,
    keeper: Keeper | None = None,
    expected: int = 0,
) -> Chosen:
    """Choose the shingle, leave out those that do not count, plan, and say what is doubtful.

    With so much `memory`, a corpus that is no larger than a sample is compared as a whole: to plan
    takes as long. Where so many documents are `expected`, the plan is for an index of them.
    """
    chosen = sampling.sample(sample.documents, sample.rows)
    small = _is_small(settings, sample, chosen, memory)
    close = settings.planned and not settings.exact and not small
    decided_by = deciding(settings, close=close)
    text = None if keeper is None else keeper.kept()
    measured = None if text is None else Measured.load(text, decided_by)
    if measured is None:
        measured = _measured(settings, sample, chosen, threads, close=close)
        if keeper is not None:
            keeper.keep(measured.dump(decided_by))
    documents = max(sample.distinct, expected)
    if documents > sample.distinct:
        # So few tell how many copies a document has, not which share of many more pairs are some.
        more = measured.background.of_more(documents / max(sample.distinct, 1))
        measured = replace(measured, background=more)
    if expected and settings.planned:
        measured = replace(measured, background=_with_crowds(sample, measured, documents))
    costs = bandings.STORED if expected else bandings.AT_ONCE
    recipe, plan = _planned(settings, measured, sample.form, documents, costs, small=small)
    return Chosen(recipe, plan, measured.warnings + _warnings(sample, settings, plan))


def _with_crowds(sample: Sample, measured: Measured, documents: int) -> Background:
    """Add which share of the meetings in an index of so many documents takes place in crowds."""
    metric = measured.metric
    if not isinstance(metric, Jaccard) or metric.shingling is None:
        return measured.background
    larger = sampling.close_sample(sample.documents, sample.rows, sample.distinct)
    texts = sample.documents.chosen(larger)
    shares = crowded_shares(texts, metric.shingling, documents)
    return replace(measured.background, crowded=shares)


def choose_unseen(settings: Settings, *, expected: int, dimension: int | None = None) -> Chosen:
    """Choose for documents of which there is no sample: texts, or vectors of a dimension."""
    form = CanonicalForm.of(settings)
    metric: Metric
    if dimension is not None:
        if settings.metric != "cosine":
            raise SettingsError(
                f"vectors are compared by their angle: use {setting('metric', 'cosine')}"
            )
        form = replace(form, kind="vectors", dimension=dimension)
        metric = Cosine(settings.seed, dimension=dimension)
        what, name = "vectors", _dimensions(form)
        measured = Measured(metric, sampling.TYPICAL, name, what, None, [])
    else:
        for name, given in (
            ("max_df", settings.max_df is not None),
            ("weights", settings.weights == "tf-idf"),
        ):
            if given:
                raise SettingsError(
                    f"{setting(name)} is told by the documents: give a sample of them in "
                    f"{setting('like')}"
                )
        form = replace(form, kind="text")
        unseen = Sample.of_array(pa.array([], pa.large_string()), settings)
        given_size = settings.shingle != "auto"
        spec = settings.shingle if given_size else UNSEEN_SHINGLE
        reason = "as given" if given_size else "usual for articles; no sample was given"
        shingling = Shingling.parse(spec, multiset=settings.multiset)
        if (table := _ignored(unseen, settings, shingling, 1)) is not None:
            shingling = replace(shingling, ignored=table)
        metric = _metric(unseen, settings, shingling, 1)
        name = f"{shingling} multiset" if settings.multiset else str(shingling)
        measured = Measured(metric, sampling.TYPICAL, name, _what(metric), reason, [])
    return Chosen(*_planned(settings, measured, form, expected, bandings.STORED), [])


def _planned(
    settings: Settings,
    measured: Measured,
    form: CanonicalForm,
    documents: int,
    costs: Costs,
    *,
    small: bool = False,
) -> tuple[Recipe, Plan]:
    """Plan for so many documents, and make the recipe."""
    metric, background = measured.metric, measured.background
    if isinstance(metric, Fingerprints):
        meetings = expected_meetings([np.uint64(mask) for mask in metric.masks], documents)
        plan = planning.plan_of_blocks(
            metric.distance, documents, background, len(metric.masks), meetings
        )
    else:
        plan = planning.plan_for(settings, documents, background, small=small, costs=costs)
    plan = replace(plan, shingle=measured.name, shingle_reason=measured.reason, what=measured.what)
    if settings.estimate:
        least = MIN_ESTIMATED_BITS if settings.metric == "cosine" else MIN_ESTIMATED_ROWS
        plan = replace(plan, estimated=max(plan.signature, least))
    recipe = Recipe(
        form,
        metric,
        plan.cascade,
        settings.threshold,
        plan.most_differing if plan.cascade is not None and metric.prefiltered else 0,
        max(plan.signature, plan.estimated),
        plan.estimated,
    )
    return recipe, plan


def _what(metric: Metric) -> str:
    return WEIGHTED_BY[metric.weighting.name] if isinstance(metric, Cosine) else "shingles"


def _measured(
    settings: Settings,
    sample: Sample,
    chosen: NDArray[np.int64],
    threads: int,
    *,
    close: bool,
) -> Measured:
    """Choose the shingle, and measure how similar random documents are by it."""
    sample_texts = sample.documents.chosen(chosen)
    metric: Metric
    if sample.kind in ("vectors", "sparse"):
        metric, background = _vectors(sample, settings, sample_texts)
        return Measured(metric, background, _dimensions(sample.form), "vectors", None, [])
    shingling, reason = _shingling(sample, settings, sample_texts)
    table = _ignored(sample, settings, shingling, threads)
    if table is not None:
        shingling = replace(shingling, ignored=table)
    metric = _metric(sample, settings, shingling, threads)
    every = np.arange(len(sample_texts))
    if isinstance(metric, Cosine):
        background = sampling.measure_weighted_sets(metric.weighted_sets(sample_texts, every))
    else:
        background = sampling.measure(sample_texts, every, shingling)
        if close:
            larger = sampling.close_sample(sample.documents, sample.rows, sample.distinct)
            texts = sample.documents.chosen(larger)
            background = sampling.with_close_pairs(background, texts, shingling)
    warnings = sampling.shingle_warnings(sample_texts, every, shingling, background)
    name = f"{shingling} multiset" if settings.multiset else str(shingling)
    return Measured(metric, background, name, _what(metric), reason, warnings)


def _is_small(
    settings: Settings, sample: Sample, chosen: NDArray[np.int64], memory: int | None
) -> bool:
    """Tell whether comparing all documents with each other is cheaper than sketching them."""
    if memory is None or not settings.planned or settings.estimate:
        return False
    weighted = settings.metric == "cosine" and sample.kind != "vectors"
    limit = min(SMALL_DOCUMENTS, SMALL_WEIGHTED_SETS) if weighted else SMALL_DOCUMENTS
    fits = JOIN_MEMORY_PER_BYTE * int(sample.documents.lengths(chosen).sum()) <= memory
    return len(chosen) == sample.distinct <= limit and fits


def _dimensions(form: CanonicalForm) -> str:
    return "sparse" if form.kind == "sparse" else f"{form.dimension:,}-dimensional"


def _vectors(
    sample: Sample, settings: Settings, sample_texts: Canonical
) -> tuple[Cosine, Background]:
    """Compare vectors, after refusing what is for text alone."""
    for name, given in (
        ("containment", settings.containment is not None),
        ("simhash", settings.simhash is not None),
        ("shingle", settings.shingle != "auto"),
        ("weights", settings.weights is not None),
        ("normalise", settings.normalise != Normalised.normalise),
        ("max_df", settings.max_df is not None),
        ("ignore", settings.ignore is not None),
    ):
        if given:
            raise SettingsError(
                f"{setting(name)} is for text: these documents are vectors, leave it out"
            )
    if settings.metric != "cosine":
        raise SettingsError(
            f"vectors are compared by their angle: use {setting('metric', 'cosine')}"
        )
    if sample.kind == "sparse":
        weighted_sets = weighted_sets_of_sparse(sample_texts)
        return Cosine(settings.seed), sampling.measure_weighted_sets(weighted_sets)
    dimension = sample.form.dimension
    metric = Cosine(settings.seed, dimension=dimension)
    return metric, sampling.measure_vectors(matrix(sample_texts, dimension))


def _metric(sample: Sample, settings: Settings, shingling: Shingling, threads: int) -> Metric:
    if settings.metric == "jaccard" and settings.simhash is None:
        return Jaccard(shingling, settings.seed)
    weighting = Weighting(settings.weights or "counts")
    if weighting.name == "tf-idf":
        rarity = Rarity.of(sample.parts, shingling, sample.distinct, threads)
        weighting = replace(weighting, rarity=rarity)
    if settings.simhash is not None:
        masks = block_masks(settings.simhash, sample.distinct)
        return Fingerprints(
            settings.seed,
            shingling,
            weighting,
            distance=settings.simhash,
            masks=tuple(map(int, masks)),
        )
    return Cosine(settings.seed, shingling, weighting)


def _shingling(
    sample: Sample, settings: Settings, sample_texts: Canonical
) -> tuple[Shingling, str]:
    multiset = settings.multiset
    if sample.kind == "tokens":
        if settings.normalise != Normalised.normalise:
            raise SettingsError(
                f"{setting('normalise')} is for text: these documents are lists of tokens, which "
                "are compared as they are, leave it out"
            )
        return Shingling.parse("tokens", multiset=multiset), "as given"
    if settings.shingle != "auto":
        return Shingling.parse(settings.shingle, multiset=multiset), "as given"
    documents = sample.documents
    sampled = sampling.smallest_fingerprints(documents.fingerprints, sample.rows, SCRIPT_DOCUMENTS)
    heads = documents.chosen(sampled, most=HEAD_BYTES)
    usual = usual_size(heads, np.arange(len(sampled)))
    shingling, _, reason = sampling.choose_shingle(
        sample_texts, np.arange(len(sample_texts)), multiset=multiset, smallest=usual
    )
    return shingling, reason


def _ignored(
    sample: Sample, settings: Settings, shingling: Shingling, threads: int
) -> NDArray[np.uint64] | None:
    """Lay out the shingles that do not count, where there are any."""
    hashes = [np.empty(0, np.uint64)]
    if settings.ignore is not None:
        if sample.kind == "tokens":
            raise SettingsError(
                f"{setting('ignore')} is for text: these documents are tokens, leave it out"
            )
        texts = pa.array(boilerplate.paragraphs(settings.ignore), pa.large_string())
        hashes.append(boilerplate.hashes_of(sample.form.canonical(texts), shingling))
    if settings.max_df is not None:
        hashes.append(
            document_frequencies.frequent(
                sample.parts,
                shingling,
                # What stands in one document only is shared by none.
                share=max(settings.max_df, 1 / max(1, sample.distinct)),
                documents=sample.distinct,
                threads=threads,
            )
        )
    return ignoring(np.unique(np.concatenate(hashes)))


def _warnings(sample: Sample, settings: Settings, plan: Plan) -> list[str]:
    found = []
    documents, empty = sample.read, sample.empty
    if empty > MOSTLY_EMPTY_SHARE * documents:
        vectors = sample.kind in ("vectors", "sparse")
        column, option = ("vectors", "vector") if vectors else ("text", "text")
        found.append(
            f"{empty:,} of {documents:,} documents are empty: if the {column} is in another "
            f"column, {setting(option)} names it"
        )
    false = plan.false_comparisons
    if (
        false > FALSE_CANDIDATES_PER_DOCUMENT * max(1, plan.documents)
        and settings.simhash is not None
    ):
        found.append(
            f"with {setting('simhash', settings.simhash)} some "
            f"{false / plan.documents:,.0f} chance meetings are expected for each document, as if "
            "nearly every pair were compared: use fewer bits"
        )
    elif (
        false > FALSE_CANDIDATES_PER_DOCUMENT * max(1, plan.documents)
        and settings.containment is None
    ):
        found.append(
            f"at {setting('threshold', settings.threshold)} some "
            f"{false / plan.documents:,.0f} false candidates are expected for each document, as if "
            f"nearly every pair were compared: raise it, or use a longer {setting('shingle')}"
        )
    return found
