"""How the commands run a job: its work folder, what is said while it runs, and on Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer
    from rich.console import Console

    from lookalike.api import Columns, Job, Progress
    from lookalike.settings import Settings

__all__ = ["automatic", "given_up_if_hopeless", "job", "refuse_given"]


def automatic(target: Path | None) -> Path | None:
    """Give the work folder of a job that writes to a target: hidden, beside it.

    Beside a pipe or a device there is none.
    """
    if target is None or (target.exists() and not target.is_file() and not target.is_dir()):
        return None
    from lookalike.write.files import beside

    return beside(target.absolute(), "work")


def job(
    source: Sequence[str],
    settings: Settings,
    console: Console,
    progress: Progress | None,
    *,
    work: Path | None,
    target: Path | None,
    columns: Columns,
    threads: int | None,
    memory: str | None,
    skip_bad: bool,
    keep: str = "first",
    against: Sequence[str] = (),
) -> Job:
    """Make the job of a command; without a folder asked for, its work is beside the target."""
    from lookalike.api import Running, job_on_files
    from lookalike.base.wording import visible
    from lookalike.cli.screen import say_if_stopped

    folder = work or automatic(target)
    if folder is None:
        say_if_stopped("stopped; nothing was kept. With --work FOLDER a stopped job goes on")
    else:
        say_if_stopped(
            f"stopped; run the same command again to go on, or remove {folder} to give it up"
        )
    running = Running.of(
        threads=threads,
        memory=memory,
        work=folder,
        keep_work=work is not None,
        skip_bad=skip_bad,
        progress=progress,
        say=lambda line: console.print(visible(line), soft_wrap=True),
    )
    return job_on_files(
        source,
        settings,
        running,
        columns,
        keep=keep,
        against=against,
    )


def refuse_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Refuse options that were given and would do nothing."""
    from lookalike.base.errors import SettingsError

    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--" + name.rstrip("_").replace("_", "-")
            raise SettingsError(f"{option} does nothing {why}: leave it out")


@contextmanager
def given_up_if_hopeless(job: Job, work: Path | None) -> Iterator[None]:
    """Keep no work when no rerun could go on from it.

    A folder that was asked for stays as it was found, one that was not asked for goes.
    """
    from lookalike.base.errors import LookalikeError

    try:
        yield
    except LookalikeError as error:
        if job.is_hopeless(error):
            if work is None:
                job.work.remove()
            else:
                job.work.give_up()
        raise
