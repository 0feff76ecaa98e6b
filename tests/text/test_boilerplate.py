"""What many documents share: counts as a Counter has them, and the passages that were planted."""

import itertools
import json
from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.base.errors import SettingsError
from lookalike.kernels import document_frequencies as kernels
from lookalike.kernels import words
from lookalike.kernels.jit import INTERPRETED
from lookalike.text import boilerplate, document_frequencies, unicode
from lookalike.text.boilerplate import SharedPassage, hashes_of, most_shared, paragraphs
from lookalike.text.document_frequencies import frequent
from lookalike.text.shingles import Shingling, element_sets, ignoring
from made_documents import documents_of
from text_strategies import any_text, documents

pytestmark = pytest.mark.kernels

TWINS = {"chars": twins.char_hashes, "words": twins.word_hashes}
# The interpreter's arithmetic warns of wrap-around on threads of its own.
THREADS = (1,) if INTERPRETED else (1, 3)

units = st.sampled_from(["chars", "words"])
sharing = st.lists(st.text("abé .", max_size=30), max_size=12)


def in_parts(texts: list[str], *cuts: int):
    """Give documents in parts that begin at some places, each time anew."""
    ends = [0, *sorted(cuts), len(texts)]
    parts = [documents_of(texts[a:b]) for a, b in itertools.pairwise(ends)]
    return lambda: iter(parts)


def frequent_by_counter(texts, unit, k, share, ignored=()) -> list[int]:
    counter = Counter(h for text in texts for h in set(TWINS[unit](text, k)) - set(ignored))
    limit = Fraction(str(share)) * len(texts)
    return sorted(h for h, count in counter.items() if count > limit)


class TestFrequent:
    @given(
        sharing,
        units,
        st.integers(1, 3),
        st.booleans(),
        st.sampled_from([0.01, 0.1, 0.25, 0.29, 0.5, 0.7, 1.0]),
        st.data(),
    )
    def test_exactly_the_shingles_of_a_counter_whatever_the_pieces_and_threads(
        self, texts, unit, k, multiset, share, data
    ):
        cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                document_frequencies, "PIECE_BYTES", data.draw(st.sampled_from([1, 20, 1 << 20]))
            )
            # Few slots, which many shingles share, and so little room that rounds are needed.
            patch.setattr(
                document_frequencies, "_bits", lambda *_: data.draw(st.sampled_from([1, 3, 16]))
            )
            patch.setattr(
                document_frequencies, "MAX_KEYS", data.draw(st.sampled_from([8, 1 << 22]))
            )
            found = frequent(
                in_parts(texts, *cuts),
                Shingling(unit, k, multiset),
                share=share,
                documents=len(texts),
                threads=data.draw(st.sampled_from(THREADS)),
            )
        assert found.dtype == np.uint64
        assert found.tolist() == frequent_by_counter(texts, unit, k, share)

    def test_a_share_is_taken_as_it_is_written(self):
        assert 0.29 * 100 < 29
        texts = ["common"] * 29 + [f"{n:06}" for n in range(71)]
        found = frequent(in_parts(texts), Shingling("chars", 6), share=0.29, documents=100)
        assert found.tolist() == []
        found = frequent(in_parts(texts), Shingling("chars", 6), share=0.28, documents=100)
        assert found.tolist() == twins.char_hashes("common", 6)

    def test_what_is_ignored_already_is_not_counted(self):
        texts = ["abcd", "abce", "abcf"]
        ignored = twins.char_hashes("ab", 2)
        kind = Shingling("chars", 2, ignored=ignoring(np.array(ignored, np.uint64)))
        found = frequent(in_parts(texts), kind, share=0.5, documents=3)
        assert found.tolist() == frequent_by_counter(texts, "chars", 2, 0.5, ignored)
        assert found.tolist() == twins.char_hashes("bc", 2)

    def test_rounds_are_needed_where_the_table_is_small_and_change_nothing(self, monkeypatch):
        rng = Random(5)
        texts = ["".join(rng.choices("abcdefgh", k=60)) for _ in range(60)]
        asked = []

        def parts():
            asked.append(1)
            return iter([documents_of(texts)])

        monkeypatch.setattr(document_frequencies, "_bits", lambda *_: 2)
        monkeypatch.setattr(document_frequencies, "MAX_KEYS", 256)
        found = frequent(parts, Shingling("chars", 3), share=0.05, documents=60)
        assert found.tolist() == frequent_by_counter(texts, "chars", 3, 0.05)
        assert len(asked) > 3

    def test_no_documents_have_no_frequent_shingles(self):
        for parts in (in_parts([]), in_parts(["", ""]), lambda: iter([])):
            assert len(frequent(parts, Shingling("chars", 2), share=0.1, documents=0)) == 0

    @pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan")])
    def test_a_share_that_cannot_be_is_refused(self, share):
        with pytest.raises(SettingsError, match=f"a share of {share} .*: use a number above 0"):
            frequent(in_parts(["a"]), Shingling("chars", 2), share=share, documents=1)


