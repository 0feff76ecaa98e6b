"""The canonical form of documents: all that must be known before a recipe can be chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.read import kind_of, read
from lookalike.read.fields import SPARSE, TEXT, TOKENS, is_vectors
from lookalike.text.normalise import Normalisation, normalise, normalise_text
from lookalike.text.tokens import canonical_tokens
from lookalike.text.vectors import canonical_sparse, canonical_vectors, dimension_of

if TYPE_CHECKING:
    import pyarrow as pa

    from lookalike.settings import Settings
    from lookalike.text.normalise import Canonical

__all__ = ["CanonicalForm"]


@dataclass(frozen=True)
class CanonicalForm:
    """How raw documents become canonical ones, so that equal ones are equal byte for byte."""

    normalisation: Normalisation = field(default_factory=Normalisation)
    counted: bool = False
    """How often a token occurs in a document matters."""
    kind: str | None = None
    """What documents are: text, tokens, vectors or sparse; None where none was seen yet."""
    dimension: int = 0
    """The numbers of a vector."""

    @classmethod
    def of(cls, settings: Settings) -> CanonicalForm:
        """Give the form that settings ask for, for documents of any kind."""
        counted = settings.multiset or settings.metric == "cosine" or settings.simhash is not None
        return cls(Normalisation.parse(settings.normalise), counted)

    def decided_by(self, documents: pa.Array) -> CanonicalForm:
        """Fix the kind, and the numbers of a vector, by the first documents that tell."""
        documents = _as_read(documents)
        if documents.null_count == len(documents):
            return self
        kind = kind_of(documents.type)
        dimension = (dimension_of(documents) or 0) if kind == "vectors" else 0
        return replace(self, kind=kind, dimension=dimension)

    def canonical(self, documents: pa.Array) -> Canonical:
        """Make canonical documents of an Arrow array: of texts, lists of tokens, or vectors.

        A null is an empty document. Raises InvalidTextError or InvalidVectorError, which name the
        rows of those that cannot be.
        """
        documents = _as_read(documents)
        kind = kind_of(documents.type)
        if self.kind not in (None, kind) and documents.null_count < len(documents):
            raise SourceError(
                f"these documents are {kind} where those before them are {self.kind}: compare "
                "documents of one kind at a time"
            )
        if kind == "vectors":
            return canonical_vectors(documents, self.dimension)
        if kind == "sparse":
            return canonical_sparse(documents)
        if kind == "tokens":
            return canonical_tokens(documents, multiset=self.counted)
        return normalise(documents, self.normalisation)

    def canonical_text(self, text: str) -> Canonical:
        """Make one text canonical, as `canonical` does the one document of an array."""
        return normalise_text(text, self.normalisation)


def _as_read(documents: pa.Array) -> pa.Array:
    """Give an array of any type that holds documents as the readers give it."""
    known = documents.type in (TEXT, TOKENS, SPARSE) or is_vectors(documents.type)
    return documents if known else read(documents).texts
