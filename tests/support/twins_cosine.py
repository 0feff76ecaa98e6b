"""Slow, plain twins of the cosine's numbers, written from docs/hashing.md alone.

Python's own floats are the 64-bit arithmetic of that page. A sum, difference or quotient of two
32-bit numbers is right when it is taken in 64 bits and rounded once more, so `single` is the 32-bit
arithmetic.
"""

import ctypes
import math
import struct
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from twins import GOLDEN, WORD, mix, value

PLACES = 4096
ROUNDS = 3
WEIGHTS = ("counts", "binary", "log", "tf-idf")


def single(number: float) -> float:
    """Round to 32 bits, to infinity where that is too small."""
    return ctypes.c_float(number).value


# ---------------------------------------------------------------------------------------------
# Vectors
# ---------------------------------------------------------------------------------------------


def scaled(numbers: list[float]) -> list[float]:
    """Multiply by the power of two that brings the largest size to 1 or more and below 2."""
    _, exponent = math.frexp(max(abs(number) for number in numbers))
    return [math.ldexp(number, 1 - exponent) for number in numbers]


def brought(numbers: list[float]) -> list[float]:
    """Return a vector as a document has it: scaled, in 32-bit numbers, without a negative zero."""
    return [single(number) + 0.0 for number in scaled(numbers)]


def dense_document(numbers: list[float]) -> bytes:
    """Return the bytes of a vector."""
    return struct.pack(f"<{len(numbers)}f", *brought(numbers))


def sparse_document(row: dict[int, float]) -> bytes:
    """Return the bytes of a row of a sparse matrix, given by its columns."""
    columns = [column for column, number in row.items() if number != 0]
    if not columns:
        return b""
    brought = scaled([row[column] for column in columns])
    parts = sorted(
        (value(0, column), number) for column, number in zip(columns, brought, strict=True)
    )
    return b"".join(struct.pack("<Qd", feature, number) for feature, number in parts)


# ---------------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------------


def weight(kind: str, count: int, documents: int = 0, df: int = 0) -> float:
    """Return the weight of a shingle that occurs `count` times in a text."""
    if kind == "counts":
        return float(count)
    if kind == "binary":
        return 1.0
    if kind == "log":
        return 1 + math.log(count)
    if kind == "tf-idf":
        return count * (math.log((1 + documents) / (1 + df)) + 1)
    raise ValueError(kind)


def weighted_set(
    hashes: list[int],
    kind: str,
    documents: int = 0,
    frequencies: dict[int, int] | None = None,
) -> dict[int, float]:
    """Return the weights of a text's shingles, by their hashes, in the order of the hashes."""
    counts = Counter(hashes)
    frequencies = frequencies or {}
    return {h: weight(kind, counts[h], documents, frequencies.get(h, 0)) for h in sorted(counts)}


def frequencies(distinct: Sequence[Sequence[int]]) -> Counter[int]:
    """Say in how many of the distinct documents each shingle stands."""
    return Counter(h for hashes in distinct for h in set(hashes))


def cosine(a: dict[int, float], b: dict[int, float]) -> float:
    """Return the cosine of two bags: an exact product and exact squares, one root; 0 if empty."""
    product = sum((Fraction(a[h]) * Fraction(b[h]) for h in a.keys() & b.keys()), Fraction(0))
    squares = [sum((Fraction(w) ** 2 for w in x.values()), Fraction(0)) for x in (a, b)]
    if not squares[0] or not squares[1]:
        return 0.0
    size = math.sqrt(product * product / (squares[0] * squares[1]))
    return -size if product < 0 else size


def in_turn(numbers: list[float]) -> float:
    """Add up in 64 bits, one after the other."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def product_in_turn(a: dict[int, float], b: dict[int, float]) -> float:
    """Multiply two bags and add up in the order of the features they share."""
    return in_turn([a[h] * b[h] for h in sorted(a.keys() & b.keys())])


def product_in_eights(a: list[float], b: list[float]) -> float:
    """Multiply two vectors: eight sums over whole groups of eight, then what is left over."""
    whole = len(a) // 8 * 8
    s = [in_turn([a[j] * b[j] for j in range(place, whole, 8)]) for place in range(8)]
    rest = in_turn([a[j] * b[j] for j in range(whole, len(a))])
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) + rest


# ---------------------------------------------------------------------------------------------
# The exact join
# ---------------------------------------------------------------------------------------------


def prefix(weights: list[float], least: float) -> int:
    """Count the fewest first weights after which the rest has less than a share of the squares."""
    squares = [Fraction(w) ** 2 for w in weights]
    return next(
        k
        for k in range(len(squares) + 1)
        if k == len(squares) or sum(squares[k:]) < Fraction(least) * sum(squares)
    )


def join(
    sets: list[list[int]], order: list[int], looked: list[int], kept: list[int], least: list[int]
) -> list[tuple[int, int]]:
    """Give who meets whom: by each element looked up, the latest first, nobody twice.

    The list of an element is left at the first set that is too small.
    """
    lists: dict[int, list[int]] = {}
    pairs = []
    for mine in order:
        met: list[int] = []
        for element in sets[mine][: looked[mine]]:
            for other in reversed(lists.get(element, [])):
                if len(sets[other]) < least[mine]:
                    break
                if other not in met:
                    met.append(other)
        pairs += [(min(mine, other), max(mine, other)) for other in met]
        for element in sets[mine][: kept[mine]]:
            lists.setdefault(element, []).append(mine)
    return pairs


# ---------------------------------------------------------------------------------------------
# Hyperplane bits
# ---------------------------------------------------------------------------------------------


def stream(seed: int) -> int:
    """Return S, the seed of the hyperplanes' stream."""
    return (seed + 0xA0761D6478BD642F) % WORD