class TestIgnoreFile:
    def test_paragraphs_are_parted_by_blank_lines_alone(self):
        text = "All rights\nreserved.\n\n  \n\tSent from my phone\r\n\r\nPage 1\n"
        assert paragraphs(text) == ["All rights\nreserved.", "\tSent from my phone", "Page 1\n"]
        assert paragraphs("") == paragraphs(" \n\n \n") == []

    @given(st.lists(any_text, max_size=4), units, st.integers(1, 4), st.booleans())
    def test_its_shingles_are_those_of_each_text_by_itself(self, texts, unit, k, multiset):
        found = hashes_of(documents_of(texts), Shingling(unit, k, multiset))
        assert found.tolist() == sorted({h for text in texts for h in TWINS[unit](text, k)})

    def test_what_is_ignored_already_stays_part_of_what_to_ignore(self):
        texts = documents_of(["abc"])
        once = hashes_of(texts, Shingling("chars", 2))
        again = hashes_of(texts, Shingling("chars", 2, ignored=ignoring(once)))
        assert again.tolist() == once.tolist() == sorted(twins.char_hashes("abc", 2))

    def test_documents_that_differ_in_their_footers_alone_become_the_same(self):
        footer = "All rights reserved, Example Press."
        kind = Shingling("words", 2)
        ignored = ignoring(hashes_of(documents([footer]), kind))
        texts = documents(["The first story.", f"The first story.\n\n{footer}", footer.upper()])
        sets = element_sets(texts, Shingling("words", 2, ignored=ignored))
        # One shingle more, half story and half footer.
        assert sets.sizes().tolist() == [2, 3, 0]
        assert set(sets[0].tolist()) < set(sets[1].tolist())


FOOTER = (
    "Copyright the Example Press. All rights reserved; no part of this page may be copied, "
    "stored or sent on without the written word of its owners."
)
HEADER = "You are here: home, news, regional news. Log in to follow the stories that matter to you."


def planted(count: int, seed: int = 3, footer: str = FOOTER) -> list[str]:
    """Make documents of random words, 6 in 10 with a footer, the first 3 in 10 with a header."""
    rng = Random(seed)
    made = []
    for i in range(count):
        body = " ".join(f"w{rng.randrange(5000)}" for _ in range(rng.randrange(20, 60)))
        header = HEADER + " " if i % 10 < 3 else ""
        made.append(f"{header}{body} {footer if i % 5 < 3 else ''}")
    return made


def shared_by(texts: list[str], *cuts: int, threads: int = 1, **options) -> list[SharedPassage]:
    whole = documents(texts)
    ends = [0, *cuts, len(texts)]
    parts = [whole.chosen(np.arange(a, b, dtype=np.int64)) for a, b in itertools.pairwise(ends)]
    return most_shared(lambda: iter(parts), documents=len(texts), threads=threads, **options)


COUNT = 30 if INTERPRETED else 300


