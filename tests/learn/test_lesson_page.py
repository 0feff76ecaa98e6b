"""The lesson as a page, in a real browser: what it shows is what the lesson and plain twins say."""

import io
import json
import math
import os
import re
import subprocess
import sys

import pytest

import lookalike
from lesson_twins import chance, drawn_order, first_ones, signatures_after
from lookalike.base.wording import similarity_text

pytest.importorskip("playwright")
from browser import PHONE

CELLS = (
    """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText))"""
)
BOOK = {"S1": [*"ad"], "S2": [*"c"], "S3": [*"bde"], "S4": [*"acd"]}


@pytest.fixture(scope="module")
def sample():
    return lookalike.lesson()


@pytest.fixture(scope="module")
def sample_page(sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("lesson") / "lesson.html"
    sample.write(path)
    return path.as_uri()


@pytest.fixture
def shown(page, sample_page):
    page.goto(sample_page)
    return page


@pytest.fixture
def show(page, tmp_path):
    """Give a function that opens the page of a lesson."""

    def open_page(taught):
        taught.write(tmp_path / "lesson.html")
        page.goto((tmp_path / "lesson.html").as_uri())
        return page

    return open_page


def cells(page, table):
    return page.locator(f"table#{table}").evaluate(CELLS)


def stepped(page):
    """Give the signatures that the stepper shows, without the marks of what was lowered."""
    return [[one.replace("▾ ", "") for one in row[2:-1]] for row in cells(page, "steps")]


def columns_of(taught):
    return [taught.matrix.column(name) for name in taught.matrix.columns]


def labelled(taught):
    """Name every pair as the page does, with its exact similarity, the most similar first."""
    label = {name: f"d{at}" for at, name in enumerate(taught.shingles, start=1)}
    exact = taught.verification.similarities
    return {
        f"{label[one]} {label[other]}": (one, other)
        for one, other in sorted(exact, key=lambda pair: -exact[pair])
    }


def functions_of(taught):
    return [(h.a, h.b, h.p) for h in taught.functions]


class TestNumbersOfTheLesson:
    def test_every_pair_has_its_exact_similarity_and_its_rows(self, shown, sample):
        expected = []
        for label, pair in labelled(sample).items():
            one, other = (set(sample.shingles[name]) for name in pair)
            a, b, c = len(one & other), len(one - other), len(other - one)
            together = f"{a} / {a + b + c}"
            exact = similarity_text(a / (a + b + c))
            expected.append([label, str(a), str(b), str(c), together, exact])
        assert cells(shown, "similarities") == expected
        shown.click("button.pair:text-is('d2 d5')")
        rows = shown.get_by_label("Rows of the chosen pair that count, scrolls")
        heads = rows.locator("thead tr > *").all_inner_texts()
        assert heads == ["row", "shingle", "d2", "d5", "kind"]
        for row in rows.locator("tbody tr").all()[:5]:
            first, second, kind = row.locator("td").all_inner_texts()[1:4]
            assert kind == {"11": "a", "10": "b", "01": "c"}[first + second]

    def test_the_matrix_scrolls_to_its_last_row(self, shown, sample):
        box = shown.locator("#matrix-table .scroll")
        height = len(sample.matrix.cells)
        assert f"{height} rows" in shown.locator("#matrix-table").inner_text()
        for top, row in (("0", 1), ("1e9", height)):
            box.evaluate(f"box => box.scrollTop = {top}")
            shown.wait_for_function(
                "row => document.querySelector(`#matrix-table tr[aria-rowindex='${row + 1}']`)",
                arg=row,
            )
            line = shown.locator(f"#matrix-table tr[aria-rowindex='{row + 1}']")
            found = line.locator("th, td").all_inner_texts()
            bits = [str(bit) for bit in sample.matrix.cells[row - 1]]
            assert found[:-1] == [str(row), f"'{sample.matrix.shingles[row - 1]}'", *bits]
        assert shown.locator("#matrix-table tbody tr").count() < 60

    def test_the_first_draw_is_the_order_of_the_lesson(self, shown, sample):
        expected = [
            [label, str(int(place)), str(sample.order[int(place) - 1])]
            for label, place in zip(
                ["d1", "d2", "d3", "d4", "d5"], sample.minhashes.values(), strict=True
            )
        ]
        assert [row[:3] for row in cells(shown, "minhashes")] == expected

    def test_signatures_stand_beside_the_truth(self, shown, sample):
        expected = []
        for label, pair in labelled(sample).items():
            one, other = (sample.signatures.columns[name] for name in pair)
            equal = sum(x == y for x, y in zip(one, other, strict=True))
            exact = similarity_text(sample.verification.similarities[pair])
            expected.append([label, f"{equal} of 18", similarity_text(equal / 18), exact])
        assert [row[:4] for row in cells(shown, "estimates-h")] == expected

    def test_every_bucket_of_every_band_is_there(self, shown, sample):
        names = [*sample.shingles]
        expected = [
            [
                f"{' '.join(str(int(one)) for one in key)} "
                + " ".join(f"d{names.index(member) + 1}" for member in members)
                for key, members in band.buckets.items()
            ]
            for band in sample.bands
        ]
        found = shown.evaluate(
            "[...document.querySelectorAll('.band')].map(band => [...band.querySelectorAll("
            "'.bucket')].map(one => [...one.children].map(part => part.innerText).join(' ')))"
        )
        assert [[" ".join(one.split()) for one in band] for band in found] == expected

    def test_false_positives_are_struck_out_and_pairs_are_not(self, shown, sample):
        verdicts = {row[0]: row[4].strip("✓✗! ") for row in cells(shown, "verdicts")}
        struck = shown.locator("#verdicts s").all_inner_texts()
        for label, pair in labelled(sample).items():
            if pair in sample.verification.pairs:
                expected = "pair"
            elif pair in sample.verification.false_positives:
                expected = "false positive"
            else:
                expected = "not compared"
            assert verdicts[label] == expected
            assert (label in struck) == (expected == "false positive")
        assert struck

    def test_angles_and_bits_are_those_of_the_sketches(self, shown, sample):
        for row in cells(shown, "angle-pairs"):
            one, other = (
                sample.sketches[[*sample.sketches][int(label[1:]) - 1]] for label in row[0].split()
            )
            differ = sum(x != y for x, y in zip(one, other, strict=True))
            assert row[1:3] == [str(differ), f"{180 * differ / 64:.1f}"]
            shown.get_by_role("button", name=row[0]).last.click()
            lines = shown.locator("#angle-bits .signs").all_inner_texts()
            # Of two equal vectors every line is as good as any other.
            if float(row[3]) > 0:
                assert lines == [one, other]
            assert shown.locator("#angle-said [data-number=differ]").inner_text() == str(differ)


class TestWhatThePageComputes:
    def test_the_stepper_is_right_after_each_row(self, shown, sample):
        found = shown.evaluate(
            """height => {
              const read = () => [...document.querySelector('#steps').tBodies[0].rows].map(
                row => [...row.cells].slice(2, -1).map(cell => cell.innerText.replace('▾ ', '')));
              const steps = [read()];
              const next = document.querySelector('#step-next');
              for (let row = 0; row < height; row += 1) { next.click(); steps.push(read()); }
              return steps;
            }""",
            len(sample.matrix.cells),
        )
        columns, functions = columns_of(sample), functions_of(sample)
        for read, step in enumerate(found):
            expected = signatures_after(read, columns, functions)
            assert step == [["∞" if x is None else str(x) for x in row] for row in expected]
        last = zip(*sample.signatures.columns.values(), strict=True)
        assert found[-1] == [[str(x) for x in row] for row in last]

    def test_the_stepper_goes_back_and_marks_what_a_row_lowered(self, shown, sample):
        shown.locator("#step-row").fill("7")
        columns, functions = columns_of(sample), functions_of(sample)
        before, after = (signatures_after(read, columns, functions) for read in (6, 7))
        lowered = sum(
            old != new
            for one, other in zip(before, after, strict=True)
            for old, new in zip(one, other, strict=True)
        )
        assert shown.locator("#steps .fell").count() == lowered > 0
        shown.locator("#step-back").click()
        assert stepped(shown) == [["∞" if x is None else str(x) for x in row] for row in before]
        shown.locator("#step-start").click()
        assert "Before the first row" in shown.locator("#step-said").inner_text()

    def test_next_change_stops_only_where_a_value_falls(self, shown, sample):
        columns, functions = columns_of(sample), functions_of(sample)
        states = [signatures_after(read, columns, functions) for read in range(30)]
        changes = [at for at in range(1, 30) if states[at] != states[at - 1]]
        for row in changes:
            shown.locator("#step-change").click()
            assert shown.locator("#step-said").inner_text().startswith(f"Row {row} ")

    def test_an_order_drawn_again_has_other_first_ones(self, shown, sample):
        columns, height = columns_of(sample), len(sample.matrix.cells)
        for draw in (1, 2, 3):
            shown.locator("#draw-again").click()
            order = drawn_order(draw, height, sample.seed)
            assert sorted(order) == [*range(1, height + 1)]
            places = first_ones(columns, order)
            expected = [[str(place), str(order[place - 1])] for place in places]
            assert [row[1:3] for row in cells(shown, "minhashes")] == expected
            ringed = shown.evaluate(
                "[...document.querySelectorAll('#permutation-figure td:has(.first)')].map("
                "cell => [cell.cellIndex - 3, Number(cell.parentNode.cells[0].innerText)])"
            )
            seen = [[at, place] for at, place in enumerate(places) if place <= 20]
            assert [one for one in sorted(ringed) if one[1] <= 20] == seen

    def test_a_hundred_draws_are_counted(self, shown, sample):
        shown.locator("#draw-hundred").click()
        columns, height = columns_of(sample), len(sample.matrix.cells)
        orders = [sample.order, *(drawn_order(at, height, sample.seed) for at in range(1, 101))]
        drawn = [first_ones(columns, order) for order in orders]
        names = [*sample.shingles]
        for row in cells(shown, "tally"):
            one, other = (int(label[1:]) - 1 for label in row[0].split())
            times = sum(places[one] == places[other] for places in drawn)
            assert row[2:4] == [f"{times} of 101", similarity_text(times / 101)]
            exact = sample.verification.similarities[names[one], names[other]]
            assert abs(times / 101 - exact) < 4 * 0.5 / math.sqrt(101)

    def test_fewer_rows_of_the_signature_are_counted_anew(self, shown, sample):
        shown.locator("#used-rows-h").fill("5")
        for row in cells(shown, "estimates-h"):
            one, other = (sample.signatures.columns[name] for name in labelled(sample)[row[0]])
            equal = sum(x == y for x, y in zip(one[:5], other[:5], strict=True))
            assert row[1:3] == [f"{equal} of 5", similarity_text(equal / 5)]

    @pytest.mark.parametrize(("bands", "rows"), [(10, 3), (20, 6), (50, 5), (1, 1), (100, 20)])
    def test_the_curve_follows_its_sliders(self, shown, sample, bands, rows):
        shown.locator("#curve-bands").fill(str(bands))
        shown.locator("#curve-rows").fill(str(rows))
        for s, candidate, missed in cells(shown, "curve-tenths"):
            expected = chance(float(s), bands, rows)
            assert candidate == similarity_text(expected)
            assert float(missed) == pytest.approx(1 - expected, abs=5.1e-5)
        number = {
            name: float(shown.locator(f"#curve-said [data-number={name}]").inner_text())
            for name in ("half", "rule", "positives", "negatives")
        }
        assert chance(number["half"], bands, rows) == pytest.approx(0.5, abs=2e-3)
        assert number["rule"] ** rows == pytest.approx(1 / bands, rel=2e-2, abs=1e-6)
        exact = sample.verification.similarities.values()
        positives = sum(chance(s, bands, rows) for s in exact if s < 0.7)
        negatives = sum(1 - chance(s, bands, rows) for s in exact if s >= 0.7)
        assert number["positives"] == pytest.approx(positives, abs=5.1e-4)
        assert number["negatives"] == pytest.approx(negatives, abs=5.1e-4)

    def test_every_pair_is_a_mark_on_the_curve(self, shown, sample):
        marks = shown.locator("#curve-figure .picture .mark > title").all_text_contents()
        named = {name for mark in marks for name in mark.partition(":")[0].split(", ")}
        assert named == {*labelled(sample)}
        for mark in marks:
            s, found = map(float, re.findall(r"[0-9]\.[0-9]{4}", mark))
            assert found == pytest.approx(chance(s, 6, 3), abs=3e-4)

    def test_another_threshold_makes_other_verdicts(self, shown, sample):
        shown.locator("#check-threshold").fill("0.53")
        exact, candidates = sample.verification.similarities, sample.candidates
        for row in cells(shown, "verdicts"):
            pair = labelled(sample)[row[0]]
            similar, met = exact[pair] >= 0.53, pair in candidates
            expected = {
                (True, True): "✓ pair",
                (False, True): "✗ false positive",
                (True, False): "! false negative",
                (False, False): "not compared",
            }[similar, met]
            assert row[4].strip() == expected

    def test_shares_are_written_as_in_the_terminal(self, shown):
        values = [at / 997 for at in range(998)] + [at / 32 for at in range(33)]
        values += [0.99995, 0.99996, 1 - 1e-13, 1 - 1e-9, 0.00005, 1 / 3]
        found = shown.evaluate("values => values.map(share)", values)
        assert found == [similarity_text(value) for value in values]

    def test_vectors_turn_by_slider_and_by_dragging(self, shown):
        shown.locator("#angle-first").fill("10")
        shown.locator("#angle-second").fill("130")

        def number(name):
            return shown.locator(f"#angle-said [data-number={name}]").inner_text()

        assert number("exact") == "120.0°"
        first, second = shown.locator("#angle-bits .signs").all_inner_texts()
        differ = sum(x != y for x, y in zip(first, second, strict=True))
        assert number("differ") == str(differ)
        assert number("estimated") == f"{180 * differ / 64:.1f}°"
        assert shown.locator("#angles .plane.parts").count() == differ
        shown.locator(".plane-picture").scroll_into_view_if_needed()
        box = shown.locator(".plane-picture").bounding_box()
        grip = shown.locator("[data-vector='0']").bounding_box()
        shown.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
        shown.mouse.down()
        shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20, steps=4)  # straight up
        shown.mouse.up()
        assert float(shown.locator("#angle-first").input_value()) == pytest.approx(90, abs=1)
        assert float(number("exact")[:-1]) == pytest.approx(40, abs=1)


