"""What the ids and the metadata of an index are, as far as it was told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import DamagedError, SettingsError
from lookalike.base.wording import quoted
from lookalike.index import metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Columns", "id_text", "is_whole"]

WHOLE_BITS = 63
"""Of a whole number in a table, beside its sign."""


@dataclass(frozen=True)
class Columns:
    """Ids are whole numbers where all are, else text; metadata has a type for each field."""

    whole_ids: bool = True
    metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, text: str | None) -> Columns:
        """Read what `dump` wrote."""
        if text is None:
            return cls()
        plain = json.loads(text)
        return cls(plain["whole_ids"], plain["metadata"])

    def dump(self) -> str:
        """Write it as JSON."""
        return json.dumps({"whole_ids": self.whole_ids, "metadata": dict(self.metadata)})

    def with_ids(self, *, whole: bool) -> Columns:
        """Give the columns with more ids: text, as soon as one is."""
        return self if whole or not self.whole_ids else replace(self, whole_ids=False)

    def with_metadata(self, types: Mapping[str, str], id: object) -> Columns:
        """Give the columns with more fields."""
        if types.items() <= self.metadata.items():
            return self
        return replace(self, metadata=metadata.merged(self.metadata, types, id))

    def joined(self, other: Columns) -> Columns:
        """Give what the ids and metadata of both are."""
        return self.with_ids(whole=other.whole_ids).with_metadata(other.metadata, None)

    def id(self, text: str) -> str | int:
        """Give an id as it was given."""
        if not self.whole_ids:
            return text
        try:
            return int(text)
        except ValueError:
            raise DamagedError(
                f"the index is damaged, all its ids are numbers and {quoted(text)} is none: "
                "restore a copy of it, or make it again"
            ) from None


def is_whole(id: Any) -> bool:
    """Tell whether an id can stand in a column of whole numbers."""
    return not isinstance(id, str) and -(1 << WHOLE_BITS) <= int(id) < 1 << WHOLE_BITS


def id_text(given: Any) -> str:
    """Give an id as it is stored."""
    if isinstance(given, str):
        try:
            given.encode()
        except UnicodeEncodeError:
            raise SettingsError(
                f"the id {quoted(given)} is no Unicode text: give another"
            ) from None
        if "\0" in given:
            raise SettingsError(f"the id {quoted(given)} has a null character: give another")
        return given
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise SettingsError(
            f"an id is a text or a whole number, not {type(given).__name__}: give another"
        )
    return str(int(given))
