"""Slow, plain twins of what Lookalike computes, written from docs/hashing.md alone.

Nothing here is clever and nothing is shared with the package: Python integers, lists, sets and
the standard library. Where the package and a twin differ, one of the two misreads a definition.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

Name = TypeVar("Name")

WORD = 2**64
HALF = 2**32
P = 2**61 - 1
GOLDEN = 0x9E3779B97F4A7C15
EMPTY_ROW = HALF - 1

# ---------------------------------------------------------------------------------------------
# The canonical text
# ---------------------------------------------------------------------------------------------

WHITE_SPACE = (
    (0x0009, 0x000D),
    (0x0020, 0x0020),
    (0x0085, 0x0085),
    (0x00A0, 0x00A0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
ACCENTS = (
    (0x0300, 0x036F),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
KANA = (
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
)


def within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Say whether a character lies in one of the ranges, both ends included."""
    return any(first <= ord(character) <= last for first, last in ranges)


def without_accents(text: str) -> str:
    """Decompose, drop the accents, compose; marks outside the five blocks stay."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not within(c, ACCENTS)))


def canonical(
    text: str,
    *,
    keep_case: bool = False,
    strip_accents: bool = False,
    strip_punctuation: bool = False,
    strip_digits: bool = False,
    raw: bool = False,
) -> str:
    """Return the text that is shingled; `raw` is the text as it is, whatever else is asked."""
    if raw:
        return text
    text = unicodedata.normalize("NFC", text)
    if strip_accents:
        text = without_accents(text)
    if not keep_case:
        text = unicodedata.normalize("NFC", text.lower())

    def is_blank(character: str) -> bool:
        kind = unicodedata.category(character)[0]
        return (
            within(character, WHITE_SPACE)
            or (strip_punctuation and kind in "PS")
            or (strip_digits and kind == "N")
        )

    blanked = "".join(" " if is_blank(c) else c for c in text)
    return " ".join(run for run in blanked.split(" ") if run)


def is_word_by_itself(character: str) -> bool:
    """Say whether a character is an ideograph or a kana."""
    category = unicodedata.category(character)
    if category == "Lo" and within(character, IDEOGRAPHS):
        return True
    return category[0] == "L" and within(character, KANA)


def words(canonical_text: str) -> list[str]:
    """Return the runs of letters, marks and numbers; an ideograph or a kana is one by itself."""
    found: list[str] = []
    run = ""
    for character in canonical_text:
        alone = is_word_by_itself(character)
        if not alone and unicodedata.category(character)[0] in "LMN":
            run += character
            continue
        if run:
            found.append(run)
            run = ""
        if alone:
            found.append(character)
    if run:
        found.append(run)
    return found


# ---------------------------------------------------------------------------------------------
# Hashes
# ---------------------------------------------------------------------------------------------


def mix(x: int) -> int:
    """Mix a 64-bit word, one to one."""
    x %= WORD
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WORD
    x ^= x >> 31
    return x


def spread(x: int) -> int:
    """Spread a 64-bit word over all its bits by one multiplication, one to one."""
    x %= WORD
    x ^= x >> 32
    x = x * 0x94D049BB133111EB % WORD
    x ^= x >> 29
    return x


B = mix(GOLDEN) % P


def value(seed: int, i: int) -> int:
    """Return the i-th number of a seed's stream."""
    return mix((seed + (i + 1) * GOLDEN) % WORD)


def polynomial(coefficients: list[int]) -> int:
    """Evaluate at B, modulo P; the first coefficient has the highest power."""
    m = len(coefficients)
    return sum(coefficients[j] * pow(B, m - 1 - j, P) for j in range(m)) % P


def windows(sequence: list[int], k: int) -> list[list[int]]:
    """Return every run of k; all of a shorter sequence, and nothing of an empty one."""
    if k < 1:
        raise ValueError("a shingle has at least one part")
    if not sequence:
        return []
    if len(sequence) < k:
        return [sequence]
    return [sequence[i : i + k] for i in range(len(sequence) - k + 1)]


