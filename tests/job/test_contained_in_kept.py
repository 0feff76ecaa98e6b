"""`dedup` by the rule contained: what goes is in a document that stays, and the rest stays."""

import json
import random
from typing import Any

import pytest

import lookalike
from lookalike.base.errors import OutputError, QuadraticError, SettingsError

WORDS = [f"w{number}" for number in range(12)]
RULE: dict[str, Any] = {"rule": "contained", "shingle": "words:1"}


def corpus(seed, documents, prefix="d"):
    """Texts of few words, parts of them, copies, reorderings of their words and empty ones."""
    choice = random.Random(seed)
    texts: list[list[str]] = []
    while len(texts) < documents:
        way = choice.randrange(4) if texts else 0
        base = choice.choice(texts) if texts else []
        if way == 0 or not base:
            texts.append(choice.choices(WORDS, k=choice.randint(0, 9)))
        elif way == 1:
            texts.append(base[: choice.randint(1, len(base))])
        elif way == 2:
            texts.append(choice.sample(base, len(base)))
        else:
            texts.append([*base, choice.choice(WORDS)])
    choice.shuffle(texts)
    return [
        {"id": f"{prefix}{number}", "text": " ".join(words), "n": choice.choice([1, 2, None])}
        for number, words in enumerate(texts)
    ]


def words_of(document):
    return set(document["text"].split())


def share(inner, outer):
    """The share of one document's words that another has, in plain Python."""
    return len(words_of(inner) & words_of(outer)) / len(words_of(inner))


def preference(keep, documents):
    """Give what sorts documents as a policy prefers them."""
    if keep == "first":
        return documents.index
    if keep == "last":
        return lambda document: -documents.index(document)
    if keep == "longest":
        return lambda document: (-len(document["text"]), document["id"])
    return lambda document: (
        float("inf") if document["n"] is None else -document["n"],
        document["id"],
    )


def brute_force(documents, reference, least, keep):
    """Keep the larger first, and those that are equally large by the policy; slowly."""
    prefer = preference(keep, documents)
    by_text: dict[str, list[Any]] = {}
    for document in sorted(documents, key=prefer):
        by_text.setdefault(document["text"], []).append(document)
    # Copies of one text are one, and the preferred of them speaks for it.
    speakers = [copies[0] for copies in by_text.values() if copies[0]["text"]]
    speakers.sort(key=lambda one: (-len(words_of(one)), prefer(one)))
    kept = [one for one in reference if one["text"]]
    stays = {one["id"] for one in documents if not one["text"]}
    for one in speakers:
        copies = [other for other in kept if other["text"] == one["text"]]
        if not copies and not any(share(one, other) >= least for other in kept):
            kept.append(one)
            stays.add(one["id"])
    return stays


POLICIES = ["first", "last", "longest", "max:n"]


@pytest.mark.parametrize("keep", POLICIES)
@pytest.mark.parametrize("least", [1, 0.75, 0.5])
@pytest.mark.parametrize("documents", [0, 1, 2, 3, 12])
def test_what_stays_is_what_brute_force_keeps(documents, least, keep):
    for seed in range(8):
        given = corpus(seed, documents)
        if keep == "max:n" and not any(one["n"] for one in given):
            continue
        result = lookalike.dedup(given, containment=least, keep=keep, **RULE)
        assert set(result.kept_ids.to_pylist()) == brute_force(given, [], least, keep)


@pytest.mark.parametrize("least", [1, 0.6])
def test_every_removed_document_is_in_a_kept_one(least):
    """In chains too: where A is in B and B in C, A names a kept document that has it."""
    removed = 0
    for seed in range(40):
        given = corpus(seed, 15)
        by_id = {one["id"]: one for one in given}
        result = lookalike.dedup(given, containment=least, **RULE)
        kept = set(result.kept_ids.to_pylist())
        for row in result.removed.to_pylist():
            assert row["kept"] in kept
            assert row["id"] not in kept
            assert row["containment"] == share(by_id[row["id"]], by_id[row["kept"]]) >= least
            removed += 1
        counts = result.counts
        assert counts["kept"] + counts["removed"] + counts["empty"] == counts["read"]
    assert removed > 100


def test_with_a_share_of_1_no_shingle_of_the_corpus_is_lost():
    for seed in range(20):
        given = corpus(seed, 15)
        result = lookalike.dedup(given, **RULE)
        assert set().union(*map(words_of, result.kept)) == set().union(*map(words_of, given))


