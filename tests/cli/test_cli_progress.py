"""What the commands tell while they run and at their end: bars, lines, summaries, warnings."""

import io
import json
import os
import random
import re
import subprocess
from types import SimpleNamespace

import pytest
from rich.cells import cell_len
from rich.console import Console

from lookalike.base import progress
from lookalike.cli import screen
from processes import on_a_terminal
from source_files import write_records

STAGES = ("read", "sketch", "compare")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[[0-9;]*\b(3[0-9]|4[0-9]|9[0-7])[;m]")


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that stands still until it is moved."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (8.6, "9 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (11_400, "3 h 10 min"),
        (400_000, "111 h 6 min"),
    ],
)
def test_times_are_told_in_the_units_that_matter(seconds, told):
    assert progress.duration(seconds) == told


class TestPace:
    def test_bytes_are_told_of_reading_and_documents_of_the_rest(self, clock):
        paces = [progress.Pace(stage, 0) for stage in ("read", "add", "query")]
        sketching = progress.Pace("sketch", 0)
        clock.seconds = 10
        for pace in paces:
            assert pace.text(20_000_000, 100_000_000) == "20.0 MB of 100.0 MB, 2.0 MB/s, 40 s left"
        assert sketching.text(5_000, 20_000) == "5,000 of 20,000, 500/s, 30 s left"

    def test_what_was_done_before_the_job_was_taken_up_does_not_count_as_fast(self, clock):
        pace = progress.Pace("compare", 9_000)
        clock.seconds = 10
        assert pace.text(9_100, 10_000) == "9,100 of 10,000, 10/s, 1 min 30 s left"

    def test_at_the_begin_and_at_the_end_no_time_is_left_to_tell(self, clock):
        pace = progress.Pace("sketch", 0)
        assert pace.text(0, 100) == "0 of 100"
        clock.seconds = 4
        assert pace.text(100, 100) == "100 of 100, 25/s"

    def test_less_than_one_a_second_is_told_by_the_minute(self, clock):
        pace, reading = progress.Pace("compare", 0), progress.Pace("read", 0)
        clock.seconds = 100
        assert pace.text(99, 199) == "99 of 199, 59/min, 1 min 41 s left"
        assert pace.text(100, 200) == "100 of 200, 1/s, 1 min 40 s left"
        assert reading.text(50_000, 100_000) == "50 KB of 100 KB, 30 KB/min, 1 min 40 s left"
        clock.seconds = 100_000
        assert pace.text(100, 200) == "100 of 200, 27 h 46 min left"


