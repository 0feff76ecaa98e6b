"""Documents compared with kept ones only: the same stars as on all pairs, for far less work."""

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
import twins
from lookalike.base.errors import QuadraticError
from lookalike.cluster import thinning
from lookalike.job import compare

WORDS = [f"w{number}" for number in range(30)]
POLICIES = ["first", "last", "longest", "shortest", "max:n", "min:n"]
BANDINGS = [
    {"bands": 30, "rows": 1},
    {"bands": 20, "rows": 2},
    {"cascade": "and:1 or:2 and:2 or:8"},
    {"cascade": "or:20"},
]


@pytest.fixture(autouse=True, params=["near", "walk"])
def way(request, monkeypatch):
    """Take all near pairs at once, or walk, as where they are too many for that."""
    if request.param == "walk":
        monkeypatch.setattr(compare, "MIN_PAIRS_LIMIT", 0)
        monkeypatch.setattr(compare, "PAIRS_PER_DOCUMENT", 0)
    return request.param


def corpus(seed, documents=40, prefix="d"):
    """Make a table of edits of a few texts, copies of them, edits of edits and empty ones."""
    choice = random.Random(seed)
    texts = [choice.choices(WORDS, k=choice.randint(6, 14)) for _ in range(3)]
    while len(texts) < documents:
        words = list(choice.choice(texts))
        for _ in range(choice.choice([0, 1, 1, 2, 3])):
            words[choice.randrange(len(words))] = choice.choice(WORDS)
        texts.append(words)
    texts[choice.randrange(documents)] = []
    choice.shuffle(texts)
    numbers = [choice.choice([1, 2, 3, None]) for _ in texts]
    names = [f"{prefix}{number:02}" for number in choice.sample(range(90), documents)]
    return pa.table({"id": names, "text": list(map(" ".join, texts)), "n": numbers})


def preferred(table, keep):
    """Sort the ids by a policy, equals by id, those without a value last."""
    rows = table.to_pylist()
    names = [row["id"] for row in rows]
    if keep in ("first", "last"):
        return names if keep == "first" else names[::-1]
    by_size = keep in ("longest", "shortest")
    sign = -1 if keep in ("longest", "max:n") else 1
    values = {row["id"]: len(row["text"]) if by_size else row["n"] for row in rows}
    missing = float("inf")
    return sorted(
        names, key=lambda name: (missing if values[name] is None else sign * values[name], name)
    )


def greedy(order, texts, pairs):
    """Keep greedily among all pairs; identical texts stand where the most preferred one stands."""
    leaders = {}
    for name in order:
        leaders.setdefault(twins.canonical(texts[name]), name)
    leader = {name: leaders[twins.canonical(texts[name])] for name in order if texts[name]}
    distinct = [name for name in order if leader.get(name, name) == name]
    neighbours = {}
    for row in pairs:
        neighbours.setdefault(row["a"], {})[row["b"]] = row["similarity"]
        neighbours.setdefault(row["b"], {})[row["a"]] = row["similarity"]
    kept, removed = twins.star(distinct, neighbours)
    for name, first in leader.items():
        if name != first:
            removed[name] = removed.get(first, (first, 1.0))
    return set(kept), removed


def removed_of(result):
    return {row["id"]: (row["kept"], row["similarity"]) for row in result.removed.to_pylist()}


SIZES = [(1 << 13, 1 << 8, 16), (7, 2, 1), (16, 1, 0), (5, 1 << 8, 16), (1, 1, 1)]
"""Documents in a stretch, in the smallest one that is halved, and the pairs that are few."""


@pytest.mark.long
@given(
    keep=st.sampled_from(POLICIES),
    seed=st.integers(0, 10**6),
    banding=st.sampled_from(BANDINGS),
    threshold=st.sampled_from([0.3, 0.5, 0.7]),
    sizes=st.sampled_from(SIZES),
    block=st.sampled_from([1, 3, 1 << 20]),
)
def test_it_is_the_star_on_all_pairs(keep, seed, banding, threshold, sizes, block):
    table = corpus(seed)
    texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    options = {"threshold": threshold, "shingle": "words:1", **banding}
    pairs = lookalike.find(table, **options).pairs.to_pylist()
    kept, removed = greedy(preferred(table, keep), texts, pairs)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(
            ("BATCH_DOCUMENTS", "SMALL_BATCH_DOCUMENTS", "PAIRS_PER_DOCUMENT"), sizes, strict=True
        ):
            patched.setattr(thinning, name, value)
        patched.setattr("lookalike.job.dedup.PAIRS_PER_DOCUMENT", sizes[2])
        index = thinning.BucketIndex  # type: ignore[attr-defined]
        patched.setattr(thinning, "BucketIndex", lambda buckets: index(buckets, block=block))
        result = lookalike.dedup(table, keep=keep, **options)
    assert set(result.kept_ids.to_pylist()) == kept
    assert removed_of(result) == removed


def test_a_nearer_one_is_named_although_a_farther_one_was_met_before(monkeypatch):
    # Of `last`, 5 words of 12 are in `far` and 7 of 11 in `near`; those two share 3 of 14.
    words = WORDS[:14]
    parts = {"far": words[:8], "other": ["x", "y"], "near": words[5:14], "last": words[3:12]}
    texts = {name: " ".join(some) for name, some in parts.items()}
    options: dict[str, Any] = {"threshold": 0.4, "shingle": "words:1", "bands": 40, "rows": 1}
    for stretch in (8192, 3, 2, 1):
        monkeypatch.setattr(thinning, "BATCH_DOCUMENTS", stretch)
        assert removed_of(lookalike.dedup(texts, **options)) == {"last": ("near", 7 / 11)}


