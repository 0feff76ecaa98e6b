"""Sources of every kind through the program, and what counts in a comparison."""

import json
import random
import re
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike
import twins
from source_files import RECORD_KINDS, as_lines, write_records

CHOICE = random.Random(7)
VOCABULARY = [f"{CHOICE.getrandbits(30):x}" for _ in range(400)]
ORIGINALS = [CHOICE.choices(VOCABULARY, k=40) for _ in range(12)]


def edits():
    """Make edits of a few texts, copies among them."""
    choice = random.Random(8)
    made = []
    for at in range(48):
        text = list(choice.choice(ORIGINALS))
        for _ in range(choice.choice([0, 1, 2, 4])):
            text[choice.randrange(40)] = choice.choice(VOCABULARY)
        made.append({"id": f"d{at:02}", "text": " ".join(text)})
    return made


RECORDS = edits()


def shingles(text, size=2, ignored=frozenset()):
    hashes = twins.word_hashes(twins.canonical(text), size)
    return twins.elements(hashes, multiset=False, ignored=ignored)


def pairs_by_hand(sets, threshold):
    """Compare every two sets: the similarity of each pair at or above a threshold."""
    found = {}
    names = sorted(sets)
    for place, a in enumerate(names):
        for b in names[place + 1 :]:
            similarity = twins.jaccard(sets[a], sets[b])
            if similarity >= threshold:
                found[a, b] = float(similarity)
    return found


TRUTH = pairs_by_hand({r["id"]: shingles(r["text"]) for r in RECORDS}, Fraction(6, 10))
EXACT = ("-s", "words:2", "-t", "0.6", "--recall", "1", "--format", "jsonl", "-q")


def found(told, *arguments, **options):
    status, output, errors = told("find", *arguments, **options)
    assert (status, errors) == (0, "")
    lines = [json.loads(line) for line in output.split("\n") if line]
    return {(line["a"], line["b"]): line["similarity"] for line in lines}


def test_there_is_something_to_find():
    assert len(TRUTH) > 40
    assert any(similarity < 1 for similarity in TRUTH.values())


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_files_of_every_kind_give_the_pairs_found_by_hand(kind, told, tmp_path):
    path = write_records(tmp_path / f"docs{kind}", RECORDS)
    assert found(told, path, *EXACT) == TRUTH


def test_source_code_is_compared_like_any_text(told, tmp_path):
    (tmp_path / "code").mkdir()
    for name in ("a.py", "b.py", "Makefile"):
        (tmp_path / "code" / name).write_text("def same(): return 'the same' # " + "word " * 9)
    (tmp_path / "code" / "c.pyc").write_bytes(b"\xcb\r\r\n\0\0\0\0")
    base = tmp_path / "code"
    pairs = found(told, f"{base}/*.py", *EXACT)
    assert pairs == {(f"{base}/a.py", f"{base}/b.py"): 1.0}
    assert len(found(told, base, *EXACT)) == 3
    assert found(told, base / "a.py", base / "b.py", *EXACT) == pairs
    status, output, _ = told("compare", base / "a.py", base / "Makefile")
    assert (status, "identical" in output) == (0, True)


def test_standard_input_gives_them_too(told):
    assert found(told, "-", *EXACT, given=as_lines(RECORDS)) == TRUTH


def test_several_sources_are_one_corpus(told, tmp_path):
    paths = []
    for place, kind in enumerate([".jsonl", ".csv.gz", ".parquet", ".tsv.zst"]):
        paths.append(write_records(tmp_path / f"part{place}{kind}", RECORDS[place::4]))
    assert found(told, *paths, *EXACT) == TRUTH
    assert found(told, tmp_path, *EXACT) == TRUTH
    first, *_, last = paths
    assert found(told, first, tmp_path / "part[12]*", last, *EXACT) == TRUTH


def test_a_pattern_stands_for_all_files_that_match(told, tmp_path, monkeypatch):
    for place, name in enumerate(["a.jsonl", "deep/b.jsonl", "deep/er/c.jsonl", "deep/d.csv"]):
        write_records(tmp_path / name, RECORDS[place::4])
    monkeypatch.chdir(tmp_path)
    here = {record["id"] for place in (0, 1, 2) for record in RECORDS[place::4]}
    expected = {pair: s for pair, s in TRUTH.items() if here.issuperset(pair)}
    assert found(told, "**/*.jsonl", *EXACT) == expected
    assert found(told, "**/*.jsonl", "deep/*.csv", *EXACT) == TRUTH


