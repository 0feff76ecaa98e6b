"""The method as the textbook draws it: short, slow, and meant to be read.

Read it from the top. Each section is one step of chapter 3 of "Mining of Massive Datasets"
(Leskovec, Rajaraman, Ullman), in its order:

    text -> words -> shingles -> characteristic matrix -> minhash signatures
         -> bands and buckets -> candidates -> verified pairs

and, for the cosine instead of the sets,

    counts of shingles -> sides of random hyperplanes -> angles

Rows are counted from 1, unless `first_row` says 0. A document without shingles has infinity for
every minhash and is similar to nothing, itself included. Nothing here is shared with the fast
implementation, which is tested against it.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Self, TypeVar

from lookalike.base.errors import SettingsError

__all__ = [
    "Band",
    "CharacteristicMatrix",
    "HashFunction",
    "Pair",
    "SignatureMatrix",
    "Step",
    "Verification",
    "Walk",
    "angle",
    "angle_by_sketches",
    "candidate_probability",
    "candidates",
    "canonical",
    "containment",
    "curve_midpoint",
    "curve_threshold",
    "elements",
    "hash_functions",
    "jaccard",
    "minhash_by_permutation",
    "miss_probability",
    "multiset_jaccard",
    "prime_at_least",
    "projections",
    "random_normals",
    "row_by_row",
    "shingle_multiset",
    "shingle_set",
    "shingles",
    "sides",
    "signatures_by_hashing",
    "signs",
    "small_probability",
    "split_in_bands",
    "verify",
    "walk",
    "words",
]

T = TypeVar("T")
Pair = tuple[str, str]

HYPERPLANES = 64
"""Of the sketches that a walk shows."""

WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f]"
)


def canonical(text: str) -> str:
    """Write a text in the one way in which texts are compared.

    Composed characters (NFC), lower case, every run of white space one blank, ends trimmed.
    """
    lower = unicodedata.normalize("NFC", text).lower()
    # Lower case can open a composition that capitals do not have: J with a caron.
    return WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", lower)).strip(" ")


def words(text: str) -> list[str]:
    """List the words of a text in order.

    A word is a run of letters, marks and numbers. An ideograph or a kana is a word by itself,
    because Chinese and Japanese put no blanks between words.
    """
    found: list[str] = []
    inside_run = False
    for character in text:
        in_word = unicodedata.category(character)[0] in "LMN"
        alone = IDEOGRAPH.match(character) or KANA.match(character)
        if in_word and inside_run and not alone:
            found[-1] += character
        elif in_word:
            found.append(character)
        inside_run = in_word and not alone
    return found


def shingles(text: str, k: int, unit: str = "chars") -> list[str]:
    """List the shingles of a canonical text: every k characters, or k words, in a row.

    A shingle of words is written with one blank between them. A text too short for one shingle
    is one shingle, all of it; so is a text that has characters but no words. An empty text has
    no shingles.
    """
    if k < 1:
        raise SettingsError(f"a shingle of {k} {unit} cannot be: give a size of 1 or more")
    if unit not in {"chars", "words"}:
        raise SettingsError(f'shingles of "{unit}" are unknown: the unit is "chars" or "words"')
    tokens, glue = (list(text), "") if unit == "chars" else (words(text), " ")
    if not tokens:
        return [text] if text else []
    starts = range(max(1, len(tokens) - k + 1))
    return [glue.join(tokens[start : start + k]) for start in starts]


def shingle_set(text: str, k: int, unit: str = "chars") -> frozenset[str]:
    """Give the set of a text's shingles: each once, however often it occurs."""
    return frozenset(shingles(text, k, unit))


def shingle_multiset(text: str, k: int, unit: str = "chars") -> Counter[str]:
    """Count how often each shingle of a text occurs."""
    return Counter(shingles(text, k, unit))


def jaccard(a: AbstractSet[T], b: AbstractSet[T]) -> float:
    """Divide what two sets share by what they have together."""
    return _share(len(a & b), len(a | b))


def multiset_jaccard(a: Counter[T], b: Counter[T]) -> float:
    """Divide the smaller counts of each shingle, summed, by the larger ones.

    The textbook divides by the sum of both sizes instead, which gives two equal bags 1/2.
    """
    return _share((a & b).total(), (a | b).total())


