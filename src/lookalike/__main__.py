"""Run the program as `python -m lookalike`."""

from lookalike.cli import main

main()
