"""How documents become canonical text, sketches and keys, and two of them a score."""

from lookalike.recipe.choosing import Chosen, Sample, check, choose
from lookalike.recipe.form import CanonicalForm
from lookalike.recipe.metrics import PREFILTER_WORDS, JoinResources
from lookalike.recipe.recipe import Encoded, Recipe
from lookalike.recipe.sketch_columns import ColumnChoice, SketchColumns

__all__ = [
    "PREFILTER_WORDS",
    "CanonicalForm",
    "Chosen",
    "ColumnChoice",
    "Encoded",
    "JoinResources",
    "Recipe",
    "Sample",
    "SketchColumns",
    "check",
    "choose",
]
