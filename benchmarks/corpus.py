"""A seeded corpus of any size, with copies edited to every degree."""

import random


def documents(count: int, seed: int = 1) -> list[str]:
    """Make documents of some 1,100 characters; a third of them are edits of an earlier one."""
    choice = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    vocabulary = ["".join(choice.choices(letters, k=choice.randint(2, 9))) for _ in range(20_000)]
    # As in prose, the n-th word is about 1/n times as frequent as the first.
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    made: list[list[str]] = []
    for _ in range(count):
        if made and choice.random() < 1 / 3:
            words = list(choice.choice(made))
            for _ in range(int(len(words) * choice.choice([0, 0.01, 0.02, 0.04, 0.08, 0.16]))):
                words[choice.randrange(len(words))] = choice.choice(vocabulary)
        else:
            words = choice.choices(vocabulary, weights, k=choice.randint(100, 300))
        made.append(words)
    return [" ".join(words) for words in made]
