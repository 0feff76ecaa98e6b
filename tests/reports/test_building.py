"""What a report says of a result holds: every passage, similarity, share and count."""

import itertools
import json
import pickle
import random
import re
import unicodedata
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import lookalike
from lookalike.reports import coverage, gathering, model, passages, scanning, second_search
from lookalike.reports.building import build
from lookalike.reports.names import Aliases
from made_reports import AUTHORS, labelled_documents, plain

PROSE = (
    "The harbour master wrote the tide tables by hand every winter until the ink froze. "
    "Nobody on the quay could read his seven, which looked like a bent fishing hook. "
    "When the ferry came late the children counted gulls on the roof of the customs house. "
    "An old compass in the window pointed at the bakery, whatever the weather was. "
)
SCRIPTS = {
    "latin": PROSE,
    "emoji": PROSE.replace("tide", "🌊 tide").replace("gulls", "🐦‍⬛ gulls 𝔾"),
    "greek": "Το λιμάνι ήταν ήσυχο εκείνο το πρωί και τα καΐκια γύριζαν αργά από το ψάρεμα",
    "cyrillic": "Первый снег выпал ночью, и к утру вся гавань стала белой и тихой, как лист.",
    "devanagari": "सुबह बंदरगाह पर बहुत शांति थी और नावें धीरे धीरे समुद्र से लौट रही थीं घर की ओर",
    "chinese": "老茶馆的门口有一棵银杏树，秋天的时候叶子落满了整条小巷，𠀀𠀁孩子们在那里玩耍。",
    "decomposed": unicodedata.normalize(
        "NFD", "Le marché du samedi s’éveille à l’aube, déjà très animé"
    ),
}


@pytest.fixture(autouse=True)
def few_are_compared_as_a_whole(small_is_compared_whole):
    """Let results be found as quickly as they are outside of the tests."""


def units(text: str, start: int, end: int) -> str:
    """Cut a text as a browser does."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def words(text: str) -> str:
    """Give the letters of a text in one case, without what stands between words."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", text).lower())


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_passage_is_the_same_words_in_both_texts(script):
    text = SCRIPTS[script]
    middle = len(text) // 2
    texts = {
        "a": f"😀😀 {text} 𝕏 of one thing and another",
        "b": f"Not at all the same beginning. {text[:middle].upper()} — 🎈 — {text[middle:]}",
    }
    report = build(lookalike.find(texts, threshold=0.05, shingle="chars:3"))
    pair = report.main.pairs
    assert (pair.a, pair.b) == ([0], [1])
    found = report.texts[0].passages["1"]
    assert found
    assert pair.passages == [len(found)]
    assert pair.words == [sum(one[-1] for one in found)]
    for start, end, other_start, other_end, _ in found:
        mine = units(report.texts[0].text, start, end)
        other = units(report.texts[1].text, other_start, other_end)
        assert words(mine) == words(other) != ""
        # A passage begins and ends with a word, so that nothing beside it is marked.
        assert words(mine[0]) or unicodedata.category(mine[0])[0] in "LMN"
        assert mine.strip() == mine


@pytest.mark.parametrize("seed", range(4))
def test_passages_are_those_that_compare_finds(seed):
    draw = random.Random(seed)
    # Of few words, so that the same run stands in many places, more than are tried.
    texts = {
        f"d{i}": " ".join(draw.choices("abc" if seed % 2 else "abcdefgh", k=400)) for i in range(4)
    }
    texts |= {"half": texts["d0"][:400] + " z " + texts["d1"][300:]}
    report = build(lookalike.find(texts, threshold=0.01, shingle="words:2"))
    name = report.main.documents.name
    assert len(report.main.pairs.a) == 10
    for a, b in zip(report.main.pairs.a, report.main.pairs.b, strict=True):
        expected = lookalike.compare(texts[name[a]], texts[name[b]]).passages
        assert [*map(tuple, report.texts[a].passages[str(b)])] == [
            (one.a_start, one.a_end, one.b_start, one.b_end, one.words) for one in expected
        ]


def made(seed: int, documents: int = 14) -> dict[str, str]:
    """Make texts that share sentences, with an imprint that all of them have."""
    draw = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(400)]
    sentences = [" ".join(draw.choices(vocabulary, k=12)) for _ in range(12)]
    texts = {}
    for number in range(documents):
        own = " ".join(draw.choices(vocabulary, k=40))
        chosen = draw.sample(sentences, draw.randrange(0, 5))
        texts[f"d{number:02}"] = "\n".join(["read only for the club 2024", own, *chosen])
    texts["copy"] = texts["d00"].upper()
    return texts


