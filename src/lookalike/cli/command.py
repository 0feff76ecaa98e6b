"""A command of the program: how its arguments and options are declared, and how its help looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AS_JSON", "QUIET", "SOURCE", "Argument", "Command", "file_name", "flag"]


class Argument(click.Argument):
    """An argument that help explains, as it does options, whatever the version of Click."""

    def __init__(self, name: str, sentence: str, **attributes: Any) -> None:
        """Declare an argument, with what stands for it in the help."""
        super().__init__([name], **{"metavar": name.upper()} | attributes)
        self.sentence = sentence


class Command(click.Command):
    """A command whose help has the arguments before the options."""

    def parse_args(self, context: click.Context, given: list[str]) -> list[str]:
        """Read a command line; an error in it always names the command."""
        try:
            return super().parse_args(context, given)
        except click.UsageError as error:
            error.ctx = context
            raise

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what is taken."""
        rows = [
            (str(one.metavar), one.sentence + ("  [required]" if one.required else ""))
            for one in self.get_params(context)
            if isinstance(one, Argument)
        ]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        super().format_options(context, formatter)


class FileName(click.Path):
    """The name of a file, or an address, of which a path would lose a slash."""

    def convert(self, value: Any, param: click.Parameter | None, context: Any) -> Any:
        """Make a path of what is none yet, if it is to be one."""
        return value if "://" in str(value) else super().convert(value, param, context)


def file_name(kind: type | None = None) -> click.Path:
    """Give the type of what names a file: shells complete it, and nobody looks at it yet."""
    return FileName(readable=False, path_type=kind)


def flag(names: Iterable[str], sentence: str) -> click.Option:
    """Declare an option without a value."""
    return click.Option([*names], is_flag=True, help=sentence)


SOURCE = Argument(
    "source",
    "Folders, files (text of any ending; .html .htm .pdf .docx .odt .rtf .epub .pptx .ipynb .eml; "
    ".jsonl .ndjson .json .csv .tsv .mbox, also .gz and .zst; .parquet .arrow .feather .ipc .orc "
    ".xlsx; .warc .wet, also .gz; .zip and .tar archives; .npy for vectors), "
    "patterns, addresses as s3://…, or - for JSONL on standard input.",
    metavar="SOURCE...",
    nargs=-1,
    required=True,
    type=file_name(),
)
QUIET = flag(["--quiet", "-q"], "Nothing on standard error but errors.")
AS_JSON = flag(["--json", "as_json"], "Print the facts as one JSON object, for programs.")
