"""`lookalike compare`: how similar two documents are, and the passages they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import AS_JSON, QUIET, Argument, file_name, flag
from lookalike.cli.options import command
from lookalike.cli.working import refuse_given
from lookalike.settings import CompareOptions

if TYPE_CHECKING:
    from lookalike.score.comparison import Comparison

__all__ = ["compare"]

SHOWN_PASSAGES = 20
SHOWN_CHARACTERS = 300


A = Argument(
    "a",
    "A file: text, .html .pdf .docx .odt .rtf .epub .pptx .ipynb or .eml; in an archive, as "
    "essays.zip/a.txt.",
    type=file_name(),
)
B = Argument("b", "Another.", type=file_name())
WHOLE = flag(["--whole"], "Show every passage, from its first word to its last.")


OUT = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    help="Write both texts side by side too, as a page; replaces a file.",
)


@command(CompareOptions, A, B, OUT, WHOLE, AS_JSON, QUIET)
def compare(
    a: str,
    b: str,
    options: dict[str, Any],
    *,
    out: Path | None,
    whole: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how similar two documents are, and show the passages they share.

    Example: lookalike compare draft.txt final.txt
    """
    import lookalike
    from lookalike.base.wording import count, similarity_text, visible
    from lookalike.cli import screen

    if as_json:
        refuse_given(["whole"], "with --json, which has every passage whole")
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    found = lookalike.compare(*lookalike.paths(a, b), **options)
    for note in found.notes:
        console.print(visible(note), soft_wrap=True)
    if out is not None:
        from lookalike.cli.report import say_written

        say_written(console, lookalike.report(found, out=out, names=(a, b)))
    screen_out = screen.results()
    cosine = options["metric"] == "cosine"
    if as_json:
        plain = {
            "a": a,
            "b": b,
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
        screen.show_json(plain)
        return
    if cosine:
        how = f"cosine, {options['weights'] or 'counts'} of {found.shingle}"
    else:
        how = f"Jaccard, {'multisets' if options['multiset'] else 'sets'} of {found.shingle}"
    a_in_b, b_in_a = map(similarity_text, found.containment)
    similarity = similarity_text(found.similarity)
    screen_out.print(f"similarity  {similarity}  ({how})")
    screen_out.print(f"a in b      {a_in_b}  (share of a's {count(found.shingles[0], 'shingle')})")
    screen_out.print(
        f"b in a      {b_in_a}  (share of b's {count(found.shingles[1], 'shingle')})\n"
    )
    if options["shingle"] == "auto":
        screen_out.print(
            f"find chooses a shingle for the whole corpus. If it chose another than "
            f"{found.shingle}, -s gives its number, as -s chars:6.\n"
        )
    if not all(found.shingles):
        which = "Both are" if not any(found.shingles) else f"{'b' if found.shingles[0] else 'a'} is"
        screen_out.print(f"{which} empty, and similar to nothing.")
        return
    if found.identical:
        screen_out.print(f"The two are identical when normalised ({found.normalise}).")
        return
    _show_passages(found, options["shortest"], whole=whole)


def _show_passages(found: Comparison, shortest: int, *, whole: bool) -> None:
    from rich.text import Text

    from lookalike.base.wording import count, visible
    from lookalike.cli import screen

    out = screen.results()
    a, b, passages = str(found.a), str(found.b), found.passages
    if not passages:
        out.print(f"No {shortest} words in a row appear in both.")
        return
    most = len(passages) if whole else SHOWN_PASSAGES
    longest = sorted(passages, key=lambda passage: -passage.words)[:most]
    listed = [passage for passage in passages if passage in longest]
    more = f", the {most} longest" if len(passages) > len(listed) else ""
    out.print(f"{count(len(passages), 'shared passage')} of {shortest} words or more{more}:")
    for passage in listed:
        where_a = _lines(a, passage.a_start, passage.a_end)
        where_b = _lines(b, passage.b_start, passage.b_end)
        out.print(f"\n{passage.words:,} words; a {where_a}, b {where_b}")
        words = visible(" ".join(a[passage.a_start : passage.a_end].split()))
        out.print(Text(words if whole else _shortened(words)))


def _lines(text: str, start: int, end: int) -> str:
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, end)
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _shortened(passage: str) -> str:
    if len(passage) <= SHOWN_CHARACTERS:
        return passage
    half = SHOWN_CHARACTERS // 2
    head, tail = passage[:half], passage[-half:]
    # Whole words, where there are blanks between them.
    head = head.rsplit(" ", 1)[0]
    tail = tail.split(" ", 1)[-1]
    return f"{head} … {tail}"
