"""The options of every command, and the settings of a job."""

from lookalike.settings.commands import (
    BoilerplateOptions,
    CompareOptions,
    ContainedOptions,
    DedupOptions,
    FindOptions,
    LearnOptions,
    LessonOptions,
    MatrixLessonOptions,
    PlanOptions,
    SketchFileOptions,
    SketchOptions,
)
from lookalike.settings.options import FORMATS, METRICS, WEIGHTS, Measured
from lookalike.settings.settings import FORMAT, Settings, check_share, settings_of
from lookalike.settings.spark_options import SparkDedupOptions, SparkFindOptions

__all__ = [
    "FORMAT",
    "FORMATS",
    "METRICS",
    "WEIGHTS",
    "BoilerplateOptions",
    "CompareOptions",
    "ContainedOptions",
    "DedupOptions",
    "FindOptions",
    "LearnOptions",
    "LessonOptions",
    "MatrixLessonOptions",
    "Measured",
    "PlanOptions",
    "Settings",
    "SketchFileOptions",
    "SketchOptions",
    "SparkDedupOptions",
    "SparkFindOptions",
    "check_share",
    "settings_of",
]
