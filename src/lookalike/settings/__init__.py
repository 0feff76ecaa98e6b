"""The options of every command, and the settings of a job."""

from lookalike.settings.commands import (
    BoilerplateOptions,
    CompareAllOptions,
    CompareOptions,
    ContainedOptions,
    DedupOptions,
    FindOptions,
    LearnOptions,
    LessonOptions,
    MatrixLessonOptions,
    PlanCommandOptions,
    PlanCorpusOptions,
    PlanOptions,
    ReportOptions,
    SketchFileOptions,
    SketchOptions,
)
from lookalike.settings.options import FORMATS, METRICS, WEIGHTS, Measured
from lookalike.settings.settings import FORMAT, Settings, check_share, settings_of
from lookalike.settings.spark_options import (
    DedupCommandOptions,
    FindCommandOptions,
    SparkDedupOptions,
    SparkFindOptions,
)

__all__ = [
    "FORMAT",
    "FORMATS",
    "METRICS",
    "WEIGHTS",
    "BoilerplateOptions",
    "CompareAllOptions",
    "CompareOptions",
    "ContainedOptions",
    "DedupCommandOptions",
    "DedupOptions",
    "FindCommandOptions",
    "FindOptions",
    "LearnOptions",
    "LessonOptions",
    "MatrixLessonOptions",
    "Measured",
    "PlanCommandOptions",
    "PlanCorpusOptions",
    "PlanOptions",
    "ReportOptions",
    "Settings",
    "SketchFileOptions",
    "SketchOptions",
    "SparkDedupOptions",
    "SparkFindOptions",
    "check_share",
    "settings_of",
]
