"""Find the documents in a pile that are the same or nearly the same, and be right about it.

>>> import lookalike
>>> result = lookalike.find(["a rose is a rose", "A rose  is a rose", "quite another text"])
>>> result.pairs.to_pylist()
[{'a': 0, 'b': 1, 'similarity': 1.0, 'score': 'exact'}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.base.lazy_names import on_first_use

if TYPE_CHECKING:
    from lookalike import spark
    from lookalike.api import (
        boilerplate,
        compare,
        compare_all,
        contained,
        dedup,
        find,
        paths,
        plan_corpus,
        report,
        sketch,
        write_sketches,
    )
    from lookalike.base.errors import (
        BinaryFileError,
        DamagedError,
        EncodingError,
        InvalidTextError,
        InvalidVectorError,
        LookalikeError,
        MemoryLimitError,
        MissingExtraError,
        NoTextError,
        OutputError,
        QuadraticError,
        SettingsError,
        SourceError,
        SparkError,
        UnreadableError,
    )
    from lookalike.index.adding import Added
    from lookalike.index.checking import Checked
    from lookalike.index.index import Index
    from lookalike.index.matches import Admission, Match
    from lookalike.learn.lesson import Lesson, lesson
    from lookalike.learn.matrix_lesson import MatrixLesson, matrix_lesson
    from lookalike.planning.curves import Cascade
    from lookalike.planning.estimator import EstimatorError, estimator_error
    from lookalike.planning.plan import Plan, plan
    from lookalike.recipe import Recipe
    from lookalike.results import (
        BoilerplateResult,
        ContainmentResult,
        DedupResult,
        FindResult,
        Result,
        Summary,
    )
    from lookalike.score.comparison import ComparedPair, Comparison, Comparisons, Containment
    from lookalike.settings import Settings
    from lookalike.text.passages import Passage

__version__ = "0.1.0"

# Everything loads on first use: `lookalike --help` must not wait for a compiler.
_HOMES = {
    "Added": "index.adding",
    "Admission": "index.matches",
    "BinaryFileError": "base.errors",
    "EncodingError": "base.errors",
    "EstimatorError": "planning.estimator",
    "BoilerplateResult": "results",
    "Cascade": "planning.curves",
    "Checked": "index.checking",
    "ComparedPair": "score.comparison",
    "Comparison": "score.comparison",
    "Comparisons": "score.comparison",
    "Containment": "score.comparison",
    "ContainmentResult": "results",
    "DamagedError": "base.errors",
    "DedupResult": "results",
    "FindResult": "results",
    "Index": "index.index",
    "InvalidTextError": "base.errors",
    "InvalidVectorError": "base.errors",
    "Lesson": "learn.lesson",
    "LookalikeError": "base.errors",
    "Match": "index.matches",
    "MatrixLesson": "learn.matrix_lesson",
    "MemoryLimitError": "base.errors",
    "MissingExtraError": "base.errors",
    "NoTextError": "base.errors",
    "OutputError": "base.errors",
    "Passage": "text.passages",
    "Plan": "planning.plan",
    "QuadraticError": "base.errors",
    "Recipe": "recipe",
    "Result": "results",
    "Settings": "settings",
    "SettingsError": "base.errors",
    "SourceError": "base.errors",
    "SparkError": "base.errors",
    "Summary": "results",
    "UnreadableError": "base.errors",
    "boilerplate": "api",
    "compare": "api",
    "compare_all": "api",
    "contained": "api",
    "dedup": "api",
    "estimator_error": "planning.estimator",
    "find": "api",
    "lesson": "learn.lesson",
    "matrix_lesson": "learn.matrix_lesson",
    "paths": "api",
    "plan": "planning.plan",
    "plan_corpus": "api",
    "report": "api",
    "sketch": "api",
    "write_sketches": "api",
}

_MODULES = ("spark",)
"""Packages that are public by themselves."""

__getattr__ = on_first_use(__name__, _HOMES, _MODULES)

__all__ = [
    "Added",
    "Admission",
    "BinaryFileError",
    "BoilerplateResult",
    "Cascade",
    "Checked",
    "ComparedPair",
    "Comparison",
    "Comparisons",
    "Containment",
    "ContainmentResult",
    "DamagedError",
    "DedupResult",
    "EncodingError",
    "EstimatorError",
    "FindResult",
    "Index",
    "InvalidTextError",
    "InvalidVectorError",
    "Lesson",
    "LookalikeError",
    "Match",
    "MatrixLesson",
    "MemoryLimitError",
    "MissingExtraError",
    "NoTextError",
    "OutputError",
    "Passage",
    "Plan",
    "QuadraticError",
    "Recipe",
    "Result",
    "Settings",
    "SettingsError",
    "SourceError",
    "SparkError",
    "Summary",
    "UnreadableError",
    "boilerplate",
    "compare",
    "compare_all",
    "contained",
    "dedup",
    "estimator_error",
    "find",
    "lesson",
    "matrix_lesson",
    "paths",
    "plan",
    "plan_corpus",
    "report",
    "sketch",
    "spark",
    "write_sketches",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})