def containment(a: AbstractSet[T], b: AbstractSet[T]) -> float:
    """Give the share of a that is also in b."""
    return _share(len(a & b), len(a))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class CharacteristicMatrix:
    """A row for every shingle, a column for every document, 1 where the document has it."""

    shingles: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sets: Mapping[str, AbstractSet[str]]) -> Self:
        """Draw the matrix of named sets, the rows in the order of the sorted shingles."""
        rows = sorted(set().union(*sets.values()))
        cells = tuple(tuple(int(row in has) for has in sets.values()) for row in rows)
        return cls(tuple(rows), tuple(sets), cells)

    def column(self, name: str) -> tuple[int, ...]:
        """Give the zeros and ones of one document, from the first row to the last."""
        at = self.columns.index(name)
        return tuple(row[at] for row in self.cells)

    def row_types(self, one: str, other: str) -> tuple[int, int, int]:
        """Count the rows that hold 1 and 1 (a), 1 and 0 (b), 0 and 1 (c) in two columns."""
        seen = Counter(zip(self.column(one), self.column(other), strict=True))
        return seen[1, 1], seen[1, 0], seen[0, 1]

    def jaccard(self, one: str, other: str) -> float:
        """Give the exact similarity, a / (a + b + c): rows of two zeros say nothing."""
        a, b, c = self.row_types(one, other)
        return _share(a, a + b + c)


def minhash_by_permutation(
    matrix: CharacteristicMatrix, order: Sequence[int], first_row: int = 1
) -> dict[str, float]:
    """Read the rows in this order; a column's minhash is the place, from 1, of its first 1.

    Two columns have the same minhash with a probability that is their Jaccard similarity. Places
    are counted as rows are.
    """
    last_row = first_row + len(matrix.cells) - 1
    if sorted(order) != list(range(first_row, last_row + 1)):
        raise SettingsError(f"an order must name each row from {first_row} to {last_row} once")

    def first_one(column: tuple[int, ...]) -> float:
        places = enumerate(order, start=first_row)
        return next((place for place, row in places if column[row - first_row] == 1), math.inf)

    return {name: first_one(matrix.column(name)) for name in matrix.columns}


@dataclass(frozen=True)
class HashFunction:
    """h(r) = (a r + b) mod p: the place of row r in a permutation that is never written down."""

    a: int
    b: int
    p: int

    def __call__(self, row: int) -> int:
        """Give the hash of a row number."""
        return (self.a * row + self.b) % self.p


def prime_at_least(number: int) -> int:
    """Find the smallest prime that is not below a number."""
    candidate = max(2, number)
    while any(candidate % divisor == 0 for divisor in range(2, math.isqrt(candidate) + 1)):
        candidate += 1
    return candidate


def hash_functions(count: int, rows: int, random: Random) -> list[HashFunction]:
    """Draw hash functions that send no two of the rows to one number.

    They do not, because p is a prime not below the number of rows and a is not 0.
    """
    p = prime_at_least(rows)
    return [HashFunction(random.randrange(1, p), random.randrange(p), p) for _ in range(count)]


@dataclass(frozen=True)
class SignatureMatrix:
    """The signature of each document: one minhash for each hash function."""

    columns: dict[str, tuple[float, ...]]

    def similarity(self, one: str, other: str) -> float:
        """Estimate the Jaccard similarity: the share of rows in which two columns are equal.

        Two documents without shingles have infinity in common, which is nothing.
        """
        rows = list(zip(self.columns[one], self.columns[other], strict=True))
        return _share(sum(x == y < math.inf for x, y in rows), len(rows))


@dataclass(frozen=True)
class Step:
    """The signatures after one row of the characteristic matrix was read."""

    row: int
    shingle: str
    hashes: tuple[int, ...]
    signatures: SignatureMatrix


def row_by_row(
    matrix: CharacteristicMatrix, functions: Sequence[Callable[[int], int]], first_row: int = 1
) -> Iterator[Step]:
    """Compute the signatures in one skip the rows; give them before it and after each row.

    SIG(i, c) begins at infinity. For every row r: compute h_i(r) for each i; then, in each
    column c with a 1 in row r, set SIG(i, c) to the smaller of SIG(i, c) and h_i(r).
    """
    sig = dict.fromkeys(matrix.columns, (math.inf,) * len(functions))
    yield Step(first_row - 1, "", (), SignatureMatrix(dict(sig)))
    named = zip(matrix.shingles, matrix.cells, strict=True)
    for row, (shingle, cells) in enumerate(named, start=first_row):
        hashes = tuple(h(row) for h in functions)
        for column, cell in zip(matrix.columns, cells, strict=True):
            if cell == 1:
                pairs = zip(sig[column], hashes, strict=True)
                sig[column] = tuple(min(old, new) for old, new in pairs)
        yield Step(row, shingle, hashes, SignatureMatrix(dict(sig)))


