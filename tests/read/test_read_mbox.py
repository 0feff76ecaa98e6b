"""Mailboxes: a document for each message, and those that are kept a mailbox again."""

import contextlib
import mailbox
import random

import numpy as np
import pytest

import lookalike
from document_files import mailbox as mailbox_of
from document_files import message
from lookalike.base.errors import SourceError
from lookalike.read import mail, mbox, open_corpus, streams
from lookalike.read.blocks import blocks
from lookalike.read.streams import Bounds
from source_files import PACKINGS, bad_of, documents, ids_and_texts, pack, unpack

FOUR = [
    message(
        f"Subject {n}",
        f"text {n}\n\nFrom here on it goes\n\nFrom there, too\n",
        Message_ID=f"<{n}@example.org>",
        From="Ä <a@example.org>",
        To="b@example.org",
        Date=f"Mon, {n + 1} Jan 2024 10:00:00 +0200",
    )
    for n in range(4)
]
TEXTS = [f"Subject {n}\n\ntext {n}\n\nFrom here on it goes\n\nFrom there, too" for n in range(4)]


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_message_is_a_document(tmp_path, packing):
    path = tmp_path / f"in.mbox{packing}"
    path.write_bytes(pack(mailbox_of(*FOUR), path.name))
    expected = [(f"in.mbox{packing}:{n + 1}", text) for n, text in enumerate(TEXTS)]
    assert ids_and_texts(path) == expected
    (batch,) = open_corpus([path]).batches()
    assert batch.notes == (f"{path}: the text is taken from 'text', ids are file:message",)
    (tmp_path / "a.txt").write_text("A file")
    assert ids_and_texts(tmp_path) == [("a.txt", "A file"), *expected]
    assert ids_and_texts(tmp_path.as_uri()) == [("a.txt", "A file"), *expected]


def test_fields_of_messages_are_columns(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(*FOUR))
    (batch,) = open_corpus([path], text="body", id="Message-ID", columns=None).batches()
    assert batch.ids.to_pylist() == [f"<{n}@example.org>" for n in range(4)]
    assert batch.texts[0].as_py().startswith("text 0")
    assert {
        name: column[1].as_py() for name, column in batch.columns.items() if name != "text"
    } == {
        "date": "2024-01-02T08:00:00Z",
        "from": "Ä <a@example.org>",
        "message-id": "<1@example.org>",
        "subject": "Subject 1",
        "to": "b@example.org",
    }
    with pytest.raises(SourceError, match=r"in\.mbox: there is no column 'sent' for the id"):
        list(open_corpus([path], id="sent").batches())
    with pytest.raises(SourceError, match="is a file of text: vectors are read from"):
        list(open_corpus([path], vector="v").batches())


def test_ids_that_are_missing_or_repeated_are_refused(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(FOUR[0], message("Without", "an id")))
    with pytest.raises(SourceError, match=r"in\.mbox:2: the id in 'message-id' is empty"):
        list(open_corpus([path], id="message-id").batches())
    path.write_bytes(mailbox_of(FOUR[0], FOUR[0]))
    with pytest.raises(SourceError, match=r"appears twice, at .*in\.mbox:1 and at .*in\.mbox:2"):
        lookalike.find(path, id="message-id")


def test_lines_that_were_quoted_are_given_as_they_were(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(b"A: b\n\none\n\n>From me\n>>From you\n> quoted\n"))
    assert [text for _, text in ids_and_texts(path)] == ["one\n\nFrom me\n>From you\n> quoted"]


def test_a_separator_is_one_after_a_blank_line_only(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(b"A: b\n\nHe wrote:\nFrom me\nTo: you\n\nFrom me alone\n"))
    expected = "He wrote:\nFrom me\nTo: you\n\nFrom me alone"
    assert ids_and_texts(path) == [("in.mbox:1", expected)]


@pytest.mark.parametrize(
    "line", [b"From \n", b"From - Mon Jan  1\n", b"From 1@xxx Mon Jan 1 00:00:00 +0000 2024\r\n"]
)
def test_separators_of_every_program_are_known(tmp_path, line):
    path = tmp_path / "in.mbox"
    end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    one = line + b"Subject: a" + end + end + b"text" + end + end
    path.write_bytes(one * 3)
    assert [text for _, text in ids_and_texts(path)] == ["a\n\ntext"] * 3


@pytest.mark.parametrize("data", [b"nonsense", b"\0" * 1000, b"Subject: a\n\ntext", b"From"])
def test_what_is_no_mailbox_is_refused(tmp_path, data):
    path = tmp_path / "in.mbox"
    path.write_bytes(data)
    with pytest.raises(
        SourceError, match=r"in\.mbox is an mbox file that cannot be read \(it does"
    ):
        list(open_corpus([path]).batches())
    (line,) = bad_of(open_corpus([tmp_path], skip_bad=True))
    assert line.endswith("fix it or leave it out")
    path.write_bytes(b"")
    assert ids_and_texts(path) == []


