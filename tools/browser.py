"""Find a Chromium for the tests of the pages, or install it where that may be done.

Installed it is by root on a system with apt-get, as in a container or on a build machine. Anywhere
else a line says that the pages are not tested, and what would change that. Nothing here fails.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NOT_TESTED = "no Chromium on the path, so the pages are NOT tested in a browser; install one"
SECONDS = 600


def find() -> str | None:
    """Give the path of the first browser there is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def may_install() -> bool:
    """Tell whether this user may install packages, without a question to anybody."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install() -> str:
    """Install Debian's Chromium, and give what went wrong, if anything did."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    steps = (("update",), ("install", "--yes", "--no-install-recommends", "chromium"))
    for step in steps:
        try:
            done = subprocess.run(
                ("apt-get", "-qq", *step),
                env=environment,
                timeout=SECONDS,
                capture_output=True,
                text=True,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"apt-get {step[0]} failed"])[-1]
    return ""


def main() -> None:
    """Say which browser the tests use."""
    wrong = install() if find() is None and may_install() else ""
    path = find()
    if path:
        print(f"pages are tested in {path}")
    else:
        print(f"{NOT_TESTED}{f' (apt-get: {wrong})' if wrong else ''}", file=sys.stderr)


if __name__ == "__main__":
    main()