def signatures_by_hashing(
    matrix: CharacteristicMatrix, functions: Sequence[Callable[[int], int]]
) -> SignatureMatrix:
    """Give the signatures that the row-by-row algorithm ends with."""
    for step in row_by_row(matrix, functions):
        last = step
    return last.signatures


@dataclass(frozen=True)
class Band:
    """Some rows of the signature matrix, and the documents that are equal in all of them."""

    number: int
    buckets: dict[tuple[float, ...], tuple[str, ...]]


def split_in_bands(signatures: SignatureMatrix, bands: int, rows: int) -> list[Band]:
    """Cut the signatures in bands of so many rows, and drop each piece in a bucket.

    The bucket is named by the piece itself, so that only equal pieces meet. Each band has
    buckets of its own.
    """
    if bands < 1 or rows < 1:
        raise SettingsError(f"{bands} bands of {rows} rows cannot be: give 1 or more of each")
    if any(len(signature) != bands * rows for signature in signatures.columns.values()):
        raise SettingsError(f"{bands} bands of {rows} rows need {bands * rows} minhashes each")
    return [_band(signatures, number, rows) for number in range(1, bands + 1)]


def _band(signatures: SignatureMatrix, number: int, rows: int) -> Band:
    start, end = (number - 1) * rows, number * rows
    buckets: dict[tuple[float, ...], tuple[str, ...]] = {}
    for name, signature in signatures.columns.items():
        piece = signature[start:end]
        if math.inf not in piece:
            buckets[piece] = (*buckets.get(piece, ()), name)
    return Band(number, buckets)


def candidates(bands: Sequence[Band]) -> dict[Pair, tuple[int, ...]]:
    """Name the pairs that share a bucket in at least one band, and in which bands they do."""
    found: dict[Pair, tuple[int, ...]] = {}
    for band in bands:
        for bucket in band.buckets.values():
            for pair in combinations(bucket, 2):
                found[pair] = (*found.get(pair, ()), band.number)
    return found


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Give 1 - (1 - s^r)^b, the probability that a pair becomes a candidate: the S-curve."""
    return 1 - miss_probability(similarity, bands, rows)


def miss_probability(similarity: float, bands: int, rows: int) -> float:
    """Give (1 - s^r)^b: in a band all rows are equal with s^r, and it happens in no band."""
    return float((1 - similarity**rows) ** bands)


def small_probability(similarity: float, bands: int, rows: int) -> float:
    """Give 1 - e^(-b s^r), which the S-curve is nearly where s^r is small."""
    return -math.expm1(-bands * similarity**rows)


def curve_threshold(bands: int, rows: int) -> float:
    """Give (1/b)^(1/r), the textbook's estimate of where the S-curve rises."""
    return float((1 / bands) ** (1 / rows))


def curve_midpoint(bands: int, rows: int) -> float:
    """Give the similarity at which a pair becomes a candidate with probability 1/2."""
    return float((1 - 0.5 ** (1 / bands)) ** (1 / rows))


@dataclass(frozen=True)
class Verification:
    """What the candidates were worth, by the exact similarity of every pair.

    Only a small example can afford to compare every pair, and so to know its false negatives.
    """

    similarities: dict[Pair, float]
    pairs: tuple[Pair, ...]
    false_positives: tuple[Pair, ...]
    false_negatives: tuple[Pair, ...]


def verify(
    matrix: CharacteristicMatrix, found: AbstractSet[Pair], threshold: float
) -> Verification:
    """Keep the candidates whose exact similarity reaches the threshold."""
    if not 0 < threshold <= 1:
        raise SettingsError(f"a threshold of {threshold} cannot be: give one above 0 and up to 1")
    exact = {pair: matrix.jaccard(*pair) for pair in combinations(matrix.columns, 2)}
    return Verification(
        similarities=exact,
        pairs=tuple(p for p, s in exact.items() if p in found and s >= threshold),
        false_positives=tuple(p for p, s in exact.items() if p in found and s < threshold),
        false_negatives=tuple(p for p, s in exact.items() if p not in found and s >= threshold),
    )


