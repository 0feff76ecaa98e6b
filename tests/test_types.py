"""What a user's type checker sees of the public names."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT  # type: ignore[import-not-found]

pytest.importorskip("mypy")

ARROW = """
from typing import Any
class DataType: ...
class Schema: ...
class Array: ...
class ChunkedArray: ...
class RecordBatch: ...
class Table: ...
def __getattr__(name: str) -> Any: ...
"""
"""As far as pyarrow has types: what it is installed with has none, pyarrow-stubs more."""

REVEALED = {
    "found": "lookalike.results.find.FindResult",
    "found.pairs": "pyarrow.Table",
    "found.top(3)": "pyarrow.Table",
    "found.clusters": "pyarrow.Table",
    "found.empty": "pyarrow.Array",
    "found.pair_count": "int",
    "found.cluster_count": "int",
    "found.summary": "lookalike.results.summary.Summary",
    "found.summary.documents": "int",
    "found.summary.warnings": "tuple[str, ...]",
    "found.plan": "lookalike.planning.plan.Plan",
    "found.settings": "lookalike.settings.settings.Settings",
    "found.settings.threshold": "float",
    "deduped": "lookalike.results.dedup.DedupResult",
    "deduped.kept_ids": "pyarrow.Array",
    # It is what the source is: a list, a dict, a data frame, an array.
    "deduped.kept": "Any",
    "deduped.removed": "pyarrow.Table",
    "deduped.clusters": "pyarrow.Table",
    "deduped.counts": "dict[str, int]",
    "deduped.plan": "lookalike.planning.plan.Plan | None",
    "lookalike.contained(TEXTS)": "lookalike.results.contained.ContainmentResult",
    "lookalike.contained(TEXTS).pairs": "pyarrow.Table",
    "lookalike.boilerplate(TEXTS)": "lookalike.results.boilerplate.BoilerplateResult",
    "lookalike.boilerplate(TEXTS).passages": "pyarrow.Table",
    "lookalike.FindResult.open('x')": "lookalike.results.find.FindResult",
    "compared": "lookalike.score.comparison.Comparison",
    "compared.similarity": "float",
    "compared.containment.a_in_b": "float",
    "compared.passages": "list[lookalike.text.passages.Passage]",
    "compared.a": "str | list[str]",
    "planned": "lookalike.planning.plan.Plan",
    "planned.bands": "int | None",
    "planned.cascade": "lookalike.planning.curves.Cascade | None",
    "planned.probability(0.8)": "float",
    "planned.sentence()": "str",
    "lookalike.sketch(TEXTS)": "pyarrow.Table",
    "lookalike.write_sketches(TEXTS, 'x')": "lookalike.results.summary.Summary",
    "lookalike.paths('x')": "list[os.PathLike[str]]",
    "lookalike.lesson()": "lookalike.learn.lesson.Lesson",
    "lookalike.matrix_lesson('x')": "lookalike.learn.matrix_lesson.MatrixLesson",
}
PROGRAM = """
import lookalike
TEXTS = ["one", "two"]
found = lookalike.find(TEXTS, threshold=0.5, recall=1)
deduped = lookalike.dedup(TEXTS, keep="longest")
compared = lookalike.compare("one", "two")
planned = lookalike.plan(0.8, documents=1000)
"""
WRONG = """
lookalike.find(TEXTS, threshold="high")
lookalike.find(TEXTS, treshold=0.5)
lookalike.compare("one", "two", shortest="5")
"""


def checked(program, tmp_path):
    """Give what mypy says of a program, at its strictest, with types for pyarrow."""
    stubs = tmp_path / "stubs" / "pyarrow"
    stubs.mkdir(parents=True)
    (stubs / "__init__.pyi").write_text(ARROW)
    (tmp_path / "user.py").write_text(program)
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nmypy_path = {tmp_path / 'stubs'}:{ROOT / 'src'}\n"
        "[mypy-lookalike.*]\nignore_errors = true\n"
        "[mypy-numba.*,llvmlite.*,scipy.*,pyarrow.*]\nignore_missing_imports = true\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.long
def test_no_public_name_is_of_any_type_and_wrong_keywords_are_seen(tmp_path):
    asked = "".join(f"reveal_type({expression})\n" for expression in REVEALED)
    said = checked(f"{PROGRAM}{asked}{WRONG}", tmp_path)
    revealed = re.findall(r'Revealed type is "(.+)"', said)
    assert dict(zip(REVEALED, revealed, strict=True)) == REVEALED, said
    errors = re.findall(r"user\.py:\d+: error: (.+)", said)
    assert len(errors) == 3, said
    assert '"threshold" to "find"' in errors[0]
    assert '"treshold"' in errors[1]
    assert '"shortest" to "compare"' in errors[2]