def covered_words(text: str, others: list[str]) -> set[int]:
    """Tell which words of a text are in a run of five that stands in another."""
    mine = text.lower().split()
    runs = {
        tuple(other[i : i + 5])
        for other in (one.lower().split() for one in others)
        for i in range(len(other) - 4)
    }
    found: set[int] = set()
    for i in range(len(mine) - 4):
        if tuple(mine[i : i + 5]) in runs:
            found |= set(range(i, i + 5))
    return found


@pytest.mark.parametrize("copies", [20, 70])
def test_all_of_many_sources_have_their_shares(copies):
    texts = {f"d{i:02}": f"{PROSE} and this is the end of number {i}" for i in range(copies)}
    report = build(lookalike.find(texts))
    documents = report.main.documents
    for part in report.texts:
        named = dict(part.sources)
        assert len(named) == min(copies - 1, coverage.MAX_SHARES)
        assert (part.more_sources > 0) == (copies > coverage.MAX_SHARES)
        assert part.remembered == (coverage.MAX_HOLDERS if copies > 64 else None)
        own = documents.name[part.document]
        for other, share in named.items():
            words = covered_words(part.text, [texts[documents.name[other]]])
            assert share == pytest.approx(len(words) / len(part.text.split()), abs=1e-6), own


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most_texts", [1000, 5])
def test_coverage_is_what_a_search_through_all_documents_finds(seed, most_texts):
    texts = made(seed)
    report = build(lookalike.find(texts, threshold=0.3), most_texts=most_texts)
    documents = report.main.documents
    assert report.texts
    for part in report.texts:
        name = documents.name[part.document]
        spans = [match.span() for match in re.finditer(r"\S+", part.text)]
        expected = covered_words(part.text, [t for other, t in texts.items() if other != name])
        seen = {
            word
            for one in part.coverage
            for word, (start, end) in enumerate(spans)
            if one.start <= start and end <= one.end
        }
        assert seen == expected
        for before, after in itertools.pairwise(part.coverage):
            assert before.end <= after.start
        share = len(expected) / len(spans)
        assert documents.covered[part.document] == pytest.approx(share, abs=1e-6)
        for one in part.coverage:
            stretch = part.text[one.start : one.end].lower().split()
            other = texts[documents.name[one.document]].lower().split()
            assert len(stretch) == one.words
            runs = {tuple(other[i : i + 5]) for i in range(len(other) - 4)}
            # A stretch that another one has begun may be shorter than a run.
            inner = [tuple(stretch[i : i + 5]) for i in range(len(stretch) - 4)]
            assert all(run in runs for run in inner)
        for document, share in part.sources:
            there = covered_words(part.text, [texts[documents.name[document]]])
            assert share == pytest.approx(len(there) / len(spans), abs=1e-6)


def test_boilerplate_is_what_many_unrelated_documents_share():
    texts = made(1)
    report = build(lookalike.find(texts, threshold=0.9))
    for part in report.texts:
        first = part.boilerplate[0]
        assert part.text[first[0] : first[1]].lower().startswith("read only for the club 2024")
        # The copy of a document is of its cluster, and both count as one.
        assert first[2] == len(texts) - 1
    alike = {f"d{i}": PROSE + f" {i}" for i in range(20)}
    assert not any(part.boilerplate for part in build(lookalike.find(alike)).texts)


def shingles(text: str, size: int) -> set[str]:
    plain_text = " ".join(text.lower().split())
    return {plain_text[i : i + size] for i in range(len(plain_text) - size + 1)}


@pytest.mark.parametrize(
    ("sharing", "documents", "is_boilerplate"),
    [(4, 50, False), (5, 50, True), (5, 600, False), (6, 600, True)],
)
def test_boilerplate_is_in_five_documents_and_in_one_of_a_hundred(
    sharing, documents, is_boilerplate
):
    notice = "all rights reserved by the printers of this town"
    texts = [f"w{place} x{place} y{place} z{place} q{place}" for place in range(documents)]
    texts[:sharing] = [f"{text} {notice}" for text in texts[:sharing]]
    report = build(lookalike.find(texts, threshold=0.9))
    marked = [part.boilerplate for part in report.texts if part.boilerplate]
    assert len(marked) == (sharing if is_boilerplate else 0)
    assert all(number == sharing for spans in marked for *_, number in spans)


