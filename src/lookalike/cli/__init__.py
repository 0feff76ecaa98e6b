"""The command line: one file a command, and no algorithms.

Nothing heavy is imported until a command runs, so that help answers at once.
"""

import gc
import os
import sys

from lookalike.base.memory import address_limit
from lookalike.cli import clock

__all__ = ["find_everything", "main"]

STOPPED = 130
UNUSED = ("pandas",)
"""What Arrow loads, where it is installed, with the first column that is made of a list: a fifth of
a second, for what no command has a use for."""
GC_THRESHOLD = 100_000
"""New objects between two looks for those that are gone: at each thousand, loading takes longer."""


class _Unused:
    """Finds no module, and keeps others from finding what is not used."""

    def find_spec(self, name: str, *_: object) -> None:
        if name in UNUSED:
            raise ModuleNotFoundError(name, name=name)


def find_everything() -> None:
    """Let modules be found again that no other command has a use for."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Unused)]


def main() -> None:
    """Run the program."""
    clock.begin()
    gc.set_threshold(GC_THRESHOLD)
    sys.meta_path.insert(0, _Unused())
    if address_limit() is not None:
        # Arrow's own allocator reserves a gigabyte of addresses at once, which others then lack.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        from lookalike.cli.app import main as run

        run()
    except KeyboardInterrupt:
        # Before the command began, or after it ended.
        print("lookalike: stopped", file=sys.stderr)
        sys.exit(STOPPED)
    except MemoryError:
        print("lookalike: there is not enough memory to start", file=sys.stderr)
        sys.exit(1)
    finally:
        clock.end()
