"""Places of stores for tests; what psycopg is needed for is loaded only where one is asked for."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from store_places import StorePlace

KINDS = ("sqlite", "postgres")


@pytest.fixture
def new_place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], StorePlace]]:
    """Give a function that names an index of a kind which is not there yet."""
    places = pytest.importorskip("store_places", exc_type=ImportError)
    made: list[StorePlace] = []
    number = count()

    def new(kind: str) -> StorePlace:
        place: StorePlace
        if kind == "sqlite":
            place = places.sqlite_place(tmp_path / f"index {next(number)}.lookalike")
        else:
            place = places.postgres_place(request.getfixturevalue("postgres").address())
        made.append(place)
        return place

    yield new
    for place in made:
        place.close()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, new_place: Any) -> Any:
    """Give an index of each kind in turn."""
    return new_place(request.param)
