"""What a new index is made by: chosen once, by a sample or by the options alone."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.index_files import Opened
from lookalike.base.wording import setting
from lookalike.index.columns import Columns
from lookalike.index.opening import WAIT_SECONDS, is_index, open_store
from lookalike.job.given import settings_from
from lookalike.job.opening import job_on
from lookalike.recipe import StoredSketches, check, choose_unseen
from lookalike.settings.index_options import IndexAddOptions

if TYPE_CHECKING:
    from lookalike.index.store import Store
    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe
    from lookalike.settings import Settings
    from lookalike.settings.index_options import IndexCreateOptions

__all__ = ["chosen_facts", "facts_of"]

NOT_OF_A_SAMPLE = ("memory", "threads", "progress", "say", "encoding", "strict_encoding")
"""Options that are of use without a sample too."""


def chosen_facts(options: IndexCreateOptions) -> dict[str, str]:
    """Choose how documents are compared, and give it as the first facts of an index."""
    likes = options.like if isinstance(options.like, (list, tuple)) else [options.like]
    if len(likes) == 1 and (isinstance(likes[0], Opened) or is_index(likes[0])):
        return _facts_like(likes[0], options)
    settings = settings_from(options, estimate=options.no_text)
    check(settings)
    expected = options.documents
    if isinstance(expected, bool) or not isinstance(expected, int) or expected < 1:
        raise SettingsError(f"{setting('documents', expected)}: use a whole number from 1")
    if settings.exact:
        raise SettingsError(
            f"an index looks documents up by bands, and may miss one: with "
            f"{setting('recall', 1)} use find, here one below 1, as {setting('recall', 0.999)}"
        )
    recipe, plan, warnings = _chosen(options, settings, expected)
    StoredSketches(recipe)
    chosen = {"plan": plan.as_dict(), "warnings": list(warnings)}
    return {
        "recipe": recipe.dump(),
        "chosen": json.dumps(chosen),
        "columns": Columns().dump(),
    }


def _facts_like(other: Any, options: IndexCreateOptions) -> dict[str, str]:
    """Give the first facts of an index that is made as another was."""
    for one in fields(options):
        if one.name not in ("like", *NOT_OF_A_SAMPLE) and getattr(options, one.name) != one.default:
            raise SettingsError(
                f"an index like another has the settings of that: leave out {setting(one.name)}"
            )
    if isinstance(other, Opened):
        return other.made_by()
    store = open_store(other, durable=False, wait=WAIT_SECONDS, read_only=True)
    try:
        return facts_of(store)
    finally:
        store.close()


def facts_of(store: Store) -> dict[str, str]:
    """Give the first facts of an index that is made as that of a store was."""
    with store.read() as reader:
        facts = {name: reader.fact(name) or "" for name in ("recipe", "chosen")}
    return {**facts, "columns": Columns().dump()}


def _chosen(
    options: IndexCreateOptions, settings: Settings, expected: int
) -> tuple[Recipe, Plan, list[str]]:
    if options.like is None:
        _check_unused(options)
        return choose_unseen(settings, expected=expected, dimension=options.dimension)
    if options.dimension is not None:
        raise SettingsError(
            f"{setting('dimension')} is told by the sample: leave it out, or {setting('like')}"
        )
    with job_on(options.like, settings, options) as job:
        job.prepare("index", expected)
        if not len(job.groups):
            raise SettingsError(
                f"the sample in {setting('like')} has no document with text: give another"
            )
        return job.recipe, job.plan, [*job.warnings]


def _check_unused(options: Any) -> None:
    """Refuse what says how a sample is read, where there is none."""
    reading = {one.name: one.default for one in fields(IndexAddOptions)}
    for one in fields(options):
        given = getattr(options, one.name)
        if one.name in reading and one.name not in NOT_OF_A_SAMPLE and given != one.default:
            raise SettingsError(
                f"{setting(one.name)} says how a sample is read: give one in {setting('like')}"
            )
