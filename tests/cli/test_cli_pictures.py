"""`curve` and `plan` with pictures: in the terminal and in files, as a user runs them."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.cells import cell_len

import lookalike
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
    assert "\n     A, B: P = 1/2\n" in output
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


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write 260 documents of which some are nearly the same, so that bands are planned."""
    random = np.random.default_rng(5)
    words = ["".join(random.choice([*"abcdefgh"], 6)) for _ in range(3000)]
    texts = [" ".join(random.choice(words, 60)) for _ in range(240)]
    texts += [f"{one} and a few words more" for one in texts[:20]]
    path = tmp_path_factory.mktemp("corpus") / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    return path


def test_a_plan_for_a_corpus_is_that_of_find(told, corpus):
    plain = json.loads(told("plan", corpus, "-t", "0.7", "--json", "-q")[1])
    found = lookalike.find(corpus, threshold=0.7)
    assert (plain["bands"], plain["rows"]) == (found.plan.bands, found.plan.rows)
    assert (plain["documents"], plain["shingle"]) == (260, found.plan.shingle)
    assert sum(plain["histogram"]["pairs"]) == pytest.approx(260 * 259 / 2, rel=0.01)
    assert lookalike.plan_corpus(corpus, threshold=0.7).as_dict() == found.plan.as_dict()
    # The pairs that find gives are those that the sample has: here it is the whole corpus.
    assert sum(plain["histogram"]["pairs"][35:]) == pytest.approx(found.pair_count, abs=2)


def test_a_plan_for_a_corpus_is_drawn_with_its_pairs(told, corpus, tmp_path):
    pytest.importorskip("matplotlib")
    status, output, errors = told("plan", corpus, "-q")
    assert (status, errors) == (0, "")
    assert "0.5 ┤" in output
    assert "     ● P = 1/2   ○ (1/b)^(1/r)   ┊ threshold 0.8\n" in output
    assert "Pairs of 260 documents, by a sample; the bars are logarithmic." in output
    assert len(re.findall(r"^0\.\d\d to [01]\.\d\d ", output, re.MULTILINE)) == 20
    assert max(map(cell_len, output.splitlines())) <= 80
    picture = tmp_path / "plan.svg"
    status, output, errors = told("plan", corpus, "-o", picture, "-q")
    assert (status, errors) == (0, "")
    assert "┤" not in output
    assert "by a sample" not in output
    assert "pairs of 260 documents, by a sample" in picture.read_text()


def test_the_bars_under_a_curve_are_the_pairs_of_the_corpus(corpus):
    pytest.importorskip("matplotlib")
    plan = lookalike.plan_corpus(corpus, threshold=0.7)
    ax = plan.plot()
    (bars,) = ax.figure.axes[1].patches
    texts = [json.loads(line)["text"] for line in corpus.read_text().splitlines()]
    size = int(str(plan.shingle).partition(":")[2])
    sets = [{text[i : i + size] for i in range(len(text) - size + 1)} for text in texts]
    # The sample is of 200 documents; what is far from random is told by all.
    near = sum(len(a & b) / len(a | b) >= 0.7 for i, a in enumerate(sets) for b in sets[i + 1 :])
    counts, edges, _ = bars.get_data()
    assert counts[edges[:-1] >= 0.7 - 1e-9].sum() == pytest.approx(near, abs=2)
    assert counts.sum() == pytest.approx(260 * 259 / 2, rel=0.01)
    assert ax.figure.axes[1].get_yscale() == "log"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CORPUS", "-n", "5"], "--documents does nothing with a SOURCE"),
        (["CORPUS", "--background", "0.1"], "--background does nothing with a SOURCE"),
        (["--text", "body"], "--text does nothing without a SOURCE"),
        (["-s", "words:3"], "--shingle does nothing without a SOURCE"),
        (["CORPUS", "-o", "plan.txt"], r"end the name in \.png, \.svg or \.pdf"),
        (["nowhere.jsonl"], "does not exist"),
    ],
)
def test_what_cannot_be_planned_is_one_line(told, corpus, arguments, message):
    given = [str(corpus) if one == "CORPUS" else one for one in arguments]
    status, output, errors = told("plan", *given)
    assert status in (1, 2)
    assert output == ""
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert re.search(message, errors)


def test_a_picture_never_takes_the_place_of_what_is_read(told, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.svg"
    page.write_text("<svg>some text</svg>")
    status, _, errors = told("plan", page, "-o", page)
    assert status == 1
    assert "is read from" in errors
    assert page.read_text() == "<svg>some text</svg>"


@pytest.fixture(scope="module")
def found(corpus, tmp_path_factory):
    """Write a result."""
    place = tmp_path_factory.mktemp("found") / "found"
    lookalike.find(corpus, threshold=0.7, out=place).close()
    return place


def test_a_result_is_drawn_by_similarity_and_by_size(told, found, tmp_path):
    pytest.importorskip("matplotlib")
    with lookalike.Result.open(found) as result:
        assert isinstance(result, lookalike.FindResult)
        pairs, sizes = result.pair_count, result.cluster_sizes()
        assert sum(size * count for size, count in sizes.items()) == len(result.clusters)
        assert result.histogram(10).counts.sum() == pairs
    status, output, errors = told("plot", found)
    assert (status, errors) == (0, "")
    assert output.startswith(f"{pairs} pairs found; the bars are logarithmic.\n")
    counted = [line.split()[3] for line in output.splitlines() if " to " in line]
    assert sum(map(int, counted)) == pairs
    output = told("plot", found, "--what", "clusters")[1]
    assert f"2  {sizes[2]}  █" in output
    for what in ("similarities", "clusters"):
        picture = tmp_path / f"{what}.svg"
        status, output, errors = told("plot", found, "--what", what, "-o", picture)
        assert (status, output, errors) == (0, "", f"Drawn in {picture}.\n")
        assert picture.exists()


def test_the_error_of_estimates_needs_no_result(told):
    status, output, errors = told("plot", "--what", "estimates")
    assert (status, errors) == (0, "")
    assert re.search(r"^ *128 +0\.0442 +0\.04\d\d ", output, re.MULTILINE)
    assert re.search(r"^similarity( +0\.5){2}( +0\.8){2}( +0\.95){2}$", output, re.MULTILINE)
    assert re.search(r"^ *rows( +theory +measured){3}$", output, re.MULTILINE)
    assert max(map(cell_len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a result to draw, as lookalike plot found/"),
        (["FOUND", "--what", "estimates"], "--what estimates is of no result: leave out"),
        (["FOUND", "--what", "words"], "--what words: use similarities, clusters or estimates"),
        (["nowhere"], "nowhere"),
        (["FOUND", "-o", "x.jpg"], r"end the name in \.png, \.svg or \.pdf"),
    ],
)
def test_what_cannot_be_drawn_of_a_result_is_one_line(told, found, arguments, message):
    given = [str(found) if one == "FOUND" else one for one in arguments]
    status, output, errors = told("plot", *given)
    assert status in (1, 2)
    assert output == ""
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert re.search(message, errors)
