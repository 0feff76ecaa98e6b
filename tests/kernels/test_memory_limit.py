"""Memory that is refused: one line, or an error of Lookalike's, and never an abort."""

import errno
import re
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest

import lookalike
from lookalike.base import memory
from lookalike.kernels import jit

pytestmark = pytest.mark.long

COMMAND = "from lookalike.cli import main; main()"
LOW = 900_000


def limited(kilobytes: int, code: str, *arguments: object) -> tuple[int, str, str]:
    """Run Python under a limit of its address space, as `ulimit -v` sets it."""
    limit = kilobytes * 1024
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # without the check, it may hang
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return done.returncode, done.stdout, done.stderr


needs_limits = pytest.mark.skipif(
    jit.INTERPRETED or not sys.platform.startswith("linux"),
    reason="nothing is compiled, or the system keeps no such limit",
)


@needs_limits
class TestLimitsOfTheSystem:
    @pytest.mark.parametrize(
        "arguments",
        [["find"], ["dedup", "--dry-run"], ["sketch", "-o", "{}/sketches.parquet"]],
        ids=lambda arguments: arguments[0],
    )
    def test_one_line_says_how_much_is_needed(self, sample_documents, tmp_path, arguments):
        command, *options = [part.format(tmp_path) for part in arguments]
        status, output, errors = limited(LOW, COMMAND, command, sample_documents, *options)
        assert (status, output) == (1, "")
        assert re.fullmatch(
            r"lookalike: the address space of this process is limited to 921\.6 MB, of which "
            r"[0-9.]+ MB is free, and compiled code takes 1\.0 GB: raise the limit, by ulimit -v "
            r"[0-9]+ or more\n",
            errors,
        )
        assert list(tmp_path.iterdir()) == []

    def test_two_files_are_compared_under_the_limit_that_the_line_names(self, sample_documents):
        names = ("sourdough-copy.txt", "sourdough-proofread.txt")
        pair = [sample_documents / "bread" / name for name in names]
        status, _, errors = limited(LOW, COMMAND, "compare", *pair)
        assert status == 1
        (named,) = re.findall(r"ulimit -v ([0-9]+)", errors)
        status, output, _ = limited(int(named), COMMAND, "compare", *pair)
        assert status == 0
        assert output.startswith("similarity  0.")

    def test_documents_are_found_under_the_limit_that_the_line_names(self, sample_documents):
        status, _, errors = limited(LOW, COMMAND, "find", sample_documents)
        assert status == 1
        (named,) = re.findall(r"ulimit -v ([0-9]+)", errors)
        status, output, _ = limited(int(named), COMMAND, "find", sample_documents, "--quiet")
        assert status == 0
        assert output.startswith("10 similar pairs")

    def test_what_runs_no_kernel_runs_under_it(self):
        status, output, errors = limited(LOW, COMMAND, "plan")
        assert (status, errors) == (0, "")
        assert output.startswith("Plan: ")

    def test_in_python_it_is_an_error_of_lookalikes(self):
        code = """
import lookalike
try:
    lookalike.find(["a text", "a text"])
except lookalike.MemoryLimitError as error:
    print(isinstance(error, lookalike.LookalikeError), isinstance(error, MemoryError))
"""
        assert limited(LOW, code) == (0, "True True\n", "")

    def test_libraries_that_cannot_be_mapped_are_a_lack_of_memory(self, sample_documents):
        status, output, errors = limited(200_000, COMMAND, "find", sample_documents)
        assert (status, output) == (1, "")
        assert errors.startswith("lookalike: there is not enough memory: ")
        assert errors.count("\n") == 1


class TestChecking:
    @pytest.fixture
    def limit(self, monkeypatch):
        """Give a function that sets what the system says the limit is, and what is used."""

        def set_to(limit, used):
            monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
            monkeypatch.setattr(memory, "_address_space", lambda: used)

        return set_to

    def test_what_is_free_counts_not_the_limit(self, limit):
        limit(memory.COMPILER_BYTES + 5, 5)
        memory.check_address_space()
        limit(memory.COMPILER_BYTES + 5, 6)
        with pytest.raises(
            lookalike.MemoryLimitError, match=r"limited to 1\.0 GB, of which 1000\.0 MB"
        ):
            memory.check_address_space()

    def test_more_may_be_used_than_the_limit_allows(self, limit):
        limit(10**8, 3 * 10**8)
        with pytest.raises(lookalike.MemoryLimitError, match="of which 0 KB is free"):
            memory.check_address_space()

    def test_without_a_limit_there_is_nothing_to_refuse(self, limit):
        limit(resource.RLIM_INFINITY, 10**15)
        memory.check_address_space()

    def test_where_systems_have_no_limits_nothing_is_checked(self, limit, monkeypatch):
        limit(1, 1)
        monkeypatch.setitem(sys.modules, "resource", None)
        memory.check_address_space()

    def test_the_limit_that_is_named_is_enough(self, limit):
        for used in (0, 3 * 10**8, 12345678901):
            limit(1, used)
            with pytest.raises(lookalike.MemoryLimitError) as refused:
                memory.check_address_space()
            (named,) = re.findall(r"ulimit -v ([0-9]+)", str(refused.value))
            limit(int(named) * 1024, used)
            memory.check_address_space()

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systems tell it elsewhere")
    def test_what_is_used_is_asked_of_the_system(self):
        before = memory._address_space()
        taken = bytearray(1 << 27)
        assert memory._address_space() - before >= len(taken)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_memory_that_is_refused_in_the_middle_is_one_line(told, monkeypatch, error):
    def refuse(*_arguments, **_options):
        raise error

    monkeypatch.setattr("lookalike.plan", refuse)
    status, output, errors = told("plan")
    assert (status, output) == (1, "")
    assert errors.startswith("lookalike: there is not enough memory: use fewer documents")
    assert errors.count("\n") == 1


def test_other_errors_of_these_kinds_are_not_taken_for_it(told, monkeypatch):
    def refuse(*_arguments, **_options):
        raise RuntimeError("something else")

    monkeypatch.setattr("lookalike.plan", refuse)
    assert "RuntimeError: something else" in told("plan")[2]


def test_memory_that_is_refused_at_the_start_is_one_line(told, monkeypatch):
    def run():
        raise MemoryError

    monkeypatch.setitem(sys.modules, "lookalike.cli.app", SimpleNamespace(main=run))
    assert told("plan") == (1, "", "lookalike: there is not enough memory to start\n")
