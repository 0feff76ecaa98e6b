"""JSON in .json files: lines, arrays of records or texts, one object; and what is none of these."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.errors import SourceError
from lookalike.kernels.json_elements import element_commas
from lookalike.read import marks, open_corpus, streams
from lookalike.read.blocks import Block
from lookalike.read.json_arrays import Elements, Opening, as_lines
from source_files import PACKINGS, bad_of, documents, ids_and_texts, pack, unpack
from source_files import as_lines as json_lines

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.text(alphabet='ab",\\[]{}\n\ré😀', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('a"\\,', max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
LAYOUTS = [{}, {"separators": (",", ":")}, {"indent": 0}, {"indent": 2}, {"indent": "\t"}]
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
RECORDS = [{"id": f"k{n}", "text": f'text, "{n}" [\\ é😀\n', "n": n} for n in range(30)]
AS_READ = [(record["id"], record["text"]) for record in RECORDS]


def refusal(path, **options):
    with pytest.raises(SourceError) as refused:
        list(open_corpus([path], **options).batches())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def commas_by_decoder(text):
    """Give where the commas between elements stand, and the closing bracket: by Python's reader."""
    decoder, at, commas = json.JSONDecoder(), 0, []
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        if text[at] == "]":
            return commas, at
        _, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        if text[at] == ",":
            commas.append(at)
            at += 1


@pytest.mark.kernels
@given(st.lists(VALUES, max_size=5), st.sampled_from(LAYOUTS), st.integers(0, 60))
def test_elements_end_where_a_reader_of_json_says(values, layout, cut):
    text = json.dumps(values, ensure_ascii=True, **layout)[1:]
    data = np.frombuffer(text.encode(), np.uint8)
    commas = np.empty(len(data), np.int64)
    many, end, _, _ = element_commas(data, 0, 0, commas)
    assert (commas[:many].tolist(), end) == commas_by_decoder(text)
    # From any place within, with what was open there.
    cut = min(cut, end)
    before = np.empty(len(data), np.int64)
    first, none, depth, state = element_commas(data[:cut], 0, 0, before)
    rest, at, _, _ = element_commas(data[cut:], depth, state, commas)
    assert none == -1
    assert [*before[:first], *(commas[:rest] + cut)] == commas_by_decoder(text)[0]
    assert at + cut == end


@given(st.lists(st.fixed_dictionaries({"x": VALUES}), min_size=1, max_size=5), st.data())
def test_elements_become_lines_that_say_the_same(records, data):
    encoding = data.draw(st.sampled_from(ENCODINGS))
    layout = data.draw(st.sampled_from(LAYOUTS))
    text = json.dumps(records, ensure_ascii=data.draw(st.booleans()), **layout)[1:-1]
    body = text.encode(encoding)
    assert len(Elements(encoding).ends(body)) == len(records)
    block = Block(body, 0, 1, len(records), 0, 0)
    lines = as_lines(block, Opening(encoding, 0, True, True)).data.split(b"\n")
    assert [json.loads(line) for line in lines] == records
    assert all(line[:1] == b"{" for line in lines)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_is_read_record_by_record(tmp_path, packing, encoding, layout):
    text = "\ufeff" * (encoding != "utf-8") + json.dumps(RECORDS, ensure_ascii=False, **layout)
    path = tmp_path / f"a.json{packing}"
    path.write_bytes(pack(text.encode(encoding), path.name))
    found = documents(open_corpus([path]), batch_bytes=100)
    assert [(name, text) for name, text, _ in found] == AS_READ
    assert found[4][2] == f"{path}:5"
    assert ids_and_texts(path, id="none")[4][0] == f"a.json{packing}:5"


def test_places_within_an_array_are_marked_to_begin_from(tmp_path, monkeypatch):
    monkeypatch.setattr(marks, "MARK_BYTES", 100)
    corpus = open_corpus([write(tmp_path / "a.json", RECORDS)])
    assert len(documents(corpus, batch_bytes=100)) == 30
    assert len(corpus.marks) > 5
    rows = np.array([29, 0, 17])
    found = corpus.originals(np.zeros(3, np.int32), rows + 1)
    assert found.texts.to_pylist() == [RECORDS[row]["text"] for row in rows]


def test_a_record_that_is_longer_than_a_block_is_read(tmp_path):
    records = [{"text": "x" * size} for size in (5, 400_000, 0, 100_000, 7)]
    (tmp_path / "a.json").write_text(json.dumps(records))
    corpus = open_corpus([tmp_path / "a.json"])
    texts = [text for _, text, _ in documents(corpus, batch_bytes=64)]
    assert list(map(len, texts)) == [5, 400_000, 0, 100_000, 7]


