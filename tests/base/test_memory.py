"""How much memory a job may take."""

import pytest

from lookalike.base import memory
from lookalike.base.errors import SettingsError
from lookalike.base.memory import default_memory, parse_size, size


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [
        ("2GB", 2 * 10**9),
        ("2g", 2 * 10**9),
        (" 500 MB ", 5 * 10**8),
        ("1.5GiB", 3 << 29),
        ("0.2tb", 2 * 10**11),
        ("600000KB", 6 * 10**8),
        ("1234567890", 1234567890),
        (700_000_000, 700_000_000),
        (2e9, 2 * 10**9),
        ("500MB", 5 * 10**8),
    ],
)
def test_sizes_are_read_as_people_write_them(given, bytes_):
    assert parse_size(given) == bytes_


@pytest.mark.parametrize("given", ["", "much", "2XB", "-2GB", "2GB!", "5i", "1e9", "nan", True])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(SettingsError, match=r"is not understood: use a size, as 2GB or 500MB"):
        parse_size(given)


@pytest.mark.parametrize("given", ["499.9MB", 0, "5", "476MiB"])
def test_less_than_a_job_needs_is_refused(given):
    with pytest.raises(
        SettingsError, match=rf"memory={given!r} is \S+ [KM]B: use 500\.0 MB or more"
    ):
        parse_size(given)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0 KB"),
        (1234, "1 KB"),
        (1e6, "1.0 MB"),
        (2.5e9, "2.5 GB"),
        (10**12, "1.0 TB"),
        (4e15, "4000.0 TB"),
    ],
)
def test_sizes_are_written_short(number, written):
    assert size(number) == written


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Give a function that writes a file of the system, which has no others."""
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / str(name).lstrip("/"))

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def test_half_of_what_is_free_is_taken(system):
    system("proc/meminfo", "MemTotal:  9000000 kB\nMemAvailable:  4000000 kB\nCached: 5 kB\n")
    assert default_memory() == 4000000 * 1024 // 2


@pytest.mark.parametrize(
    ("most", "used"),
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_that_leaves_less_decides(system, most, used):
    system("proc/meminfo", "MemAvailable: 8000000 kB\n")
    system(f"sys/fs/cgroup/{most}", "3000000000\n")
    system(f"sys/fs/cgroup/{used}", "1000000000\n")
    assert default_memory() == 10**9
    system(f"sys/fs/cgroup/{most}", "30000000000\n")
    assert default_memory() == 8000000 * 1024 // 2


@pytest.mark.parametrize("limit", ["max", "9223372036854771712"])
def test_a_container_without_a_bound_does_not(system, limit):
    system("proc/meminfo", "MemAvailable: 8000000 kB\n")
    system("sys/fs/cgroup/memory.max", f"{limit}\n")
    system("sys/fs/cgroup/memory.current", "1000000000\n")
    assert default_memory() == 8000000 * 1024 // 2


def test_a_full_container_still_gets_the_least(system):
    system("proc/meminfo", "MemAvailable: 8000000 kB\n")
    system("sys/fs/cgroup/memory.max", "1000000000\n")
    system("sys/fs/cgroup/memory.current", "1100000000\n")
    assert default_memory() == memory.MIN_BYTES


def test_a_system_without_such_files_is_asked_otherwise(system, monkeypatch):
    answers = {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": 1_000_000}
    monkeypatch.setattr("os.sysconf", answers.__getitem__)
    assert default_memory() == 4096 * 500_000
    monkeypatch.delattr("os.sysconf")
    assert default_memory() == memory.ASSUMED_FREE_BYTES // 2
