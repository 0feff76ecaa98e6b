"""Compiled code that is kept: where, until when it counts, and that nothing else is run."""

import ctypes
import hashlib
import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaValueError

import lookalike
from lookalike.kernels import cache, compiling, jit, sets

pytestmark = [pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled"), pytest.mark.long]

CODE = """
import numpy as np
from lookalike.base import notices
from lookalike.kernels import buckets
said = []
notices.compiling.listen(said.append)
out = np.empty((1, 1), np.uint64)
buckets.band_keys(np.array([[7]], np.uint32), 1, out)
hits = sum(buckets.band_keys.dispatcher.stats.cache_hits.values())
print(out[0, 0], hits, len(said))
"""
KEY = "8047511768777535361"
COMPILED = [KEY, "0", "1"]
LOADED = [KEY, "1", "0"]
NOWHERE = "/dev/null/nowhere"
PASSING = (
    "Compiling: up to 15 seconds. Compiled code is kept in /passing/lookalike-7 only, which may "
    "not last; name another folder by NUMBA_CACHE_DIR.\n"
)
IN_MEMORY = (
    "Compiling: up to 15 seconds, in every run, as there is no folder to keep compiled code in; "
    "name one that can be written to by NUMBA_CACHE_DIR.\n"
)


class Copy:
    """A copy of the package by itself, and processes that use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "lookalike"
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(lookalike.__file__).parent, self.package, ignore=without)
        self.kept = self.package / "kernels" / "__pycache__"

    def start(self, *arguments: str, options=None, **environment: str) -> subprocess.Popen[str]:
        mine = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**mine, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **(options or {}),
        )

    def run(self, before: str = "", options=None, **environment: str) -> list[str]:
        running = self.start("-c", before + CODE, options=options, **environment)
        output, errors = running.communicate()
        assert errors == ""
        return output.split()

    def files(self) -> list[Path]:
        return sorted(self.kept.glob("*.code"))

    def without_a_place(self) -> dict[str, str]:
        """Put a file in the place of the folder beside the kernels, and give no other."""
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.touch()
        self.passing = self.folder / "passing"
        self.passing.mkdir(mode=0o700)
        return {
            "HOME": "/dev/null",
            "XDG_CACHE_HOME": NOWHERE,
            "NUMBA_CACHE_DIR": NOWHERE,
            "TMPDIR": str(self.passing),
        }


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Give a copy that has compiled already."""
    made = Copy(tmp_path_factory.mktemp("warm"))
    assert made.run() == COMPILED
    return made


class TestUntilWhenItCounts:
    def test_what_was_compiled_is_used_until_what_it_calls_in_another_file_changes(self, copy):
        assert copy.run() == COMPILED
        assert copy.run() == LOADED
        mixing = copy.package / "kernels" / "mixing.py"
        mixing.write_text(mixing.read_text().replace("94D049BB133111EB", "94D049BB133111ED"))
        files = copy.files()
        other, *rest = copy.run()
        assert rest == COMPILED[1:]
        assert other != KEY
        assert copy.files() == files, "what is out of date is replaced"

    def test_code_that_checks_bounds_is_another(self, copy):
        assert copy.run(NUMBA_BOUNDSCHECK="1") == COMPILED
        assert copy.run() == COMPILED
        assert copy.run(NUMBA_BOUNDSCHECK="1") == LOADED
        assert copy.run() == LOADED

    def test_it_counts_for_one_stamp_and_one_name(self, tmp_path):
        cache.write(tmp_path / "a", b"stamp", b"code")
        assert cache.read(tmp_path / "a", b"stamp") == b"code"
        assert cache.read(tmp_path / "a", b"other") is None
        (tmp_path / "a").rename(tmp_path / "b")
        assert cache.read(tmp_path / "b", b"stamp") is None
        assert cache.read(tmp_path / "a", b"stamp") is None

    def test_functions_that_are_no_part_of_the_package_are_not_kept(self):
        kernel = jit.Kernel(lambda x: x + 1, nogil=True)
        assert kernel(1) == 2
        assert kernel.dispatcher.stats.cache_path is None


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def damaged(data: bytes):
    for length in {0, 1, cache.DIGEST_BYTES, cache.DIGEST_BYTES + 1, len(data) // 2, len(data) - 1}:
        yield data[:length]
    for at in {
        0,
        cache.DIGEST_BYTES - 1,
        cache.DIGEST_BYTES,
        len(data) // 3,
        len(data) // 2,
        len(data) - 1,
    }:
        yield flipped(data, at)
    yield data + b"\0"
    yield bytes(len(data))
    yield os.urandom(len(data))


def all_replaced(damage):
    def replace(files: list[Path]) -> None:
        for path in files:
            path.write_bytes(damage(path.read_bytes()))

    return replace


def swapped(files: list[Path]) -> None:
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)


def one_of_another_machine(files: list[Path]) -> None:
    """Leave the kernel's own file, and put one for other arguments beside it, under its name."""
    own = next(path for path in files if path.name.startswith("buckets.band_keys-"))
    other = hashlib.blake2b(b"other", digest_size=12).hexdigest()
    own.rename(own.with_name(f"buckets.band_keys-{other}.code"))


class TestDamage:
    def test_no_kept_file_is_taken_that_is_not_as_it_was_written(self, tmp_path):
        lookalike.compare("some words", "some other words")
        place = cache.cache_folder()
        assert place
        files = [path for path in place.path.glob("*.code") if cache.read(path, compiling.STAMP)]
        assert len(files) > 10
        for path in files:
            copied = tmp_path / path.name
            shutil.copy(path, copied)
            assert cache.read(copied, compiling.STAMP) is not None
            for damage in damaged(path.read_bytes()):
                copied.write_bytes(damage)
                assert cache.read(copied, compiling.STAMP) is None

    @pytest.mark.parametrize(
        "damage",
        [
            all_replaced(lambda data: b""),
            all_replaced(lambda data: data[: len(data) // 2]),
            all_replaced(lambda data: flipped(data, len(data) // 2)),
            all_replaced(lambda data: os.urandom(len(data))),
            swapped,
            one_of_another_machine,
        ],
        ids=["emptied", "cut", "flipped", "random", "swapped", "another's"],
    )
    def test_the_result_is_right_and_the_file_mended(self, warm, damage):
        files = warm.files()
        assert len(files) > 1
        damage(files)
        assert warm.run() == COMPILED
        assert warm.run() == LOADED

    def test_what_stands_in_a_damaged_file_is_not_unpickled(self, warm, tmp_path):
        ran = tmp_path / "ran"

        class Trap:
            def __reduce__(self):
                return Path.touch, (ran,)

        for path in warm.files():
            path.write_bytes(path.read_bytes()[: cache.DIGEST_BYTES] + pickle.dumps(Trap()))
        assert warm.run() == COMPILED
        assert not ran.exists()

    def test_a_folder_in_the_place_of_a_file_does_no_harm(self, warm):
        paths = warm.files()
        for path in paths:
            path.unlink()
            path.mkdir()
        assert warm.run() == COMPILED
        for path in paths:
            path.rmdir()
        assert warm.run() == COMPILED
        assert not list(warm.kept.glob("*.tmp"))


class TestWriting:
    def test_processes_that_compile_at_once_do_not_disturb_each_other(self, copy):
        running = [copy.start("-c", CODE) for _ in range(4)]
        for process in running:
            output, errors = process.communicate()
            assert (output.split()[0], errors) == (KEY, "")
        assert not list(copy.kept.glob("*.tmp"))
        assert copy.run() == LOADED

    def test_a_disk_without_room_changes_no_result_and_a_later_run_keeps_it(self, copy):
        # The system refuses to let any file grow past this, as it does on a full disk.
        small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        assert copy.run(small) == COMPILED
        assert not list(copy.kept.glob("*.tmp")) + copy.files()
        assert copy.run() == COMPILED
        assert copy.run(small) == LOADED

    def test_a_process_that_reads_a_file_while_it_is_replaced_reads_all_of_it(self, tmp_path):
        cache.write(tmp_path / "kept", b"stamp", b"before")
        with (tmp_path / "kept").open("rb") as reading:
            cache.write(tmp_path / "kept", b"stamp", b"after")
            assert reading.read().endswith(b"before")
        assert cache.read(tmp_path / "kept", b"stamp") == b"after"

    def test_nothing_is_left_of_a_file_that_could_not_be_written(self, tmp_path, monkeypatch):
        def fill(path, data):
            path.write_text("begun")
            raise OSError(28, "No space left on device")

        cache.write(tmp_path / "kept", b"stamp", b"before")
        monkeypatch.setattr(Path, "write_bytes", fill)
        cache.write(tmp_path / "kept", b"stamp", b"after")
        assert cache.read(tmp_path / "kept", b"stamp") == b"before"
        assert [path.name for path in tmp_path.iterdir()] == ["kept"]


class TestPlace:
    def test_a_private_folder_among_temporary_files_is_the_last_resort(self, copy):
        nowhere = copy.without_a_place()
        assert copy.run(**nowhere) == COMPILED
        (folder,) = copy.passing.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert copy.run(**nowhere) == LOADED

    def test_without_any_the_code_is_compiled_in_memory_every_time(self, copy):
        nowhere = copy.without_a_place()
        copy.passing.chmod(0o777)
        for _ in range(2):
            assert copy.run(**nowhere) == COMPILED
        assert list(copy.passing.iterdir()) == []

    @pytest.mark.announced
    @pytest.mark.parametrize(
        ("place", "line"),
        [
            (cache.CacheFolder(Path("/passing/lookalike-7"), persistent=False), PASSING),
            (None, IN_MEMORY),
        ],
        ids=["passing", "none"],
    )
    def test_one_line_says_that_code_does_not_last(self, told, tmp_path, monkeypatch, place, line):
        for name in "ab":
            (tmp_path / name).write_text(f"the words of {name}, and some that both have")
        pair = tmp_path / "a", tmp_path / "b"
        _, output, _ = told("compare", *pair)
        monkeypatch.setattr(cache, "cache_folder", lambda: place)
        for quiet, said in (((), line), (("--quiet",), "")):
            # As in another process: nothing is loaded yet.
            monkeypatch.delitem(sets.element_sets.__dict__, "_dispatcher", raising=False)
            assert told("compare", *quiet, *pair) == (0, output, said)

    @pytest.fixture
    def chosen(self, tmp_path, monkeypatch):
        """Give a function that chooses among folders of this test alone."""
        for name in ("kernels", "home", "passing"):
            (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setattr(cache, "KERNEL_FOLDER", tmp_path / "kernels")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

        def choose() -> str | None:
            place = cache.cache_folder.__wrapped__()
            assert place is None or place.persistent is ("passing" not in str(place.path))
            return place and str(place.path.relative_to(tmp_path))

        return choose

    def test_folders_are_tried_in_their_order(self, chosen, tmp_path, monkeypatch):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
        assert chosen().startswith("named/lookalike-")
        monkeypatch.setenv("NUMBA_CACHE_DIR", NOWHERE)
        assert chosen() == "kernels/__pycache__"
        (tmp_path / "kernels" / "__pycache__").rmdir()
        (tmp_path / "kernels" / "__pycache__").touch()
        assert chosen().startswith("home/.cache/lookalike/")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "others"))
        assert chosen().startswith("others/lookalike/")
        monkeypatch.setenv("XDG_CACHE_HOME", "a/relative/one")
        assert chosen().startswith("home/.cache/lookalike/")
        monkeypatch.setenv("HOME", "/dev/null")
        assert chosen().startswith(f"passing/lookalike-{os.getuid()}-")
        monkeypatch.setattr("tempfile.tempdir", NOWHERE)
        assert chosen() is None

    @pytest.fixture
    def planted(self, chosen, tmp_path, monkeypatch):
        """Give the folder among temporary files, and leave no other choice."""
        (tmp_path / "kernels" / "__pycache__").touch()
        monkeypatch.setenv("HOME", "/dev/null")
        folder = tmp_path / chosen()
        assert chosen() is not None
        return folder

    def test_one_that_others_can_write_to_is_refused(self, chosen, planted):
        for mode in (0o720, 0o702, 0o777):
            planted.chmod(mode)
            assert chosen() is None
        planted.chmod(0o755)
        assert chosen() is not None

    def test_one_that_is_another_users_is_refused(self, chosen, planted, monkeypatch):
        mine = os.getuid()
        monkeypatch.setattr(cache, "_user", lambda: mine)
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)
        assert cache._is_private(planted) is False
        assert chosen() is None

    def test_a_link_to_another_is_refused(self, chosen, planted):
        planted.rename(planted.with_name("real"))
        planted.symlink_to(planted.with_name("real"))
        assert chosen() is None

    def test_a_file_of_its_name_is_no_folder(self, chosen, planted):
        planted.rmdir()
        planted.touch()
        assert chosen() is None

    def test_one_is_refused_that_others_could_replace_by_their_own(self, chosen, planted):
        planted.parent.chmod(0o777)
        assert chosen() is None
        planted.parent.chmod(0o1777)
        assert chosen() is not None

    def test_the_users_own_is_refused_where_another_could_have_written(
        self, chosen, tmp_path, monkeypatch
    ):
        (tmp_path / "kernels" / "__pycache__").touch()
        folder = tmp_path / chosen()
        assert folder.is_relative_to(tmp_path / "home")
        folder.chmod(0o777)
        assert chosen().startswith("passing/")


def bound_by_permissions() -> None:
    """Let permissions bind root too, in the process that is about to start."""
    if os.getuid() == 0:
        drop, override, search = 24, 1, 2
        for capability in (override, search):
            ctypes.CDLL(None).prctl(drop, capability)


def test_packages_and_a_home_that_can_only_be_read_are_enough(copy):
    home = copy.folder / "home"
    home.mkdir()
    folders = [home, copy.package, *(path for path in copy.package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    passing = copy.folder / "passing"
    passing.mkdir(mode=0o700)
    nowhere = {"HOME": str(home), "XDG_CACHE_HOME": "", "TMPDIR": str(passing)}
    bound = {"preexec_fn": bound_by_permissions}
    try:
        attempt = copy.start("-c", f"open({str(home / 'new')!r}, 'w')", options=bound)
        if "PermissionError" not in attempt.communicate()[1]:
            pytest.skip("permissions do not bind this user")
        assert copy.run(options=bound, **nowhere) == COMPILED
        assert len(list(passing.iterdir())) == 1
        assert copy.run(options=bound, **nowhere) == LOADED
    finally:
        for folder in folders:
            folder.chmod(0o755)


@pytest.mark.parametrize("writeable", [True, False])
def test_arrays_have_the_types_that_numba_gives_them(monkeypatch, writeable):
    kinds = ("u1", "u4", "u8", "i4", "i8", "f4", "f8", "?")
    arrays: list[Any] = [np.zeros((3, 4), kind) for kind in kinds]
    arrays += [arrays[0].T, arrays[0][:, ::2], arrays[0][:0], np.zeros(0), np.zeros((2, 3, 4))]
    arrays += [np.zeros(2, "c16"), np.zeros(2, "U3"), np.zeros(2, "M8[s]")]
    for array in arrays:
        array.flags.writeable = writeable
    known = [compiling._type_of_any(array, None) for array in arrays]
    monkeypatch.delitem(sys.modules, "numpy.ma", raising=False)
    assert [compiling._type_of(array, None) for array in arrays] == known
    with pytest.raises(NumbaValueError, match="Unsupported array dtype"):
        compiling._type_of(np.zeros(2, ">u4"), None)


def test_masked_arrays_are_refused_as_by_numba():
    with pytest.raises(numba.TypingError, match="MaskedArray"):
        numba.typeof(np.ma.zeros(3))