def char_hashes(text: str, k: int) -> list[int]:
    """Return the hashes of the shingles of k code points of a canonical text, in order."""
    shifted = [ord(character) + 1 for character in text]
    hashes = [spread(polynomial(window)) for window in windows(shifted, k)]
    return [mix(h) for h in hashes] if k == 1 else hashes


def chunks(data: bytes) -> list[int]:
    """Return the little-endian chunks of 8 bytes, the last padded with zero bytes."""
    return [
        sum(byte << (8 * place) for place, byte in enumerate(data[i : i + 8]))
        for i in range(0, len(data), 8)
    ]


def bytes_hash(data: bytes) -> int:
    """Return the 64 bits that words and tokens begin with."""
    h = len(data) * GOLDEN % WORD
    for chunk in chunks(data):
        h = (h ^ chunk) * 0xD6E8FEB86659FD93 % WORD
        h ^= h >> 32
    return h


def token_hash(token: str) -> int:
    """Return the 64 bits that stand for a token."""
    return mix(bytes_hash(token.encode("utf-8")))


def word_value(word: str) -> int:
    """Return the number below P that stands for a word."""
    return bytes_hash(word.encode("utf-8")) % P


def word_hashes(text: str, k: int) -> list[int]:
    """Return the hashes of the shingles of k words of a canonical text, in order."""
    values = [word_value(word) for word in words(text)]
    if text and not values:
        return [spread(polynomial([ord(character) + 1 for character in text]))]
    return [spread(polynomial(window)) for window in windows(values, k)]


def token_document(tokens: Sequence[str | None] | None, multiset: bool) -> bytes:
    """Return the bytes of a list of tokens: their hashes, sorted, each little-endian."""
    hashes = [token_hash(token) for token in tokens or [] if token is not None]
    if not multiset:
        hashes = list(set(hashes))
    return b"".join(h.to_bytes(8, "little") for h in sorted(hashes))


def content_fingerprint(content: str | bytes) -> tuple[int, int]:
    """Return the 128 bits that say what a canonical text, or a document of tokens, says."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    u = len(data) * GOLDEN % WORD
    v = len(data) ^ 0xC2B2AE3D27D4EB4F
    for chunk in chunks(data):
        u = (u ^ chunk) * 0xD6E8FEB86659FD93 % WORD
        u ^= u >> 32
        v = (v + chunk) * 0xA0761D6478BD642F % WORD
        v ^= v >> 29
    return mix(u), mix(v)


# ---------------------------------------------------------------------------------------------
# Sets and signatures
# ---------------------------------------------------------------------------------------------


def elements(hashes: list[int], multiset: bool, ignored: frozenset[int] = frozenset()) -> set[int]:
    """Return a document's set; in a multiset every further occurrence is another element."""
    hashes = [h for h in hashes if h not in ignored]
    if not multiset:
        return set(hashes)
    seen: dict[int, int] = {}
    result: set[int] = set()
    for h in hashes:
        j = seen.get(h, 0)
        seen[h] = j + 1
        result.add(h if j == 0 else mix((h + j * GOLDEN) % WORD))
    return result


def jaccard(a: set[int], b: set[int]) -> Fraction:
    """Return what is shared over what either has; 0 for two empty sets."""
    union = a | b
    return Fraction(len(a & b), len(union)) if union else Fraction(0)


def containment(a: set[int], b: set[int]) -> Fraction:
    """Return the share of a that is inside b; 0 for an empty a."""
    return Fraction(len(a & b), len(a)) if a else Fraction(0)


