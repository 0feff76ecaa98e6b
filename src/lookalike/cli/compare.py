"""`lookalike compare`: how similar two documents are, and the passages they share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import AS_JSON, QUIET, Argument, file_name, flag
from lookalike.cli.options import command
from lookalike.cli.working import refuse_given
from lookalike.settings import CompareOptions

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.score.comparison import Comparison

__all__ = ["compare"]

SHOWN_PASSAGES = 20

A = Argument(
    "a",
    "A file: text, .html .pdf .docx .odt .rtf .epub .pptx .ipynb or .eml; in an archive, as "
    "essays.zip/a.txt.",
    type=file_name(),
)
B = Argument("b", "Another file.", type=file_name())
MORE = Argument(
    "more",
    "More files: the similarities of all of them, each with each.",
    metavar="[FILE...]",
    nargs=-1,
    type=file_name(),
)
WHOLE = flag(["--whole"], "Show both texts whole, with every passage from first word to last.")


OUT = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    help="Write both texts side by side, as an HTML page too; replaces a file.",
)


@command(CompareOptions, A, B, MORE, OUT, WHOLE, AS_JSON, QUIET)
def compare(
    a: str,
    b: str,
    more: tuple[str, ...],
    options: dict[str, Any],
    *,
    out: Path | None,
    whole: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how similar two documents are, and show both side by side with what they share.

    Shared passages are numbered, and coloured on a terminal. Of three documents or more it is the
    table of all their similarities.

    Example: lookalike compare draft.txt final.txt

    Example: lookalike compare first.txt second.txt third.txt
    """
    from lookalike.cli import screen

    _check_no_folders((a, b, *more))
    if as_json:
        refuse_given(["whole"], "with --json, which has every passage whole")
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    if more:
        refuse_given(
            ["out", "whole", "shortest"], "with three files or more, whose texts are not shown"
        )
        del options["shortest"]
        _compare_all((a, b, *more), options, console, as_json=as_json)
    else:
        _compare_two((a, b), options, console, page=out, whole=whole, as_json=as_json)


def _check_no_folders(names: tuple[str, ...]) -> None:
    from lookalike.base.errors import SourceError
    from lookalike.base.wording import shortened

    folders = [name for name in names if Path(name).is_dir()]
    if folders:
        searched = folders[:1] if len(folders) < len(names) else folders
        search = " --against ".join(map(shlex.quote, dict.fromkeys(searched)))
        raise SourceError(
            f"{shortened(folders[0])} is a folder: name a file in it, or search all its documents "
            f"by lookalike find {shortened(search, 200)}"
        )


def _compare_two(
    names: tuple[str, str],
    options: dict[str, Any],
    console: Console,
    *,
    page: Path | None,
    whole: bool,
    as_json: bool,
) -> None:
    import lookalike
    from lookalike.base.wording import count, similarity_text
    from lookalike.cli import screen

    found = lookalike.compare(*lookalike.paths(*names), **options)
    _say_notes(console, found.notes)
    if page is not None:
        from lookalike.cli.report import say_written

        say_written(console, lookalike.report(found, out=page, names=names))
    if as_json:
        screen.show_json(_facts(found, names, options))
        return
    out = screen.results()
    a_in_b, b_in_a = map(similarity_text, found.containment)
    similarity = similarity_text(found.similarity)
    out.print(f"similarity  {similarity}  ({_how(options, found.shingle)})")
    out.print(f"a in b      {a_in_b}  (share of a's {count(found.shingles[0], 'shingle')})")
    out.print(f"b in a      {b_in_a}  (share of b's {count(found.shingles[1], 'shingle')})\n")
    _say_shingle(out, options, found.shingle)
    if not all(found.shingles):
        which = "Both are" if not any(found.shingles) else f"{'b' if found.shingles[0] else 'a'} is"
        out.print(f"{which} empty, and similar to nothing.")
        return
    if found.identical:
        out.print(f"The two are identical when normalised ({found.normalise}).")
        return
    _show_passages(out, found, names, options["shortest"], whole=whole)


