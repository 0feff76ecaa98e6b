"""The errors of the package: the tree that is drawn is the whole tree, and all of it is public."""

import copy
import importlib
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.base import errors
from lookalike.base.errors import LookalikeError, SettingsError
from lookalike.base.wording import setting

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


NAMING = f"raise {setting('memory')}, or use {setting('recall', 0.999)}"
MADE = {
    **dict.fromkeys(sorted(drawn()), (NAMING,)),
    "InvalidTextError": (3, 5),
    "InvalidVectorError": ([(2, f"is longer than {setting('memory')} allows")],),
    "MissingExtraError": ("PDF files", "documents"),
}


class TestSpelling:
    @pytest.mark.parametrize("name", [name for name, made in MADE.items() if made == (NAMING,)])
    def test_an_error_names_a_setting_as_each_face_spells_it(self, name):
        error = getattr(lookalike, name)(NAMING)
        assert str(error) == f"{error}" == "raise memory=, or use recall=0.999"
        assert repr(error) == f"{name}('raise memory=, or use recall=0.999')"
        assert error.args == ("raise memory=, or use recall=0.999",)
        assert error.for_command_line() == "raise --memory, or use --recall 0.999"
        assert error.raw == NAMING

    def test_an_error_that_writes_its_own_message_does_too(self):
        error: Any = lookalike.InvalidVectorError(*MADE["InvalidVectorError"])  # type: ignore[arg-type]
        assert str(error) == "vector 3 is longer than memory= allows: fix or remove it"
        assert error.for_command_line().startswith("vector 3 is longer than --memory allows")

    def test_an_error_may_be_without_a_message(self):
        assert str(SettingsError()) == SettingsError().for_command_line() == ""

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("name", MADE)
    def test_an_error_is_the_same_after_pickling(self, name, protocol):
        error = getattr(lookalike, name)(*MADE[name])
        error.add_note("while it was tested")
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert (str(again), again.args, again.raw) == (str(error), error.args, error.raw)
        assert again.for_command_line() == error.for_command_line()
        assert vars(again) == vars(error)
        assert copy.copy(error).raw == copy.deepcopy(error).raw == error.raw