class TestExercises:
    def test_points_of_the_curve(self, shown):
        shown.locator("#exercise-1 summary").click()
        for s, *chances in cells(shown, "exercise-1-answer"):
            expected = [chance(float(s), b, r) for r, b in ((3, 10), (6, 20), (5, 50))]
            assert chances == [similarity_text(one) for one in expected]

    def test_thresholds_and_the_rule_of_thumb(self, shown):
        shown.locator("#exercise-2 summary").click()
        for name, half, rule, difference in cells(shown, "exercise-2-answer"):
            rows, bands = map(int, re.findall("[0-9]+", name))
            assert chance(float(half), bands, rows) == pytest.approx(0.5, abs=1e-3)
            assert float(rule) == pytest.approx(bands ** (-1 / rows), abs=5.1e-5)
            assert float(difference) == pytest.approx(float(rule) - float(half), abs=1.1e-4)

    def test_the_estimate_where_agreement_is_rare(self, shown):
        shown.locator("#exercise-3 summary").click()
        for s, *found in cells(shown, "exercise-3-answer"):
            for at, (r, b) in enumerate(((3, 10), (6, 20), (5, 50))):
                exact, estimate = map(float, found[2 * at : 2 * at + 2])
                assert exact == pytest.approx(chance(float(s), b, r), abs=1e-6)
                assert estimate == pytest.approx(1 - math.exp(-b * float(s) ** r), abs=1e-6)

    def test_buckets_and_lists_by_map_and_reduce(self, shown, sample):
        shown.locator("#exercise-4 summary").click()
        names = [*sample.shingles]
        for column, listed in cells(shown, "exercise-4-lists"):
            one = names[int(column[1:]) - 1]
            others = sorted(other for first, other in sample.candidates if first == one)
            expected = ", ".join(f"d{names.index(other) + 1}" for other in others)
            assert listed == (expected or "none")

    def test_the_two_kinds_of_error(self, shown):
        shown.locator("#exercise-5 summary").click()
        number = {
            name: float(shown.locator(f"#exercise-5 [data-number={name}]").inner_text())
            for name in ("missed", "taken")
        }
        assert number["missed"] == pytest.approx((1 - 0.8**4) ** 3, abs=5.1e-5)
        assert number["taken"] == pytest.approx(1 - (1 - 0.1**4) ** 3, abs=5.1e-7)

    def test_an_answer_is_set_on_the_sliders(self, shown):
        shown.locator("#exercise-1 summary").click()
        shown.get_by_role("button", name="Show r = 6, b = 20 on the curve").click()
        assert shown.locator("#curve-bands").input_value() == "20"
        assert shown.locator("#curve-rows").input_value() == "6"
        assert shown.locator("#curve-said [data-number=rule]").inner_text() == "0.6070"


