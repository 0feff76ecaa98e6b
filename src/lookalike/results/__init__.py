"""What a job found: data that can be written, opened again and closed."""

from lookalike.results.boilerplate import BoilerplateResult
from lookalike.results.contained import ContainmentResult
from lookalike.results.dedup import DedupResult
from lookalike.results.find import FindResult
from lookalike.results.result import Result
from lookalike.results.summary import Summary

__all__ = [
    "BoilerplateResult",
    "ContainmentResult",
    "DedupResult",
    "FindResult",
    "Result",
    "Summary",
]
