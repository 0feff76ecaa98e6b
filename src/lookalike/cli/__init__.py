"""The command line: one file a command, and no algorithms.

Nothing heavy is imported until a command runs, so that help answers at once.
"""

import gc
import os
import sys

from lookalike.base.memory import address_limit

__all__ = ["main"]

STOPPED = 130
GC_THRESHOLD = 100_000
"""New objects between two looks for those that are gone: at each thousand, loading takes longer."""


def main() -> None:
    """Run the program."""
    gc.set_threshold(GC_THRESHOLD)
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