def fold(features: list[tuple[int, float]], seed: int) -> list[float]:
    """Add weighted features, in their order, into a vector of 4096 numbers."""
    u = [0.0] * PLACES
    key = mix(stream(seed))
    for h, w in features:
        x = mix(h ^ key)
        for quarter in range(4):
            place = 1024 * quarter + (x >> 54 - 10 * quarter) % 1024
            sign = -1 if x >> quarter & 1 else 1
            u[place] = single(u[place] + sign * single(w))
    return u


def dense_size(dimension: int) -> int:
    """Return how many numbers a dense vector is filled up to."""
    size = 2048
    while size < dimension:
        size *= 2
    return size


def flips(seed: int, size: int, block: int, turn: int) -> list[int]:
    """Return the signs that numbers are turned by in a round of a block."""
    start = (ROUNDS * block + turn) * size
    return [1 if value(stream(seed), start + j) < 2**63 else -1 for j in range(size)]


def hadamard(u: list[float]) -> list[float]:
    """Multiply by the Hadamard matrix, step by step as the page has it."""
    u = list(u)
    step = 1
    while step < len(u):
        for j in range(len(u)):
            if not j & step:
                u[j], u[j + step] = single(u[j] + u[j + step]), single(u[j] - u[j + step])
        step *= 2
    return u


def bits(vector: list[float], turned: list[list[list[int]]], count: int) -> list[int]:
    """Return the first bits of the sketch of a vector; `turned` has the flips of each block."""
    result: list[int] = []
    for block in turned:
        u = list(vector) + [0.0] * (len(block[0]) - len(vector))
        for signs in block:
            u = hadamard([sign * number for sign, number in zip(signs, u, strict=True)])
        result += [int(number >= 0) for number in u]
    return result[:count]


def sketch(vector: list[float], size: int, count: int, seed: int) -> list[int]:
    """Return the words of the sketch, of so many bits, of a vector filled up to a size."""
    blocks = range(-(-count // size))
    turned = [[flips(seed, size, block, turn) for turn in range(ROUNDS)] for block in blocks]
    return words_of_bits(bits(vector, turned, count))


def words_of_bits(given: list[int]) -> list[int]:
    """Put bits into words of 32, the first one lowest."""
    return [number_of_bits(given[i : i + 32]) for i in range(0, len(given), 32)]


def bits_of_words(given: list[int]) -> list[int]:
    """Take words of 32 apart into bits, the lowest one first."""
    return [word >> place & 1 for word in given for place in range(32)]


def number_of_bits(given: list[int]) -> int:
    """Return the number that bits make, the first one lowest."""
    return sum(bit << place for place, bit in enumerate(given))


def bit_key(band: list[int]) -> int:
    """Return the key of a band of bits."""
    if len(band) <= 64:
        return number_of_bits(band)
    key = len(band)
    for i in range(0, len(band), 64):
        key = (mix(key ^ number_of_bits(band[i : i + 64])) + GOLDEN) % WORD
    return key


# ---------------------------------------------------------------------------------------------
# The 64-bit fingerprint
# ---------------------------------------------------------------------------------------------


def fingerprint(features: list[tuple[int, float]]) -> int:
    """Return the word whose bit i says that features with bit i have more than half the weight."""
    whole = sum((Fraction(w) for _, w in features), Fraction(0))
    result = 0
    for i in range(64):
        part = sum((Fraction(w) for h, w in features if h >> i & 1), Fraction(0))
        result |= int(2 * part > whole) << i
    return result


def distance(a: int, b: int) -> int:
    """Return in how many bits two words differ."""
    return (a ^ b).bit_count()
