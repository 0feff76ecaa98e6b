"""Settings in messages: named once, and spelled by each face in its own way."""

import ast
import copy
import inspect
import json
import pickle
import re
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.base import wording
from lookalike.base.wording import Message, in_python, in_words, on_command_line, setting, visible
from lookalike.cli.app import COMMANDS, program
from lookalike.cli.index import COMMANDS as INDEX_COMMANDS
from lookalike.cli.index import index

MARKS = wording.OPEN + wording.WORDS + wording.NUMBER + wording.CLOSE
SPELLED = [
    # what is named, in Python, on the command line
    (("memory",), "memory=", "--memory"),
    (("id",), "id=", "--id"),
    (("max_df",), "max_df=", "--max-df"),
    (("recall", 0.999), "recall=0.999", "--recall 0.999"),
    (("recall", 1.0), "recall=1.0", "--recall 1"),
    (("threshold", np.float64(0.8)), "threshold=0.8", "--threshold 0.8"),
    (("threshold", np.float32(0.5)), "threshold=0.5", "--threshold 0.5"),
    (("threshold", Fraction(1, 2)), "threshold=0.5", "--threshold 0.5"),
    (("threshold", float("nan")), "threshold=nan", "--threshold nan"),
    (("bands", 20), "bands=20", "--bands 20"),
    (("simhash", np.int64(-3)), "simhash=-3", "--simhash -3"),
    (("metric", "cosine"), "metric='cosine'", "--metric cosine"),
    (("cascade", "and:5 or:20"), "cascade='and:5 or:20'", "--cascade 'and:5 or:20'"),
    (("shingle", ""), "shingle=''", "--shingle ''"),
    (("shingle", "None"), "shingle='None'", "--shingle None"),
    (("text", "it's"), 'text="it\'s"', "--text 'it'\"'\"'s'"),
    (("skip_bad", True), "skip_bad=True", "--skip-bad"),
    (("skip_bad", False), "skip_bad=False", "no --skip-bad"),
    (("max_df", None), "max_df=None", "no --max-df"),
    (("shingle", ["chars", 5]), "shingle=['chars', 5]", "--shingle ['chars', 5]"),
]


@pytest.mark.parametrize(("named", "python", "command_line"), SPELLED)
def test_each_face_spells_a_setting_its_own_way(named, python, command_line):
    raw = f"raise {setting(*named)}, or leave {setting(*named)} out"
    assert in_python(raw) == f"raise {python}, or leave {python} out"
    assert on_command_line(raw) == f"raise {command_line}, or leave {command_line} out"


def test_a_page_names_a_setting_as_a_reader_does():
    assert in_words(f"raise {setting('threshold')}") == "raise the setting threshold"
    assert in_words(Message(f"use {setting('max_df', 0.1)}")) == "use the setting max-df 0.1"
    assert in_words(f"see {wording.help_on('plan')}") == "see the help on plan"


def test_a_value_of_several_lines_is_told_on_one():
    assert "\n" not in in_python(setting("shingle", np.eye(3)))
    assert "\n" not in in_python(setting("shingle", "a\nb"))
    assert visible(on_command_line(setting("shingle", "a\nb"))) == r"--shingle 'a\nb'"


def test_a_mark_survives_json():
    raw = f"raise {setting('memory', '2GB')}"
    assert json.loads(json.dumps(raw)) == raw


@given(st.text(), st.text(), st.text())
def test_what_is_around_a_setting_and_in_it_stays_as_it_is(before, value, after):
    raw = f"{before}{setting('text', value)}{after}"
    if not set(before + value + after) & set(MARKS):
        assert in_python(raw) == f"{before}text={value!r}{after}"
        assert on_command_line(raw).startswith(f"{before}--text ")


PIECES = [*MARKS, "memory", "_", " ", "é", "\n", "\udc80"]
USERS = st.lists(st.sampled_from(PIECES)).map("".join)


@given(USERS, USERS, USERS)
def test_text_of_users_that_holds_marks_breaks_nothing(before, value, after):
    raw = f"{before} {setting('recall', 0.9)} {setting('text', value)} {after}"
    for spelled in (in_python(raw), str(Message(raw))):
        assert " recall=0.9 text=" in spelled
    assert " --recall 0.9 --text " in on_command_line(raw)
    assert visible(on_command_line(raw)).isprintable()


@pytest.mark.parametrize("text", ["", "plain", "\U0010f7a4", "\U0010f7a4memory", *MARKS, MARKS])
def test_text_without_a_whole_mark_is_left(text):
    assert in_python(text) == on_command_line(text) == Message(text) == text


class TestMessage:
    RAW = f"a.txt: raise {setting('memory')}, or use {setting('metric', 'cosine')}"
    PYTHON = "a.txt: raise memory=, or use metric='cosine'"
    COMMAND_LINE = "a.txt: raise --memory, or use --metric cosine"

    def test_it_reads_as_python_and_remembers_the_rest(self):
        message = Message(self.RAW)
        assert message == str(message) == f"{message}" == self.PYTHON
        assert repr(message) == repr(self.PYTHON)
        assert message.raw == self.RAW
        assert in_python(message) == self.PYTHON
        assert on_command_line(message) == self.COMMAND_LINE

    def test_a_message_of_a_message_is_the_same(self):
        assert Message(Message(self.RAW)).raw == self.RAW

    def test_it_is_written_to_json_as_it_reads(self):
        assert json.loads(json.dumps([Message(self.RAW)])) == [self.PYTHON]

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_it_is_pickled(self, protocol):
        again = pickle.loads(pickle.dumps(Message(self.RAW), protocol))
        assert type(again) is Message
        assert (again, again.raw) == (self.PYTHON, self.RAW)

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
    def test_it_is_copied(self, copied):
        assert on_command_line(copied(Message(self.RAW))) == self.COMMAND_LINE


