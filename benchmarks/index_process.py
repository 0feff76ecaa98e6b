"""One index in a process of its own: python -m benchmarks.index_process FOLDER.

The parent left there what to do, and finds there what was answered, and how soon. A first process
adds, asks and admits; a second one, of an index that lasts, asks for what the system has to read
from the disk again.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.contestants.indexes import ENTRIES, Keeper, Place
from benchmarks.contestants.texts import blocks_of
from benchmarks.job import Clock, Job
from benchmarks.measuring import forget_peak, peak, tell, versions

ADDING, ASKING = 0.8, 0.9
"""The shares of the time by which adding, and then asking, has to end."""
UNCOUNTED = 200
"""Documents that are asked for first, and do not count."""
Timed = tuple[list[list[int]], list[float]]


def main(folder: Path) -> None:
    """Do what the parent left."""
    order = json.loads((folder / "order.json").read_text())
    entry = ENTRIES[order["name"]]
    told: dict[str, Any] = {"versions": versions(entry.requires or ("lookalike",))}
    place = Place(Path(order["home"]), Job(**order["job"]), order["count"], Path(order["sample"]))
    try:
        if order["cold"]:
            keeper = entry.open(place)
            texts = list(following(order, order["from"], order["cold"]))
            told["answers"], told["seconds"] = timed(keeper.query, texts)
            keeper.close()
        else:
            _uncounted(lambda: entry.open(replace(place, folder=_inside(place.folder))), order)
            forget_peak()
            (folder / "running").write_text("index")
            _measured(entry.open(place), order, told)
            (folder / "running").unlink()
    except Exception as error:
        told["problem"] = f"{type(error).__name__}: {error}".splitlines()[0]
    tell(folder, told)


def _measured(keeper: Keeper, order: dict[str, Any], told: dict[str, Any]) -> None:
    clock = Clock(order["limit"])
    told["setting"] = keeper.setting
    begin = time.perf_counter()
    told["done"] = done = keeper.add(Path(order["files"][0]), lambda: clock.over(ADDING))
    told["adding"] = time.perf_counter() - begin
    told["cpu"] = clock.spent_cpu()
    # Those that come after the last that was added, so that some are copies of ones that were.
    texts = following(order, done, UNCOUNTED + order["queries"] + order["admissions"])
    timed(keeper.query, islice(texts, UNCOUNTED))
    told["asked from"] = done + UNCOUNTED
    some = list(islice(texts, order["queries"]))
    told["answers"], told["seconds"] = timed(keeper.query, some, lambda: clock.over(ASKING))
    told["admitted from"] = first = done + UNCOUNTED + order["queries"]
    numbered = list(enumerate(texts, first))
    told["admissions"], told["admitting"] = timed(
        lambda one: keeper.admit(*one), numbered, clock.over
    )
    told["peak"] = peak()
    told["size"] = keeper.close()


def timed(ask: Callable[[Any], list[int]], texts: Any, over: Any = lambda: False) -> Timed:
    """Ask for one after the other until time is over; give the answers, and the seconds of each."""
    answers, seconds = [], []
    for text in texts:
        begin = time.perf_counter()
        answer = ask(text)
        seconds.append(time.perf_counter() - begin)
        answers.append(answer)
        if over():
            break
    return answers, seconds


def following(order: dict[str, Any], begin: int, count: int) -> Iterator[str]:
    """Give the documents of the files from a number on."""
    texts = (text for path in order["files"] for block in blocks_of(Path(path)) for text in block)
    if begin >= order["count"]:
        texts = (text for block in blocks_of(Path(order["files"][1])) for text in block)
        begin -= order["count"]
    return islice(texts, begin, begin + count)


def _uncounted(opens: Callable[[], Keeper], order: dict[str, Any]) -> None:
    """Do everything once on a few documents: Lookalike compiles."""
    keeper = opens()
    done = keeper.add(Path(order["few"]), lambda: False)
    texts = list(following(order, done, UNCOUNTED))
    timed(keeper.query, texts)
    timed(lambda one: keeper.admit(*one), list(enumerate(texts, done)))
    keeper.close()


def _inside(folder: Path) -> Path:
    inside = folder / "few"
    inside.mkdir()
    return inside


if __name__ == "__main__":
    main(Path(sys.argv[1]))