class TestReaders:
    def test_a_bucket_lights_its_members_under_the_pointer_and_by_keyboard(self, shown):
        bucket = shown.locator(".band").nth(2).locator(".bucket").first
        lit = "[...new Set([...document.querySelectorAll('.chip.lit')].map(c => c.innerText))]"
        bucket.hover()
        assert shown.evaluate(lit) == ["d1", "d2", "d3", "d4"]
        shown.mouse.move(0, 0)
        assert shown.evaluate(lit) == []
        shown.locator(".band").nth(2).locator(".bucket").nth(1).focus()
        shown.keyboard.press("Shift+Tab")
        assert shown.evaluate(lit) == ["d1", "d2", "d3", "d4"]
        assert "d1, d2, d3, d4 share" in shown.locator("#bucket-said").inner_text()
        shown.keyboard.press("Tab")
        assert shown.evaluate(lit) == ["d5"]

    def test_the_keyboard_alone_goes_through_the_lesson(self, shown):
        reached = []
        for _ in range(140):
            shown.keyboard.press("Tab")
            here = shown.evaluate("document.activeElement.id")
            reached.append(here)
            if here in ("draw-again", "step-next"):
                shown.keyboard.press("Enter")
            if here in ("curve-bands", "angle-first"):
                shown.keyboard.press("ArrowRight")
            if here == "angle-first":
                break
        assert "Draw 2." in shown.locator("#draw-said").inner_text()
        assert shown.locator("#step-said").inner_text().startswith("Row 1 ")
        assert shown.locator("#curve-bands").input_value() == "7"
        assert "7 bands" in shown.locator("#curve-said").inner_text()
        assert shown.locator("#angle-first").input_value() == "20.1"
        assert [*dict.fromkeys(one for one in reached if one)].index("draw-again") < reached.index(
            "step-next"
        )

    def test_every_control_picture_and_table_has_a_name(self, shown):
        nameless = shown.evaluate(
            """() => [
              ...[...document.querySelectorAll('input')].filter(one => !one.labels.length),
              ...[...document.querySelectorAll('button')].filter(one => !one.textContent.trim()),
              ...[...document.querySelectorAll('table')].filter(one => !one.caption),
              ...[...document.querySelectorAll('svg:not([aria-hidden])')].filter(
                one => !one.getAttribute('aria-label')),
              ...[...document.querySelectorAll('section')].filter(
                one => !one.getAttribute('aria-labelledby')),
            ].map(one => one.outerHTML.slice(0, 80))"""
        )
        assert nameless == []
        doubled = shown.evaluate(
            "(ids => ids.filter((id, at) => ids.indexOf(id) !== at))"
            "([...document.querySelectorAll('[id]')].map(one => one.id))"
        )
        assert doubled == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out_in_both_colour_schemes(self, new_page, sample_page, scheme):
        page = new_page(color_scheme=scheme)
        page.goto(sample_page)
        contrasts = page.evaluate(
            """() => {
              const style = getComputedStyle(document.documentElement);
              const light = name => {
                const hex = style.getPropertyValue(name).trim().slice(1);
                const parts = [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16) / 255)
                  .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
              };
              const pairs = [['--ink', '--paper'], ['--quiet', '--paper'], ['--blue', '--paper'],
                ['--orange', '--paper'], ['--teal', '--paper'], ['--ink', '--blue-soft'],
                ['--ink', '--orange-soft'], ['--orange', '--orange-soft'], ['--quiet', '--soft'],
                ['--lit-ink', '--lit']];
              return pairs.map(([one, other]) => {
                const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
                return [one, other, (a + 0.05) / (b + 0.05)];
              });
            }"""
        )
        assert [one for one in contrasts if one[2] < 4.5] == []

    def test_a_phone_shows_it_without_scrolling_sideways(self, new_page, sample_page):
        page = new_page(**PHONE)
        page.goto(sample_page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375

    def test_on_paper_nothing_is_folded_or_cut(self, shown):
        assert shown.pdf().startswith(b"%PDF")
        assert shown.evaluate("[...document.querySelectorAll('details')].every(one => one.open)")
        shown.emulate_media(media="print")
        shown.evaluate("dispatchEvent(new Event('beforeprint'))")
        text = shown.locator("#matrix-table").inner_text()
        assert "… and 158 more rows." in text
        shown.evaluate("dispatchEvent(new Event('afterprint'))")
        assert "more rows" not in shown.locator("#matrix-table").inner_text()

    def test_on_paper_there_are_margins(self, shown):
        pypdf = pytest.importorskip("pypdf")
        places = []
        for sheet in pypdf.PdfReader(io.BytesIO(shown.pdf(format="A4", page_ranges="1-3"))).pages:

            def note(text, current, matrix, *_font):
                if text.strip():
                    x = matrix[4] * current[0] + matrix[5] * current[2] + current[4]
                    places.append(x)

            sheet.extract_text(visitor_text=note)
        # Twelve millimetres of a sheet that is 595 points wide.
        assert min(places) > 30
        assert max(places) < 595 - 30


class TestOtherLessons:
    def test_the_example_of_the_book(self, show):
        page = show(
            lookalike.matrix_lesson(
                BOOK,
                hash=["x+1 mod 5", "3x+1 mod 5"],
                permutation="b,e,a,d,c",
                first_row=0,
            )
        )
        found = cells(page, "minhashes")
        assert [row[3] for row in found] == ["'a'", "'c'", "'b'", "'a'"]
        page.locator("#step-last").click()
        assert stepped(page) == [["1", "3", "0", "1"], ["0", "2", "0", "0"]]
        assert page.locator("#bands").count() == 0
        assert cells(page, "similarities")[0] == ["S1 S4", "2", "0", "1", "2 / 3", "0.6667"]

    def test_hash_functions_of_any_size_are_exact(self, show):
        functions = [
            (999999999999999989, 123456789012345678, 999999999999999877),
            (-3, 1, 5),
            (3, -7, 5),
        ]
        texts = [f"{a}x{b:+d} mod {p}" for a, b, p in functions]
        page = show(lookalike.matrix_lesson(BOOK, hash=texts))
        page.locator("#step-last").click()
        columns = [[int(row in has) for row in "abcde"] for has in BOOK.values()]
        expected = signatures_after(5, columns, functions)
        assert stepped(page) == [[str(x) for x in row] for row in expected]

    def test_a_function_that_is_no_permutation_is_named(self, show):
        page = show(lookalike.matrix_lesson(BOOK, hash="2x mod 4"))
        assert "h1 sends rows to one number" in page.locator("#rows-figure").inner_text()

    def test_orders_alone_leave_out_the_hash_functions(self, show):
        page = show(lookalike.matrix_lesson(BOOK, permutation=["b,e,a,d,c", "a,b,c,d,e"]))
        assert page.locator("#rows").count() == 0
        assert cells(page, "estimates-p")[0][1] == "2 of 2"

    def test_tokens_and_an_empty_document(self, show):
        page = show(lookalike.lesson({"a": ["x", "y"], "b": ["x", "z"], "c": []}))
        text = page.locator("main").inner_text()
        assert "Empty, and so similar to nothing: d3." in text
        assert page.locator("#shingles h2").inner_text().endswith("Tokens")
        assert cells(page, "minhashes")[2][1] == "∞"

    def test_nothing_but_empty_documents(self, show):
        page = show(lookalike.lesson(["", ""]))
        assert cells(page, "similarities")[0][-1] == "0.0000"
        page.locator("#draw-again").click()
        page.locator("#step-last").click()

    def test_a_long_lesson_keeps_the_page_small(self, show):
        texts = [" ".join(f"w{at * 7 + step}" for step in range(400)) for at in range(8)]
        page = show(lookalike.lesson(texts, shingle="chars:9", bands=30, rows=1))
        assert "… and 6 more bands." in page.locator("#bands-figure").inner_text()
        assert page.locator("#matrix-table tbody tr").count() < 60
        page.locator("#step-last").click()
        assert page.locator("#steps tbody tr").count() == 24
        assert page.evaluate("document.querySelectorAll('*').length") < 9000


HOSTILE = (
    "</script><script>window.taken = 1</script><img src=x onerror='window.taken = 2'>"
    "<!-- & &lt; \u202e reversed \x1b[31m red {{7*7}} </style> \u2028"
)


def test_what_a_document_says_is_text(show):
    name = "<b onclick=alert(1)>a</b>&\u202e.txt"
    page = show(lookalike.lesson({name: HOSTILE, "b": HOSTILE + " more"}))
    assert page.evaluate("window.taken") is None
    assert page.locator("img, b[onclick]").count() == 0
    text = page.locator("#documents-table").inner_text()
    assert "</script><script>window.taken = 1</script><img src=x" in text
    assert "<b onclick=alert(1)>a</b>&\\u202e.txt" in text
    assert "\u202e" not in page.locator("body").inner_text()
    assert "\x1b" not in page.content()


def test_the_same_lesson_has_the_same_bytes_in_every_process():
    code = "import sys, lookalike; sys.stdout.buffer.write(lookalike.lesson().html().encode())"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1",)
    }
    assert found == {lookalike.lesson().html().encode()}


