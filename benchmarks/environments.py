"""A virtual environment for each peer, so that none has to agree with another on versions."""

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / ".environments"
ALWAYS = ("numpy", "pyarrow")
PATIENCE = 1800.0


class NotInstalledError(Exception):
    """A peer that cannot be had here, and why, in one line."""


def interpreter(name: str, requires: Sequence[str], folder: Path = FOLDER) -> Path:
    """Give the Python of a peer's environment, made where it is not there yet."""
    home = folder / name
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = home / "installed.json"
    wanted = {"requires": [*ALWAYS, *requires], "python": sys.version}
    if stamp.exists() and python.exists() and json.loads(stamp.read_text()) == wanted:
        return python
    print(f"Installing {', '.join(requires)} into {home}", file=sys.stderr, flush=True)
    venv.create(home, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    try:
        done = subprocess.run(
            [*command, *ALWAYS, *requires],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"not installed after {PATIENCE:,.0f} s") from None
    if done.returncode:
        raise NotInstalledError(f"cannot be installed: {_reason(done.stderr)}")
    stamp.write_text(json.dumps(wanted))
    return python


def _reason(errors: str) -> str:
    """Choose the line that says why pip failed."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return ([*named, *lines[-1:], "pip gave no reason"])[0]
