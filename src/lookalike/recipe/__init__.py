"""How documents become canonical text, sketches and keys, and two of them a score."""

from lookalike.recipe.choosing import Chosen, Sample, check, choose, choose_unseen
from lookalike.recipe.form import CanonicalForm
from lookalike.recipe.metrics import PREFILTER_WORDS, JoinResources
from lookalike.recipe.recipe import Encoded, Recipe
from lookalike.recipe.sketch_columns import ColumnChoice, SketchColumns, check_used
from lookalike.recipe.stored_sketches import Stored, StoredSketches
from lookalike.score.jaccard import Scored
from lookalike.score.nearest import Nearest, NearestPair

__all__ = [
    "PREFILTER_WORDS",
    "CanonicalForm",
    "Chosen",
    "ColumnChoice",
    "Encoded",
    "JoinResources",
    "Nearest",
    "NearestPair",
    "Recipe",
    "Sample",
    "Scored",
    "SketchColumns",
    "Stored",
    "StoredSketches",
    "check",
    "check_used",
    "choose",
    "choose_unseen",
]