def signature(elements: set[int], seed: int, rows: int) -> list[int]:
    """Return the minhash rows of a document's elements."""
    numbers: list[list[int]] = [[] for _ in range(-(-rows // 128) * 128)]
    own = (seed + 0xE7037ED1A0B428DB) % WORD
    for throw in range(3 * len(numbers) // 128):
        block, turn = divmod(throw, 3)
        for e in elements:
            y = ((value(own, 2 * throw) | 1) * e + value(own, 2 * throw + 1)) % WORD
            numbers[128 * block + (y >> 57)].append(turn * 2**30 + y % 2**30)
    for i in range(rows):
        a = (value(seed, 2 * i) % HALF) | 1
        b = value(seed, 2 * i + 1) % HALF
        numbers[i] += [3 * 2**30 + ((a * e + b) % HALF >> 2) for e in elements]
    return [min(row, default=EMPTY_ROW) for row in numbers[:rows]]


def prefilter_bits(signature: list[int]) -> list[int]:
    """Return two bits of each of the first 128 rows, sixteen rows to a word, the first lowest."""
    number = 0
    for place, row in enumerate(signature[:128]):
        x = (row ^ row >> 16) * 0x7FEB352D % HALF
        x = (x ^ x >> 15) * 0x846CA68B % HALF
        number += (x >> 30) << 2 * place
    return [number >> 32 * word & 0xFFFFFFFF for word in range(8)]


def split_bands(signature: list[int], bands: int, rows: int) -> list[list[int]]:
    """Return the first `bands` runs of `rows` rows; rows after them belong to no band."""
    if len(signature) < bands * rows:
        raise ValueError("the signature is shorter than its bands")
    return [signature[i * rows : (i + 1) * rows] for i in range(bands)]


def band_keys(signature: list[int], bands: int, rows: int) -> list[int]:
    """Return the key of every band."""
    keys = []
    for band in split_bands(signature, bands, rows):
        key = rows
        for row in band:
            key = (mix(key ^ row) + GOLDEN) % WORD
        keys.append(key)
    return keys


def candidates(signatures: list[list[int]], bands: int, rows: int) -> set[tuple[int, int]]:
    """Return the pairs (i, j), i < j, that agree on every row of some band."""
    split = [split_bands(one, bands, rows) for one in signatures]
    filled = [i for i, one in enumerate(signatures) if any(row != EMPTY_ROW for row in one)]
    return {
        (i, j)
        for i in filled
        for j in filled
        if i < j and any(split[i][band] == split[j][band] for band in range(bands))
    }


def cascade_holds(sig_a: list[int], sig_b: list[int], steps: list[tuple[str, int]]) -> bool:
    """Evaluate a cascade of AND and OR steps, the first step the innermost, on equal rows.

    A step ("and", n) or ("or", n) joins n neighbouring results of the step before it; those of
    the first step are the rows. Rows after the cascade's are not looked at.
    """
    size = math.prod(n for _, n in steps)
    if min(len(sig_a), len(sig_b)) < size:
        raise ValueError("the signature is shorter than the cascade")
    if not steps:
        return sig_a[0] == sig_b[0]
    join, n = steps[-1]
    inner = steps[:-1]
    part = size // n
    results = [
        cascade_holds(sig_a[i * part : (i + 1) * part], sig_b[i * part : (i + 1) * part], inner)
        for i in range(n)
    ]
    return {"and": all, "or": any}[join](results)


# ---------------------------------------------------------------------------------------------
# Clusters
# ---------------------------------------------------------------------------------------------


def star(
    order: Iterable[Name], neighbours: Mapping[Name, Mapping[Name, float]]
) -> tuple[list[Name], dict[Name, tuple[Name, float]]]:
    """Keep every document without a kept neighbour before it in the order of preference.

    Another one names the most similar of the kept ones before it, the earliest of equals.
    """
    kept: list[Name] = []
    removed: dict[Name, tuple[Name, float]] = {}
    for document in order:
        near = neighbours.get(document, {})
        # `max` gives the first of the largest, and the kept ones stand in order.
        best = max(
            (other for other in kept if other in near), key=lambda one: near[one], default=None
        )
        if best is None:
            kept.append(document)
        else:
            removed[document] = (best, near[best])
    return kept, removed


def components(n: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of 0 … n-1, each sorted, by their smallest member."""
    linked: list[set[int]] = [set() for _ in range(n)]
    for i, j in pairs:
        linked[i].add(j)
        linked[j].add(i)
    reached: set[int] = set()
    result = []
    for start in range(n):
        if start in reached:
            continue
        component = {start}
        waiting = [start]
        while waiting:
            for other in linked[waiting.pop()]:
                if other not in component:
                    component.add(other)
                    waiting.append(other)
        reached |= component
        result.append(sorted(component))
    return result
