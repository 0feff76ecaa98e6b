"""A work folder that is refused, or of no use to a rerun, is left as it was found."""

import json

import pytest

import lookalike
from lookalike.base.errors import LookalikeError, OutputError, SettingsError
from lookalike.job.work_folder import Work
from source_files import write_records

READING = {"sources": [["a.jsonl", 12]], "text": None}
ROWS = [{"id": i, "text": f"the quick brown fox {i // 2} jumps over it"} for i in range(6)]


def tree(folder):
    """Give what a folder and those below it hold; None where it is not there."""
    if not folder.exists():
        return None
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def source(tmp_path):
    return write_records(tmp_path / "docs.jsonl", ROWS)


@pytest.fixture
def work(tmp_path):
    return tmp_path / "work"


def foreign(folder):
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")


def damaged(folder):
    folder.mkdir()
    (folder / "state.json").write_text("{")


def of_another_version(folder):
    Work(folder, reading=READING).close()
    state = json.loads((folder / "state.json").read_bytes())
    (folder / "state.json").write_text(json.dumps(state | {"format": 0}))


def of_another_job(folder):
    Work(folder, reading=READING | {"text": "body"}).close()


def of_another_job_without_its_lock(folder):
    of_another_job(folder)
    (folder / "lock").unlink()


REFUSED = [
    *(foreign, damaged, of_another_version, of_another_job),
    of_another_job_without_its_lock,
]


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_refused_folder_is_left_as_it_was(make, work):
    make(work)
    before = tree(work)
    with pytest.raises(OutputError, match=str(work)):
        Work(work, reading=READING)
    assert tree(work) == before


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("piped", [False, True], ids=["a file", "standard input"])
def test_a_folder_that_a_command_refuses_is_left_as_it_was(make, piped, told, source, work):
    make(work)
    before = tree(work)
    given = source.read_bytes() if piped else b""
    status, output, errors = told(
        "find", "-" if piped else source, "--work", work, "-q", given=given
    )
    assert (status, output) == (1, "")
    assert str(work) in errors
    assert tree(work) == before


def test_other_standard_input_leaves_the_copy_of_the_first(told, source, work):
    given = source.read_bytes()
    assert told("find", "-", "--work", work, "-q", given=given)[0] == 0
    before = tree(work)
    assert before["standard-input/stdin.jsonl"] == given
    status, _, errors = told("find", "-", "--work", work, "-q", given=b'{"id": 1, "text": "a"}')
    assert status == 1
    assert "the files are different, or were changed" in errors
    assert tree(work) == before
    assert told("find", "-", "--work", work, "-q", given=given)[0] == 0
    assert tree(work).keys() == before.keys()


WRONG = {
    "a column that is not there": ({"text": "nope"}, "there is no column 'nope'"),
    "a shingle that is none": ({"shingle": "bogus"}, "is not understood"),
    "vectors that are none": ({"vector": "text", "metric": "cosine"}, "not a list of numbers"),
}


@pytest.mark.parametrize("existed", [False, True], ids=["new", "empty"])
@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
class TestHopeless:
    """The mended command is another job, which the work of the first would refuse."""

    def prepared(self, work, existed):
        if existed:
            work.mkdir()
        return tree(work)

    def test_a_call_that_fails_leaves_the_folder_as_it_was(
        self, options, message, existed, source, work
    ):
        before = self.prepared(work, existed)
        with pytest.raises(LookalikeError, match=message):
            lookalike.find(source, work=work, **options)
        assert tree(work) == before
        assert len(lookalike.find(source, work=work).pairs) > 0

    @pytest.mark.parametrize("piped", [False, True], ids=["a file", "standard input"])
    def test_a_command_that_fails_leaves_the_folder_as_it_was(
        self, options, message, existed, piped, told, source, work
    ):
        before = self.prepared(work, existed)
        given = source.read_bytes() if piped else b""
        common = ["find", "-" if piped else source, "--work", work, "-q"]
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        status, output, errors = told(*common, *flags, given=given)
        assert status in (1, 2)
        assert output == ""
        assert message in errors
        assert tree(work) == before
        assert told(*common, given=given)[0] == 0


def test_a_refused_target_leaves_no_work_folder(told, source, work, tmp_path):
    foreign(tmp_path / "clean")
    status, _, errors = told("dedup", source, "-o", tmp_path / "clean", "--work", work, "-q")
    assert status == 1
    assert "clean is not empty" in errors
    assert tree(work) is None


def test_the_work_of_a_finished_job_outlives_a_failing_one(source, work):
    lookalike.find(source, work=work)
    before = tree(work)
    with pytest.raises(OutputError, match="shingle='auto' then, shingle='words:3' now"):
        lookalike.find(source, work=work, shingle="words:3")
    with pytest.raises(SettingsError, match="shingle='bogus' is not understood"):
        lookalike.find(source, work=work, shingle="bogus")
    assert tree(work) == before


def test_a_folder_of_a_similar_name_beside_is_left_alone(source, tmp_path):
    beside = tmp_path / "work-gone"
    foreign(beside)
    lookalike.find(source, work=tmp_path / "work")
    assert tree(beside) == {"letter.txt": b"dear"}
