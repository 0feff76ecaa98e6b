"""An index and another: made like it, merged into it, and never read as documents."""

import os
from pathlib import Path

import pytest

import lookalike
from index_model import edited_texts
from lookalike import LookalikeError, SettingsError, SourceError
from lookalike.index.index import Index

TEXTS = edited_texts(3, 8)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give a file with an index of some texts."""
    with Index.create(tmp_path / "pages.lookalike", shingle="chars:4", threshold=0.6) as index:
        index.add_all({f"t{place}": text for place, text in enumerate(TEXTS)})
    return tmp_path / "pages.lookalike"


def another(place: Path, name: str, **documents: str) -> Path:
    """Make an index like the first one."""
    with Index.create(place.with_name(name), like=place) as index:
        index.add_all(documents)
    return place.with_name(name)


class TestAsASource:
    """It can be gone through by its ids, which must not be taken for texts."""

    @pytest.mark.parametrize(
        "use",
        [
            lookalike.find,
            lookalike.dedup,
            lambda index: index.add_all(index),
            lambda index: index.query_all(index),
        ],
        ids=["find", "dedup", "add_all", "query_all"],
    )
    def test_an_open_index_is_refused(self, place, tmp_path, monkeypatch, use):
        monkeypatch.chdir(tmp_path)
        with Index(place) as index:
            with pytest.raises(LookalikeError):
                use(index)
            assert len(index) == len(TEXTS)
        assert [one.name for one in tmp_path.iterdir()] == ["pages.lookalike"]

    def test_what_to_do_is_told(self, place):
        with Index(place) as index, pytest.raises(SourceError) as told:
            lookalike.find(index)
        assert str(told.value) == (
            f"Index({os.fspath(place)!r}) is an index, no document: lookalike index query asks "
            "it, and lookalike index export writes its documents to a file that can be read"
        )

    @pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
    def test_so_is_an_address(self, scheme):
        with pytest.raises(SourceError, match=rf"^{scheme}:// is an index, no document") as told:
            lookalike.find(lookalike.paths(f"{scheme}://me:secret@host/db?index=pages"))
        assert "secret" not in str(told.value)


def test_one_is_made_like_an_open_one(place, tmp_path):
    with Index(place) as index, Index.create(tmp_path / "new.lookalike", like=index) as made:
        assert made.recipe == index.recipe
        assert made.plan == index.plan
        assert len(made) == 0
        assert made.metadata == {}


class TestMerging:
    def test_several_are_merged_in_turn(self, place):
        one = another(place, "one.lookalike", a="some text", b="of the first")
        two = another(place, "two.lookalike", b="of the second", c="more of it")
        with Index(place) as index, Index(two) as opened:
            added = index.merge(one, opened)
            assert (added.documents, added.replaced) == (4, 1)
            assert len(index) == len(TEXTS) + 3
            (match,) = index.query("of the second")
            assert (match.id, match.similarity) == ("b", 1.0)

    def test_all_are_looked_at_before_the_first_is_merged(self, place, tmp_path):
        one = another(place, "one.lookalike", a="some text")
        Index.create(tmp_path / "other.lookalike", shingle="words:2").close()
        with Index(place) as index:
            for wrong in ("other.lookalike", "not there.lookalike"):
                with pytest.raises(LookalikeError):
                    index.merge(one, tmp_path / wrong)
            assert len(index) == len(TEXTS)

    def test_one_is_not_merged_into_itself_by_another_name(self, place, tmp_path, monkeypatch):
        link = tmp_path / "link.lookalike"
        link.symlink_to(place)
        monkeypatch.chdir(tmp_path)
        with Index(place) as index:
            for name in (link, Path("pages.lookalike")):
                with pytest.raises(SettingsError, match="is named twice"):
                    index.merge(name)

    def test_other_types_of_metadata_are_refused_by_their_field(self, place):
        one = another(place, "one.lookalike")
        with Index(place) as index, Index(one) as other:
            index.add("x", "some text", {"seen": "monday"})
            other.add("y", "more text", {"seen": 5})
            with pytest.raises(SourceError, match=r"^the metadata 'seen' is of the type integer,"):
                index.merge(other)
            assert "y" not in index