def random_normals(
    count: int, dimensions: AbstractSet[str], random: Random
) -> list[dict[str, float]]:
    """Draw hyperplanes in all directions alike, each by the vector that stands upright on it."""
    ordered = sorted(dimensions)
    return [{name: random.gauss(0, 1) for name in ordered} for _ in range(count)]


def sides(vector: Mapping[str, int], normals: Sequence[Mapping[str, float]]) -> str:
    """Sketch a vector: + for each hyperplane above which it lies, - for each below."""
    return signs(projections(vector, normals))


def projections(
    vector: Mapping[str, int], normals: Sequence[Mapping[str, float]]
) -> tuple[float, ...]:
    """Say how far a vector reaches along each normal: above the hyperplane, or below it."""
    return tuple(sum(vector[name] * normal[name] for name in vector) for normal in normals)


def signs(along: Sequence[float]) -> str:
    """Write + for what is not below 0, and - for the rest."""
    return "".join("+" if one >= 0 else "-" for one in along)


def angle(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Give the angle between two vectors, in degrees; a right one where either has no length."""
    product = sum(a[name] * b[name] for name in a.keys() & b.keys())
    lengths = math.hypot(*a.values()) * math.hypot(*b.values())
    return math.degrees(math.acos(min(1.0, product / lengths))) if lengths else 90.0


def angle_by_sketches(a: str, b: str) -> float:
    """Estimate the angle, in degrees: a hyperplane parts two vectors with chance angle/180."""
    return 180 * sum(x != y for x, y in zip(a, b, strict=True)) / len(a)


@dataclass(frozen=True)
class Walk:
    """What each step made of a few documents, in the order of the steps."""

    texts: dict[str, str]
    """Canonical; of lists of tokens there are none."""
    shingles: dict[str, list[str]]
    """Or tokens, where documents are lists of them."""
    matrix: CharacteristicMatrix
    order: list[int]
    minhashes: dict[str, float]
    functions: list[HashFunction]
    signatures: SignatureMatrix
    bands: list[Band]
    candidates: dict[Pair, tuple[int, ...]]
    verification: Verification
    counts: dict[str, Counter[str]]
    projections: dict[str, tuple[float, ...]]
    """Of each vector of counts, along the normal of each hyperplane."""
    sketches: dict[str, str]


def elements(document: str | Sequence[str], k: int, unit: str = "chars") -> list[str]:
    """List what a document consists of: the shingles of a text, or tokens as they are."""
    return shingles(canonical(document), k, unit) if isinstance(document, str) else list(document)


def walk(
    documents: Mapping[str, str | Sequence[str]],
    *,
    k: int,
    unit: str,
    rows: int,
    bands: int,
    threshold: float,
    seed: int,
) -> Walk:
    """Lead texts or lists of tokens, by name, through the whole method."""
    random = Random(seed)  # noqa: S311 - a seed for repeatable tables, no secret
    texts = {name: canonical(text) for name, text in documents.items() if isinstance(text, str)}
    lists = {name: elements(document, k, unit) for name, document in documents.items()}
    matrix = CharacteristicMatrix.of({name: set(found) for name, found in lists.items()})
    height = len(matrix.cells)
    order = random.sample(range(1, height + 1), height)
    functions = hash_functions(bands * rows, height, random)
    signatures = signatures_by_hashing(matrix, functions)
    banded = split_in_bands(signatures, bands, rows)
    found = candidates(banded)
    counts = {name: Counter(found) for name, found in lists.items()}
    normals = random_normals(
        HYPERPLANES, {one for found in lists.values() for one in found}, random
    )
    along = {name: projections(vector, normals) for name, vector in counts.items()}
    return Walk(
        texts=texts,
        shingles=lists,
        matrix=matrix,
        order=order,
        minhashes=minhash_by_permutation(matrix, order),
        functions=functions,
        signatures=signatures,
        bands=banded,
        candidates=found,
        verification=verify(matrix, found.keys(), threshold),
        counts=counts,
        projections=along,
        sketches={name: signs(one) for name, one in along.items()},
    )
