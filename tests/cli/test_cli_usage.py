"""A command line that cannot be understood: one line that says what, and what can be."""

import json
from dataclasses import fields
from typing import Any

import click
import pytest

from lookalike import settings
from lookalike.base.options import option_of
from lookalike.cli.app import COMMANDS, program
from lookalike.cli.index import COMMANDS as INDEX_COMMANDS
from lookalike.cli.values import share_of
from source_files import write_records

SHARE = "use a number from 0 to 1, as 0.8, or a percentage, as 80%"
FORMATS = "use table, jsonl, csv or parquet"


def refused(answer):
    """Give what was refused as wrong usage, in one line."""
    status, output, errors = answer
    assert (status, output) == (2, ""), errors
    assert errors.startswith("lookalike: ")
    assert errors.count("\n") == 1
    return errors.removeprefix("lookalike: ").strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["find", "docs", "-t", "80"], f"--threshold 80: {SHARE}"),
        (["find", "docs", "-t", "0,8"], f"--threshold 0,8: {SHARE}"),
        (["find", "docs", "-t", "nan"], f"--threshold nan: {SHARE}"),
        (["find", "docs", "-t", "%"], f"--threshold %: {SHARE}"),
        (["find", "docs", "-t", "101%"], f"--threshold 101%: {SHARE}"),
        (["find", "docs", "-t", f"1e{10**20}%"], f"--threshold 1e{10**20}%: {SHARE}"),
        (["curve", "and:5", "-t", "x y"], f"--threshold 'x y': {SHARE}"),
        (["curve", "and:5", "--at", "0.5,x"], "--at 0.5,x: use numbers from 0 to 1, as 0.3,0.8"),
        (["curve", "and:5", "--at", ""], "--at '': use numbers from 0 to 1, as 0.3,0.8"),
        (["plan", "--documents", "1e6"], "--documents 1e6: use a whole number, as 1000000"),
        (["plan", "--shingles", "many"], "--shingles many: use a number, as 1000"),
        (["find", "docs", "--rows", "x"], "--rows x: use a whole number, as 5"),
        (["find", "docs", "--threads", "1.5"], "--threads 1.5: use a whole number, as 4"),
        (["find", "docs", "--metric", "angle"], "--metric angle: use jaccard or cosine"),
        (["find", "docs", "--format", "xls"], f"--format xls: {FORMATS}"),
        (["dedup", "docs", "--dry-run", "--format", "xls"], f"--format xls: {FORMATS}"),
        (["find", "docs", "-t"], "-t needs a value, as -t 0.8; see lookalike find --help"),
        (["find", "docs", "--text"], "--text needs a value; see lookalike find --help"),
        (
            ["find", "docs", "--metric"],
            "--metric needs a value, as --metric jaccard; see lookalike",
        ),
        (["find", "docs", "--lines=3"], "--lines takes no value; see lookalike find --help"),
        (
            ["find", "docs", "--thresold", "1"],
            "there is no option '--thresold': did you mean --threshold? see lookalike find --help",
        ),
        (["find", "docs", "-Z"], "there is no option '-Z'; see lookalike find --help"),
        (
            ["--threshold", "0.8"],
            "there is no option '--threshold' before a command: as in lookalike find essays/",
        ),
        (
            ["find"],
            "SOURCE is missing: as in lookalike find essays/ --threshold 0.7; see lookalike",
        ),
        (
            ["compare", "a.txt"],
            "B is missing: as in lookalike compare draft.txt final.txt; see lookalike",
        ),
        (["index", "info", "a", "b"], "(b); see lookalike index info --help"),
        (["find", "docs", "--fail-on", "101%"], "--fail-on 101%: use any, a whole number from 1"),
    ],
    ids=str,
)
def test_wrong_usage_is_told_in_one_line_with_what_would_be_right(told, arguments, message):
    assert message in refused(told(*arguments))


def test_a_folder_where_a_command_should_be_is_told_how_it_is_searched(told, tmp_path):
    assert refused(told(tmp_path)).endswith(f"to search it, lookalike find {tmp_path}")


def test_what_is_quoted_of_a_command_line_commands_no_terminal(told):
    for given in (["find", "docs", "--\x1b[2J\n"], ["\x1b[2J\n"], ["find", "x", "-t", "\x1b[2J\n"]):
        assert refused(told(*given)).isprintable()


def numbers_of(name):
    command: Any = program()
    for one in name.split():
        command = command.get_command(click.Context(command), one)
    return [one for one in command.params if one.type.name in ("int", "float")]


EVERY_COMMAND = [*COMMANDS, *(f"index {name}" for name in INDEX_COMMANDS)]


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_number_is_refused_with_one_that_is_taken(told, name):
    needed = {"compare": ["a", "b"], "curve": ["and:5"], "plan": [], "learn": []}.get(
        name, ["docs", "docs"] if name == "index add" else ["docs"]
    )
    for option in numbers_of(name):
        message = refused(told(*name.split(), *needed, option.opts[0], "x"))
        example = message.partition(", as ")[2].partition(",")[0]
        assert option.type.convert(example, option, None) == float(example), message


def test_a_share_can_be_a_percentage_wherever_one_is_asked_for():
    asked = {
        one.name
        for options in vars(settings).values()
        if isinstance(options, type) and options.__name__.endswith("Options")
        for one in fields(options)
        if option_of(one).is_share
    }
    shares = {"threshold", "recall", "containment", "max_df", "background", "miss_weight"}
    assert asked == shares
    for name in EVERY_COMMAND:
        for option in numbers_of(name):
            if option.name in shares:
                assert option.type.convert("12.5%", option, None) == 0.125, option.name


@pytest.mark.parametrize("tenths", range(0, 1001, 7))
def test_a_percentage_is_the_number_that_is_typed_in_full(tenths):
    assert share_of(f"{tenths / 10}%") == float(f"{tenths / 1000}")
    assert share_of(f"{tenths / 10} %") == float(f"{tenths / 1000}")


def test_a_threshold_in_percent_is_the_same_job(told, tmp_path):
    docs = write_records(tmp_path / "docs.jsonl", [{"id": n, "text": "some words"} for n in "ab"])
    settings_of = [
        json.loads(told("find", docs, "--json", "-q", *given)[1])["settings"]
        for given in (["-t", "0.7", "--max-df", "1"], ["-t", "70%", "--max-df", "100%"])
    ]
    assert settings_of[0] == settings_of[1]
    assert settings_of[0]["threshold"] == 0.7
