"""Options are declared once: functions, commands and the reference are made of them."""

import inspect
import json
import pydoc
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import click
import pytest
from conftest import ROOT  # type: ignore[import-not-found]

import lookalike
from lookalike import settings
from lookalike.base.options import Option, option_of, takes
from lookalike.cli.app import COMMANDS as APP_COMMANDS
from lookalike.cli.app import program
from lookalike.cli.command import Argument, flag
from lookalike.cli.index import COMMANDS as ALL_INDEX_COMMANDS
from lookalike.cli.index import index
from lookalike.cli.options import command
from lookalike.settings import index_options
from lookalike.settings.options import Similar

COMMANDS = {
    "find": settings.FindCommandOptions,
    "dedup": settings.DedupCommandOptions,
    "contained": settings.ContainedOptions,
    "boilerplate": settings.BoilerplateOptions,
    "sketch": settings.SketchOptions,
    "report": settings.ReportOptions,
    "compare": settings.CompareOptions,
    "plan": settings.PlanCommandOptions,
}
INDEX_COMMANDS = {
    "create": index_options.IndexCreateOptions,
    "add": index_options.IndexAddOptions,
    "query": index_options.IndexQueryOptions,
}
METHODS = {"create": "create", "add": "add_all", "query": "query_all"}
FUNCTIONS = {
    **{name: options for name, options in COMMANDS.items() if name != "plan"},
    # Where a job runs is asked of the command; in Python, lookalike.spark has functions of its own.
    "find": settings.FindOptions,
    "dedup": settings.DedupOptions,
    "plan_corpus": settings.PlanCorpusOptions,
    "write_sketches": settings.SketchFileOptions,
    "compare_all": settings.CompareAllOptions,
}
SOURCES = {"report": ("result",), "compare": ("a", "b"), "write_sketches": ("source", "out")}
REFERENCE = (ROOT / "docs" / "command-line.md").read_text()


def command_of(name: str) -> Any:
    group = program()
    return group.get_command(click.Context(group), name)


def index_command_of(name: str) -> Any:
    return index.get_command(click.Context(index), name)


def taken_by(command: Any) -> dict[str, Any]:
    return {parameter.name: parameter for parameter in command.params}


def defaults_of(options: Any) -> dict[str, Any]:
    found = {one.name: one.default for one in fields(options)}
    assert MISSING not in found.values()
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_every_option_as_a_keyword_with_its_default(name):
    parameters = inspect.signature(getattr(lookalike, name)).parameters
    keywords = {
        one.name: one.default for one in parameters.values() if one.kind is one.KEYWORD_ONLY
    }
    assert keywords == defaults_of(FUNCTIONS[name])
    others = tuple(parameters)[: len(parameters) - len(keywords)]
    assert others == SOURCES.get(name, ("source",))


def test_plan_takes_every_option_with_its_default():
    parameters = inspect.signature(lookalike.plan).parameters.values()
    assert {one.name: one.default for one in parameters} == defaults_of(settings.PlanOptions)


@pytest.mark.parametrize("name", INDEX_COMMANDS)
def test_a_method_of_an_index_takes_every_option_as_a_keyword(name):
    parameters = inspect.signature(getattr(lookalike.Index, METHODS[name])).parameters
    keywords = {
        one.name: one.default for one in parameters.values() if one.kind is one.KEYWORD_ONLY
    }
    assert keywords == defaults_of(INDEX_COMMANDS[name])


def declared() -> list[Any]:
    """Give the commands, each with its name, its options and itself."""
    found = [(name, options, command_of(name)) for name, options in COMMANDS.items()]
    return found + [
        (f"index {name}", options, index_command_of(name))
        for name, options in INDEX_COMMANDS.items()
    ]


@pytest.mark.parametrize(("name", "options", "made"), declared())
def test_a_command_takes_every_option_with_its_default_and_help(name, options, made):
    del name
    taken = taken_by(made)
    for one in fields(options):
        option = option_of(one)
        if option.python_only:
            assert one.name not in taken
            continue
        given = taken[one.name]
        assert given.default == one.default, one.name
        assert given.help == option.help
        spelled = {f"--{one.name.replace('_', '-')}", *(f"--{also}" for also in option.also)}
        assert set(given.opts) == spelled | ({option.short} if option.short else set())


@pytest.mark.parametrize(("name", "options", "made"), declared())
def test_the_reference_has_every_option_with_its_help(name, options, made):
    del made
    section = REFERENCE.split(f"## lookalike {name}\n")[1].split("\n## ")[0]
    together = "".join(section.split())
    for one in fields(options):
        if not option_of(one).python_only:
            assert f"--{one.name.replace('_', '-')}" in section
            assert "".join(option_of(one).help.split()) in together