def reported(console, clock, total=10_000_000):
    """Report of three stages that are half done."""
    with progress.shown(console) as report:
        assert report
        for stage in STAGES:
            report(stage, 0, total)
            clock.seconds += 100
            report(stage, total // 2, total)


class TestBars:
    def lines(self, clock, **options):
        written = io.StringIO()
        console = Console(file=written, force_terminal=True, **options, **screen.PLAIN_TEXT)
        reported(console, clock)
        return written.getvalue()

    @pytest.mark.parametrize("width", [80, 200])
    def test_each_stage_has_a_bar_with_its_rate_and_time_left(self, clock, width):
        written = self.lines(clock, width=width)
        shown = re.split(r"[\r\n]", CODES.sub("", written))
        assert max(map(cell_len, shown)) <= width
        for stage, rate in (("read", "50 KB/s"), ("sketch", "50,000/s"), ("compare", "50,000/s")):
            last = [line for line in shown if line.strip().startswith(stage)][-1]
            assert "━" in last
            assert " 50% " in last
            assert last.rstrip().endswith(f"{rate}, 1 min 40 s left")

    def test_a_narrow_terminal_is_kept_to(self, clock):
        shown = re.split(r"[\r\n]", CODES.sub("", self.lines(clock, width=50)))
        assert max(map(cell_len, shown)) <= 50

    def test_bars_have_colours_but_for_those_who_want_none(self, clock, monkeypatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        assert COLOURS.search(self.lines(clock, width=80))
        monkeypatch.setenv("NO_COLOR", "1")
        plain = self.lines(clock, width=80)
        assert "━" in plain
        assert not COLOURS.search(plain)

    def test_bars_go_away_at_the_end(self, clock):
        # The cursor goes up and erases each line, and is shown again.
        written = self.lines(clock, width=80)
        assert written.endswith("\x1b[?25h\r\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K")


class TestLines:
    def test_a_line_comes_every_few_seconds(self, clock):
        written = io.StringIO()
        reported(Console(file=written, width=80, **screen.PLAIN_TEXT), clock)
        assert written.getvalue().splitlines() == [
            "read: 50%, 5.0 MB of 10.0 MB, 50 KB/s, 1 min 40 s left",
            "sketch: 50%, 5,000,000 of 10,000,000, 50,000/s, 1 min 40 s left",
            "compare: 50%, 5,000,000 of 10,000,000, 50,000/s, 1 min 40 s left",
        ]

    def test_what_is_done_sooner_tells_nothing(self, clock):
        written = io.StringIO()
        with progress.shown(Console(file=written, **screen.PLAIN_TEXT)) as report:
            assert report
            for done in range(1000):
                clock.seconds += 4 / 1000
                report("read", done, 1000)
        assert written.getvalue() == ""


def words_of(choice, vocabulary, length):
    return " ".join(choice.choices(vocabulary, k=length))


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """Give some hundred random documents and a few copies."""
    choice = random.Random(5)
    vocabulary = [f"{choice.getrandbits(40):x}" for _ in range(2000)]
    texts = [words_of(choice, vocabulary, 60) for _ in range(200)]
    texts += [f"{text} again" for text in texts[:5]] + texts[5:8] + ["", "  "]
    records = [{"id": at, "text": text} for at, text in enumerate(texts)]
    return write_records(tmp_path_factory.mktemp("docs") / "docs.jsonl", records)


def test_a_pipe_gets_plain_lines_of_every_stage(told, docs, monkeypatch):
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    monkeypatch.chdir(docs.parent)
    status, output, errors = told("find", docs.name, "--format", "jsonl")
    assert status == 0
    assert len(output.splitlines()) == 8
    for stage in STAGES:
        assert re.search(rf"^{stage}: 100%, [^,]+ of [^,]+(, .*/s)?$", errors, re.MULTILINE)
    assert "\x1b" not in errors
    assert max(map(cell_len, errors.split("\n"))) <= 80


@pytest.mark.parametrize("command", [["find"], ["dedup", "--dry-run"]])
def test_quiet_says_nothing_but_the_result(command, told, docs, monkeypatch):
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    status, output, errors = told(*command, docs, "-q")
    assert (status, errors) == (0, "")
    assert output


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
def test_a_terminal_gets_live_bars_within_its_width(docs):
    written = on_a_terminal(
        *("find", docs.name, "--format", "jsonl"),
        cwd=docs.parent,
        stdout=subprocess.DEVNULL,
        NO_COLOR="1",
    )
    told = written.decode()
    assert not COLOURS.search(told)
    shown = re.split(r"[\r\n]+", CODES.sub("", told))
    assert max(map(cell_len, shown)) <= 80
    for stage in STAGES:
        assert any(re.match(rf" *{stage} ━+ 100% .+ of .+$", line) for line in shown)
    assert "Read       210 documents" in told


def test_the_summary_of_find_tells_each_fact_on_a_line(told, tmp_path, docs):
    folder = tmp_path / "pile"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "docs.jsonl").write_bytes(docs.read_bytes() + b"oops\n")
    for name in ("a.png", "b.exe", ".hidden.txt"):
        (folder / name).write_bytes(b"x\0")
    status, output, errors = told("find", folder, "--skip-bad", columns=200)
    assert status == 0
    facts = dict(re.findall(r"^([A-Z][a-z]+) {2,}(.+)$", errors, re.MULTILINE))
    assert facts["Read"] == "210 documents"
    (passed,) = re.findall(r"^Skipped    3 files: (.+)$", errors, re.MULTILINE)
    assert sorted(passed.split(", ")) == ["1 hidden", "2 binary"]
    assert facts["Bad"] == "1 skipped, as asked:"
    assert "docs.jsonl:211 is not valid JSON" in errors
    assert facts["Empty"] == "2, similar to nothing: 208, 209"
    assert facts["Identical"] == "3 to another, compared as one"
    compared = re.fullmatch(
        r"(\d+)(?: of [\d,]+)? candidates? among 205 distinct documents, (\d+) rejected"
        r"(; [\d,]+ ruled out by their sketches)?",
        facts["Compared"],
    )
    assert compared
    assert int(compared[1]) - int(compared[2]) == 5
    assert facts["Found"] == "8 similar pairs"
    assert re.match(
        r"8 .*the largest has 2 documents, its least similar pair 0\.9\d+$", facts["Clusters"]
    )
    assert re.fullmatch(
        r"[0-9.]+: start [0-9.]+, read [0-9.]+, group [0-9.]+, plan [0-9.]+, sketch [0-9.]+, "
        r"band [0-9.]+, compare [0-9.]+, cluster [0-9.]+, sort [0-9.]+(, other [0-9.]+)?",
        facts["Seconds"],
    )
    assert "8 similar pairs" in output


def test_the_summary_of_dedup_tells_what_was_kept(told, tmp_path, docs):
    out = tmp_path / "clean"
    status, _, errors = told("dedup", docs, "-o", out, columns=200)
    assert status == 0
    facts = dict(re.findall(r"^([A-Z][a-z]+) {2,}(.+)$", errors, re.MULTILINE))
    assert facts["Read"] == "210 documents"
    assert facts["Kept"] == f"200 and 2 empty, removed 8, in {out}"
    assert re.match(
        r"8 .*the largest has 2 documents, all at least 0\.9\d+ similar to the kept one$",
        facts["Clusters"],
    )
    assert re.search(r", write [0-9.]+(, other [0-9.]+)?$", facts["Seconds"])


def warnings_of(errors):
    return [" ".join(one.split()) for one in re.findall(r"Warning: ((?:.+\n)+)", errors)]


class TestWarnings:
    def test_a_column_that_is_mostly_empty_is_doubted(self, told, tmp_path):
        records = [{"id": at, "text": "" if at % 3 else f"text {at}"} for at in range(30)]
        path = write_records(tmp_path / "docs.jsonl", records)
        _, _, errors = told("find", path)
        assert warnings_of(errors) == [
            "20 of 30 documents are empty: if the text is in another column, --text names it."
        ]
        half = write_records(tmp_path / "half.jsonl", records[:2] + records[3:5])
        assert warnings_of(told("find", half)[2]) == []

    @pytest.fixture
    def chain(self, tmp_path):
        """Give documents of which each is like the next, and the first not like the last."""
        texts = [" ".join(f"w{at}" for at in range(2 * n, 2 * n + 60)) for n in range(120)]
        records = [{"id": f"{at:03}", "text": text} for at, text in enumerate(texts)]
        return write_records(tmp_path / "chain.jsonl", records)

    def test_a_giant_cluster_that_chains_hold_together_is_doubted(self, told, chain):
        _, _, errors = told("find", chain, "-s", "words:1")
        (doubt,) = warnings_of(errors)
        assert doubt == (
            "the largest cluster has 120 documents, and two of them are only 0.0000 similar: each "
            "is similar to the next, the first not to the last. dedup compares each document with "
            "the one it keeps; or raise --threshold."
        )
        assert "the largest has 120 documents, its least similar pair 0.0000" in " ".join(
            errors.split()
        )

    def test_dedup_has_no_chains(self, told, chain, tmp_path):
        out = tmp_path / "clean"
        _, _, errors = told("dedup", chain, "-s", "words:1", "-o", out)
        assert warnings_of(errors) == []
        removed = [json.loads(line) for line in (out / "removed.jsonl").read_text().splitlines()]
        assert min(row["similarity"] for row in removed) >= 0.8
        assert len(removed) < 110

    def test_a_shingle_by_which_random_documents_are_alike_is_doubted(self, told, docs):
        _, _, errors = told("find", docs, "-s", "chars:1")
        (doubt,) = warnings_of(errors)
        assert re.match(
            r"random documents are 0\.\d\d similar with chars:1: similarity says", doubt
        )
        assert warnings_of(told("find", docs, "-s", "chars:6")[2]) == []

    def test_a_plan_that_compares_nearly_every_pair_is_doubted(self, told, tmp_path):
        choice = random.Random(6)
        vocabulary = [f"w{at}" for at in range(100)]
        texts = [words_of(choice, vocabulary, 20) for _ in range(500)]
        records = [{"id": at, "text": text} for at, text in enumerate(texts)]
        path = write_records(tmp_path / "docs.jsonl", records)
        _, _, errors = told("find", path, "-s", "words:1", "-t", "0.2", "--format", "jsonl")
        doubts = [one for one in warnings_of(errors) if "as if nearly every pair" in one]
        assert re.match(
            r"at --threshold 0\.2 some 1\d\d false candidates are expected for each document",
            doubts[0],
        )
        _, _, errors = told("find", path, "-s", "words:1", "-t", "0.9")
        assert warnings_of(errors) == []

    def test_rows_of_a_signature_in_no_band_are_told(self, told):
        status, _, errors = told("plan", "--signature", "131")
        assert status == 0
        (doubt,) = warnings_of(errors)
        same = re.search(r": (\d+) rows do the same\.$", doubt)
        assert same
        used = int(same[1])
        unused = 131 - used
        assert doubt.startswith(f"{unused} of 131 rows {'are' if unused > 1 else 'is'} in no band")
        assert warnings_of(told("plan", "--signature", used)[2]) == []