PACKAGE = Path(lookalike.__file__).parent
SPEAKING = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text())
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in ("cli", "learn")
}
"""Modules whose messages are read in Python and on the command line."""
OPTION = re.compile(r"--[a-z]")
ARGUMENT = re.compile(r"(?<![\w{.])[a-z_]+=(?![={])")
"""A name of the configuration of Spark, as spark.executor.memory=8g, has dots and is none."""


def texts_of(tree):
    """Give the literals that are no documentation: what is not a statement by itself."""
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def spelled_by_hand(tree):
    return [
        (line, text)
        for line, text in texts_of(tree)
        if OPTION.search(text) or ARGUMENT.search(text)
    ]


WRITE_MARKUP = (
    "base/html.py",
    "base/plots/svg.py",
    "read/xlsx_copies.py",
    "reports/render.py",
    "write/html_pages.py",
)
"""Modules whose texts are tags of HTML or XML, which have attributes."""
NOT_MESSAGES = ("base/wording.py", "spark/java.py", *WRITE_MARKUP)
"""The one that spells them, one that runs Java with an option of its own, and markup."""


@pytest.mark.parametrize("module", [name for name in SPEAKING if name not in NOT_MESSAGES])
def test_no_message_spells_a_setting_by_hand(module):
    assert spelled_by_hand(SPEAKING[module]) == []


@pytest.mark.parametrize(
    "source",
    [
        'raise SettingsError("raise --memory")',
        'raise SettingsError(f"{size} allowed: raise --memory, or wait")',
        "found.append(f\"{name}: use metric='cosine'\")",
        'HINT = "say which (text=)"',
    ],
)
def test_one_that_did_would_be_seen(source):
    assert spelled_by_hand(ast.parse(source))


@pytest.mark.parametrize(
    "source", ['"""raise --memory"""', "x = 1  # --memory", 'f"{name}={value}"', 'f"{1 == 2}"']
)
def test_documentation_and_code_may(source):
    assert not spelled_by_hand(ast.parse(source))


def named():
    """Give the settings that messages name, each with the places that do."""
    found = defaultdict(list)
    for module, tree in SPEAKING.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "setting":
                continue
            if isinstance(node.args[0], ast.Constant):
                found[node.args[0].value].append(f"{module}:{node.lineno}")
    return dict(found)


def test_messages_name_settings_that_both_faces_have():
    group = program()
    commands: list[Any] = [group.get_command(click.Context(group), name) for name in COMMANDS]
    commands += [index.get_command(click.Context(index), name) for name in INDEX_COMMANDS]
    options = {option for one in commands for p in one.params for option in p.opts}
    public = [getattr(lookalike, name) for name in lookalike.__all__]
    functions: list[Any] = [one for one in public if inspect.isfunction(one)]
    functions += [lookalike.Index.create, lookalike.Index.add_all, lookalike.Index.query_all]
    functions += [lookalike.Result.plot]
    arguments = {name for one in functions for name in inspect.signature(one).parameters}
    assert {"memory", "work", "metric", "max_df"} <= set(named())
    # In Python a frame is given, whose session has these.
    arguments |= {"master", "spark_conf"}
    for name, places in named().items():
        assert name in arguments, places
        assert on_command_line(setting(name)) in options, places


def test_a_list_is_given_by_naming_the_option_again():
    text = f"use {setting('text', ['title', 'the body'])}"
    assert in_python(text) == "use text=['title', 'the body']"
    assert on_command_line(text) == "use --text title --text 'the body'"


@pytest.mark.parametrize(
    ("similarity", "threshold", "written"),
    [
        (2 / 3, None, "0.6667"),
        (1 / 3, 0.5, "0.3333"),
        (0.74415, 0.8, "0.7441"),  # the float is a little below
        (1.0, 1.0, "1.0000"),
        (0.99996, None, "0.9999"),
        (0.9999999999, 0.8, "0.9999"),
        (0.79996, 0.8, "0.7999"),
        (0.79996, 0.79996, "0.8000"),
        (0.80004, 0.8, "0.8000"),
        (2 / 3, 0.66667, "0.6666"),
        (2 / 3, 2 / 3, "0.6667"),
        (0.0, 0.8, "0.0000"),
        (-0.25, 0.8, "-0.2500"),
    ],
)
def test_a_similarity_is_rounded_to_the_nearest_that_is_true(similarity, threshold, written):
    assert wording.similarity_text(similarity, threshold) == written


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_similarity_is_shown_to_reach_what_it_does_not(similarity, threshold):
    shown = float(wording.similarity_text(similarity, threshold))
    assert abs(shown - similarity) <= 1.0001e-4
    assert (shown == 1) <= (similarity == 1)
    assert (shown >= threshold) <= (similarity >= threshold)


@pytest.mark.parametrize(
    ("share", "written"),
    [(1.0, "100.0%"), (0.9996, "99.9%"), (2 / 3, "66.7%"), (0.939, "93.9%"), (0.0, "0.0%")],
)
def test_a_share_is_written_in_percent(share, written):
    assert wording.percent(share) == written