def test_where_the_corpus_is_not_searched_for_passages_it_is_said(monkeypatch):
    monkeypatch.setattr(scanning, "MAX_SCANNED_BYTES", 10)
    texts = {"a": f"{PROSE} one", "b": f"{PROSE} two", "c": f"{SCRIPTS['cyrillic']} {PROSE[:90]}"}
    report = build(lookalike.find(texts, threshold=0.8), most_texts=2)
    assert {document for part in report.texts for document, _ in part.sources} == {0, 1}
    assert report.main.summary.left_out[-1].startswith(
        "Passages found elsewhere were searched for among the documents whose texts are in this"
    )


def test_a_batch_of_which_all_texts_are_in_the_page_is_looked_through_too():
    sources = ["one two three four five six", "seven eight nine ten eleven twelve"]
    references = [*sources, "quite another text that nobody has", "and one more of those"]
    with lookalike.find(sources, against=references, threshold=0.5) as found:
        report = build(found, most_texts=4)
    assert len(report.texts) == 4
    assert [share for share in report.main.documents.covered if share] == [1.0] * 4


def test_counts_behind_a_similarity_are_those_of_the_sets_of_shingles(tmp_path):
    texts = made(2)
    result = lookalike.find(texts, threshold=0.2, shingle="chars:4")
    (tmp_path / "texts.json").write_text(
        json.dumps([{"id": k, "text": v} for k, v in texts.items()])
    )
    lookalike.find(
        tmp_path / "texts.json", threshold=0.2, shingle="chars:4", out=tmp_path / "pairs.csv"
    )
    aliases = Aliases.of(tmp_path / "key.json")
    # With no texts in the page, counts come from the scores and the sizes of the documents.
    for report in (
        build(result),
        build(result, most_texts=0),
        build(lookalike.Result.open(tmp_path / "pairs.csv"), most_texts=0),
        build(result, most_texts=0, aliases=aliases),
    ):
        known = {alias: key[1] for key, alias in aliases.documents.items()}
        pairs = report.main.pairs
        name = [known.get(one, one) for one in report.main.documents.name]
        assert len(pairs.a) == len(result.pairs) > 3
        for row in range(len(pairs.a)):
            a, b = (shingles(texts[name[side[row]]], 4) for side in (pairs.a, pairs.b))
            assert pairs.shared[row] == len(a & b)
            assert pairs.union[row] == len(a | b)
            assert pairs.similarity[row] == round(len(a & b) / len(a | b), 6)
            assert pairs.a_in_b[row] == round(len(a & b) / len(a), 6)
            assert pairs.b_in_a[row] == round(len(a & b) / len(b), 6)


@pytest.mark.parametrize(
    "options",
    [{}, {"shingle": "words:2"}, {"multiset": True}, {"metric": "cosine"}],
    ids=str,
)
def test_heat_maps_and_near_misses_are_what_compare_says_of_every_two(options):
    texts = made(3)
    result = lookalike.find(texts, threshold=0.3, **options)
    report = build(result)
    name, settings = report.main.documents.name, result.settings
    told = {one: getattr(settings, one) for one in ("shingle", "multiset", "metric", "weights")}

    def similarity(a: int, b: int) -> float:
        return lookalike.compare(texts[name[a]], texts[name[b]], **told).similarity

    assert report.main.clusters
    for cluster in report.main.clusters:
        assert cluster.matrix is not None
        assert cluster.size == len(cluster.members)
        for row, a in enumerate(cluster.members):
            for column, b in enumerate(cluster.members):
                assert cluster.matrix[row][column] == round(similarity(a, b), 6)
    near = report.main.near_misses
    assert near is not None
    assert near.complete
    every = {
        (a, b): round(similarity(a, b), 6) for a, b in itertools.combinations(range(len(name)), 2)
    }
    expected = {pair: score for pair, score in every.items() if 0.2 <= score < 0.3}
    listed = zip(zip(near.pairs.a, near.pairs.b, strict=True), near.pairs.similarity, strict=True)
    assert dict(listed) == expected
    assert expected