def _facts(found: Comparison, names: tuple[str, str], options: dict[str, Any]) -> dict[str, Any]:
    return {
        "a": names[0],
        "b": names[1],
        "similarity": found.similarity,
        "score": "exact",
        "metric": options["metric"],
        "a_in_b": found.containment.a_in_b,
        "b_in_a": found.containment.b_in_a,
        "shingle": found.shingle,
        "shingles": found.shingles,
        "identical": found.identical,
        "passages": [
            {**vars(passage), "text": found.a[passage.a_start : passage.a_end]}
            for passage in found.passages
        ],
    }


def _compare_all(
    names: tuple[str, ...], options: dict[str, Any], console: Console, *, as_json: bool
) -> None:
    import lookalike
    from lookalike.cli import screen
    from lookalike.cli.similarity_table import show_similarities

    found = lookalike.compare_all(lookalike.paths(*names), **options)
    _say_notes(console, found.notes)
    if not as_json:
        out = screen.results()
        out.print(f"similarity  ({_how(options, found.shingle)})\n")
        show_similarities(out, found)
        _say_shingle(out, options, found.shingle, before="\n")
        return
    pairs = [
        {
            "a": names[pair.a],
            "b": names[pair.b],
            "similarity": pair.similarity,
            "score": "exact",
            "a_in_b": pair.containment.a_in_b,
            "b_in_a": pair.containment.b_in_a,
            "identical": pair.identical,
        }
        for pair in found.pairs
    ]
    facts = {"files": names, "metric": options["metric"], "shingle": found.shingle}
    screen.show_json({**facts, "shingles": found.shingles, "pairs": pairs})


def _say_notes(console: Console, notes: tuple[str, ...]) -> None:
    from lookalike.base.wording import visible

    for note in notes:
        console.print(visible(note), soft_wrap=True)


def _how(options: dict[str, Any], shingle: str) -> str:
    """Say what is compared, and how."""
    if options["metric"] == "cosine":
        return f"cosine, {options['weights'] or 'counts'} of {shingle}"
    return f"Jaccard, {'multisets' if options['multiset'] else 'sets'} of {shingle}"


def _say_shingle(out: Console, options: dict[str, Any], shingle: str, before: str = "") -> None:
    """Say why `find` may give another number, where it may."""
    if options["shingle"] == "auto":
        after = "" if before else "\n"
        out.print(
            f"{before}find chooses one shingle for the whole corpus. If that is not {shingle}, "
            f"name it by -s to get the similarity that find gives, as -s chars:6.{after}"
        )


def _show_passages(
    out: Console, found: Comparison, names: tuple[str, str], shortest: int, *, whole: bool
) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.side_by_side import show_side_by_side

    a, b, passages = str(found.a), str(found.b), found.passages
    if not passages:
        out.print(f"No {shortest} words in a row appear in both.")
        return
    most = len(passages) if whole else SHOWN_PASSAGES
    longest = sorted(range(len(passages)), key=lambda at: -passages[at].words)[:most]
    listed = sorted(longest)
    more = f", the {most} longest" if len(passages) > len(listed) else ""
    out.print(f"{count(len(passages), 'shared passage')} of {shortest} words or more{more}:")
    for at in listed:
        passage = passages[at]
        where_a = _lines(a, passage.a_start, passage.a_end)
        where_b = _lines(b, passage.b_start, passage.b_end)
        out.print(f"[{at + 1}] {count(passage.words, 'word')}; a {where_a}, b {where_b}")
    out.print()
    show_side_by_side(out, found, names, [passages[at] for at in listed], whole=whole)


def _lines(text: str, start: int, end: int) -> str:
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, end)
    return f"line {first}" if first == last else f"lines {first}-{last}"
