"""The errors of the package: the tree that is drawn is the whole tree, and all of it is public."""

import importlib
import re
from pathlib import Path

import pytest

import lookalike
from lookalike.base import errors
from lookalike.base.errors import LookalikeError

DRAWN = re.compile(r"^    (?P<stem>[│├└─ ]*)(?P<name>\w+Error)\b", re.MULTILINE)


def drawn():
    """Give each error of the drawing with the one that it hangs on."""
    found, above = {}, {}
    for line in DRAWN.finditer(errors.__doc__):
        depth = len(line["stem"]) // 4
        above[depth] = line["name"]
        found[line["name"]] = above.get(depth - 1)
    return found


def defined(error=LookalikeError, above=None):
    found = {error.__name__: above}
    for kind in error.__subclasses__():
        if kind.__module__.startswith("lookalike"):
            found |= defined(kind, error.__name__)
    return found


def test_the_drawing_is_the_whole_tree():
    package = Path(lookalike.__file__).parent
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        if "__" not in name and not name.startswith("kernels.native"):
            importlib.import_module(f"lookalike.{name}")
    assert drawn() == defined()


@pytest.mark.parametrize("name", sorted(drawn()))
def test_every_error_can_be_caught_by_its_name(name):
    assert name in errors.__all__
    assert name in lookalike.__all__
    assert getattr(lookalike, name) is getattr(errors, name)


def test_a_missing_extra_is_named():
    error = lookalike.MissingExtraError("PDF files", "documents")
    assert str(error) == "PDF files need another library: pip install 'lookalike[documents]'"
    assert error.extra == "documents"