def test_a_message_that_cannot_be_read_is_named_and_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(mail, "MAX_PARTS", 2)
    path = tmp_path / "in.mbox"
    bad = b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\ntext\n" * 3
    path.write_bytes(mailbox_of(FOUR[0], bad, FOUR[1]))
    with pytest.raises(SourceError, match=r"in\.mbox:2 is a message that cannot be read \(it has"):
        list(open_corpus([path]).batches())
    assert [name for name, _ in ids_and_texts(path, skip_bad=True)] == ["in.mbox:1", "in.mbox:3"]


def test_another_reader_finds_the_same_messages(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(*(message(f"Number {n}", "text\n" * n) for n in range(20))))
    with contextlib.closing(mailbox.mbox(path)) as twin:
        expected = [(f"in.mbox:{n}", one["subject"]) for n, one in enumerate(twin, 1)]
    assert ids_and_texts(path, text="subject") == expected


def many(seed, count):
    draw = random.Random(seed)
    return [
        message(f"Number {n}", "words \n" * draw.randrange(200) + f"From {n}\n\nFrom: {n}\n")
        for n in range(count)
    ]


def test_blocks_of_any_size_hold_the_same_messages(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(*many(1, 60)))
    whole = documents(open_corpus([path], text="subject"))
    assert [text for _, text, _ in whole] == [f"Number {n}" for n in range(60)]
    corpus = open_corpus([path], text="subject")
    for size in (64, 1000, 4096):
        assert documents(corpus, batch_bytes=size) == whole
        for batch in corpus.batches(batch_bytes=size):
            rest = documents(corpus, batch.next, batch_bytes=size)
            assert rest == whole[len(whole) - len(rest) :]


LIMIT = 4096


def test_messages_after_one_that_is_too_long_keep_their_numbers(tmp_path, monkeypatch):
    """Wherever the separator after it falls among the pieces that are read."""
    monkeypatch.setattr(streams, "MIN_RECORD_BYTES", LIMIT)
    monkeypatch.setattr("lookalike.read.blocks.UNPACKED_BYTES", LIMIT)
    short = [message(str(n), "text") for n in range(3)]
    path = tmp_path / "in.mbox"
    for pieces in (1, 2):
        for around in range(-75, 15):
            long = b"Subject: long\n\n"
            length = len(mailbox_of(long)) + 2
            long += b"y" * (pieces * LIMIT + around - length)
            path.write_bytes(mailbox_of(short[0], long, *short[1:]))
            found = ids_and_texts(path, text="subject", skip_bad=True, memory=1)
            rest = [("in.mbox:3", "1"), ("in.mbox:4", "2")]
            if pieces == 1 and around <= 0 and len(found) == 4:
                continue  # it fits
            assert found == [("in.mbox:1", "0"), *rest]
    assert "in.mbox:2 is longer than" in bad_of(open_corpus([path], skip_bad=True, memory=1))[0]


@pytest.mark.parametrize("packing", PACKINGS)
def test_kept_messages_are_a_mailbox_byte_for_byte(tmp_path, packing):
    path = tmp_path / f"in.mbox{packing}"
    path.write_bytes(pack(mailbox_of(*FOUR, FOUR[1], message("Another", "text " * 20)), path.name))
    corpus = open_corpus([path])
    corpus.copy(0, np.array([1, 2, 6]), tmp_path / "kept.mbox")
    data = unpack((tmp_path / "kept.mbox").read_bytes(), path.name)
    assert data == mailbox_of(FOUR[0], FOUR[1], message("Another", "text " * 20))


def test_messages_are_read_again_by_their_places(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(*many(2, 50)))
    corpus = open_corpus([path])
    texts = [text for _, text, _ in documents(corpus)]
    again = corpus.originals(np.zeros(3, np.int32), np.array([40, 3, 40]))
    assert again.texts.to_pylist() == [texts[39], texts[2], texts[39]]


def test_a_separator_is_told_within_its_reach(tmp_path):
    line = b"From " + b"x" * 998 + b"\n" + b"H" * 998 + b":"
    data = b"A: b\n\ntext\n\n" + line
    assert mbox.Messages().ends(data).tolist() == [12, len(data)]
    assert len(line) + 3 <= mbox.REACH
    path = tmp_path / "in.mbox"
    path.write_bytes(mailbox_of(*FOUR))
    (shard,) = open_corpus([path]).shards
    with streams.opened(shard) as stream:
        found = list(blocks(stream, mbox.Messages(), 0, 0, 10, bounds=Bounds(None)))
    assert sum(block.count for block in found) == 4
    assert b"".join(block.data for block in found) == path.read_bytes()