def test_strings_and_lists_of_tokens_are_documents_themselves(tmp_path):
    (tmp_path / "s.json").write_text('["one", "two, \\"2\\"",\n null, "x\\ny"]\n')
    corpus = open_corpus([tmp_path / "s.json"])
    (batch,) = corpus.batches()
    assert batch.ids.to_pylist() == [f"s.json:{n}" for n in (1, 2, 3, 4)]
    assert batch.texts.to_pylist() == ["one", 'two, "2"', None, "x\ny"]
    assert batch.notes == (
        f"{tmp_path / 's.json'}: each element is a document, ids are file:record",
    )
    (tmp_path / "t.json").write_text('[["a", "b"], [], ["c"]]')
    assert [tokens for _, tokens in ids_and_texts(tmp_path / "t.json")] == [["a", "b"], [], ["c"]]
    assert "s.json:2" in refusal(write(tmp_path / "s.json", ["a", {"text": "b"}]))


def write(path, value):
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("content", ["", " \n", "[]", " [ \n ] \n"])
def test_what_holds_nothing_gives_no_documents(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    assert ids_and_texts(path) == []


def test_lines_are_told_from_an_array(tmp_path):
    for packing in PACKINGS:
        path = tmp_path / f"a.json{packing}"
        path.write_bytes(pack(json_lines(RECORDS), path.name))
        assert open_corpus([path]).shards[0].kind == "jsonl"
        assert ids_and_texts(path) == ids_and_texts(tmp_path / f"a.json{packing}") == AS_READ


def test_one_object_with_the_text_is_a_record(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"id": 7, "text": "x\ny"}, indent=2) + "\n")
    assert ids_and_texts(tmp_path / "a.json") == [(7, "x\ny")]
    assert ids_and_texts(tmp_path) == [(7, "x\ny")]
    nested = write(tmp_path / "a.json", {"meta": {"body": "z"}})
    assert ids_and_texts(nested, text="meta.body") == [("a.json:1", "z")]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_array_within_an_object_is_an_error_that_names_it(tmp_path, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "data": RECORDS}, indent=indent))
    assert f"{path} holds one object, and its array 'data' may be the records" in refusal(path)
    large = {"data": [{"text": "x" * 2_000_000}]}
    path.write_text(json.dumps(large, indent=1))
    assert "its array 'data' may be the records" in refusal(path)


TEXTS = {
    "package.json": {"name": "x", "version": "1"},
    "config.json": {"content": ["./src"]},
    "numbers.json": [1, 2],
    "users.json": [{"name": "x"}],
    "deep.json": {"data": RECORDS},
}


def test_in_a_folder_json_without_the_text_is_text_as_it_was_before(tmp_path):
    for name, value in TEXTS.items():
        (tmp_path / name).write_text(json.dumps(value, indent=1))
    (tmp_path / "five.json").write_text("{a: 1} // not quite JSON")
    (tmp_path / "page.txt").write_text("page")
    found = dict(ids_and_texts(tmp_path))
    assert found == {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert dict(ids_and_texts(tmp_path.as_uri())) == found
    notes = [note for batch in open_corpus([tmp_path]).batches() for note in batch.notes]
    assert len(notes) == 1
    assert notes[0].endswith(
        "read as text, as others of its kind: it holds no records with the text"
    )
    assert found.keys() - {"users.json"} <= dict(ids_and_texts(tmp_path, text="none")).keys()


def test_a_text_that_is_named_is_looked_for_in_every_array(tmp_path):
    path = write(tmp_path / "users.json", TEXTS["users.json"])
    assert ids_and_texts(tmp_path, text="name") == [("users.json:1", "x")]
    assert "no column is named text, content, body" in refusal(path)


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_array_that_breaks_off_is_an_error_and_what_was_whole_is_kept(tmp_path, packing):
    whole = json.dumps(RECORDS)
    for end in (len(whole) - 1, len(whole) - 2, whole.index("k3") - 9, whole.index("k3") + 4):
        path = tmp_path / f"a.json{packing}"
        path.write_bytes(pack(whole[:end].encode(), path.name))
        assert f"{path} is not whole: the array that it begins with is never closed" in refusal(
            path
        )
        found = ids_and_texts(path, skip_bad=True)
        assert found == AS_READ[: len(found)]
        assert len(found) >= 3
        (bad,) = bad_of(open_corpus([path], skip_bad=True))
        assert "never closed" in bad


def test_what_follows_upon_an_array_is_an_error(tmp_path):
    path = tmp_path / "a.json"
    for more in ("x", "\n[1]", "]", " " * 200_000 + "{}"):
        path.write_text(json.dumps(RECORDS) + more)
        assert f"{path} goes on after the end of its array" in refusal(path)
        assert ids_and_texts(path, skip_bad=True) == AS_READ
    path.write_text(json.dumps(RECORDS) + " \n" * 200_000)
    assert ids_and_texts(path) == AS_READ


def test_a_bad_record_is_named_by_its_number(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"text": "a"},\n {"text": b},\n 7,\n {"text": "c"}, {"text": 5}]')
    assert f"{path}:2 is not valid JSON at column 10" in refusal(path)
    assert refusal(path).endswith("fix or remove the record")
    assert [text for _, text in ids_and_texts(path, skip_bad=True)] == ["a", "c"]
    second, third, fifth = bad_of(open_corpus([path], skip_bad=True))
    assert third == f"{path}:3 is not a JSON object: give one object a record"
    assert f"{path}:5: field 'text' is a number, not text" in fifth
    assert second.startswith(f"{path}:2 ")


