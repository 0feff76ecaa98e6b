"""Corpora of any size, with copies edited to every degree, from a seed."""

import json
import os
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

EDITED = [0, 0.01, 0.02, 0.04, 0.08, 0.16]
"""The shares of words that are replaced in a copy, one as likely as the other."""
LEAST = 5
"""Words that a real text has, or it is left out: not every contestant has shingles for fewer."""
REAL = Path(__file__).parent.parent.parent / "shared" / "data"


def documents(count: int, seed: int = 1) -> list[str]:
    """Make documents of some 1,100 characters; a third of them are edits of an earlier one."""
    choice = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    vocabulary = ["".join(choice.choices(letters, k=choice.randint(2, 9))) for _ in range(20_000)]
    # As in prose, the n-th word is about 1/n times as frequent as the first.
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]

    def fresh() -> list[str]:
        return choice.choices(vocabulary, weights, k=choice.randint(100, 300))

    return _with_copies(count, choice, vocabulary, fresh)


def real_documents(count: int, seed: int = 1) -> list[str]:
    """Take real texts, as their words in lower case; a third or more are edits of an earlier one.

    They are the `text` of the JSONL files in the folder that LOOKALIKE_DATA names. Where they run
    out, edits make up the number.
    """
    choice = random.Random(seed)
    folder = Path(os.environ.get("LOOKALIKE_DATA", REAL))
    texts = []
    for name in ("articles", "bible", "licenses"):
        path = folder / name / "docs.jsonl"
        if not path.exists():
            raise SystemExit(f"{path} is not there: LOOKALIKE_DATA names the folder of real texts")
        with path.open(encoding="utf-8") as lines:
            texts += [_words(json.loads(line)["text"]) for line in lines]
    choice.shuffle(texts)
    supply = [text for text in texts if len(text) >= LEAST]
    vocabulary = sorted({word for text in supply for word in text})
    return _with_copies(count, choice, vocabulary, lambda: supply.pop() if supply else [])


def _with_copies(
    count: int, choice: random.Random, vocabulary: list[str], fresh: Callable[[], list[str]]
) -> list[str]:
    made: list[list[str]] = []
    for _ in range(count):
        words = [] if made and choice.random() < 1 / 3 else fresh()
        if not words:
            words = list(choice.choice(made))
            for _ in range(int(len(words) * choice.choice(EDITED))):
                words[choice.randrange(len(words))] = choice.choice(vocabulary)
        made.append(words)
    return [" ".join(words) for words in made]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())
