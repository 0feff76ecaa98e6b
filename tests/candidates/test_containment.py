"""Containment: what comparing every pair finds, whatever the memory, the threads and the pieces."""

import json
import random
import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins_containment as twins
from lookalike.base.errors import QuadraticError, SettingsError
from lookalike.candidates import containment
from lookalike.candidates.containment import contained
from lookalike.kernels import containment as kernels
from lookalike.kernels.jit import INTERPRETED
from lookalike.text.shingles import Shingling
from made_documents import callable_from_python, documents_of, pairs_of, sets_of

pytestmark = pytest.mark.kernels

THRESHOLDS = (0.01, 0.3, 0.1 + 0.2, 1 / 3, 0.5, 2 / 3, 0.8, 0.9, 0.95, 1.0)
LITTLE, SOME, PLENTY = 1, 20_000, 10**8
LETTERS = Shingling("chars", 1)
# Worker threads of the interpreter do not inherit what conftest says of wrap-around.
SEVERAL = 1 if INTERPRETED else 3

thresholds = st.sampled_from(THRESHOLDS) | st.floats(0, 1, exclude_min=True)
memories = st.sampled_from([LITTLE, 500, SOME, PLENTY])
few = st.sets(st.integers(0, 25), max_size=25)
sets_of_few = st.lists(few, max_size=9)
# Elements of 64 bits that agree in their upper bits, or in their lower ones.
words = st.builds(lambda upper, lower: upper * 2**62 + lower, st.integers(0, 3), st.integers(0, 6))


def text_of(one):
    """A text whose shingles of one character stand for the elements of a set."""
    return "".join(chr(0x4E00 + element) for element in one)


def found(texts, threshold, shingling=LETTERS, memory=PLENTY, **options):
    """What is found, with its scores; no pair comes twice."""
    result = {}
    for block in contained(
        documents_of(texts), shingling, threshold=threshold, memory=memory, **options
    ):
        pairs = pairs_of(block.inner, block.outer)
        assert len(block) == len(pairs) > 0
        assert not result.keys() & set(pairs)
        assert len(pairs) == len(set(pairs))
        scores = zip(block.containment.tolist(), block.similarity.tolist(), strict=True)
        result.update(zip(pairs, scores, strict=True))
    return result


def found_of_sets(sets, threshold, **options):
    return found([text_of(one) for one in sets], threshold, **options)