class TestCommand:
    def test_it_writes_a_page_and_says_so(self, told, tmp_path):
        status, output, errors = told("learn", "-o", tmp_path / "lesson.html")
        assert (status, output) == (0, "")
        assert errors == f"Wrote {tmp_path / 'lesson.html'}: open it in a browser.\n"
        page = (tmp_path / "lesson.html").read_text("utf-8")
        assert page == lookalike.lesson().html()
        data = re.search(r'id="data">(.*?)</script>', page)
        assert data
        assert json.loads(data[1])["kind"] == "documents"

    def test_of_a_matrix_too(self, told, tmp_path):
        (tmp_path / "table.txt").write_text("1 0\n0 1\n1 1\n")
        command = ("learn", "--matrix", tmp_path / "table.txt", "--hash", "x+1 mod 3")
        assert told(*command, "-o", tmp_path / "lesson.html")[0] == 0
        assert '"kind": "matrix"' in (tmp_path / "lesson.html").read_text("utf-8")

    def test_other_names_and_sources_are_refused_before_anything_is_read(self, told, tmp_path):
        source = tmp_path / "a.html"
        source.write_text("<p>one</p>")
        status, _, errors = told("learn", source, "-o", source)
        assert status == 1
        assert "is read from, and input is never changed" in errors
        status, _, errors = told("learn", "gone.txt", "-o", tmp_path / "lesson.txt")
        assert status == 2
        assert "end its name in .html" in errors
        assert source.read_text() == "<p>one</p>"
