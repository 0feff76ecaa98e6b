"""Which files of a folder are read: patterns, hidden files and `.gitignore`."""

import pytest

from lookalike.read import open_corpus
from lookalike.read.chosen_files import ChosenFiles
from source_files import documents

FILES = ("a.py", "b.txt", "src/c.py", "src/deep/d.py", "src/deep/e.log", "build/f.py", ".g.py")


@pytest.fixture
def pile(tmp_path):
    """Make a folder of small files."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def names(folder, *, place="", address=False, **chosen):
    base = folder.as_uri() if address else str(folder)
    corpus = open_corpus([f"{base}{place}"], chosen=ChosenFiles(**chosen))
    passed = {one.path.rpartition(f"{folder.name}/")[2]: one.reason for one in corpus.unread}
    return sorted(text for _, text, _ in documents(corpus)), passed


@pytest.mark.parametrize("address", [False, True])
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"include": ("*.py",)}, "a.py build/f.py src/c.py src/deep/d.py"),
        ({"include": ("src/*.py",)}, "src/c.py"),
        ({"include": ("src/**/*.py",)}, "src/c.py src/deep/d.py"),
        ({"include": ("*.txt", "deep")}, "b.txt src/deep/d.py src/deep/e.log"),
        ({"exclude": ("*.py",)}, "b.txt src/deep/e.log"),
        ({"exclude": ("build/", "*.log")}, "a.py b.txt src/c.py src/deep/d.py"),
        ({"include": ("*.py",), "exclude": ("src/**",)}, "a.py build/f.py"),
        ({"include": ("*.py",), "exclude": ("src", "build"), "all_files": True}, ".g.py a.py"),
    ],
)
def test_patterns_choose_files_by_their_names_or_paths(pile, address, chosen, expected):
    found, passed = names(pile, address=address, **chosen)
    assert found == sorted(expected.split())
    assert all(
        any(name == other or name.startswith(f"{other}/") for other in passed)
        for name in set(FILES) - set(found)
    )


def test_patterns_choose_among_what_a_pattern_matched(pile):
    found, passed = names(pile, place="/**/*", include=("*.py",), exclude=("build",))
    assert found == ["a.py", "src/c.py", "src/deep/d.py"]
    assert passed["b.txt"] == "not included"
    assert passed["build/f.py"] == "excluded"
    assert ".g.py" in names(pile, place="/*", all_files=True)[0]


def test_an_excluded_folder_is_named_once_and_not_entered(pile):
    assert names(pile, exclude=("src",))[1] == {".g.py": "hidden", "src": "excluded"}


def test_what_gitignore_leaves_out_is_passed_over_and_named(pile):
    (pile / ".gitignore").write_text("build/\n*.log\n# words\n/b.txt\n")
    found, passed = names(pile)
    assert found == ["a.py", "src/c.py", "src/deep/d.py"]
    ignored = sorted(name for name, reason in passed.items() if reason == "left out by .gitignore")
    assert ignored == ["b.txt", "build", "src/deep/e.log"]
    assert len(names(pile, all_files=True)[0]) == len(FILES) + 1


def test_a_gitignore_nearer_to_a_file_decides_and_none_outside_the_folder_does(pile):
    (pile / ".gitignore").write_text("*.log\n*.py\n")
    (pile / "src" / "deep" / ".gitignore").write_text("!e.log\n")
    assert names(pile)[0] == ["b.txt", "src/deep/e.log"]
    assert names(pile / "src")[0] == ["src/c.py", "src/deep/d.py", "src/deep/e.log"]


def test_rules_count_in_the_folder_that_one_stands_in(pile, monkeypatch):
    (pile / ".gitignore").write_text("*.log\n")
    (pile / "src" / ".gitignore").write_text("d.py\n")
    monkeypatch.chdir(pile)
    found = [text for _, text, _ in documents(open_corpus(["."]))]
    assert sorted(found) == ["a.py", "b.txt", "build/f.py", "src/c.py"]


def test_own_files_are_not_read_even_where_all_are(pile):
    (pile / ".x.lookalike-work").mkdir()
    (pile / ".x.lookalike-work" / "state.txt").write_text("own")
    (pile / "a.lookalike-text.txt").write_text("not own")
    for place in ("", "/*", "/**"):
        found, passed = names(pile, place=place, all_files=True)
        assert {".g.py", "not own"} <= set(found)
        assert "own" not in found
        assert not [name for name in passed if "lookalike" in name]
