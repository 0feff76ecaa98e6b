"""Run the program as a user does, in a process of its own."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("lookalike.__main__"):
    PROGRAM = [sys.executable, "-m", "lookalike"]
else:
    PROGRAM = [str(Path(sys.executable).with_name("lookalike"))]

COMPILING = "Compiling what is needed here: up to 15 seconds. It is kept for later runs.\n"
DEADLINE = 120
"""Seconds that a command may take; the first run of all compiles."""


def environment(**changes: str) -> dict[str, str]:
    """Give the environment without what would change the output, and with some changes."""
    dropped = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "LOOKALIKE_DEBUG", "PYTHONUTF8")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"TERM": "xterm-256color"} | changes


class Outcome:
    """The exit status of a command, and what it wrote."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status = done.returncode
        self.raw = done.stdout
        # The first run of all compiles, in whatever test that is.
        self.errors = done.stderr.decode().replace(COMPILING, "")

    @property
    def output(self) -> str:
        return self.raw.decode()

    @property
    def lines(self) -> list[str]:
        return self.output.split("\n")[:-1]


def run(*arguments: object, given: bytes = b"", cwd: Path | None = None, **changes: str) -> Outcome:
    """Run a command to its end."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=given,
        capture_output=True,
        env=environment(**changes),
        cwd=cwd,
        timeout=DEADLINE,
        check=False,
    )
    return Outcome(done)


def on_a_terminal(
    *arguments: object, cwd: Path | None = None, stdout: int | None = None, **changes: str
) -> bytes:
    """Run a command to its good end on a terminal of 80 columns, and give what it wrote there."""
    import pty

    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        stdout=follower if stdout is None else stdout,
        stderr=follower,
        env=environment(COLUMNS="80", **changes),
    ) as job:
        os.close(follower)
        written = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # so ends a terminal that nobody writes to any more
                break
            if not piece:
                break
            written += piece
        assert job.wait(DEADLINE) == 0
    os.close(leader)
    return written