@pytest.mark.long
@given(
    keep=st.sampled_from(POLICIES),
    seed=st.integers(0, 10**6),
    banding=st.sampled_from(BANDINGS),
    sizes=st.sampled_from(SIZES),
    exact=st.booleans(),
)
def test_no_reference_is_removed_and_all_that_is_similar_to_one_goes(
    keep, seed, banding, sizes, exact
):
    table, reference = corpus(seed, 25), corpus(seed + 1, 12, "r")
    # Some of the reference are edits and copies of the corpus.
    shared = corpus(seed, 25, "r").slice(0, 5)
    names = [f"s{number}" for number in range(5)]
    shared = shared.set_column(0, "id", pa.array(names))
    reference = pa.concat_tables([reference, shared])
    whole = pa.concat_tables([reference, table])
    texts = dict(zip(whole["id"].to_pylist(), whole["text"].to_pylist(), strict=True))
    options = {"threshold": 0.5, "shingle": "words:1", **({"recall": 1} if exact else banding)}
    fixed = reference["id"].to_pylist()
    pairs = [
        row
        for row in lookalike.find(whole, **options).pairs.to_pylist()
        if row["a"] not in fixed or row["b"] not in fixed
    ]
    kept, removed = greedy([*fixed, *preferred(table, keep)], texts, pairs)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(
            ("BATCH_DOCUMENTS", "SMALL_BATCH_DOCUMENTS", "PAIRS_PER_DOCUMENT"), sizes, strict=True
        ):
            patched.setattr(thinning, name, value)
        patched.setattr("lookalike.job.dedup.PAIRS_PER_DOCUMENT", sizes[2])
        result = lookalike.dedup(table, against=reference, keep=keep, **options)
    assert set(result.kept_ids.to_pylist()) == kept - set(fixed)
    assert removed_of(result) == {
        name: named for name, named in removed.items() if name not in fixed
    }
    left = set(result.kept_ids.to_pylist())
    for row in pairs:
        assert not ({row["a"], row["b"]} & set(fixed) and {row["a"], row["b"]} & left)
    assert result.kept["id"].to_pylist() == [n for n in table["id"].to_pylist() if n in left]


def template(documents):
    """Make documents that differ in one number."""
    sentence = "the harbour master wrote the heights of the tide in a ledger on every day of year"
    return [f"{sentence} {number:06}" for number in range(documents)]


def test_copies_of_a_template_make_work_in_proportion_to_their_number():
    # 16 of 18 shingles are shared: 20 bands miss 3 such pairs of a billion, 10 would miss 56,000.
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "words:2", "bands": 20, "rows": 4}
    counts = []
    for documents in (3000, 6000):
        result = lookalike.dedup(template(documents), **options)
        assert len(result.kept) == 1
        counts.append(result.summary.candidates)
        # A pair with the kept one each, and some pairs among the first few.
        assert result.summary.candidates <= 12 * documents
    assert counts[1] < 2.5 * counts[0]


def test_templates_of_many_kinds_make_work_in_proportion_too():
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "words:2", "bands": 10, "rows": 4}
    counts = []
    for documents in (3000, 6000):
        texts = [
            f"{text} " + " ".join(WORDS[i % 25 :][:4]) for i, text in enumerate(template(documents))
        ]
        random.Random(1).shuffle(texts)
        result = lookalike.dedup(texts, **options)
        counts.append(result.summary.candidates)
        assert result.summary.candidates <= 40 * documents
    assert counts[1] < 2.5 * counts[0]


def test_what_is_alike_to_the_buckets_alone_is_refused_before_it_takes_for_ever(way, monkeypatch):
    monkeypatch.setattr(thinning, "MIN_COMPARED_LIMIT", 500)
    monkeypatch.setattr(thinning, "MAX_COMPARED_PER_DOCUMENT", 1)
    # One word in common, which puts all in one bucket, and no two similar.
    texts = [f"same {' '.join(f'{n}x{i}' for i in range(3))}" for n in range(60)]
    if way == "near":
        # Signatures dismiss them before they are compared.
        result = lookalike.dedup(texts, threshold=0.9, shingle="words:1", cascade="or:400")
        assert len(result.kept) == 60
        assert result.summary.candidates == result.summary.dismissed
        return
    with pytest.raises(QuadraticError, match=r"1,770 comparisons for 60 documents, of which 1,770"):
        lookalike.dedup(texts, threshold=0.9, shingle="words:1", cascade="or:400")


def test_the_stars_are_the_clusters():
    table = corpus(4)
    result = lookalike.dedup(table, threshold=0.5, shingle="words:1", bands=30, rows=1)
    removed = removed_of(result)
    assert len(removed) > 10
    members = {}
    for name, (kept, similarity) in removed.items():
        members.setdefault(kept, {kept: 1.0})[name] = similarity
    rows = result.clusters.to_pylist()
    names = ["id", "cluster", "size", "similarity", "kept", "corpus"]
    assert result.clusters.column_names == names
    found = {}
    for row in rows:
        found.setdefault(row["cluster"], {})[row["id"]] = row["similarity"]
        assert row["size"] == sum(other["cluster"] == row["cluster"] for other in rows)
        assert row["kept"] == (row["id"] not in removed)
    assert sorted(found) == list(range(1, len(members) + 1))
    # The largest first, then by their first ids; within one by id.
    expected = sorted(members.values(), key=lambda star: (-len(star), min(star)))
    assert [found[number] for number in sorted(found)] == expected
    order = [(row["cluster"], row["id"]) for row in rows]
    assert order == sorted(order)
