"""A recipe is a value: it says all that decides a key or a score, and nothing else is needed."""

import json
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike
import twins
from lookalike.base.errors import SourceError
from lookalike.planning import sampling
from lookalike.recipe import Recipe, Sample, choose
from lookalike.settings import Settings
from made_documents import near_duplicates

TEXTS = near_duplicates(300, seed=5)
TOKENS = [text.split() for text in TEXTS]
VECTORS = np.random.default_rng(3).normal(size=(200, 24)).astype(np.float32)
VECTORS[100:] = VECTORS[:100] + 0.05 * np.random.default_rng(4).normal(size=(100, 24))

KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "jaccard": (TEXTS, {}),
    "words": (TEXTS, {"shingle": "words:3", "multiset": True, "normalise": "strip-accents"}),
    "left out": (TEXTS, {"max_df": 0.02, "ignore": TEXTS[0], "shingle": "chars:4"}),
    "tokens": (TOKENS, {}),
    "cosine": (TEXTS, {"metric": "cosine"}),
    "tf-idf": (TEXTS, {"metric": "cosine", "weights": "tf-idf", "threshold": 0.7}),
    "simhash": (TEXTS, {"simhash": 3}),
    "vectors": (VECTORS, {"metric": "cosine", "threshold": 0.9}),
    "estimate": (TEXTS, {"estimate": True}),
    "cascade": (TEXTS, {"cascade": "and:3 or:8 and:2"}),
    "bands": (TEXTS, {"bands": 20, "rows": 5, "seed": 9}),
    "exact": (TEXTS, {"recall": 1}),
}


def array_of(documents: object) -> pa.Array:
    if isinstance(documents, np.ndarray):
        flat = pa.array(documents.reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, documents.shape[1])
    return pa.array(documents)


def chosen(documents: object, settings: dict[str, Any]) -> Recipe:
    given = Settings(**settings)
    return choose(given, Sample.of_array(array_of(documents), given)).recipe


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any], Recipe]:
    documents, settings = KINDS[request.param]
    return documents, settings, chosen(documents, settings)


def made_by(recipe: Recipe, documents: object) -> list[bytes]:
    """All that a recipe makes of documents, as bytes."""
    canonical = recipe.canonical(array_of(documents))
    first, second = np.triu_indices(60, 1)
    scored = recipe.score(canonical, first, second, threshold=recipe.lowest)
    found: list[Any] = [canonical.data, canonical.fingerprints, scored.first, scored.similarity]
    if recipe.cascade is not None:
        found += [*recipe.encode(canonical)]
    return [part.tobytes() for part in found]


@pytest.mark.parametrize("way", ["pickle", "dump"])
def test_a_copy_makes_the_same(case: tuple[Any, dict[str, Any], Recipe], way: str) -> None:
    documents, _, recipe = case
    copy = pickle.loads(pickle.dumps(recipe)) if way == "pickle" else Recipe.load(recipe.dump())
    assert copy == recipe
    assert copy.fingerprint == recipe.fingerprint
    assert hash(copy) == hash(recipe)
    assert copy.dump() == recipe.dump()
    assert made_by(copy, documents) == made_by(recipe, documents)


def test_it_finds_what_a_job_finds(case: tuple[Any, dict[str, Any], Recipe]) -> None:
    """By nothing but the recipe: buckets in a dict, the prefilter, the score."""
    documents, settings, recipe = case
    canonical = recipe.canonical(array_of(documents))
    result = lookalike.find(documents, **settings)
    distinct = np.unique(canonical.fingerprints[:, 0], return_index=True)[1]
    if recipe.cascade is None or recipe.layout.filtered:
        pairs = {(a, b) for a in distinct for b in distinct if a < b}
    else:
        pairs = set()
        made = recipe.encode(canonical)
        for band in made.keys:
            buckets: dict[int, list[int]] = {}
            for row in sorted(distinct[~made.empty[distinct]].tolist()):
                for other in buckets.setdefault(int(band[row]), []):
                    pairs.add((other, row))
                buckets[int(band[row])].append(row)
    ordered = sorted(pairs)
    first = np.array([a for a, _ in ordered], np.int64)
    second = np.array([b for _, b in ordered], np.int64)
    if recipe.cascade is not None and recipe.layout.filtered:
        made = recipe.encode(canonical)
        held = recipe.layout.holds(made.keys, first, second)
        first, second = first[held], second[held]
    if recipe.by_sketches:
        sketches = recipe.encode(canonical).sketches[:, : recipe.estimated_words or None]
        scored = recipe.estimate(sketches, first, second)
    else:
        if recipe.cascade is not None:
            made = recipe.encode(canonical)
            first, second = recipe.prefilter(made.prefilter).passing(first, second)
        scored = recipe.score(canonical, first, second)
    mine = {
        (int(a), int(b)): s
        for a, b, s in zip(scored.first, scored.second, scored.similarity, strict=True)
    }
    known = set(distinct.tolist())
    theirs = {
        (row["a"], row["b"]): row["similarity"]
        for row in result.pairs.to_pylist()
        if row["a"] in known and row["b"] in known
    }
    assert mine == theirs
    assert mine or "cascade" in settings


OTHERS: tuple[dict[str, Any], ...] = (
    {"threshold": 0.75},
    {"shingle": "chars:9"},
    {"multiset": True},
    {"normalise": "keep-case"},
    {"seed": 2},
    {"ignore": TEXTS[1]},
    {"max_df": 0.01},
    {"metric": "cosine"},
    {"metric": "cosine", "weights": "log"},
    {"metric": "cosine", "weights": "tf-idf"},
    {"simhash": 2},
    {"simhash": 3},
    {"estimate": True},
    {"bands": 20, "rows": 5},
    {"bands": 10, "rows": 5},
    {"recall": 1},
    {"recall": 0.9},
)