def test_a_chain_under_a_share_below_1_keeps_what_no_kept_document_has():
    # B has 3/4 of A, C has 3/4 of B, and only half of A.
    chain = {"C": "b c d e f g h i", "B": "a b c d e f g", "A": "a b c x y"}
    result = lookalike.dedup(chain, containment=0.6, **RULE)
    assert set(result.kept) == {"A", "C"}
    assert result.removed.to_pylist() == [
        {"id": "B", "kept": "C", "containment": 6 / 7, "kept_in": "source"}
    ]


def test_the_jaccard_of_a_document_and_what_holds_it_does_not_matter():
    quote, book = "one two three", " ".join(WORDS) + " one two three"
    assert lookalike.dedup([quote, book], rule="contained", shingle="words:2").kept == [book]
    assert lookalike.dedup([quote, book], shingle="words:2").kept == [quote, book]
    almost = f"{book} end"
    other = f"{book} stop"
    both = [almost, other]
    assert lookalike.dedup(both, shingle="words:2", threshold=0.8).kept == [almost]
    assert lookalike.dedup(both, shingle="words:2", rule="contained").kept == both


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
def test_what_a_reference_has_goes_and_the_reference_stays(keep):
    for seed in range(12):
        given, reference = corpus(seed, 10), corpus(seed + 100, 6, prefix="r")
        reference += [{**given[0], "id": "d1"}]
        result = lookalike.dedup(given, against=reference, containment=0.8, keep=keep, **RULE)
        assert set(result.kept_ids.to_pylist()) == brute_force(given, reference, 0.8, keep)
        held = {("source", one["id"]): one for one in given}
        held |= {("reference", one["id"]): one for one in reference}
        for row in result.removed.to_pylist():
            outer = held[row["kept_in"], row["kept"]]
            assert share(held["source", row["id"]], outer) == row["containment"] >= 0.8


def test_repeated_words_count_where_they_are_asked_to():
    texts = ["a a a b", "a b c"]
    assert lookalike.dedup(texts, **RULE).kept == ["a b c"]
    assert lookalike.dedup(texts, multiset=True, **RULE).kept == texts


def test_the_record_and_the_tables_open_again(tmp_path):
    given = corpus(3, 15)
    with lookalike.dedup(given, containment=0.9, out=tmp_path / "out", **RULE) as result:
        removed, clusters = result.removed.to_pylist(), result.clusters.to_pylist()
        assert "containment 0.9" in repr(result)
    assert clusters[0].keys() == {"id", "cluster", "size", "containment", "kept", "corpus"}
    with lookalike.DedupResult.open(tmp_path / "out") as again:
        assert again.removed.to_pylist() == removed
        assert again.clusters.to_pylist() == clusters
        assert again.plan is None
        assert (again.settings.rule, again.settings.containment) == ("contained", 0.9)
    facts = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert (facts["settings"]["rule"], facts["plan"]) == ("contained", None)


def test_a_kept_work_folder_serves_both_rules(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in corpus(3, 15)))
    given: dict[str, Any] = {"shingle": "words:1", "work": tmp_path / "work"}
    with lookalike.dedup(path, **given) as similar:
        first = similar.kept_ids.to_pylist()
    with lookalike.dedup(path, rule="contained", **given) as contained:
        kept = contained.kept_ids.to_pylist()
    assert kept == lookalike.dedup(path, **RULE).kept_ids.to_pylist() != first
    with lookalike.dedup(path, **given) as again:
        assert again.kept_ids.to_pylist() == first
    with pytest.raises(OutputError, match="shingle"):
        lookalike.dedup(path, rule="contained", shingle="words:2", work=tmp_path / "work")


def test_settings_that_do_nothing_are_refused():
    for wrong in ({"threshold": 0.7}, {"recall": 1}, {"bands": 4, "rows": 2}, {"cascade": "and:2"}):
        with pytest.raises(SettingsError, match="all that is contained"):
            lookalike.dedup(["a"], rule="contained", **wrong)
    with pytest.raises(SettingsError, match="is for rule='contained'"):
        lookalike.dedup(["a"], containment=0.9)
    with pytest.raises(SettingsError, match="'inside' is unknown"):
        lookalike.dedup(["a"], rule="inside")
    with pytest.raises(SettingsError, match="is of sets"):
        lookalike.dedup(["a"], rule="contained", metric="cosine")
    with pytest.raises(SettingsError, match="every pair"):
        lookalike.dedup(["a"], rule="contained", containment=0)


def test_more_pairs_than_fit_are_refused_in_a_line(monkeypatch):
    monkeypatch.setattr("lookalike.job.dedup.STAR_BYTES_PER_PAIR", 1 << 40)
    with pytest.raises(QuadraticError, match="to choose from"):
        lookalike.dedup(["a b", "a b c"], **RULE)
