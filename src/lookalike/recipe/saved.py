"""The parts of a recipe as plain values for JSON, and back."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.recipe.form import CanonicalForm
from lookalike.recipe.metrics import Cosine, Fingerprints, Jaccard
from lookalike.text.normalise import Normalisation
from lookalike.text.shingles import Shingling, ignoring
from lookalike.text.weighted_shingles import Rarity, Weighting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.recipe.metrics import Metric

__all__ = [
    "FORMAT",
    "form_of",
    "metric_of",
    "packed",
    "plain_form",
    "plain_metric",
    "unpacked",
]

FORMAT = 1
"""Raised whenever the same recipe begins to give other numbers, or is written in another way."""
CODEC = "zstd"


def plain_form(form: CanonicalForm) -> dict[str, Any]:
    """Give a form as plain values."""
    return {
        "kind": form.kind,
        "normalise": str(form.normalisation),
        "counted": form.counted,
        "dimension": form.dimension,
    }


def form_of(plain: dict[str, Any]) -> CanonicalForm:
    """Make a form of plain values."""
    return CanonicalForm(
        Normalisation.parse(plain["normalise"]), plain["counted"], plain["kind"], plain["dimension"]
    )


def plain_metric(metric: Metric) -> dict[str, Any]:
    """Give a metric as plain values, with its tables."""
    plain: dict[str, Any] = {"name": metric.name, "seed": metric.seed}
    shingling = metric.shingling
    if shingling is not None:
        plain |= {"shingle": str(shingling), "multiset": shingling.multiset}
        if shingling.ignored is not None:
            plain["ignored"] = packed(shingling.ignored_hashes)
    if isinstance(metric, Cosine):
        plain |= {"weights": metric.weighting.name, "dimension": metric.dimension}
        if (rarity := metric.weighting.rarity) is not None:
            plain["frequencies"] = {
                "documents": rarity.documents,
                "shingles": packed(rarity.shared),
                "counts": packed(rarity.counts),
            }
    if isinstance(metric, Fingerprints):
        plain |= {"distance": metric.distance, "masks": [f"{mask:016x}" for mask in metric.masks]}
    return plain


def metric_of(plain: dict[str, Any]) -> Metric:
    """Make a metric of plain values."""
    seed = plain["seed"]
    shingling = None
    if "shingle" in plain:
        shingling = Shingling.parse(plain["shingle"], multiset=plain["multiset"])
        if "ignored" in plain:
            table = ignoring(unpacked(plain["ignored"], np.uint64))
            shingling = replace(shingling, ignored=table)
    if plain["name"] == Jaccard.name and shingling is not None:
        return Jaccard(shingling, seed)
    weighting = Weighting(plain["weights"])
    if (known := plain.get("frequencies")) is not None:
        shared = unpacked(known["shingles"], np.uint64)
        counts = unpacked(known["counts"], np.uint32).astype(np.int64)
        weighting = replace(weighting, rarity=Rarity(known["documents"], shared, counts))
    if plain["name"] == Fingerprints.name:
        masks = tuple(int(mask, 16) for mask in plain["masks"])
        distance = plain["distance"]
        return Fingerprints(seed, shingling, weighting, distance=distance, masks=masks)
    return Cosine(seed, shingling, weighting, plain["dimension"])


def packed(values: NDArray[Any]) -> dict[str, Any]:
    """Give an array as text: its bytes, the lowest of a number first, compressed."""
    data = values.astype(values.dtype.newbyteorder("<")).tobytes()
    packed = pa.compress(data, codec=CODEC, asbytes=True)
    return {"length": len(values), CODEC: base64.b64encode(packed).decode()}


def unpacked(plain: dict[str, Any], kind: Any) -> NDArray[Any]:
    """Read an array that was packed."""
    stored_type = np.dtype(kind).newbyteorder("<")
    size = plain["length"] * stored_type.itemsize
    packed = base64.b64decode(plain[CODEC], validate=True)
    data = pa.decompress(packed, decompressed_size=size, codec=CODEC, asbytes=True)
    return np.frombuffer(data, stored_type).astype(kind)
