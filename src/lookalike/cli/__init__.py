"""The command line: one file a command, and no algorithms.

Nothing heavy is imported until a command runs, so that help answers at once.
"""

from lookalike.cli.app import main

__all__ = ["main"]