def test_a_folder_may_hold_documents_and_records_together(told, tmp_path):
    pile = tmp_path / "pile"
    write_records(pile / "records.jsonl", RECORDS[:20])
    write_records(pile / "deep" / "records.parquet", RECORDS[20:40])
    for record in RECORDS[40:44]:
        (pile / f"{record['id']}.txt").write_text(record["text"])
    for record in RECORDS[44:]:
        (pile / "deep" / f"{record['id']}.md").write_text(record["text"])
    named = {record["id"]: record["id"] for record in RECORDS[:40]}
    named |= {record["id"]: f"{record['id']}.txt" for record in RECORDS[40:44]}
    named |= {record["id"]: f"deep/{record['id']}.md" for record in RECORDS[44:]}
    expected = {tuple(sorted((named[a], named[b]))): s for (a, b), s in TRUTH.items()}
    assert found(told, pile, *EXACT) == expected


def test_ids_of_files_in_several_folders_begin_with_the_folder(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text(RECORDS[0]["text"])
    assert found(told, "one", "two", *EXACT) == {("one/same.txt", "two/same.txt"): 1.0}


def test_records_without_ids_are_named_by_file_and_number(told, tmp_path):
    bare = [{"text": record["text"]} for record in RECORDS]
    path = write_records(tmp_path / "docs.jsonl", bare)
    named = {record["id"]: f"docs.jsonl:{at}" for at, record in enumerate(RECORDS, 1)}
    expected = {tuple(sorted((named[a], named[b]))): s for (a, b), s in TRUTH.items()}
    assert found(told, path, *EXACT) == expected


def test_numbers_are_ids_and_sort_as_numbers(told, tmp_path):
    texts = [RECORDS[0]["text"]] * 3
    records = [
        {"id": number, "text": text} for number, text in zip([10, 9, 100], texts, strict=True)
    ]
    path = write_records(tmp_path / "docs.jsonl", records)
    assert list(found(told, path, *EXACT)) == [(9, 10), (9, 100), (10, 100)]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_text_and_id_are_reached_in_nested_fields(kind, told, tmp_path):
    records = [{"meta": {"body": r["text"], "key": {"name": r["id"]}}, "n": 1} for r in RECORDS]
    path = write_records(tmp_path / f"docs.{kind}", records)
    assert found(told, path, "--text", "meta.body", "--id", "meta.key.name", *EXACT) == TRUTH


def test_what_was_guessed_is_said(told, tmp_path):
    records = [{"url": r["id"], "body": r["text"]} for r in RECORDS]
    path = write_records(tmp_path / "docs.csv", records)
    _, output, errors = told("find", path, *EXACT[:-1], columns=200)
    assert "docs.csv: the text is taken from 'body', the ids from 'url'" in errors
    assert len(output.splitlines()) == len(TRUTH)


TOKENS = {r["id"]: r["text"].split() for r in RECORDS}
TOKEN_TRUTH = pairs_by_hand({name: set(tokens) for name, tokens in TOKENS.items()}, Fraction(7, 10))
TOKEN_OPTIONS = ("-t", "0.7", "--recall", "1", "--format", "jsonl", "-q")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_of_tokens_are_sets_as_they_are(kind, told, tmp_path):
    records = [{"id": name, "text": tokens} for name, tokens in TOKENS.items()]
    path = write_records(tmp_path / f"docs.{kind}", records)
    assert len(TOKEN_TRUTH) > 40
    assert found(told, path, *TOKEN_OPTIONS) == TOKEN_TRUTH


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_whole_numbers_are_tokens_too(kind, told, tmp_path):
    numbers = {word: place for place, word in enumerate(VOCABULARY)}
    records = [{"id": n, "text": [numbers[t] for t in tokens]} for n, tokens in TOKENS.items()]
    path = write_records(tmp_path / f"docs.{kind}", records)
    assert found(told, path, *TOKEN_OPTIONS) == TOKEN_TRUTH


def test_a_shingle_is_refused_where_documents_are_tokens(told, tmp_path):
    table = pa.table({"id": ["a", "b"], "text": [["x", "y"], ["x", "z"]]})
    pq.write_table(table, tmp_path / "docs.parquet")
    status, output, errors = told("find", tmp_path / "docs.parquet", "-s", "words:2", "-q")
    assert (status, output) == (2, "")
    assert "leave out --shingle words:2" in errors


class TestContainment:
    """Documents inside others, against a comparison of every two."""

    TEXTS = (
        *(r["text"] for r in RECORDS[:16]),
        *(" ".join(ORIGINALS[at][:12]) for at in range(4)),
        *(" ".join(ORIGINALS[at][5:25] + ORIGINALS[at + 1]) for at in range(4)),
    )

    @pytest.mark.parametrize("share", ["0.9", "0.5"])
    def test_every_pair_is_found_with_its_direction(self, share, told, tmp_path):
        records = [{"id": f"c{at:02}", "text": text} for at, text in enumerate(self.TEXTS)]
        path = write_records(tmp_path / "docs.jsonl", records)
        sets = {record["id"]: shingles(record["text"]) for record in records}
        expected = {
            (a, b): (float(twins.containment(sets[a], sets[b])), float(similarity))
            for a in sets
            for b in sets
            # Copies are one pair.
            if (a < b if sets[a] == sets[b] else a != b)
            and twins.containment(sets[a], sets[b]) >= Fraction(share)
            for similarity in [twins.jaccard(sets[a], sets[b])]
        }
        command = ["contained", path, "--containment", share, "-s", "words:2", "-q"]
        status, output, errors = told(*command, "--format", "jsonl")
        assert (status, errors) == (0, "")
        lines = [json.loads(line) for line in output.split("\n") if line]
        told_of = {(r["part"], r["whole"]): (r["share"], r["similarity"]) for r in lines}
        assert told_of == expected
        assert [r["copies"] for r in lines] == [r["similarity"] == 1 for r in lines]
        assert len(lines) == len(expected) > 5
        assert any(similarity < 0.5 for _, similarity in expected.values())
        order = [(-r["share"], r["part"], r["whole"]) for r in lines]
        assert order == sorted(order)

    def test_a_person_sees_what_is_inside_what(self, told, tmp_path):
        whole = " ".join(ORIGINALS[0])
        part = " ".join(ORIGINALS[0][10:30])
        records = [{"id": "whole", "text": whole}, {"id": "part", "text": part}]
        path = write_records(tmp_path / "docs.jsonl", records)
        status, output, errors = told("contained", path, "-s", "words:2")
        assert status == 0
        assert "1 pair: 90% or more of the part is in the whole" in output
        assert re.search(r"^ *share  part  whole *$", output, re.MULTILINE)
        assert re.search(r"^100\.0%  part  whole *$", output, re.MULTILINE)
        assert "1 pair of a part and its whole" in errors
        assert "share of words:2 shingles, as given" in errors

    def test_two_copies_are_one_row_that_says_so(self, told, tmp_path):
        words = " ".join(ORIGINALS[0])
        # The third has the same shingles, and is not the same text.
        texts = {"b": words, "a": f"{words}\n", "c": f"{words} {words}", "d": f"{words} and more"}
        records = [{"id": name, "text": text} for name, text in texts.items()]
        path = write_records(tmp_path / "docs.jsonl", records)
        command = ["contained", path, "-s", "words:1", "-q"]
        _, output, _ = told(*command, "--format", "jsonl")
        rows = [json.loads(line) for line in output.splitlines()]
        copies = [("a", "b"), ("a", "c"), ("b", "c")]
        assert [(row["part"], row["whole"]) for row in rows if row["copies"]] == copies
        others = [(row["part"], row["whole"]) for row in rows if not row["copies"]]
        assert others == [("a", "d"), ("b", "d"), ("c", "d"), ("d", "a"), ("d", "b"), ("d", "c")]
        _, shown, _ = told(*command)
        assert shown.startswith(f"{len(rows)} pairs: ")
        assert len(re.findall(r"^copies  [ab]     [bc] *$", shown, re.MULTILINE)) == 3
        result = lookalike.contained(path, shingle="words:1")
        assert result.pair_count == len(result.pairs) == len(rows)
        assert result.inside_count == 4


FOOTER = (
    "Copyright the Society of Lamplighters. All rights are reserved for ever and a day. "
    "Write to us by pigeon or by post at the sign of the Blue Lantern, third door on the left, "
    "and mind the step, which is steep and often wet in the mornings of the cold season."
)


@pytest.fixture
def with_footers(tmp_path):
    """Give short texts of which most end in the same words, and two that are alike without."""
    choice = random.Random(9)
    texts = [" ".join(choice.choices(VOCABULARY, k=12)) for _ in range(10)]
    texts += [texts[0] + " and more"]
    records = [{"id": f"f{at:02}", "text": f"{text}\n\n{FOOTER}"} for at, text in enumerate(texts)]
    records += [
        {"id": f"g{at}", "text": " ".join(choice.choices(VOCABULARY, k=60))} for at in range(12)
    ]
    return write_records(tmp_path / "docs.jsonl", records)


OPTIONS = ("-s", "words:3", "-t", "0.5", "--format", "jsonl", "-q")


def test_boilerplate_is_listed_with_how_many_share_it(told, with_footers):
    command = "boilerplate", with_footers, "--format", "jsonl", "-q"
    status, output, errors = told(*command)
    assert (status, errors) == (0, "")
    passages = [json.loads(line) for line in output.split("\n") if line]
    first = passages[0]
    assert list(first) == ["documents", "share", "words", "text"]
    assert (first["documents"], first["share"]) == (11, pytest.approx(11 / 23))
    assert first["words"] == len(twins.words(twins.canonical(FOOTER)))
    assert first["text"] in (FOOTER, twins.canonical(FOOTER), twins.canonical(FOOTER).rstrip("."))
    assert all(p["documents"] >= 2 for p in passages)


def test_a_person_sees_the_boilerplate_too(told, with_footers):
    status, output, errors = told("boilerplate", with_footers)
    assert status == 0
    assert "The passages shared by the most of 23 distinct documents" in output
    assert "48%" in output
    assert "shared passage" in errors


def test_documents_alike_by_their_footer_only_are_no_pair_when_it_is_ignored(
    told, with_footers, tmp_path
):
    footer = tmp_path / "footer.txt"
    footer.write_text(FOOTER)
    alike = found(told, with_footers, *OPTIONS)
    assert len(alike) == 55
    assert set(found(told, with_footers, "--ignore", footer, *OPTIONS)) == {("f00", "f10")}


def test_shingles_that_many_documents_have_do_not_count(told, with_footers):
    assert len(found(told, with_footers, "--max-df", "0.9", *OPTIONS)) == 55
    assert set(found(told, with_footers, "--max-df", "0.3", *OPTIONS)) == {("f00", "f10")}


def test_what_is_left_is_compared_exactly(told, with_footers, tmp_path):
    footer = tmp_path / "footer.txt"
    footer.write_text(FOOTER)
    ignored = frozenset(twins.word_hashes(twins.canonical(FOOTER), 3))
    records = [json.loads(line) for line in with_footers.read_text().splitlines()]
    sets = {r["id"]: shingles(r["text"], 3, ignored) for r in records}
    expected = pairs_by_hand(sets, Fraction(1, 10))
    options = ("-s", "words:3", "-t", "0.1", "--recall", "1", "--format", "jsonl", "-q")
    assert found(told, with_footers, "--ignore", footer, *options) == expected


@pytest.mark.parametrize("more", [["--ignore", "footer.txt"], ["--max-df", "0.3"]])
def test_dedup_heeds_what_does_not_count(more, told, with_footers, monkeypatch):
    monkeypatch.chdir(with_footers.parent)
    (with_footers.parent / "footer.txt").write_text(FOOTER)
    command = "dedup", with_footers, "--dry-run", *OPTIONS
    _, output, _ = told(*command)
    assert len(output.splitlines()) == 10
    _, output, _ = told(*command, *more)
    assert [json.loads(line)["id"] for line in output.splitlines()] == ["f10"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["contained", "--containment", "0"], "containment 0"),
        (["contained", "--containment", "1.5"], "containment 1.5"),
        (["find", "--max-df", "2"], "max"),
        (["find", "--containment", "0.9"], "there is no option"),
        (["find", "--json", "--format", "csv"], "cannot be used together"),
        (["find", "--fail-on", "half"], "--fail-on"),
        (["boilerplate", "--fail-on", "0"], "--fail-on"),
        (["contained", "--fail-on", "1.5"], "--fail-on"),
    ],
)
def test_what_cannot_go_together_is_wrong_usage(
    arguments, message, told, with_footers, monkeypatch
):
    monkeypatch.chdir(with_footers.parent)
    command, *more = arguments
    status, output, errors = told(command, with_footers, *more, "-q")
    assert (status, output) == (2, "")
    assert message in errors
