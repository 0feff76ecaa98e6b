"""Work in pieces on several threads, and items that are made ahead."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.threads import ahead, in_order, pieces


class TestPieces:
    @given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 30))
    def test_pieces_follow_each_other_and_hold_as_much_as_they_may(self, weights, most):
        found = list(pieces(np.array(weights, np.int64), most))
        assert [row for piece in found for row in range(len(weights))[piece]] == [
            *range(len(weights))
        ]
        for piece in found:
            assert len(weights[piece]) == 1 or sum(weights[piece]) <= most
            assert piece.stop == len(weights) or sum(weights[piece.start : piece.stop + 1]) > most


class TestInOrder:
    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_results_come_in_the_order_of_the_pieces(self, threads):
        assert list(in_order(lambda item: -item, range(50), threads)) == [
            -item for item in range(50)
        ]

    @pytest.mark.parametrize("threads", [1, 4])
    def test_a_failure_in_a_piece_is_raised_in_its_turn(self, threads):
        results = in_order(lambda item: 6 // (3 - item), range(50), threads)
        assert [next(results) for _ in range(3)] == [2, 3, 6]
        with pytest.raises(ZeroDivisionError):
            next(results)


class TestAhead:
    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("count", [0, 1, 2, 9])
    def test_items_come_as_they_are(self, threads, count):
        items = [None, *range(count)]
        assert list(ahead(items, threads)) == items

    def test_the_next_item_is_made_while_one_is_used_and_no_other(self):
        made, second = [], threading.Event()

        def items():
            for item in range(9):
                made.append((item, threading.current_thread()))
                if item == 1:
                    second.set()
                yield item

        some = ahead(items(), 2)
        assert next(some) == 0
        # It ends only because another thread goes on.
        assert second.wait(60)
        some.close()
        assert [item for item, _ in made] == [0, 1]
        assert threading.current_thread() not in {thread for _, thread in made}

    def test_one_thread_makes_an_item_when_it_is_asked_for(self):
        made = []
        some = ahead((made.append(item) for item in range(9)), 1)
        next(some)
        assert made == [0]

    @pytest.mark.parametrize("threads", [1, 2])
    def test_a_failure_is_raised_in_its_turn(self, threads):
        results = ahead((6 // (3 - item) for item in range(50)), threads)
        assert [next(results) for _ in range(3)] == [2, 3, 6]
        with pytest.raises(ZeroDivisionError):
            next(results)

    @pytest.mark.parametrize("threads", [1, 2])
    def test_what_makes_the_items_is_closed_with_them(self, threads):
        closed = []

        def items():
            try:
                yield from range(50)
            finally:
                closed.append(True)

        some = ahead(items(), threads)
        next(some)
        some.close()
        assert closed == [True]
