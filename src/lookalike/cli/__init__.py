"""The command line: one file a command, and no algorithms.

Nothing heavy is imported until a command runs, so that help answers at once.
"""

import sys

__all__ = ["main"]

STOPPED = 130


def main() -> None:
    """Run the program."""
    try:
        from lookalike.cli.app import main as run

        run()
    except KeyboardInterrupt:
        # Before the command began, or after it ended.
        print("lookalike: stopped", file=sys.stderr)
        sys.exit(STOPPED)
