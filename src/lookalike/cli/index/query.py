"""`lookalike index query`: which documents of an index are similar to others."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import AS_JSON, QUIET, SOURCE, Argument, file_name
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command
from lookalike.cli.values import OneOf
from lookalike.cli.working import FAIL_ON
from lookalike.settings import FORMATS
from lookalike.settings.index_options import IndexQueryOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from rich.console import Console

    from lookalike.index.index import Index
    from lookalike.index.matches import Queried

__all__ = ["query"]

SHOWN_MATCHES = 20
SOURCES = Argument(
    "source",
    f"What is looked for. {SOURCE.sentence} Without one, and without --string, standard input is "
    "one document, its text as it is.",
    metavar="[SOURCE...]",
    nargs=-1,
    required=False,
    type=file_name(),
)
STRING = click.Option(["--string"], metavar="TEXT", help="Look for this text, instead of a source.")
OUT = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    help="Write all matches here, not to standard output; replaces a file.",
)
FORMAT = click.Option(
    ["--format", "format_"],
    type=OneOf(FORMATS),
    metavar=f"<{'|'.join(FORMATS)}>",
    help="A table for a person, or everything for a program; by default as the file's name ends.",
)


@command(IndexQueryOptions, INDEX, SOURCES, STRING, OUT, FORMAT, AS_JSON, FAIL_ON, QUIET)
def query(
    address: str,
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    string: str | None,
    out: Path | None,
    format_: str | None,
    as_json: bool,
    fail_on: str | None,
    quiet: bool,
) -> None:
    """Find the documents of an index that are similar to others, the most similar first.

    Each was compared exactly, unless the index keeps no texts. The threshold may be that of the
    index or higher.

    Example: lookalike index query pages.lookalike new.txt --top 5
    """
    import lookalike
    from lookalike.base.errors import SettingsError
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of
    from lookalike.settings.index_options import IndexQueryOptions as Options
    from lookalike.write.files import check_targets, format_of, is_device

    working.limit_of(fail_on)
    if source and string is not None:
        raise SettingsError("--string is a document, and so is SOURCE: give one of them")
    kind = kind_of({"format": format_, "out": out}, as_json=as_json)
    if out is not None:
        if format_ == "table":
            raise SettingsError("a table is for the screen: to write, use jsonl, csv or parquet")
        format_ = format_ or format_of(out)
        check_targets([out], source)
    console = screen.status(quiet=quiet)
    with opened(address, source, read_only=True) as index:
        looked_for: Any = lookalike.paths(*source)
        if not source:
            looked_for = _one_document(index, string, options, console)
        with (
            working.session(console, options, stopped="stopped; nothing was written") as given,
            index.queried(looked_for, Options(**given)) as queried,
        ):
            first = _answer(queried, kind, out, format_, named=bool(source))
        if out is not None and not is_device(out):
            queried.unread.write(out)
        rows = first.to_pylist()
        if as_json:
            screen.show_json(_facts(index, queried, rows))
        elif kind == "table":
            _show(index, queried, rows)
        _say(index, queried, options["threshold"], console, one=not source, out=out)
    working.end_if(fail_on, queried.matches, queried.similar, queried.documents)


def _one_document(
    index: Index, string: str | None, options: dict[str, Any], console: Console
) -> list[Any]:
    """Give the document of the command line, or of standard input, as a source in memory."""
    from lookalike.base.errors import SettingsError

    kind = index.recipe.form.kind
    if kind not in (None, "text"):
        raise SettingsError(f"{index.address} is an index of {kind}: name a SOURCE that holds some")
    text = string
    if text is None:
        encoding, options["encoding"] = options["encoding"] or "utf-8-sig", None
        text = _standard_input(encoding, console)
    if options["markup"] is not None or options["main_text"]:
        return [{"text": text}]
    return [text]


def _standard_input(encoding: str, console: Console) -> str:
    from lookalike.base.errors import SourceError
    from lookalike.base.wording import setting

    if sys.stdin is None:
        raise SourceError("standard input is closed: name a SOURCE, or give a text by --string")
    if sys.stdin.isatty():
        console.print("Reading a document from standard input, to its end (Ctrl-D).")
    try:
        return sys.stdin.buffer.read().decode(encoding)
    except LookupError:
        raise SourceError(f"{setting('encoding', encoding)} is not known: give another") from None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"standard input is not text in {encoding.removesuffix('-sig').upper()} at byte "
            f"{error.start + 1}: say in which it is by {setting('encoding')}, or name the file"
        ) from None


def _answer(
    queried: Queried, kind: str | None, out: Path | None, format_: str | None, *, named: bool
) -> pa.Table:
    """Write matches, or count those that are not shown; give the first, for the screen."""
    import pyarrow as pa

    from lookalike.cli.output import write_out
    from lookalike.write.files import write_atomically, write_tables

    kept: list[pa.Table] = []

    def tables() -> Iterator[pa.Table]:
        for table in queried:
            kept.append(table.slice(0, SHOWN_MATCHES - sum(map(len, kept))))
            yield table if named else table.drop_columns(["id"])

    if out is not None:
        chosen = str(format_)
        write_atomically(out, lambda stream: write_tables(tables(), stream, chosen))
    elif kind not in ("table", None):
        write_out(tables(), kind, {})
    else:
        deque(tables(), maxlen=0)
    return pa.concat_tables(kept)


def _facts(index: Index, queried: Queried, rows: list[dict[str, Any]]) -> dict[str, Any]:
    from lookalike.cli.index.facts import unread_facts

    return {
        "index": index.address,
        "documents": queried.documents,
        "similar": queried.similar,
        "match_count": queried.matches,
        "matches": rows,
        **unread_facts(queried.unread),
    }


def _show(index: Index, queried: Queried, rows: list[dict[str, Any]]) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.index.matches import show_matches
    from lookalike.cli.screen import results

    if not rows:
        return
    console, one = results(), queried.documents == 1
    title = f"{count(queried.matches, 'similar document')}"
    if not one:
        title += f" to {queried.similar:,} of {queried.documents:,}"
    title += f" by {index.plan.compared}"
    if queried.matches > len(rows):
        shown = f"{len(rows)} most similar" if one else f"first {len(rows)}"
        title += f", the {shown}; --format jsonl writes all"
    console.print(f"{title}\n")
    show_matches(console, rows, one_document=one)


def _say(
    index: Index,
    queried: Queried,
    threshold: float | None,
    console: Console,
    *,
    one: bool,
    out: Path | None,
) -> None:
    """Say what was looked for and found; of one document only that nothing was."""
    from lookalike.base.wording import count, visible
    from lookalike.cli.index.facts import say_facts, seconds_fact, unread_lines
    from lookalike.cli.summary import wrapped

    least = index.threshold if threshold is None else threshold
    if not queried.matches:
        lower = f", which answers from {index.threshold:g} on," if least > index.threshold else ""
        what = "the document" if queried.documents == 1 else "a document that was looked for"
        line = (
            f"Nothing in {visible(index.address)}{lower} is at least {least:g} similar to {what}."
        )
        console.print(wrapped(line, console.width), soft_wrap=True)
    if one:
        return
    lines = [
        f"Read       {count(queried.documents, 'document')}",
        *unread_lines(queried.unread),
    ]
    if queried.matches:
        matches = count(queried.matches, "match", "matches")
        lines.append(f"Found      {matches}, of {count(queried.similar, 'document')}")
    if out is not None:
        lines.append(f"Written    to {visible(out)}")
    say_facts(console, [*lines, seconds_fact()])
