"""`lookalike learn`: the textbook method on a few documents, every table shown."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.cli.command import Argument, file_name
from lookalike.cli.options import command
from lookalike.settings import LearnOptions, MatrixLessonOptions

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["learn"]


DOCUMENTS = Argument(
    "source",
    "2 to 8 documents: files, folders or JSONL; by default a sample.",
    metavar="[SOURCE...]",
    nargs=-1,
    type=file_name(),
)


@command(LearnOptions, DOCUMENTS)
def learn(source: tuple[str, ...], options: dict[str, Any]) -> None:
    """Walk a few documents through the textbook method, with every table on the way.

    Shingles, the characteristic matrix, permutations, minhashing row by row, signatures, bands,
    candidates and the exact check; every hash value is shown.

    With -o the lesson is one HTML page: permutations to draw again, hash functions to step
    through, buckets that light up, the S-curve with sliders, and exercises with answers.

    With --matrix the lesson starts from a characteristic matrix, as in the textbook, and uses the
    hash functions and permutations that you give.

    Example: lookalike learn essay-1.txt essay-2.txt essay-3.txt --shingle words:2

    Example: lookalike learn -o lesson.html

    Example: lookalike learn --matrix table.txt --hash "x+1 mod 5" --hash "3x+1 mod 5" --first-row 0
    """
    import lookalike
    from lookalike.base.wording import visible
    from lookalike.cli import screen

    out = options.pop("out")
    if out is not None:
        _check_page(out, [*source, *filter(None, [options["matrix"]])])
    taught: lookalike.Lesson | lookalike.MatrixLesson
    of_matrix = {one.name: options.pop(one.name) for one in fields(MatrixLessonOptions)}
    matrix = options.pop("matrix")
    if matrix is None:
        _check_left_out(of_matrix, f"is for a lesson on a matrix: give {setting('matrix')} too")
        taught = lookalike.lesson(lookalike.paths(*source) if source else None, **options)
    else:
        _check_left_out(options, f"is for documents: leave it out with {setting('matrix')}")
        if source:
            raise SettingsError(f"give documents, or {setting('matrix')}, not both")
        taught = lookalike.matrix_lesson(matrix, **of_matrix)
    if out is None:
        taught.show(screen.results())
        return
    taught.write(out)
    screen.status().print(f"Wrote {visible(out)}: open it in a browser.", soft_wrap=True)


def _check_page(out: Path, sources: list[str]) -> None:
    """Refuse, before anything is read, a page that cannot be written."""
    from lookalike.write.files import check_targets
    from lookalike.write.html_pages import check_html_name

    check_html_name(out)
    check_targets([out], sources)


def _check_left_out(given: dict[str, Any], reason: str) -> None:
    """Refuse options of the other lesson, which would be without effect."""
    for one in fields(LearnOptions):
        if one.name in given and given[one.name] not in (one.default, []):
            raise SettingsError(f"{setting(one.name)} {reason}")