@pytest.mark.parametrize("source", ["memory", "files"])
@pytest.mark.parametrize(
    "options",
    [{}, {"metric": "cosine", "recall": 1}, {"normalise": "keep-case"}, {"against": True}],
    ids=str,
)
def test_near_misses_of_a_large_corpus_are_searched_for_again(source, options, tmp_path):
    texts = made(3)
    given = {"shingle": "chars:5", **options}
    apart = ("d04", "d09", "d12") if "against" in given else ()
    others = {one: texts.pop(one) for one in apart}
    if others:
        given["against"] = others
    result = lookalike.find(texts, threshold=0.3, **given)
    if source == "files":
        for one, text in (texts | others).items():
            folder = tmp_path / ("others" if one in others else "texts")
            folder.mkdir(exist_ok=True)
            (folder / one).write_text(text)
        if others:
            given["against"] = tmp_path / "others"
        found = tmp_path / "found"
        lookalike.find(tmp_path / "texts", threshold=0.3, out=found, **given)
        result = lookalike.FindResult.open(found)
    main = build(result, most_texts=3).main
    near = main.near_misses
    assert near is not None
    assert "searched again" in near.what
    name, settings = main.documents.name, result.settings
    told: Any = {one: getattr(settings, one) for one in ("shingle", "metric", "normalise")}
    pairs = [*itertools.combinations(sorted(texts), 2)]
    if others:
        pairs = [*itertools.product(texts, others)]
    every = {
        (a, b): round(
            lookalike.compare((texts | others)[a], (texts | others)[b], **told).similarity, 6
        )
        for a, b in pairs
    }
    expected = {pair: score for pair, score in every.items() if 0.2 <= score < 0.3}
    listed = zip(near.pairs.a, near.pairs.b, near.pairs.similarity, strict=True)
    assert {(name[a], name[b]): score for a, b, score in listed} == expected
    assert expected


def test_near_misses_of_a_very_large_corpus_are_those_among_its_texts(monkeypatch):
    monkeypatch.setattr(second_search, "MAX_BYTES", 0)
    texts = made(7)
    main = build(lookalike.find(texts, threshold=0.4), most_texts=14).main
    near = main.near_misses
    assert near is not None
    assert not near.complete
    # Those of the one pair: of others no text is there.
    assert "among the 2 documents whose texts are in this page" in near.what


@pytest.mark.parametrize(
    "options",
    [
        {"groups": "group"},
        {"metric": "cosine", "weights": "tf-idf"},
        {"max_df": 0.5},
        {"bands": 20, "rows": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("most_texts", [3, 1000])
def test_near_misses_are_those_of_a_lower_threshold(options, most_texts):
    rows = [
        {"id": name, "text": text, "group": name[-1] in "02468"} for name, text in made(3).items()
    ]
    given: Any = {"shingle": "chars:5", **options}
    result = lookalike.find(rows, threshold=0.3, **given)
    near = build(result, most_texts=most_texts).main.near_misses
    assert near is not None
    lower: Any = {one: value for one, value in given.items() if one not in ("bands", "rows")}
    below = lookalike.find(rows, threshold=0.2, **lower).pairs.filter(pc.field("similarity") < 0.3)
    assert len(below)
    assert near.pairs.similarity == [round(one, 6) for one in below["similarity"].to_pylist()]


def test_where_no_near_misses_are_shown_it_says_why_and_what_to_do(monkeypatch, tmp_path):
    texts = made(3)
    rows = [{"id": name, "text": text, "group": name} for name, text in texts.items()]

    def said(result):
        near = build(result).main.near_misses
        assert near is not None
        assert not near.complete
        assert near.pairs.a == []
        return near.what

    assert said(lookalike.contained(texts)) == (
        "Near misses are not shown for a search for containment. To see more pairs, search again "
        "and ask for a smaller share."
    )
    assert said(lookalike.dedup(texts, rule="contained")).endswith("ask for a smaller share.")
    assert said(lookalike.find(texts, simhash=3)).endswith("allow more bits to differ.")
    lookalike.find(texts, threshold=0.3, out=tmp_path / "found")
    assert said(lookalike.Result.open(tmp_path / "found")) == (
        "Near misses are not shown for documents that cannot be read again. To see more pairs, "
        "search again and use a threshold of 0.2."
    )
    monkeypatch.setattr(second_search, "MAX_BYTES", 0)
    grouped = lookalike.find(rows, threshold=0.3, groups="group")
    assert "for a corpus of this size. To see more pairs, search again" in said(grouped)


def test_clusters_name_the_pairs_among_their_members():
    report = build(lookalike.find(made(4), threshold=0.3))
    pairs, documents = report.main.pairs, report.main.documents
    placed = [place for cluster in report.main.clusters for place in cluster.pairs]
    assert sorted(placed) == [*range(len(pairs.a))]
    for cluster in report.main.clusters:
        assert all(documents.cluster[member] == cluster.number for member in cluster.members)
        for place in cluster.pairs:
            assert {pairs.a[place], pairs.b[place]} <= set(cluster.members)
        found = [pairs.similarity[place] for place in cluster.pairs]
        assert cluster.mean == pytest.approx(sum(found) / len(found), abs=1e-6)
        assert cluster.similarity is not None
        assert cluster.similarity <= min(found)


@pytest.fixture
def table(tmp_path):
    return labelled_documents(tmp_path)


@pytest.mark.parametrize("command", ["find", "dedup", "contained"])
def test_a_result_opened_again_gives_the_same_report(command, table, tmp_path):
    result = getattr(lookalike, command)(table, out=tmp_path / "results")
    first = plain(build(result, label="author", date="written"))
    opened = lookalike.Result.open(tmp_path / "results")
    assert plain(build(opened, label="author", date="written")) == first
    assert len(first["texts"]) == 28
    assert first["main"]["pairs"]["a"]


def test_the_same_result_gives_the_same_bytes(table, tmp_path):
    lookalike.find(table, out=tmp_path / "results")

    def parts() -> list[str]:
        report = build(lookalike.Result.open(tmp_path / "results"), label="author")
        return [model.main_json(report), *map(model.text_json, report.texts)]

    assert parts() == parts()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.unlink(), "cannot be read again"),
        (lambda path: path.write_text('{"text": "other"}\n'), "1 file was changed since"),
    ],
)
def test_a_report_goes_without_texts_that_are_gone_or_changed(change, said, table, tmp_path):
    lookalike.find(table, out=tmp_path / "results")
    change(table)
    report = build(lookalike.Result.open(tmp_path / "results"), label="author")
    assert not report.texts
    assert len(report.main.pairs.a) == 10
    assert said in " ".join(report.main.summary.left_out)


