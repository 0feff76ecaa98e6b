"""What a job found, as tables."""

from lookalike.results.ground import Ground, Summary
from lookalike.results.inside import ContainmentResult
from lookalike.results.kept import DedupResult
from lookalike.results.similar import FindResult

__all__ = ["ContainmentResult", "DedupResult", "FindResult", "Ground", "Summary"]