def families(generator, documents, largest):
    """Sets that are parts of others, with some elements left out and some put in."""
    sets = []
    for _ in range(documents):
        if sets and generator.random() < 0.8:
            whole = sorted(generator.choice(sets))
            one = generator.sample(whole, generator.randint(len(whole) // 2, len(whole)))
            added = generator.choice([0, 1, len(one) // 10, len(one) // 2])
        else:
            one = []
            added = generator.randint(0, largest)
        sets.append({*one, *(generator.randrange(8 * largest) for _ in range(added))})
    return sets


@pytest.fixture(scope="module")
def some_families():
    documents, largest = (25, 20) if INTERPRETED else (300, 120)
    return families(random.Random(4), documents, largest)


class TestNothingIsLost:
    @given(sets_of_few, thresholds, memories)
    def test_what_is_found_is_what_comparing_every_pair_finds(self, sets, threshold, memory):
        assert found_of_sets(sets, threshold, memory=memory) == twins.contained(sets, threshold)

    @given(sets_of_few, st.data())
    def test_a_share_that_is_hit_exactly_is_reached_and_not_a_little_more(self, sets, data):
        shares = {share for share, _ in twins.contained(sets, 1e-9).values()} | {1.0}
        share = data.draw(st.sampled_from(sorted(shares)))
        for hit in (share, float(np.nextafter(share, 0)), min(float(np.nextafter(share, 2)), 1.0)):
            assert found_of_sets(sets, hit) == twins.contained(sets, hit)

    @pytest.mark.parametrize("threshold", THRESHOLDS)
    def test_families_of_parts_and_wholes_are_found_whole(self, some_families, threshold):
        expected = twins.contained(some_families, threshold)
        assert len(expected) > len(some_families) // 2
        assert found_of_sets(some_families, threshold) == expected

    @pytest.mark.parametrize(
        ("shared", "size"), [(4, 5), (1, 3), (2, 3), (3, 10), (9, 10), (19, 20), (99, 100)]
    )
    def test_the_decimal_that_a_user_writes_is_reached_at_every_size(self, shared, size):
        for times in (1, 2, 3) if INTERPRETED else (1, 2, 3, 10, 64):
            both, all_ = shared * times, size * times
            part, whole = range(both), range(all_)
            longer = [*part, *range(all_, 3 * all_)]
            # Copies of what is missed, so that it is common and what is shared is rarest.
            missed = [range(both, all_)] * 5
            pairs = found_of_sets([whole, longer, part, *missed], shared / size)
            assert pairs[0, 1][0] == pairs[0, 2][0] == shared / size
            assert pairs[2, 1][0] == 1.0
            more = found_of_sets([whole, longer, part, *missed], shared / size + 1e-9)
            assert (0, 1) not in more

    def test_four_fifths_reach_0_8(self):
        sets = [{1, 2, 3, 4, 5}, {1, 2, 3, 4, 6, 7, 8, 9, 10, 11}]
        assert found_of_sets(sets, 0.8) == {(0, 1): (0.8, 4 / 11)}
        assert found_of_sets(sets, 0.8000001) == {}

    def test_equal_documents_lie_in_each_other(self):
        pairs = found_of_sets([{1, 2, 3}] * 12, 1.0)
        assert sorted(pairs) == sorted(permutations(range(12), 2))
        assert set(pairs.values()) == {(1.0, 1.0)}

    def test_a_few_elements_in_a_very_long_text_are_found(self):
        long = range(200 if INTERPRETED else 5000)
        for part in ({0}, {0, 7}, {0, long[-1]}, {3, 50, 51, 52, 120}, set(long[-4:])):
            assert found_of_sets([part, long], 1.0) == {(0, 1): (1.0, len(part) / len(long))}
            beside = part | {20_000}
            assert (0, 1) not in found_of_sets([beside, long], 1.0)
            share = len(part) / len(beside)
            assert found_of_sets([beside, long], share)[0, 1][0] == share


class TestTexts:
    @given(
        st.lists(st.text("ab ", max_size=12).map(lambda text: " ".join(text.split())), max_size=7),
        st.sampled_from(["chars", "words"]),
        st.integers(1, 3),
        st.booleans(),
        st.sampled_from([0.5, 0.8, 0.9, 1.0]),
        memories,
    )
    def test_sets_and_multisets_of_shingles_are_compared_exactly(
        self, texts, unit, k, multiset, threshold, memory
    ):
        shingling = Shingling(unit, k, multiset)
        expected = [twins.shingles(text, unit, k, multiset) for text in texts]
        assert found(texts, threshold, shingling, memory) == twins.contained(expected, threshold)

    def test_a_text_that_says_a_thing_twice_is_not_in_one_that_says_it_once_as_a_multiset(self):
        texts = ["well well", "well then"]
        assert (0, 1) in found(texts, 1.0, Shingling("words", 1))
        pairs = found(texts, 0.5, Shingling("words", 1, multiset=True))
        assert pairs[0, 1][0] == 0.5

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("corpus", "spec", "threshold"),
        [
            ("bible", "words:3", 0.3),
            ("bible", "words:2", 0.5),
            ("articles", "words:3", 0.8),
            ("articles", "words:1", 0.5),
        ],
    )
    def test_on_real_documents(self, corpora, corpus, spec, threshold):
        step = 200 if INTERPRETED else 8
        lines = (corpora / corpus / "docs.jsonl").read_text().splitlines()[::step]
        # Only letters and blanks, so that everybody agrees on what a word is; and parts of them.
        texts = [re.sub("[^a-z]+", " ", json.loads(line)["text"].lower()).strip() for line in lines]
        texts += [text[len(text) // 3 : len(text) // 2] for text in texts[::5]]
        shingling = Shingling.parse(spec)
        sets = [twins.shingles(text, "words", shingling.size, False) for text in texts]
        expected = twins.contained(sets, threshold)
        assert len(expected) >= len(texts) // 7
        assert found(texts, threshold, shingling) == expected
        assert found(texts, threshold, shingling, memory=10**6, threads=SEVERAL) == expected

    def test_a_quotation_lies_in_a_long_text_that_it_is_not_similar_to(self):
        generator = random.Random(1)
        words = [f"w{generator.randrange(10**6)}" for _ in range(300 if INTERPRETED else 20_000)]
        texts = [" ".join(words), " ".join(words[40:80]), " ".join(reversed(words[40:80]))]
        pairs = found(texts, 0.9, Shingling("words", 3))
        assert list(pairs) == [(1, 0)]
        share, similarity = pairs[1, 0]
        assert share == 1.0
        assert similarity == 38 / (len(words) - 2)


class TestNothingElseMatters:
    @pytest.mark.long
    @pytest.mark.parametrize("threads", [1, SEVERAL])
    @pytest.mark.parametrize("memory", [LITTLE, 3000, SOME, PLENTY])
    def test_the_memory_and_the_threads_change_nothing(self, some_families, memory, threads):
        sets = some_families[:80]
        expected = twins.contained(sets, 0.7)
        assert len(expected) > 10
        assert found_of_sets(sets, 0.7, memory=memory, threads=threads) == expected

    def test_little_memory_means_many_slices_and_short_blocks(self, some_families, monkeypatch):
        slices = []
        look_up = containment._look_up

        def watched(corpus, index):
            slices.append((index.first, index.stop))
            for block in look_up(corpus, index):
                # One document's candidates are the least that a block can hold.
                assert len(block.found) <= corpus.block + len(index.owners)
                yield block

        monkeypatch.setattr(containment, "_look_up", watched)
        sets = some_families[:40]
        found_of_sets(sets, 0.7, memory=2000)
        assert len(slices) > 3
        assert [first for first, _ in slices] == [0, *(stop for _, stop in slices[:-1])]
        assert slices[-1][1] == len(sets)
        slices.clear()
        found_of_sets(sets, 0.7)
        assert slices == [(0, len(sets))]

    def test_a_crowded_piece_is_worked_off_block_by_block(self, monkeypatch):
        monkeypatch.setattr(containment, "MAX_BLOCK_PAIRS", 5)
        sets = [{1, 2, 3}] * 30
        blocks = list(
            contained(
                documents_of([text_of(one) for one in sets]), LETTERS, threshold=1, memory=PLENTY
            )
        )
        assert len(blocks) > 10
        assert sum(len(block) for block in blocks) == 30 * 29
        assert len(found_of_sets(sets, 1.0, threads=SEVERAL)) == 30 * 29

    def test_the_order_of_the_documents_changes_only_their_names(self, some_families):
        sets = some_families[:60]
        order = random.Random(2).sample(range(len(sets)), len(sets))
        shuffled = found_of_sets([sets[row] for row in order], 0.8, memory=SOME)
        named = {(order[i], order[j]): scores for (i, j), scores in shuffled.items()}
        assert named == found_of_sets(sets, 0.8)

    def test_texts_are_read_in_pieces_of_neighbours(self, some_families):
        documents = documents_of([text_of(one) for one in some_families])
        read = []

        class Elsewhere:
            def __len__(self):
                return len(documents)

            def lengths(self, rows):
                return documents.lengths(rows)

            def chosen(self, rows):
                read.append(rows)
                return documents.chosen(rows)

        blocks = list(contained(Elsewhere(), LETTERS, threshold=0.9, memory=10**6))
        pairs = {pair for block in blocks for pair in pairs_of(block.inner, block.outer)}
        assert pairs == twins.contained(some_families, 0.9).keys()
        assert max(int(documents.lengths(rows).sum()) for rows in read) <= 10**6 // 128
        firsts = [rows for rows in read if len(rows) > 1 and np.all(np.diff(rows) == 1)]
        assert sum(map(len, firsts)) >= 3 * len(some_families) - len(read)

    def test_progress_only_grows_and_reaches_its_end(self, some_families):
        sets = some_families[:30]
        for memory in (LITTLE, SOME, PLENTY):
            told = []
            found_of_sets(
                sets,
                0.8,
                memory=memory,
                progress=lambda done, total, told=told: told.append((done, total)),
            )
            done = [one for one, _ in told]
            assert done == sorted(done)
            assert {total for _, total in told} == {2 * len(sets)}
            assert done[-1] == 2 * len(sets)


class TestEdges:
    @pytest.mark.parametrize("sets", [[], [set()], [{1, 2}], [set(), set()], [set(), {1}]])
    def test_empty_and_lone_documents_are_in_none(self, sets):
        for memory in (LITTLE, PLENTY):
            assert found_of_sets(sets, 0.01, memory=memory) == {}

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
    def test_a_share_that_cannot_be_is_refused(self, threshold):
        with pytest.raises(SettingsError, match=rf"containment={threshold}: use a share above 0"):
            found_of_sets([{1}, {2}], threshold)

    def test_work_that_grows_with_the_square_is_refused_with_a_way_out(self):
        sets = [{1, 2, 3, 10 + row} for row in range(40)]
        assert len(found_of_sets(sets, 0.75, max_candidates=40 * 39)) == 40 * 39
        with pytest.raises(QuadraticError) as refused:
            found_of_sets(sets, 0.75, max_candidates=40 * 39 - 1)
        assert str(refused.value) == (
            "containment=0.75: more than 1,559 pairs of 40 documents would have to be compared, "
            "for even the rarest chars:1 shingles of some are in about 40 documents: leave out "
            "what all of them repeat by max_df= or ignore=, use a longer shingle=, or a higher "
            "containment="
        )
        with pytest.raises(QuadraticError, match="more than 1,559 pairs of 40 documents"):
            found_of_sets(sets, 0.75, max_candidates=40 * 39 - 1, memory=LITTLE)

    def test_documents_that_share_only_what_all_share_are_not_compared(self):
        sets = [{0, *range(10 * row, 10 * row + 10)} for row in range(1, 30)]
        assert found_of_sets(sets, 0.8, max_candidates=0) == {}


class TestKernels:
    @given(st.lists(st.sets(words), max_size=6), st.integers(1, 40))
    def test_elements_are_counted(self, sets, slots):
        counters = np.zeros(slots, np.uint16)
        kernels.count_elements(sets_of(sets).elements, counters)
        assert counters.tolist() == twins.counters_of(sets, slots, kernels.MAX_COUNT)

    def test_counters_stay_at_their_bound(self):
        counters = np.array([kernels.MAX_COUNT - 1], np.uint16)
        kernels.count_elements(np.arange(3, dtype=np.uint64), counters)
        assert counters.tolist() == [kernels.MAX_COUNT]

    @given(st.lists(st.sets(words), max_size=6), thresholds, st.integers(1, 40), st.integers(1, 4))
    def test_the_rarest_are_those_counted_least(self, sets, threshold, slots, extra):
        laid_out = sets_of(sets)
        counts = twins.counters_of(sets, slots, kernels.MAX_COUNT)
        out = np.empty(len(laid_out.elements), np.uint64)
        offsets = np.zeros(len(sets) + 1, np.int64)
        needed, required = np.empty(len(sets), np.int64), np.empty(len(sets), np.int64)
        kernels.rarest(
            laid_out.elements,
            laid_out.offsets,
            np.array(counts, np.uint16),
            threshold,
            extra,
            out,
            offsets,
            needed,
            required,
        )
        for row, one in enumerate(sets):
            chosen = out[offsets[row] : offsets[row + 1]].tolist()
            expected, least, some = twins.rarest(one, counts, threshold, extra)
            assert chosen == sorted(expected)
            assert (needed[row], required[row]) == (least, some)

    @pytest.mark.parametrize("threshold", [0.01, 1 / 3, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])
    def test_what_is_needed_is_what_one_division_says(self, threshold):
        fewest = callable_from_python(kernels._fewest)
        for size in range(1, 60 if INTERPRETED else 1200):
            assert fewest(size, threshold) == twins.needed(size, threshold)
            for count in range(1, size + 1, 7):
                assert fewest(size, count / size) == count
                if count < size:
                    assert fewest(size, np.nextafter(count / size, 1)) == count + 1

    @given(
        st.lists(st.sets(words, min_size=1), min_size=1, max_size=6),
        st.lists(st.sets(words), min_size=1, max_size=6),
        st.integers(1, 3),
        st.integers(0, 3),
        st.integers(1, 8),
    )
    def test_what_may_contain_an_indexed_set_holds_enough_of_it(
        self, indexed, outer, some, least, buckets
    ):
        owners = np.arange(len(indexed), dtype=np.int64)
        bits = np.uint64(len(indexed).bit_length())
        laid_out, looked_up = sets_of(indexed), sets_of(outer)
        entries = laid_out.elements.copy()
        kernels.set_owners(entries, laid_out.sizes(), bits)
        entries.sort()
        starts, marks = np.empty(buckets + 1, np.int64), np.zeros(buckets, np.uint64)
        kernels.directory(entries, bits, starts, marks)
        assert starts[0] == 0
        assert starts[-1] == len(entries)
        required = np.minimum(some, laid_out.sizes())
        needed = np.full(len(indexed), least)
        # No row is one of the owners, but the first, which is not to be found in itself.
        rows = np.array([0, *range(100, 99 + len(outer))])
        tallies = np.zeros(len(indexed), np.int32)
        pairs = []
        place = 0
        while place < len(outer):
            inner, found_in = np.empty((2, len(indexed) + 1), np.int32)
            written, stop = kernels.look_up(
                looked_up.elements,
                looked_up.offsets,
                rows,
                place,
                entries,
                bits,
                starts,
                marks,
                owners,
                needed,
                required,
                tallies,
                np.empty(len(indexed), np.int32),
                np.empty(len(looked_up.elements) + 1, np.uint64),
                np.empty(len(looked_up.elements) + 1, np.int64),
                inner,
                found_in,
            )
            assert stop > place
            place = stop
            pairs += pairs_of(inner[:written], found_in[:written])
        assert not tallies.any()
        known = [
            ({*one}, least, int(few)) for one, few in zip(indexed, required.tolist(), strict=True)
        ]
        expected = [
            (i, j) for j, one in enumerate(outer) for i in twins.may_contain(one, known, int(bits))
        ]
        assert sorted(pairs) == sorted(set(expected) - {(0, 0)})

    @given(st.sets(st.integers(0, 400), min_size=1), st.sets(st.integers(0, 400)), st.data())
    def test_what_is_shared_is_counted_or_known_to_be_too_little(self, inner, outer, data):
        needed = data.draw(st.integers(1, len(inner)))
        part = data.draw(st.sampled_from([1, 3, 8]))
        inner = set(sorted(inner)[::part]) | {min(inner)}
        needed = min(needed, len(inner))
        a, b = sets_of([inner]), sets_of([set(), outer])
        out = np.empty(1, np.int64)
        kernels.shared(
            a.elements,
            a.offsets,
            np.array([0]),
            b.elements,
            b.offsets,
            np.array([1], np.int32),
            np.array([needed]),
            out,
        )
        count = len(inner & outer)
        assert out.tolist() == [count if count >= needed else -1]
