"""Patterns stand for what a walk through the folder would find, each file once."""

import os

import pytest

from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, read_paths
from source_files import BINARY, bad_of, documents, ids_and_texts, write_records


@pytest.fixture
def pile(tmp_path, monkeypatch):
    """Stand in a folder that holds a few files."""
    monkeypatch.chdir(tmp_path)
    for name in ("s/x.txt", "s/a/y.txt", "s/a/b/z.txt", "s/a/b/z.png", "elsewhere/w.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "s/a/b/z.png").write_bytes(BINARY)
    return tmp_path


def link(place, target):
    place.symlink_to(target, target_is_directory=True)


def names(*paths, **options):
    return sorted(name for name, _ in ids_and_texts(*paths, **options))


EVERY = ["s/a/b/z.txt", "s/a/y.txt", "s/x.txt"]


@pytest.mark.parametrize("pattern", ["s/**/*.txt", "s/**", "s/**/*", "**/s/**/*.txt", "s/**/**/*"])
def test_a_link_that_leads_round_in_a_loop_is_counted_and_not_followed(pile, pattern):
    link(pile / "s" / "a" / "up", "..")
    assert names(pattern) == EVERY
    assert open_corpus([pattern]).skipped["link to a folder"] == 1


@pytest.mark.parametrize(
    "address", ["{}", "{}/**/*.txt", "{}/*", "{}/s/**"], ids=["folder", "texts", "top", "below"]
)
def test_an_address_on_this_machine_follows_no_link_to_a_folder_either(pile, address):
    link(pile / "s" / "a" / "up", "..")
    corpus = open_corpus([address.format(pile.as_uri())], skip_bad=True)
    found = [shard.name.rpartition(f"{pile.name}/")[2] for shard in corpus.shards]
    assert sorted(name for name in found if name.startswith("s/")) == EVERY
    assert corpus.skipped["link to a folder"] == 1


def test_an_address_that_fsspec_opens_on_this_machine_follows_none(pile):
    pytest.importorskip("fsspec")
    link(pile / "s" / "a" / "up", "..")
    corpus = open_corpus([f"local://{pile.as_posix()}/s"])
    assert sorted(shard.label for shard in corpus.shards) == ["a/b/z.txt", "a/y.txt", "x.txt"]
    assert corpus.skipped == {"binary": 1, "link to a folder": 1}


def test_a_pattern_passes_over_what_a_walk_does_and_counts_the_same(pile):
    link(pile / "s" / "a" / "up", "..")
    link(pile / "s" / "there", pile / "elsewhere")
    (pile / "s" / "same.txt").symlink_to("x.txt")
    (pile / "s" / ".git").mkdir()
    (pile / "s" / ".git" / "v.txt").write_text("v")
    (pile / "s" / "a" / ".u.txt").write_text("u")
    (pile / "s" / "a" / ".lookalike-work").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(pile / "s" / "pipe.txt")
    walked, matched = open_corpus(["s"]), open_corpus(["s/**/*"])
    assert sorted(f"s/{shard.label}" for shard in walked.shards) == names("s/**/*")
    assert "s/same.txt" in names("s/**/*")
    assert matched.skipped == walked.skipped
    assert walked.skipped["link to a folder"] == walked.skipped["hidden"] == 2


def test_a_link_to_a_folder_is_not_followed_by_any_part_of_a_pattern(pile):
    link(pile / "there", "elsewhere")
    assert names("*/*.txt") == ["elsewhere/w.txt", "s/x.txt"]
    assert open_corpus(["*/*.txt"]).skipped == {"link to a folder": 1}
    with pytest.raises(SourceError, match=r"\(1 link to folders not followed\)"):
        open_corpus(["t*/*.txt"])
    # One that is named is what it leads to, as it is without a pattern.
    assert names("there/*.txt") == ["there/w.txt"]


def test_a_file_that_several_patterns_match_is_read_once(pile):
    assert names("s/**/*.txt", "s/a/*.txt", "**/z*") == EVERY
    assert names("s/*", "s/a/**", str(pile / "s" / "**")) == EVERY
    assert open_corpus(["s/**", "s/a/**", "**/z*"]).skipped == {"binary": 1}


def test_a_file_behind_two_ways_is_read_once_where_a_pattern_finds_it(pile):
    link(pile / "there", "elsewhere")
    assert names("there/*.txt", "elsewhere/*.txt") == ["there/w.txt"]
    assert names("elsewhere", "there/*.txt", "s/x.txt") == ["elsewhere/w.txt", "s/x.txt"]


def test_what_is_named_and_matched_is_read_as_what_was_named(pile):
    write_records(pile / "r.jsonl", [{"text": "one"}, {"text": "two"}])
    corpus = open_corpus(["*.jsonl", "r.jsonl"])
    assert [text for _, text, _ in documents(corpus)] == ["one", "two"]
    assert not corpus.shards[0].within
    with pytest.raises(SourceError, match="appears twice"):
        read_paths(["r.jsonl", "r.jsonl"])


def test_an_address_that_two_patterns_match_is_read_once(pile):
    base = pile.as_uri()
    assert len(names(f"{base}/s/*.txt", f"{base}/s/**")) == 3


def test_hidden_files_match_only_a_pattern_with_a_dot(pile):
    (pile / "s" / ".h.txt").write_text("h")
    for base in ("", f"{pile.as_uri()}/"):
        assert names(f"{base}s/*.txt") == [f"{base}s/x.txt"]
        assert open_corpus([f"{base}s/*.txt"]).skipped == {"hidden": 1}
        assert names(f"{base}s/.*.txt") == [f"{base}s/.h.txt"]


def test_a_folder_that_matches_is_read_whole(pile):
    assert names("s/*") == EVERY
    assert names("**/a") == ["s/a/b/z.txt", "s/a/y.txt"]
    assert names("s/*/") == ["b/z.txt", "y.txt"]


def test_a_broken_link_is_refused_or_named_as_in_a_folder(pile):
    (pile / "s" / "gone.txt").symlink_to("nowhere")
    (pile / "s" / "self.txt").symlink_to("self.txt")
    for source in ("s", "s/**/*.txt", "s/*.txt"):
        with pytest.raises(SourceError, match=r"gone\.txt cannot be read: it does not exist"):
            open_corpus([source])
        gone, looped = bad_of(open_corpus([source], skip_bad=True))
        assert "gone.txt cannot be read" in gone
        assert "self.txt cannot be read: Too many levels" in looped


def test_a_folder_that_cannot_be_listed_is_refused_or_named(pile, monkeypatch):
    scan = os.scandir

    def refuse(place):
        if os.fspath(place).endswith("b"):
            raise PermissionError(13, "Permission denied", place)
        return scan(place)

    monkeypatch.setattr(os, "scandir", refuse)
    for source in ("s", "s/**/*.txt"):
        with pytest.raises(SourceError, match=r"s/a/b cannot be read: Permission denied"):
            open_corpus([source])
        (line,) = bad_of(open_corpus([source], skip_bad=True))
        assert "s/a/b cannot be read: Permission denied" in line


def test_every_folder_is_looked_at_once_whatever_the_pattern(pile, monkeypatch):
    seen = []
    scan = os.scandir

    def counted(place):
        seen.append(os.fspath(place))
        return scan(place)

    monkeypatch.setattr(os, "scandir", counted)
    open_corpus(["s/**/**/**/*/**/*.txt"])
    assert sorted(seen) == ["s", "s/a", "s/a/b"]
