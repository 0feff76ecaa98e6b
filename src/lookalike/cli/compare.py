"""`lookalike compare`: how similar two documents are, and the passages they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import options

if TYPE_CHECKING:
    from lookalike.text.passages import Passage

__all__ = ["compare"]

SHOWN_PASSAGES = 20
SHOWN_CHARACTERS = 300


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A text, HTML, PDF or DOCX file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    shingle: options.Shingle = "auto",
    multiset: options.Multiset = False,
    metric: options.Metric = options.MetricName.jaccard,
    weights: options.Weights = None,
    normalise: options.Normalise = "default",
    shortest: Annotated[
        int, typer.Option("--words", min=1, help="Words that a shared passage has at the least.")
    ] = 5,
    whole: Annotated[
        bool, typer.Option("--whole", help="Show every passage, from its first word to its last.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object, with every passage.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how similar two documents are, and show the passages they share.

    Example: lookalike compare draft.txt final.txt
    """
    from lookalike.base.wording import count
    from lookalike.cli import screen
    from lookalike.read import read_text
    from lookalike.score.comparison import compare as compare_texts
    from lookalike.text.normalise import Normalisation

    screen.announce_compiling(screen.status(quiet=quiet))
    first, second = read_text(a), read_text(b)
    found = compare_texts(
        first,
        second,
        shingle=shingle,
        multiset=multiset,
        metric=metric.value,
        weights=weights.value if weights else None,
        normalise=normalise,
        shortest=shortest,
    )
    out = screen.results()
    if as_json:
        plain = {
            "a": a,
            "b": b,
            "similarity": found.similarity,
            "score": "exact",
            "metric": metric.value,
            "a_in_b": found.containment.a_in_b,
            "b_in_a": found.containment.b_in_a,
            "shingle": found.shingle,
            "shingles": found.shingles,
            "identical": found.identical,
            "passages": [
                {**vars(passage), "text": first[passage.a_start : passage.a_end]}
                for passage in found.passages
            ],
        }
        screen.show_json(plain)
        return
    if metric is options.MetricName.cosine:
        how = f"cosine, {weights.value if weights else 'counts'} of {found.shingle}"
    else:
        how = f"Jaccard, {'multisets' if multiset else 'sets'} of {found.shingle}"
    a_in_b, b_in_a = map(screen.number, found.containment)
    similarity = screen.number(found.similarity)
    out.print(f"similarity  {similarity}  ({how})")
    out.print(f"a in b      {a_in_b}  (share of a's {count(found.shingles[0], 'shingle')})")
    out.print(f"b in a      {b_in_a}  (share of b's {count(found.shingles[1], 'shingle')})\n")
    if not all(found.shingles):
        which = "Both are" if not any(found.shingles) else f"{'b' if found.shingles[0] else 'a'} is"
        out.print(f"{which} empty, and similar to nothing.")
        return
    if found.identical:
        out.print(f"The two are identical when normalised ({Normalisation.parse(normalise)}).")
        return
    _show_passages(first, second, found.passages, shortest, whole=whole)


def _show_passages(a: str, b: str, passages: list[Passage], shortest: int, *, whole: bool) -> None:
    from rich.text import Text

    from lookalike.base.wording import count, visible
    from lookalike.cli import screen

    out = screen.results()
    if not passages:
        out.print(f"No {shortest} words in a row stand in both.")
        return
    most = len(passages) if whole else SHOWN_PASSAGES
    longest = sorted(passages, key=lambda passage: -passage.words)[:most]
    shown = [passage for passage in passages if passage in longest]
    more = f", the {most} longest" if len(passages) > len(shown) else ""
    out.print(f"{count(len(passages), 'shared passage')} of {shortest} words or more{more}:")
    for passage in shown:
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