def test_files_that_came_later_are_not_taken_for_documents_of_the_result(tmp_path):
    folder = tmp_path / "essays"
    folder.mkdir()
    for name, text in made(5).items():
        (folder / f"{name}.txt").write_text(text)
    result = lookalike.find(folder, threshold=0.3, out=tmp_path / "results")
    before = plain(build(result))
    (folder / "later.txt").write_text(PROSE)
    assert plain(build(lookalike.Result.open(tmp_path / "results"))) == before


def test_what_is_left_out_is_said(monkeypatch):
    texts = {f"d{i:02}": PROSE for i in range(20)}
    result = lookalike.find(texts)
    whole = build(result).main
    assert whole.summary.left_out == []
    report = build(result, most_pairs=7, most_texts=4)
    assert len(report.main.pairs.a) == 7
    assert len(report.texts) == 4
    said = " ".join(report.main.summary.left_out)
    assert "The 7 most similar of 190 pairs are listed" in said
    assert "This page has the texts of 4 of 20 documents" in said
    here = {part.document for part in report.texts}
    for a, b, found in zip(
        report.main.pairs.a, report.main.pairs.b, report.main.pairs.passages, strict=True
    ):
        assert found == (1 if {a, b} <= here else None)
    monkeypatch.setattr(gathering, "MAX_CHARACTERS", 3 * len(PROSE))
    assert len(build(result).texts) == 3
    monkeypatch.setattr(passages, "MAX_WORDS", 0)
    unmarked = build(result).main
    assert set(unmarked.pairs.passages) == {None}
    assert "No passages are marked" in " ".join(unmarked.summary.left_out)


def test_each_cluster_has_texts_before_any_has_more():
    texts = {f"a{i}": f"{PROSE} {i}" for i in range(10)}
    texts |= {f"b{i}": f"{SCRIPTS['cyrillic'] * 3} {i}" for i in range(3)}
    report = build(lookalike.find(texts, threshold=0.5), most_texts=12)
    names = {report.main.documents.name[part.document][0] for part in report.texts}
    assert names == {"a", "b"}