class TestMostShared:
    def test_a_planted_footer_and_header_are_the_two_passages(self):
        assert shared_by(planted(COUNT)) == [
            SharedPassage(FOOTER.lower().rstrip("."), COUNT * 6 // 10, 26),
            SharedPassage(HEADER.lower().rstrip("."), COUNT * 3 // 10, 17),
        ]

    @pytest.mark.parametrize("threads", THREADS)
    @pytest.mark.parametrize("piece", [1, 5_000])
    def test_order_pieces_and_threads_change_nothing(self, threads, piece, monkeypatch):
        # Near-copies with changes here and there have many passages, and ties among them; what
        # stands between the words tells from which document each was taken.
        rng = Random(8)
        words = [f"v{n}" for n in range(60)]
        texts = []
        for _ in range(COUNT // 3):
            changed = [word if rng.random() < 0.97 else "other" for word in words]
            texts.append(rng.choice([" ", ", ", "; "]).join(changed) + f" end {rng.random()}")
        expected = shared_by(texts, words=4)
        assert len(expected) > 1
        monkeypatch.setattr(document_frequencies, "PIECE_BYTES", piece)
        rng.shuffle(texts)
        assert shared_by(texts, 3, 3, 9, words=4, threads=threads) == expected

    def test_a_passage_ends_where_many_documents_go_on_otherwise(self):
        notice = "this story was first told by the old people of the valley in spring"
        more = "and later by their many children who had moved far away to the coast"
        texts = [f"w{n} x{n} {notice} {more if n % 2 else f'y{n} z{n}'}" for n in range(40)]
        found = shared_by(texts)
        assert (found[0].text, found[0].documents) == (notice, 40)
        assert (found[1].text, found[1].documents) == (
            f"{' '.join(notice.split()[-7:])} {more}",
            20,
        )
        assert len(found) == 2

    def test_a_word_that_varies_in_a_footer_parts_it_and_adds_no_windows(self):
        footer = FOOTER.replace("Press.", "Press {}.")
        texts = [text.format(f"y{n}") for n, text in enumerate(planted(COUNT, footer=footer))]
        found = [passage.text for passage in shared_by(texts)]
        assert found == [
            FOOTER[FOOTER.index("All") :].lower().rstrip("."),
            HEADER.lower().rstrip("."),
        ]

    def test_each_document_counts_once_however_often_it_repeats_a_passage(self):
        phrase = "round and round the ring goes the old song of the mill "
        found = shared_by([phrase * n + f"tail{n}" for n in range(2, 12)])
        assert {passage.documents for passage in found} == {10}
        assert len(found) == 1
        assert set(found[0].text.split()) <= set(phrase.split())

    def test_words_are_the_words_of_any_script(self):
        line = "床前明月光，疑是地上霜"
        texts = [f"{chr(0x5000 + n)}{chr(0x6000 + n)}{line}。{chr(0x7000 + n)}" for n in range(9)]
        assert shared_by(texts) == [SharedPassage(line, 9, 10)]

    def test_only_as_many_as_wanted_those_of_the_most_documents(self):
        assert shared_by(planted(COUNT), most=1) == shared_by(planted(COUNT))[:1]

    def test_only_as_many_shingles_as_there_is_room_for_are_looked_at(self, monkeypatch):
        monkeypatch.setattr(boilerplate, "MAX_FREQUENT", 25)
        found = shared_by(planted(COUNT))
        assert [passage.words for passage in found] == [26]

    def test_short_few_empty_and_different_documents_share_nothing(self):
        short = "all of one short text"
        for texts in ([], ["a"], ["", ""], [FOOTER], [short, short.upper() + "!"], ["?!", "?! "]):
            assert shared_by(texts) == []
        assert shared_by([f"w{n} " * 30 for n in range(5)]) == []

    @pytest.mark.parametrize("options", [{"most": 0}, {"words": 0}])
    def test_numbers_that_cannot_be_are_refused(self, options):
        with pytest.raises(SettingsError, match="use 1 or more of each"):
            shared_by(["a", "b"], **options)

    @pytest.mark.long
    @pytest.mark.skipif(INTERPRETED, reason="too slow without the compiler")
    def test_notices_of_licences_are_what_their_collection_shares(self, corpora):
        with (corpora / "licenses" / "docs.jsonl").open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        found = shared_by(texts, threads=2)
        assert len(found) == 20
        counts = [passage.documents for passage in found]
        assert counts == sorted(counts, reverse=True)
        said = " | ".join(passage.text for passage in found)
        assert "you can redistribute it and/or modify it under the terms of the gnu" in said
        assert "redistribution and use in source and binary forms, with or without" in said
        assert "be liable for any direct, indirect, incidental, special, exemplary" in said
        plain = [" ".join(twins.words(twins.canonical(text))) for text in texts]
        for passage in found:
            whole = " ".join(twins.words(passage.text))
            assert sum(whole in text for text in plain) <= passage.documents
            assert passage.words == len(twins.words(passage.text)) >= 8


class TestChains:
    def chains(self, counts, links):
        before, after = np.array(links, np.int64).reshape(-1, 2).T
        found = boilerplate._chains(np.array(counts, np.int64), before, after)
        return [
            sorted(np.flatnonzero(found.chains == n).tolist(), key=lambda j: found.steps[j])
            for n in range(len(found.sizes))
        ]

    def test_a_chain_is_cut_where_its_documents_have_become_a_quarter_fewer_step_by_step(self):
        links = [(0, 1), (1, 2), (2, 3)]
        assert self.chains([100, 80, 75, 60], links) == [[0, 1, 2], [3]]
        assert self.chains([60, 75, 80, 100], links) == [[0, 1, 2], [3]]
        assert self.chains([100, 80, 100, 80], links) == [[0, 1, 2, 3]]

    def test_a_ring_is_cut_at_its_smallest_hash_and_every_shingle_has_a_chain(self):
        assert self.chains([5] * 5, [(3, 1), (1, 4), (4, 3)]) == [[0], [2], [1, 4, 3]]

    def test_each_shingle_has_one_follower_at_most_and_follows_one_at_most(self):
        texts = documents_of([f"p q x r p q y s q x{n}" for n in range(6)])
        kind = Shingling("words", 2)
        hashes = frequent(lambda: iter([texts]), kind, share=0.5, documents=6)
        table, counts = document_frequencies.HashIndex(hashes), np.full(len(hashes), 6)
        before, after = boilerplate._links(lambda: iter([texts]), kind, table, counts, 1)
        assert len(set(before.tolist())) == len(before) == len(set(after.tolist())) > 3


def hold_by_twin(found, fingerprints, chains, steps):
    """Go through the documents as the definition does, with sets and slices."""
    sizes = Counter(chains)
    matched = {}
    for chain, size in sizes.items():
        members = {j for j, one in enumerate(chains) if one == chain}
        count = sum(4 * len(members & set(one)) >= 3 * size for one in found)
        runs = []
        for document, one in enumerate(found):
            for start in range(len(one)):
                for stop in range(start + 1, len(one) + 1):
                    run = one[start:stop]
                    first = steps[run[0]]
                    if all(j in members for j in run) and [steps[j] for j in run] == list(
                        range(first, first + len(run))
                    ):
                        runs.append((-len(run), fingerprints[document], start))
        length, fingerprint, start = min(runs, default=(0, (0, 0), 0))
        matched[chain] = (count, -length, start, fingerprint)
    return matched


class TestKernels:
    @given(any_text)
    def test_word_places_are_those_of_the_twins_words(self, text):
        encoded = np.frombuffer(text.encode(), np.uint8).copy()
        start, end = np.uint64(0), np.uint64(len(encoded))
        places = np.zeros(len(encoded) + 1, np.uint64)
        count = words.word_places(encoded, start, end, unicode.code_points(), places)
        spans = places[: 2 * count].reshape(-1, 2).tolist()
        assert [text.encode()[a:b].decode() for a, b in spans] == twins.words(text)

    @given(st.lists(st.lists(st.integers(-1, 5), max_size=9), max_size=5), st.data())
    def test_chains_are_held_where_a_search_of_every_run_finds_them(self, found, data):
        chains, steps = [0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 0]
        halves = st.tuples(st.integers(0, 2), st.integers(0, 2))
        fingerprints = data.draw(
            st.lists(halves, min_size=len(found), max_size=len(found), unique=True)
        )
        matched = boilerplate._ChainMatches.none(3)
        offsets = np.cumsum([0, *map(len, found)])
        kernels.count_chains(
            np.array([j for one in found for j in one], np.int64),
            offsets,
            np.array(fingerprints, np.uint64).reshape(-1, 2),
            *(np.array(one, np.int64) for one in (chains, steps, [3, 2, 1])),
            *(np.zeros(6, np.int64), np.zeros(3, np.int64)),
            *(matched.documents, matched.lengths, matched.starts, matched.fingerprints),
        )
        for chain, expected in hold_by_twin(found, fingerprints, chains, steps).items():
            assert (
                int(matched.documents[chain]),
                int(matched.lengths[chain]),
                int(matched.starts[chain]),
                tuple(matched.fingerprints[chain].tolist()),
            ) == expected

    @given(st.lists(st.lists(st.integers(-1, 3), max_size=6), max_size=5))
    def test_links_are_the_different_neighbours_within_a_document(self, found):
        offsets = np.cumsum([0, *map(len, found)])
        out = np.zeros(int(offsets[-1]), np.uint64)
        ends = np.zeros_like(offsets)
        kernels.link_neighbours(
            np.array([j for one in found for j in one], np.int64), offsets, out, ends
        )
        pairs = [
            [(a, b) for a, b in itertools.pairwise(one) if a != b and min(a, b) >= 0]
            for one in found
        ]
        assert ends.tolist() == np.cumsum([0, *map(len, pairs)]).tolist()
        assert out[: ends[-1]].tolist() == [(a << 32) + b for one in pairs for a, b in one]

    @given(st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=40))
    def test_hashes_are_found_at_their_places_and_others_are_not(self, hashes):
        known = sorted(hashes)
        table = document_frequencies.HashIndex(np.array(known, np.uint64))
        asked = [*known, *range(12)]
        expected = [known.index(one) if one in hashes else -1 for one in asked]
        assert table.places(np.array(asked, np.uint64)).tolist() == expected
