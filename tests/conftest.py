"""How the tests run: Hypothesis profiles, the real corpora, and the interpreter's arithmetic."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from lookalike.base import notices
from lookalike.cli import main
from lookalike.kernels.jit import INTERPRETED

ROOT = Path(__file__).parent.parent
# A second conftest.py would take the place of this one, from which tests import.
pytest_plugins = ["spark_fixtures", "store_fixtures"]

slow_is_fine: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=60, derandomize=True, **slow_is_fine)
settings.register_profile("interpreted", max_examples=15, derandomize=True, **slow_is_fine)
settings.register_profile("thorough", max_examples=3000, **slow_is_fine)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "interpreted" if INTERPRETED else "default")
)


@pytest.fixture(autouse=INTERPRETED)
def words_wrap_around():
    """Let 64-bit words wrap in silence where kernels run as plain Python, as they do compiled."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture(autouse=True)
def compile_in_silence(request, monkeypatch):
    """Let no line on compiling come between, in whatever test a kernel is first compiled."""
    if "announced" not in request.keywords:
        monkeypatch.setattr(notices.compiling, "listen", lambda _listener: None)


@pytest.fixture(scope="session", autouse=True)
def few_documents_are_sketched_too():
    """Let a job on a handful of documents take the path of a large one, which is what is tested."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lookalike.recipe.choosing.SMALL_DOCUMENTS", 0)
        yield


@pytest.fixture
def small_is_compared_whole(monkeypatch):
    """Let a small corpus be compared as a whole, as it is outside of the tests."""
    monkeypatch.setattr("lookalike.recipe.choosing.SMALL_DOCUMENTS", 200)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Give the folder of the real corpora, or skip."""
    folder = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "articles" / "docs.jsonl").exists():
        pytest.skip("the real corpora are not here; LOOKALIKE_DATA names their folder")
    return folder


@pytest.fixture(scope="session")
def sample_documents() -> Path:
    """Give the folder of the shipped sample documents."""
    return ROOT / "examples" / "documents"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Give the address of a server of PostgreSQL."""
    with pytest.importorskip("postgres", exc_type=ImportError).running_server() as address:
        yield address


@pytest.fixture
def postgres(postgres_server):
    """Give names for indexes in PostgreSQL, which are dropped after the test."""
    schemas = pytest.importorskip("postgres").Schemas(postgres_server)
    yield schemas
    schemas.drop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Give the browser of this process."""
    with pytest.importorskip("browser", exc_type=ImportError).running_browser() as running:
        yield running


@pytest.fixture
def new_page(browser):
    """Give a function that opens a page, `new_page(color_scheme="dark")`, and watches over it."""
    with contextlib.ExitStack() as pages:
        yield lambda **options: pages.enter_context(browser.page(**options))


@pytest.fixture
def page(new_page):
    """Give a page as wide as a desk's, in which any request, error or violation fails the test."""
    return new_page()


@pytest.fixture
def told(monkeypatch, capfdbinary):
    """Give a function that runs the program in this process: status, output, errors."""

    # What a command does without, other tests of this process use.
    monkeypatch.setattr("sys.meta_path", sys.meta_path[:])

    def tell(*arguments, columns=80, given=b""):
        monkeypatch.setattr(sys, "argv", ["lookalike", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        monkeypatch.setenv("COLUMNS", str(columns))
        try:
            main()
            status: int | str = 0
        except SystemExit as ended:
            status = ended.code or 0
        output, errors = capfdbinary.readouterr()
        return status, output.decode(), errors.decode()

    return tell
