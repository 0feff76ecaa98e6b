"""What a job found, as tables."""

from lookalike.results.contained import ContainmentResult
from lookalike.results.dedup import DedupResult
from lookalike.results.documents import Ground, Summary
from lookalike.results.find import FindResult

__all__ = ["ContainmentResult", "DedupResult", "FindResult", "Ground", "Summary"]