def test_a_raw_break_of_lines_within_a_string_stays_an_error(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"text": "a"}, {"text": "b\nc"}]')
    assert f"{path}:2 is not valid JSON" in refusal(path)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_record_that_would_not_fit_is_refused_and_the_next_one_found(
    tmp_path, monkeypatch, encoding
):
    monkeypatch.setattr(streams, "MIN_RECORD_BYTES", 1000)
    path = tmp_path / "a.json"
    long = 'x\\", [{' * 40_000
    records = [{"text": "a"}, {"text": long}, {"text": "b"}, {"text": long}]
    text = "\ufeff" * (encoding != "utf-8") + json.dumps(records)
    path.write_bytes(text.encode(encoding))
    assert f"{path}:2 is longer than 0 MB, the most that one document may be" in refusal(
        path, memory=1
    )
    corpus = open_corpus([path], memory=1, skip_bad=True)
    assert [(text, place) for _, text, place in documents(corpus)] == [
        ("a", f"{path}:1"),
        ("b", f"{path}:3"),
    ]
    assert [line.split(" is ")[0] for line in bad_of(corpus)] == [f"{path}:2", f"{path}:4"]
    path.write_text(json.dumps({"text": long}, indent=1))
    assert f"{path}:1 is longer than" in refusal(path, memory=1)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_kept_records_are_an_array_laid_out_as_the_file(tmp_path, packing, encoding, layout):
    mark = "\ufeff" * (encoding != "utf-8")
    source, target = tmp_path / f"a.json{packing}", tmp_path / f"b.json{packing}"

    def written(records):
        return mark + json.dumps(records, ensure_ascii=False, **layout) + "\n"

    source.write_bytes(pack(written(RECORDS).encode(encoding), source.name))
    corpus = open_corpus([source])
    draw = random.Random(1)
    for many in (30, 1, 12, 29):
        chosen = sorted(draw.sample(range(30), many))
        corpus.copy(0, np.array(chosen) + 1, target)
        found = unpack(target.read_bytes(), target.name).decode(encoding)
        assert json.loads(found.removeprefix("\ufeff")) == [RECORDS[row] for row in chosen]
        if chosen[0] == 0 and chosen[-1] == 29:
            assert found == written([RECORDS[row] for row in chosen])
    corpus.copy(0, np.empty(0, np.int64), target)
    assert (
        json.loads(unpack(target.read_bytes(), target.name).decode(encoding).lstrip("\ufeff")) == []
    )


def test_records_that_were_read_before_an_array_breaks_off_are_kept_in_a_whole_one(tmp_path):
    source, target = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps(RECORDS)[:-20])
    corpus = open_corpus([source], skip_bad=True)
    assert ids_and_texts(source, skip_bad=True) == AS_READ[:-1]
    corpus.copy(0, np.array([2, 3]), target)
    assert json.loads(target.read_text()) == RECORDS[1:3]


def test_vectors_are_read_from_an_array(tmp_path):
    path = write(tmp_path / "a.json", [{"v": [1, 0.5]}, {"v": [0, None]}])
    ((_, first), (_, second)) = ids_and_texts(path, vector="v")
    assert first == [1.0, 0.5]
    assert np.isnan(second[1])