def test_pairs_have_texts_before_near_misses():
    random_words = random.Random(4)
    texts = {}
    for kind, changed in (("pair", 2), ("near", 12)):
        for place in range(20):
            text = [f"{random_words.getrandbits(30):x}" for _ in range(60)]
            other = [*text[changed:], *(f"{kind}{place}-{one}" for one in range(changed))]
            texts |= {f"{kind}{place}a": " ".join(text), f"{kind}{place}b": " ".join(other)}
    found = lookalike.find(texts, threshold=0.7, shingle="words:1")
    main = build(found, most_texts=46).main
    assert main.near_misses is not None
    assert (len(main.pairs.a), len(main.near_misses.pairs.a)) == (20, 20)
    assert None not in main.pairs.passages
    shown = zip(main.documents.name, main.documents.text, strict=True)
    with_texts = [name for name, text in shown if text is not None]
    assert sum(name.startswith("near") for name in with_texts) == 6


def test_labels_dates_and_columns_are_those_of_the_input(table):
    report = build(lookalike.find(table), label="author", date="written")
    documents = report.main.documents
    rows = {row["id"]: row for row in map(json.loads, table.read_text().splitlines())}
    for number, name in enumerate(documents.name):
        assert documents.label[number] == rows[name]["author"]
        assert documents.date[number] == rows[name]["written"]
        assert documents.columns["place"][number] == rows[name]["place"]
        assert documents.columns["topic"][number] == rows[name]["topic"]
    assert sorted(documents.columns) == ["place", "topic"]


def test_a_label_that_is_no_column_is_refused(table):
    result = lookalike.find(table)
    with pytest.raises(lookalike.SettingsError, match=r"label='autor': .* 'author', 'id', 'place'"):
        build(result, label="autor")
    with pytest.raises(lookalike.SettingsError, match="no columns"):
        build(lookalike.find([PROSE, PROSE]), date="written")


def test_folders_are_labels_of_files(tmp_path):
    for name in ("red/a.txt", "blue/b.txt"):
        (tmp_path / "essays" / name).parent.mkdir(parents=True)
        (tmp_path / "essays" / name).write_text(PROSE)
    report = build(lookalike.find(tmp_path / "essays"), label="folder")
    assert report.main.documents.name == ["blue/b.txt", "red/a.txt"]
    assert report.main.documents.label == ["blue", "red"]


def test_an_anonymous_report_names_nobody_and_is_consistent(tmp_path):
    texts = [
        {
            "id": f"essays/{author.lower()}.txt",
            "text": f"By {author.upper()}, 2024. {PROSE}",
            "by": author,
        }
        for author in AUTHORS
    ]
    texts.append(
        {
            "id": "essays/Mira Okafor-2.txt",
            "text": f"See mira okafor.txt. {PROSE}",
            "by": AUTHORS[0],
        }
    )
    path = tmp_path / "essays.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in texts))
    result = lookalike.find(path, threshold=0.5)
    aliases = Aliases.of(tmp_path / "key.json")
    report = build(result, label="by", aliases=aliases)
    whole = "\n".join([model.main_json(report), *map(model.text_json, report.texts)]).casefold()
    for name in (*AUTHORS, *(row["id"] for row in texts), "essays", "mira okafor.txt"):
        assert name.casefold() not in whole
    assert len(report.main.pairs.a) == 10
    documents = report.main.documents
    assert len(set(documents.name)) == 5
    of = {alias: key[1] for key, alias in aliases.documents.items()}
    by = {row["id"]: row["by"] for row in texts}
    for name, label in zip(documents.name, documents.label, strict=True):
        assert label == aliases.labels[by[of[name]]]
    # A text that names its author does so by the label.
    for part in report.texts:
        author = by[of[documents.name[part.document]]]
        if part.text.startswith("By"):
            assert part.text.startswith(f"By {aliases.labels[author]}, 2024. The harbour")
    aliases.write(tmp_path / "key.json")
    again = build(result, label="by", aliases=Aliases.of(tmp_path / "key.json"))
    assert plain(again) == plain(report)


def test_the_order_of_anonymous_names_is_not_to_be_guessed(tmp_path):
    texts = {f"student {i:02}": PROSE for i in range(30)}
    result = lookalike.find(texts)
    orders = set()
    for place in range(3):
        aliases = Aliases.of(tmp_path / f"{place}.json")
        build(result, aliases=aliases)
        orders.add(tuple(sorted(texts, key=lambda name: aliases.documents["source", name])))
    assert len(orders) == 3


