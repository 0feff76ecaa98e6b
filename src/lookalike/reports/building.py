"""A result to what its page shows: which pairs, clusters and texts, and what is marked in them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lookalike.base.wording import count
from lookalike.job.running import silent
from lookalike.reports import model
from lookalike.reports.clusters import cluster_models
from lookalike.reports.fields import Fields
from lookalike.reports.figures import histogram_of, plan_of
from lookalike.reports.found import FoundPairs, clusters_of, pairs_of
from lookalike.reports.gathering import Gathered, gather, in_turn
from lookalike.reports.names import Names, address_key
from lookalike.reports.near_misses import near_misses_of, none_of
from lookalike.reports.offsets import unit_length
from lookalike.reports.pairs import Compared, pair_columns
from lookalike.reports.parts import covered_share, part_of
from lookalike.reports.passages import place_passages
from lookalike.reports.scanning import scan
from lookalike.reports.scoring import Scorer
from lookalike.reports.second_search import are_many, search_again
from lookalike.reports.sources import SOURCE, Sources
from lookalike.reports.summaries import skipped_of, summary_of
from lookalike.reports.texts import ShownText
from lookalike.results import ContainmentResult, DedupResult
from lookalike.text.normalise import Normalisation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lookalike.job.running import Progress
    from lookalike.reports.found import FoundCluster, Key
    from lookalike.reports.names import Aliases
    from lookalike.reports.near_misses import NearMisses
    from lookalike.reports.scanning import Scanned
    from lookalike.results import Result

__all__ = ["MOST_PAIRS", "MOST_TEXTS", "build"]

MOST_PAIRS, MOST_TEXTS = 100_000, 2_000
MAX_READ_MEMBERS = 48
"""Of a large cluster whose texts are in the page, if there is space for them."""


PAIRS_TO_A_MISS = 10
"""Pairs whose texts are read before those of the next near miss."""


@dataclass
class _Named:
    """The documents that a page names, in its order, and what is known of them."""

    keys: list[Key]
    numbers: dict[Key, int]
    cluster: list[int | None]
    """Of each, by its number."""


def build(
    result: Result,
    *,
    label: str | None = None,
    date: str | None = None,
    most_pairs: int = MOST_PAIRS,
    most_texts: int = MOST_TEXTS,
    aliases: Aliases | None = None,
    sources: Sources | None = None,
    progress: Progress = silent,
) -> model.Report:
    """Give what the page of a result shows; with `aliases`, under names that say nothing.

    `sources` are those of the result, by default where it says that they were. `progress` hears how
    far each stage is.
    """
    found = pairs_of(result, most_pairs)
    clusters, cluster = clusters_of(result)
    sources = sources or Sources.of(result)
    scorer, fields = Scorer.of(result.settings), Fields(label, date)
    named = {*found.a, *found.b, *(key for one in clusters for key in one.members)}
    few = result.summary.documents <= most_texts
    # The similarities of a few documents are computed here, where their texts alone tell them.
    told_by_texts = scorer is not None and result.settings.groups is None
    near = None if few and told_by_texts else search_again(result, sources, progress)
    if near is not None:
        named |= {*near.found.a, *near.found.b}
    gathered = gather(
        sources,
        _wanted(found, clusters, cluster, near, most_texts),
        named,
        scorer,
        fields,
        partial(progress, "read (texts)"),
        every=most_texts if few else 0,
    )
    if gathered.problem is None:
        fields.check()
    names = aliases or Names()
    if aliases is not None:
        aliases.add({*named, *gathered.texts}, fields.labels.values())
    options = Normalisation.parse(result.settings.normalise)
    texts = {key: ShownText(names.in_text(text), options) for key, text in gathered.texts.items()}
    whole = len(texts) == result.summary.documents - result.summary.empty
    compared = Compared(scorer, gathered.texts)
    near = near or near_misses_of(result, compared, whole=whole)
    if near is None:
        near = none_of(result, are_read=gathered.problem is None, are_many=are_many(sources))
    scanned = scan(sources, texts, options, cluster, progress, whole=whole)
    named |= {*texts, *scanned.named()}
    if aliases is not None:
        aliases.add(named, ())
    page = _named(names.number(named), cluster)
    parts = {page.numbers[key]: part_of(key, texts[key], scanned, page.numbers) for key in texts}
    pairs = pair_columns(
        found,
        page.numbers,
        compared,
        gathered.shingles,
        shares=isinstance(result, ContainmentResult) or result.settings.rule == "contained",
        exact=not result.settings.by_sketches,
    )
    by_number = {page.numbers[key]: text for key, text in texts.items()}
    told = partial(progress, "passages")
    spent = place_passages(pairs, by_number, parts, page.cluster, told)
    near_model = _near_model(near, page, compared, gathered)
    told = partial(progress, "passages (near misses)")
    place_passages(near_model.pairs, by_number, parts, page.cluster, told, spent)
    left_out = _left_out(result, found, clusters, gathered, scanned, pairs, names)
    plan = getattr(result, "plan", None)
    main = model.Main(
        summary=summary_of(
            result,
            found,
            names,
            label=label,
            date=date,
            left_out=[*left_out, *fields.sentences()],
        ),
        plan=None if plan is None else plan_of(plan, result.record()["plan"]["sentence"]),
        histogram=histogram_of(plan, found),
        documents=_documents(result, page, names, gathered, fields, parts, texts),
        pairs=pairs,
        clusters=cluster_models(clusters, page.numbers, page.cluster, pairs, compared),
        near_misses=near_model,
        skipped=skipped_of(result, names),
    )
    return model.Report(main, [parts[number] for number in sorted(parts)])


def _wanted(
    found: FoundPairs,
    clusters: Sequence[FoundCluster],
    cluster: Mapping[Key, int],
    near: NearMisses | None,
    most: int,
) -> list[Key]:
    """Choose the documents whose texts are wanted, in the order in which readers come to them.

    In turn: the next pair, each cluster's first pair before any second, and the next largest
    cluster; beside every tenth pair a near miss, and the other near misses last.
    """
    pairs = [
        (found.a[place], found.b[place])
        for place in in_turn([cluster.get(key, key) for key in found.a])
    ]
    largest = [one.members[:MAX_READ_MEMBERS] for one in clusters]
    missed = iter(() if near is None else zip(near.found.a, near.found.b, strict=True))
    wanted: dict[Key, None] = {}
    for turn, group in enumerate(itertools.zip_longest(pairs, largest, fillvalue=())):
        wanted |= dict.fromkeys(itertools.chain.from_iterable(group))
        if turn % PAIRS_TO_A_MISS == 0:
            wanted |= dict.fromkeys(next(missed, ()))
        if len(wanted) >= most:
            break
    wanted |= dict.fromkeys(itertools.chain.from_iterable(missed))
    return [*wanted][:most]


def _named(keys: list[Key], cluster: Mapping[Key, int]) -> _Named:
    numbers = {key: number for number, key in enumerate(keys)}
    return _Named(keys, numbers, [cluster.get(key) for key in keys])


def _near_model(
    near: NearMisses, page: _Named, compared: Compared, gathered: Gathered
) -> model.NearMisses:
    columns = pair_columns(near.found, page.numbers, compared, gathered.shingles)
    return model.NearMisses(near.least, near.what, near.complete, columns)


def _documents(
    result: Result,
    page: _Named,
    names: Names,
    gathered: Gathered,
    fields: Fields,
    parts: Mapping[int, model.Text],
    texts: Mapping[Key, ShownText],
) -> model.Documents:
    kept: list[bool | None] = [None] * len(page.keys)
    if isinstance(result, DedupResult):
        removed = {(SOURCE, name) for name in result.removed["id"].to_pylist()}
        kept = [key not in removed for key in page.keys]
    of_text = {number: place for place, number in enumerate(sorted(parts))}
    named = [names.document(key) for key in page.keys]
    labels = [fields.labels.get(key) for key in page.keys]
    # A column that is neither a label nor a date may name anybody.
    columns = {} if names.anonymous else fields.columns
    return model.Documents(
        name=named,
        key=[address_key(key[0], name) for key, name in zip(page.keys, named, strict=True)],
        corpus=[key[0] for key in page.keys],
        cluster=page.cluster,
        kept=kept,
        label=[None if label is None else names.label(label) for label in labels],
        date=[fields.dates.get(key) for key in page.keys],
        length=[
            unit_length(parts[number].text) if number in parts else gathered.lengths.get(key)
            for number, key in enumerate(page.keys)
        ],
        text=[of_text.get(number) for number in range(len(page.keys))],
        covered=[
            covered_share(parts[number], texts[key]) if number in parts else None
            for number, key in enumerate(page.keys)
        ],
        columns={
            name: [column.get(key) for key in page.keys] for name, column in sorted(columns.items())
        },
    )


def _left_out(
    result: Result,
    found: FoundPairs,
    clusters: Sequence[FoundCluster],
    gathered: Gathered,
    scanned: Scanned,
    pairs: model.Pairs,
    names: Names,
) -> list[str]:
    """Say, a sentence each, what the page does not show."""
    said = []
    if len(found) < found.count:
        said.append(
            f"The {len(found):,} most similar of {count(found.count, 'pair')} are listed; the "
            "result has all of them."
        )
    if clusters and clusters[-1].number < result.record()["counts"].get("clusters", 0):
        said.append(f"The {len(clusters):,} largest clusters are listed.")
    short = [one for one in clusters if len(one.members) < one.size]
    if short:
        said.append(
            f"Of {count(len(short), 'large cluster')} the first members are listed, not all."
        )
    if gathered.problem is not None:
        why = gathered.problem.partition(", ")[0] if names.anonymous else gathered.problem
        return [*said, f"This page has no texts and no passages: {why}."]
    filled = result.summary.documents - result.summary.empty
    if len(gathered.texts) < filled:
        said.append(
            f"This page has the texts of {len(gathered.texts):,} of {count(filled, 'document')}: "
            "those of the most similar pairs of each cluster first."
        )
    without = sum(passages is None for passages in pairs.passages)
    if without:
        said.append(
            f"No passages are marked for {without:,} of {count(len(found), 'pair')}: a text is not "
            "in this page, or too many pairs come before."
        )
    if not scanned.all:
        said.append(
            "Passages found elsewhere were searched for among the documents whose texts are in "
            "this page, not in the whole corpus, which is large."
        )
    return said