def test_no_two_options_of_a_command_have_one_name_or_letter():
    made = [*map(command_of, APP_COMMANDS), *map(index_command_of, ALL_INDEX_COMMANDS)]
    for one in made:
        spelled = [option for given in one.params for option in given.opts]
        assert len(spelled) == len(set(spelled)), one.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_lists_the_options(name):
    shown = pydoc.plain(pydoc.render_doc(getattr(lookalike, name)))
    for one in fields(FUNCTIONS[name]):
        assert f"{one.name}: {option_of(one).help}" in shown


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_option_is_refused_in_the_name_of_the_function(name, tmp_path):
    call: Any = getattr(lookalike, name)
    given = ["some text", str(tmp_path / "out.jsonl")][: len(SOURCES.get(name, ("source",)))]
    with pytest.raises(TypeError, match=rf"^{name}\(\) .*'treshold'"):
        call(*given, treshold=0.5)
    with pytest.raises(TypeError, match=rf"^{name}\(\) .*too many positional"):
        call(*given, 0.5)
    with pytest.raises(TypeError, match=rf"^{name}\(\) .*missing"):
        call()
    with pytest.raises(TypeError, match=rf"^{name}\(\) .*multiple values"):
        call(*given, **{SOURCES.get(name, ("source",))[0]: "again"})
    assert not [*tmp_path.iterdir()]


def test_options_are_the_same_for_python_and_the_command_line(told, sample_documents):
    status, output, _ = told(
        *("find", sample_documents, "--json", "-q", "-t", "0.7", "--recall", "0.9", "--multiset"),
        *("--normalise", "keep-case", "--shingle", "words:2", "--max-df", "0.9", "--seed", "5"),
    )
    options: dict[str, Any] = {"threshold": 0.7, "recall": 0.9, "multiset": True, "seed": 5}
    options |= {"normalise": "keep-case", "shingle": "words:2", "max_df": 0.9}
    found = lookalike.find(sample_documents, **options)
    assert status == 0
    assert json.loads(output)["fingerprint"] == found.settings.fingerprint()


@dataclass(frozen=True, kw_only=True)
class Widened(Similar):
    """The options of a made-up command: those of others, and one more of each kind."""

    depth: int = field(
        default=3,
        metadata={"option": Option("How deep.", metavar="LEVELS", short="-d", also=("deep",))},
    )
    loud: bool = field(default=False, metadata={"option": Option("Say more.")})
    kind: str = field(
        default="a-b", metadata={"option": Option("Which one.", choices=("a-b", "c"))}
    )
    others: Any = field(default=None, metadata={"option": Option("Some more.", is_list=True)})
    listener: Any = field(default=None, metadata={"option": Option("Heard.", python_only=True)})


def test_one_more_field_is_one_more_keyword():
    @takes(Widened)
    def made(source: str, options: Widened) -> tuple[str, Widened]:
        """Do nothing."""
        return source, options

    assert made("x") == ("x", Widened())
    assert made("x", depth=5, threshold=0.1) == ("x", Widened(depth=5, threshold=0.1))
    assert [*inspect.signature(made).parameters] == ["source", *defaults_of(Widened)]
    assert "depth: How deep." in str(made.__doc__)
    assert made.__name__ == "made"
    call: Any = made
    with pytest.raises(TypeError, match=r"^made\(\) .*'height'"):
        call("x", height=1)


@pytest.fixture
def widened():
    """Give a command with one more field, and what it was called with."""
    seen = []

    @command(Widened, flag(["--own"], "Its own."), Argument("source", "What is read."))
    def made(source: str, options: dict[str, Any], *, own: bool) -> None:
        """Do nothing."""
        seen.append((source, own, options))

    return made, seen


def test_one_more_field_is_one_more_option(widened):
    made, seen = widened
    made(["x"], standalone_mode=False)
    shown = {name: value for name, value in defaults_of(Widened).items() if name != "listener"}
    assert seen.pop() == ("x", False, shown)
    given = ["x", "--depth", "5", "--loud", "--kind", "c", "--others", "1", "--others", "2"]
    made([*given, "-t", "0.1", "--own"], standalone_mode=False)
    changed = {"depth": 5, "loud": True, "kind": "c", "others": ["1", "2"], "threshold": 0.1}
    assert seen.pop() == ("x", True, shown | changed)
    for spelled in ("-d", "--deep"):
        made(["x", spelled, "7"], standalone_mode=False)
        assert seen.pop()[2]["depth"] == 7
    with pytest.raises(lookalike.SettingsError, match="kind='d': use a-b or c"):
        made(["x", "--kind", "d"], standalone_mode=False)


def test_the_help_of_a_made_up_command_shows_its_options(widened):
    made, _ = widened
    shown = " ".join(made.get_help(made.make_context("made", ["x"])).split())
    for one in fields(Widened):
        option: Option = option_of(one)
        assert (option.help in shown) is not option.python_only
    assert "LEVELS" in shown
    assert "SOURCE What is read. [required]" in shown
    assert [*taken_by(made)] == [
        *("source", "threshold", "recall", "depth", "loud", "kind", "others", "own")
    ]