@pytest.mark.long
def test_whatever_decides_a_key_or_a_score_is_in_the_fingerprint() -> None:
    recipes = [chosen(TEXTS, {}), *(chosen(TEXTS, other) for other in OTHERS)]
    assert len({recipe.fingerprint for recipe in recipes}) == len(recipes)
    # The same settings on another corpus: another table of what is left out is another recipe.
    counted: list[dict[str, Any]] = [{"max_df": 0.02}, {"metric": "cosine", "weights": "tf-idf"}]
    for settings in counted:
        one, other = chosen(TEXTS, settings), chosen(TEXTS[:250], settings)
        assert one.sketching() != other.sketching()
    # The prefilter and the bands alone make another recipe of the same sketches.
    plain = recipes[0]
    stricter = replace(plain, most_differing=plain.most_differing - 1)
    assert stricter.fingerprint != plain.fingerprint
    assert stricter.sketching() == plain.sketching()


def test_each_field_by_itself_makes_another_recipe() -> None:
    recipe = chosen(TEXTS, {"estimate": True})
    others = [
        replace(recipe, **{name: getattr(recipe, name) + change})
        for name, change in (
            ("threshold", 0.01),
            ("most_differing", 1),
            ("rows", 1),
            ("estimated", -1),
        )
    ]
    assert len({one.fingerprint for one in [recipe, *others]}) == 1 + len(others)


def test_the_prefilter_looks_at_two_bits_of_each_row() -> None:
    recipe = chosen(TEXTS, {})
    made = recipe.encode(recipe.canonical(array_of(TEXTS[:5])))
    expected = [twins.prefilter_bits(row) for row in made.sketches.tolist()]
    assert made.prefilter.tolist() == expected


@pytest.mark.parametrize("most", [1, 2, 7, 299, 300, 400])
def test_the_smallest_fingerprints_are_taken_in_their_order(most: int) -> None:
    prints = np.random.default_rng(most).integers(0, 40, (300, 2)).astype(np.uint64)
    rows = np.flatnonzero(np.arange(300) % 3)
    expected = sorted(rows.tolist(), key=lambda row: (*prints[row].tolist(), row))[:most]
    assert sampling.smallest_fingerprints(prints, rows, most).tolist() == expected


def test_it_is_frozen() -> None:
    recipe = chosen(TEXTS, {})
    with pytest.raises(FrozenInstanceError):
        recipe.threshold = 0.5  # type: ignore[misc]


def changed(text: str, *path: str, value: object) -> str:
    plain = json.loads(text)
    inner = plain
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return json.dumps(plain)


def test_what_is_damaged_is_refused() -> None:
    text = chosen(TEXTS, {"max_df": 0.02}).dump()
    assert json.loads(text)["metric"]["ignored"]["length"] > 0
    for wrong in ("", "[]", "{}", "no JSON", "null", text[:-5]):
        with pytest.raises(SourceError, match="not a recipe"):
            Recipe.load(wrong)
    with pytest.raises(SourceError, match="format 99"):
        Recipe.load(changed(text, "format", value=99))
    changes: list[tuple[tuple[str, ...], Any]] = [
        (("metric", "seed"), 7),
        (("threshold",), 0.81),
        (("most_differing",), 3),
        (("cascade",), "and:5 or:20"),
        (("form", "normalise"), "none"),
        (("metric", "multiset"), True),
    ]
    for path, value in changes:
        with pytest.raises(SourceError, match="changed since"):
            Recipe.load(changed(text, *path, value=value))
    damages: list[tuple[tuple[str, ...], Any]] = [
        (("metric", "ignored", "zstd"), "no base64!"),
        (("metric", "ignored", "length"), "many"),
        (("metric", "shingle"), "lines:2"),
        (("form",), None),
        (("cascade",), "or and"),
    ]
    for path, value in damages:
        with pytest.raises(SourceError, match="damaged"):
            Recipe.load(changed(text, *path, value=value))


def test_documents_of_another_kind_are_refused() -> None:
    recipe = chosen(TEXTS, {})
    with pytest.raises(SourceError, match=r"tokens where those before them are text"):
        recipe.canonical(pa.array(TOKENS[:3]))
    assert len(recipe.canonical(pa.array([None, None], pa.string()))) == 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_any_column_of_text_will_do(kind: pa.DataType) -> None:
    recipe = chosen(TEXTS, {})
    one = recipe.canonical(pa.array(TEXTS, pa.large_string()))
    other = recipe.canonical(pa.array(TEXTS).cast(kind))
    assert one.data.tobytes() == other.data.tobytes()


def test_the_choice_by_the_smallest_fingerprints_is_that_by_all() -> None:
    """So that an engine that cannot hold a corpus may choose by a part of it."""
    settings = Settings()
    texts = near_duplicates(6000, seed=8)
    whole = Sample.of_array(pa.array(texts), settings)
    by_print = np.lexsort(whole.documents.fingerprints[whole.rows].T[::-1])
    part = replace(whole, rows=np.sort(whole.rows[by_print[:4200]]))
    assert len(whole.rows) > 4200
    assert choose(settings, part).recipe == choose(settings, whole).recipe
    smaller = replace(part, distinct=len(part.rows))
    assert choose(settings, smaller).plan != choose(settings, whole).plan
