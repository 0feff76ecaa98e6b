"""JSON lines by Arrow are what they are one by one, whatever the lines hold."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.base.errors import SourceError
from lookalike.read import jsonl, open_corpus
from source_files import documents


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "docs.jsonl"


def outcome(path, **names):
    """Give documents, columns and bad lines; what was refused where bad lines are not passed."""
    corpus = open_corpus([path], **names)
    try:
        (*_, batch) = [None, *corpus.batches()]
    except SourceError as error:
        return str(error)
    if batch is None:
        return None
    columns = {name: column.to_pylist() for name, column in batch.columns.items()}
    texts = batch.texts.to_pylist()
    return batch.ids.to_pylist(), texts, columns, batch.records.tolist(), batch.bad, batch.next


def both_ways(path, monkeypatch, **names):
    fast = outcome(path, **names)
    with monkeypatch.context() as patch:
        patch.setattr(jsonl, "_by_arrow", lambda *_: None)
        slow = outcome(path, **names)
    return fast, slow


letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.one_of(st.integers(), st.integers(-5, 5), st.floats(), st.sampled_from([2**53, 2**63]))
scalars = st.one_of(letters, numbers, st.booleans(), st.none())
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=3)
)
mostly_good = st.fixed_dictionaries(
    {"text": letters, "id": st.integers(-9, 9)},
    optional={"n": st.integers(-9, 9) | st.floats(-9, 9), "s": letters, "meta": values},
)
odd = st.dictionaries(st.sampled_from(["text", "id", "n", "s", "meta"]), values, max_size=5)
tokens = st.fixed_dictionaries(
    {"text": st.lists(letters) | st.lists(st.integers()), "id": letters | st.integers()}
)
nested = st.fixed_dictionaries({"meta": st.fixed_dictionaries({"body": letters, "key": letters})})
as_json = st.builds(
    lambda record, ascii_only, blank: json.dumps(
        record, ensure_ascii=ascii_only, separators=(f",{blank}", f":{blank}")
    ),
    st.one_of(mostly_good, mostly_good, mostly_good, odd, tokens, nested),
    st.booleans(),
    st.sampled_from(["", " ", "\t"]),
)
hostile = st.sampled_from(
    [
        *("", " ", "\t", "{", "}", "{}", "[]", "null", '{"text": "a"} {"text": "b"}'),
        *('{"text": "a", "text": "b", "id": 1}', '{"id": 1, "id": 2, "text": "a"}'),
        *(r'{"id": 1, "text": "\ud800"}', r'{"id": 1, "text": "\udc00\ud800"}'),
        *(r'{"id": 1, "text": "\ud83d\ude00\u0000\/"}', r'{"id": 1, "text": "a", "x": "\ud800"}'),
        *('{"id": 1, "text": "a", "x": NaN}', '{"id": 1, "text": "a", "x": Inf}'),
        *('{"id": 1, "text": "a", "x": -Infinity}', '{"id": 1, "text": "a", "x": -Inf}'),
        *('{"id": 1, "text": "a", "n": NaN}', '{"id": 1, "text": "a", "n": Inf}'),
        *('{"id": -0, "text": "a"}', '{"id": 1.0, "text": "a"}', '{"id": 1e2, "text": "a"}'),
        *('{"id": 01, "text": "a"}', '{"id": 1, "text": "a", "x": 1e999}'),
        *('{"id": 1, "text": "2020-01-01"}', '{"id": "2020-01-01T00:00:00Z", "text": "a"}'),
        *('{"id": 1, "text": "a",}', "{'id': 1}", '{"id": 1, "text": "a\tb"}', "\x0b{}\x0c"),
        '{"id": 1, "text": "a", "x": ' + "[" * 2000 + "]" * 2000 + "}",
        '{"id": 1, "text": "a", "x": ' + "7" * 5000 + "}",
        *('{"id": 1,', '"text": "split"}', '\ufeff{"id": 1, "text": "marked"}'),
        r'{"\u0069d": 1, "te\u0078t": "escaped"}',
    ]
)
GOOD = '{"text": "a", "id": 1, "n": 0.5}'
lines = st.lists(st.one_of(as_json, as_json, as_json, hostile), max_size=8)


@given(
    lines=lines,
    end=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    skip_bad=st.booleans(),
    names=st.sampled_from(
        [
            *({}, {"columns": ["n"]}, {"columns": ["n", "s"]}, {"columns": ["text", "id"]}),
            *({"text": "meta.body", "id": "meta.key"}, {"text": "meta"}, {"id": "text"}),
        ]
    ),
)
@example([GOOD, "", '{"text": "b", "id": 2} {"text": "c", "id": 3}'], "\n", True, True, {})
@example([GOOD, '{"id": 1, "text": "a", "x": Inf}'], "\n", True, True, {})
@example([GOOD, GOOD.replace("0.5", "[" * 2000 + "]" * 2000)], "\n", True, True, {})
@example([GOOD, GOOD.replace("0.5", "7" * 5000)], "\n", True, True, {})
@example([GOOD, GOOD.replace("0.5", "5")], "\n", True, True, {"columns": ["n"]})
def test_arrow_gives_what_json_gives(place, lines, end, closed, skip_bad, names):
    place.write_bytes((end.join(lines) + end * closed).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both_ways(place, monkeypatch, skip_bad=skip_bad, **names)
    assert repr(fast) == repr(slow) or fast == slow


@given(data=st.binary(max_size=30), where=st.integers(0, 60))
def test_bytes_that_are_no_text_are_refused_both_ways(place, data, where):
    good = b'{"id": 1, "text": "one", "x": "rest"}\n{"id": 2, "text": "two", "x": "rest"}\n'
    place.write_bytes(good + good[:where] + data + good[where:])
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both_ways(place, monkeypatch, skip_bad=True)
    assert fast == slow


def test_good_lines_are_read_by_arrow_and_not_one_by_one(place, monkeypatch):
    records = [{"id": n, "text": f"é {n}", "meta": {"body": "x"}, "n": 0.5} for n in range(50)]
    monkeypatch.setattr(jsonl, "_one_by_one", None)
    for names in ({}, {"text": "meta.body"}, {"columns": ["n"]}, {"id": "text"}):
        for end in ("\n", "\r\n"):
            place.write_text("".join(json.dumps(r) + end for r in records), newline="")
            assert len(documents(open_corpus([place], **names))) == 50
    place.write_text("\n".join(json.dumps({"id": "a", "text": ["x", "y"]}) for _ in range(9)))
    assert documents(open_corpus([place]))[-1] == ("a", ["x", "y"], f"{place}:9")


def test_whole_numbers_too_large_for_fractions_stay_exact(place):
    place.write_text(f"{GOOD}\n{GOOD.replace('0.5', str(2**53 + 1))}\n")
    batches = open_corpus([place], columns=["n"]).batches(batch_bytes=1)
    assert [batch.columns["n"].to_pylist() for batch in batches] == [[0.5], [2**53 + 1]]


def test_what_looks_like_a_date_is_text(place):
    place.write_text('{"id": "2020-01-01", "text": "2021-02-03T04:05:06Z"}\n' * 2)
    assert documents(open_corpus([place]))[0][:2] == ("2020-01-01", "2021-02-03T04:05:06Z")


def test_a_guessed_id_must_be_in_every_record(place):
    place.write_text('{"url": "u", "text": "a"}\n{"text": "b"}\n{"url": null, "text": "c"}\n')
    with pytest.raises(SourceError, match=r"docs\.jsonl:2 has no field 'url'"):
        documents(open_corpus([place]))
    corpus = open_corpus([place], skip_bad=True)
    (batch,) = corpus.batches()
    assert batch.ids.to_pylist() == ["u"]
    assert len(batch.bad) == 2


def test_fields_are_chosen_by_the_first_good_record_where_bad_ones_are_passed(place):
    place.write_text('nonsense\n{"n": 1}\n{"body": null, "id": 1}\n{"body": "b", "id": 2}\n')
    corpus = open_corpus([place], skip_bad=True)
    assert [d[:2] for d in documents(corpus)] == [(1, None), (2, "b")]
    assert [d[:2] for d in documents(corpus, batch_bytes=1)] == [(1, None), (2, "b")]
    (batch,) = corpus.batches()
    assert [line.partition(": ")[0].rpartition("/")[2][:12] for line in batch.bad] == [
        "docs.jsonl:1",
        "docs.jsonl:2",
    ]