def test_documents_of_a_reference_are_told_from_those_of_the_source():
    source = {"a": PROSE, "b": "quite another text about bread and salt and water"}
    report = build(lookalike.find(source, against={"a": PROSE + "x"}, threshold=0.8))
    documents, pairs = report.main.documents, report.main.pairs
    a, b = pairs.a[0], pairs.b[0]
    assert (documents.name[a], documents.corpus[a]) == ("a", "source")
    assert (documents.name[b], documents.corpus[b]) == ("a", "reference")
    assert documents.key[a] != documents.key[b]
    assert len(report.texts) == 3


def test_a_dedup_says_what_was_removed_and_what_was_kept():
    texts = {f"d{i}": f"{PROSE} {i}" for i in range(4)} | {"other": SCRIPTS["greek"]}
    result = lookalike.dedup(texts)
    main = build(result).main
    removed = {row["id"]: row["kept"] for row in result.removed.to_pylist()}
    name = main.documents.name
    listed = zip(main.pairs.a, main.pairs.b, strict=True)
    assert {name[a]: name[b] for a, b in listed} == removed
    kept = dict(zip(name, main.documents.kept, strict=True))
    assert kept == {one: one not in removed for one in texts}


def test_contained_documents_are_parts_of_wholes():
    texts = {"whole": PROSE + SCRIPTS["greek"], "part": PROSE}
    main = build(lookalike.contained(texts)).main
    assert main.summary.measure == "containment"
    assert (main.documents.name[main.pairs.a[0]], main.pairs.similarity) == ("part", [1.0])
    part, whole = shingles(PROSE, 5), shingles(texts["whole"], 5)
    assert main.pairs.shared == [len(part & whole)]
    assert main.pairs.b_in_a == [round(len(part & whole) / len(whole), 6)]


def test_results_of_every_kind_make_a_report(tmp_path):
    texts = made(6)
    vectors = np.random.default_rng(1).normal(size=(6, 8))
    vectors[1] = vectors[0] + 0.01
    rows = [{"text": text, "who": f"s{i % 3}"} for i, text in enumerate(texts.values())]
    lookalike.find(texts, threshold=0.3, out=tmp_path / "pairs.csv")
    results = [
        lookalike.find(texts, threshold=0.3, estimate=True),
        lookalike.find(texts, simhash=12),
        lookalike.find(texts, threshold=0.3, metric="cosine", weights="tf-idf"),
        lookalike.find(texts, threshold=0.3, max_df=0.5),
        lookalike.find(rows, threshold=0.2, groups="who"),
        lookalike.find(vectors, metric="cosine", threshold=0.9),
        lookalike.Result.open(tmp_path / "pairs.csv"),
        pickle.loads(pickle.dumps(lookalike.find(texts, threshold=0.3))),
        lookalike.dedup(texts, rule="contained", containment=0.5),
    ]
    for result in results:
        removed = isinstance(result, lookalike.DedupResult)
        main = build(result).main
        assert len(main.pairs.a) == (result.counts["removed"] if removed else len(result)) > 0


def test_a_document_is_kept_unless_it_was_removed_whatever_is_listed():
    texts = {f"d{i:02}": PROSE for i in range(9)}
    main = build(lookalike.dedup(texts), most_pairs=2).main
    assert dict(zip(main.documents.name, main.documents.kept, strict=True)) == {
        name: name == "d00" for name in texts
    }


@pytest.mark.parametrize(
    "texts", [[], ["one text alone"], ["", " "], ["", "a"], ["short", "short"]], ids=str
)
def test_few_documents_make_a_report_too(texts):
    report = build(lookalike.find(texts))
    assert json.loads(model.main_json(report))["format"] == model.FORMAT
    assert len(report.texts) == len([one for one in texts if one.strip()])


def test_documents_that_are_no_texts_are_listed_without():
    tokens = lookalike.find([["a", "b", "c"], ["a", "b", "c"]])
    report = build(tokens)
    assert (len(report.main.pairs.a), report.texts) == (1, [])


def test_addresses_of_documents_do_not_change_with_what_else_is_there():
    few = build(lookalike.find({"a": PROSE, "b": PROSE})).main.documents
    more = build(lookalike.find({"0": PROSE, "a": PROSE, "b": PROSE})).main.documents
    assert (
        dict(zip(few.name, few.key, strict=True)).items()
        <= dict(zip(more.name, more.key, strict=True)).items()
    )
    assert len(set(more.key)) == 3
