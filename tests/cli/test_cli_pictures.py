"""`curve` and `plan` with pictures: in the terminal and in files, as a user runs them."""

import json
import os
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len

from lookalike.cli.curve import specs_of
from processes import DEADLINE


@pytest.mark.parametrize(
    ("arguments", "specs"),
    [
        (["and:4", "or:4", "and:4", "or:4"], ["and:4 or:4 and:4 or:4"]),
        (["and:4 or:4", "and:5 or:20"], ["and:4 or:4", "and:5 or:20"]),
        (["bands:20 rows:5", "and:4", "or:4"], ["bands:20 rows:5", "and:4 or:4"]),
        (["and:4", "or:4", "bands:20,rows:5", "or:2"], ["and:4 or:4", "bands:20,rows:5", "or:2"]),
        (["bands:20", "rows:5"], ["bands:20 rows:5"]),
    ],
)
def test_steps_that_stand_alone_are_one_spec_and_quoted_ones_are_several(arguments, specs):
    assert specs_of(tuple(arguments)) == specs


def test_bands_and_rows_are_a_spec(told):
    expected = told("curve", "and:5", "or:20")
    assert expected[0] == 0
    for spec in (["bands:20 rows:5"], ["rows:5", "bands:20"], ["bands:20,rows:5"]):
        assert told("curve", *spec) == expected


def test_several_curves_are_drawn_together_and_told_apart_by_letters(told):
    status, output, errors = told("curve", "bands:20 rows:5", "and:4 or:4 and:4 or:4")
    assert (status, errors) == (0, "")
    assert output.startswith(
        "A  and:5 or:20: 20 bands of 5 rows, signatures of 100 rows.\nB  and:4"
    )
    half = next(line for line in output.splitlines() if line.startswith("0.5 ┤"))
    assert re.search(r"A.*B", half)
    assert re.search(r"^ *0\.7 +0\.974781 +0\.585043$", output, re.MULTILINE)
    assert max(map(cell_len, output.splitlines())) <= 80
    assert "\x1b" not in output


def test_several_curves_as_json_are_those_of_each(told):
    specs = ["bands:20 rows:5", "and:4 or:4 and:4 or:4"]
    both = json.loads(told("curve", *specs, "--json")[1])
    assert both == {"curves": [json.loads(told("curve", one, "--json")[1]) for one in specs]}


@pytest.mark.parametrize("threshold", [[], ["-t", "0.7"]])
def test_the_areas_that_are_printed_are_those_of_the_facts(told, threshold):
    output = told("curve", "and:5", "or:20", *threshold)[1]
    areas = json.loads(told("curve", "and:5", "or:20", *threshold, "--json")[1])["areas"]
    words = (
        f"false positives {areas['false_positives']:.4f}, "
        f"false negatives {areas['false_negatives']:.4f}."
    )
    assert words in " ".join(output.split())


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_goes_to_a_file_and_the_figures_to_the_screen(told, tmp_path, ending):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"curves.{ending}"
    status, output, errors = told("curve", "bands:20 rows:5", "and:4 or:4", "-o", picture)
    assert (status, errors) == (0, f"Drawn in {picture}.\n")
    assert "┤" not in output
    assert "0.974781" in output
    first = picture.read_bytes()
    told("curve", "bands:20 rows:5", "and:4 or:4", "-o", picture)
    assert picture.read_bytes() == first


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("curves.gif", r"--out \S+curves\.gif: end the name in \.png, \.svg or \.pdf"),
        ("curves", r"end the name in \.png, \.svg or \.pdf"),
        ("no/curves.svg", "there is no folder"),
    ],
)
def test_a_picture_that_cannot_be_written_is_one_line(told, tmp_path, name, message):
    pytest.importorskip("matplotlib")
    status, output, errors = told("curve", "and:5", "or:20", "-o", tmp_path / name)
    assert status in (1, 2)
    assert output == ""
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert re.search(message, errors)
    assert not [*tmp_path.iterdir()]


def test_where_the_encoding_is_not_utf8_the_drawing_is_ascii():
    command = [sys.executable, "-m", "lookalike", "curve", "and:5", "or:20"]
    drawn = {}
    for encoding in ("utf-8", "latin-1"):
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=DEADLINE,
            check=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"},
        )
        drawn[encoding] = done.stdout.decode().partition("similarity")[0]
    assert not drawn["utf-8"].isascii()
    assert drawn["latin-1"].isascii()
    assert "0.5 +" in drawn["latin-1"]
