"""A lesson on a characteristic matrix: the examples of the textbook, from files as people type."""

import inspect
import math
import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
from lookalike.learn.matrices import parse_hash, read_matrix
from lookalike.learn.textbook import HashFunction
from lookalike.settings import MatrixLessonOptions

# "Mining of Massive Datasets", figures 3.2 to 3.4.
BOOK = """\
Element S1 S2 S3 S4
a 1 0 0 1
b 0 0 1 0
c 0 1 0 1
d 1 0 1 1
e 0 0 1 0
"""
BOOK_SETS = {"S1": set("ad"), "S2": set("c"), "S3": set("bde"), "S4": set("acd")}
BOOK_HASHES = ["x+1 mod 5", "3x+1 mod 5"]
# Figure 3.5, of exercise 3.3.3.
EXERCISE = """\
Element,S1,S2,S3,S4
0,0,1,0,1
1,0,1,0,0
2,1,0,0,1
3,0,0,1,0
4,0,0,1,1
5,1,0,0,0
"""
EXERCISE_SETS = {"S1": {2, 5}, "S2": {0, 1}, "S3": {3, 4}, "S4": {0, 2, 4}}
some_sets = st.dictionaries(
    st.sampled_from("pqrs"), st.sets(st.integers(0, 6), min_size=1), min_size=2
)
FOUR_ROWS = "1 0 1\n0 0 1\n1 1 0\n0 0 1\n"


def smallest(sets, functions):
    """Compute signatures by the definition: the smallest hash of the numbers of a set's rows."""
    return {name: tuple(min(map(h, rows)) for h in functions) for name, rows in sets.items()}


def flat(text):
    return " ".join(text.split())


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "fig-3-4.txt"
    path.write_text(BOOK)
    return path


class TestTheBook:
    def test_example_3_8_has_its_signatures_after_its_steps(self, book):
        taught = lookalike.matrix_lesson(book, hash=BOOK_HASHES, first_row=0)
        expected = {"S1": (1, 0), "S2": (3, 2), "S3": (0, 0), "S4": (1, 0)}
        assert taught.signatures.columns == expected
        numbered = {name: {"abcde".index(c) for c in has} for name, has in BOOK_SETS.items()}
        twin = smallest(numbered, [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5])
        assert taught.signatures.columns == twin
        no = (math.inf, math.inf)
        assert [step.row for step in taught.steps] == [-1, 0, 1, 2, 3, 4]
        assert [(*step.signatures.columns.values(),) for step in taught.steps] == [
            (no, no, no, no),
            ((1, 1), no, no, (1, 1)),
            ((1, 1), no, (2, 4), (1, 1)),
            ((1, 1), (3, 2), (2, 4), (1, 1)),
            ((1, 0), (3, 2), (2, 0), (1, 0)),
            ((1, 0), (3, 2), (0, 0), (1, 0)),
        ]

    def test_example_3_8_as_the_command_shows_it(self, told, book):
        hashes = ["--hash", "x+1 mod 5", "--hash", "3x+1 mod 5", "--first-row", "0"]
        status, output, errors = told("learn", "--matrix", book, *hashes)
        assert (status, errors) == (0, "")
        assert "\nS1 = (1, 0), S2 = (3, 2), S3 = (0, 0), S4 = (1, 0).\n" in output
        assert re.search(r"^h1 +1 +3 +0 +1$", output, re.MULTILINE)
        assert re.search(r"^h2 +0 +2 +0 +0$", output, re.MULTILINE)
        steps = [line.split() for line in output.split("\n") if re.search(r" h[12]  ", line)]
        assert steps[4] == ["2", "'c'", "h1", "3", "1", "*3", "2", "1"]
        assert steps[6] == ["3", "'d'", "h1", "4", "1", "3", "2", "1"]
        assert steps[7] == ["h2", "0", "*0", "2", "*0", "*0"]
        assert "no permutation" not in output
        # S1 and S4: estimated 1, and 2/3 exactly.
        assert re.search(r"^S1 S4 +1\.0000 +0\.6667 +\+0\.3333$", output, re.MULTILINE)

    @pytest.mark.parametrize(
        ("order", "first_row"), [("b,e,a,d,c", None), ("1,4,0,3,2", 0), ("2 5 1 4 3", 1)]
    )
    def test_example_3_7_finds_the_rows_a_c_b_a(self, told, book, order, first_row):
        taught = lookalike.matrix_lesson(book, permutation=order, first_row=first_row)
        places = [place for (place,) in taught.minhashes.columns.values()]
        assert ["beadc"[int(place) - taught.first_row] for place in places] == [*"acba"]
        named = [] if first_row is None else ["--first-row", first_row]
        output = told("learn", "--matrix", book, "--permutation", order, *named)[1]
        shown = re.findall(r"^S(\d) +\d +\d  '(.)'", output, re.MULTILINE)
        assert shown == [("1", "a"), ("2", "c"), ("3", "b"), ("4", "a")]

    def test_the_order_4_3_1_2_finds_a_first_1_at_places_2_2_and_1(self, told, tmp_path):
        path = tmp_path / "four.txt"
        path.write_text(FOUR_ROWS)
        taught = lookalike.matrix_lesson(path, permutation="4,3,1,2")
        assert taught.minhashes.columns == {"S1": (2,), "S2": (2,), "S3": (1,)}
        output = told("learn", "--matrix", path, "--permutation", "4,3,1,2")[1]
        assert re.findall(r"^S\d +(\d) +(\d)$", output, re.MULTILINE) == [
            *(("2", "3"), ("2", "3"), ("1", "4")),
        ]
        assert "Equal here: S1 S2." in output

    def test_several_permutations_make_a_signature(self, told, tmp_path):
        path = tmp_path / "four.txt"
        path.write_text(FOUR_ROWS)
        orders = ["--permutation", "4,3,1,2", "--permutation", "1,2,3,4"]
        output = told("learn", "--matrix", path, *orders)[1]
        assert "\nS1 = (2, 1), S2 = (2, 3), S3 = (1, 1).\n" in output
        again = lookalike.matrix_lesson(path, permutation=[[4, 3, 1, 2], [1, 2, 3, 4]])
        assert f"{again}\n" == output

    def test_the_exercise_counts_from_0_as_its_rows_are_called(self, told, tmp_path):
        path = tmp_path / "fig-3-5.csv"
        path.write_text(EXERCISE)
        hashes = ["2x + 1 mod 6", "3x + 2 mod 6", "5x + 2 mod 6"]
        taught = lookalike.matrix_lesson(path, hash=hashes)
        assert taught.first_row == 0
        functions = [HashFunction(a, b, 6) for a, b in ((2, 1), (3, 2), (5, 2))]
        assert taught.signatures.columns == smallest(EXERCISE_SETS, functions)
        assert taught.signatures.columns["S1"] == (5, 2, 0)
        output = told("learn", "--matrix", path, *[p for h in hashes for p in ("--hash", h)])[1]
        assert "h1 sends rows to one number, and is no permutation: 0 and 3; 1 and 4; 2 and 5." in (
            flat(output)
        )
        assert "h2 sends rows to one number, and is no permutation: 0 and 2 and 4;" in flat(output)
        assert "h3 sends" not in output

    def test_the_same_from_a_dict_of_sets(self, book):
        of_sets = lookalike.matrix_lesson(BOOK_SETS, hash=BOOK_HASHES, first_row=0)
        assert of_sets == lookalike.matrix_lesson(book, hash=BOOK_HASHES, first_row=0)
        made = lookalike.matrix_lesson(of_sets.matrix, hash=[*of_sets.functions], first_row=0)
        assert made == of_sets


class TestData:
    def test_the_options_are_those_that_were_declared(self):
        keywords = dict(inspect.signature(lookalike.matrix_lesson).parameters)
        del keywords["matrix"]
        declared = {one.name: one.default for one in fields(MatrixLessonOptions)}
        assert {name: keyword.default for name, keyword in keywords.items()} == declared

    @given(
        some_sets,
        st.integers(0, 20),
        st.integers(-9, 20),
        st.integers(1, 23),
        st.sampled_from([0, 1]),
    )
    def test_signatures_are_the_smallest_hashes(self, sets, a, b, p, first_row):
        rows = sorted(set().union(*sets.values()))
        numbered = {name: {rows.index(e) + first_row for e in has} for name, has in sets.items()}
        spec = f"{a}x {'-' if b < 0 else '+'} {abs(b)} mod {p}"
        taught = lookalike.matrix_lesson(sets, hash=spec, first_row=first_row)
        assert taught.signatures.columns == smallest(numbered, [lambda x: (a * x + b) % p])

    def test_long_names_become_short_labels(self):
        sets = {"a rather long name": {"x"}, "another of them": {"y"}}
        page = repr(lookalike.matrix_lesson(sets, hash="x mod 2"))
        assert "S1  a rather long name" in page
        assert "\nS1 = (1), S2 = (0).\n" in page
        assert max(map(len, page.split("\n"))) <= 80

    def test_a_set_without_elements_has_infinity(self):
        taught = lookalike.matrix_lesson({"some": {"x"}, "none": set()}, hash="x mod 2")
        assert taught.signatures.columns == {"some": (1,), "none": (math.inf,)}
        assert "some = (1), none = (inf)." in repr(taught)


@pytest.mark.parametrize(
    "text",
    [
        BOOK,
        BOOK.replace("Element ", ""),
        BOOK.replace(" ", ","),
        BOOK.replace("Element", "").replace(" ", ","),
        BOOK.replace(" ", "\t"),
        BOOK.replace("Element", "").replace(" ", "\t"),
        BOOK.replace(" ", ";").replace("\n", "\r\n"),
        BOOK.replace(" ", "   ").replace("\n", "\n\n"),
        "\ufeff" + BOOK.replace("Element", "thing").replace(" ", ", "),
        '"Element","S1","S2","S3","S4"\n' + "\n".join(BOOK.replace(" ", ",").split("\n")[1:]),
        BOOK.partition("\n")[2],
    ],
)
def test_a_matrix_is_read_however_its_cells_are_parted(text, tmp_path):
    path = tmp_path / "matrix.txt"
    path.write_bytes(text.encode())
    matrix = read_matrix(path)
    assert matrix.shingles == tuple("abcde")
    assert matrix.columns == ("S1", "S2", "S3", "S4")
    assert matrix.cells == ((1, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 1), (1, 0, 1, 1), (0, 0, 1, 0))


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("1 0\n0 1\n1 1\n", "123", ["S1", "S2"]),
        ("x y\n1 0\n0 1\n1 1\n", "123", ["x", "y"]),
        ("1 2 3\n1 0 0\n0 1 1\n", "12", ["1", "2", "3"]),
        ("1 2\n0 1\n1 1\n", "12", ["1", "2"]),
        ("0 1 2\n1 0 1\n", "1", ["0", "1", "2"]),
        ("1 2\n1 0 1\n2 1 1\n", "12", ["1", "2"]),
        ("row,one,two\n0,1,0\n1,0,1\n", "01", ["one", "two"]),
        ("0 1 0\n1 0 1\n2 1 1\n", "012", ["S1", "S2"]),
    ],
)
def test_names_are_told_from_zeros_and_ones(text, rows, columns, tmp_path):
    (tmp_path / "m.txt").write_text(text)
    matrix = read_matrix(tmp_path / "m.txt")
    assert (matrix.shingles, matrix.columns) == ((*rows,), (*columns,))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("x+1 mod 5", (1, 1, 5)),
        ("3x + 1 mod 5", (3, 1, 5)),
        ("(3*x + 1) % 5", (3, 1, 5)),
        ("h2(x) = 3x+1 mod 5", (3, 1, 5)),
        ("1 + 3r MOD 5", (3, 1, 5)),
        ("x mod 7", (1, 0, 7)),
        ("-x + 4 mod 5", (-1, 4, 5)),
        ("2x - 1 mod 5", (2, -1, 5)),
    ],
)
def test_a_hash_function_is_read_as_people_write_it(spec, expected):
    assert parse_hash(spec) == HashFunction(*expected)


@pytest.mark.parametrize(
    "spec",
    [
        *("", "x+1", "5 mod 3", "x+1 mod 0", "x^2 mod 5", "x*x mod 5", "y+1 mod 5", "x+ mod 5"),
        *("x+1 2 mod 5", "*x mod 5", "x1 mod 5", "x+1 mod", "++x mod 5", f"{'9' * 30}x mod 5"),
    ],
)
def test_a_hash_that_is_none_is_refused_in_one_line(spec, told, book):
    with pytest.raises(lookalike.SettingsError, match=r"is not understood: .*, as 3x\+1 mod 5"):
        parse_hash(spec)
    status, output, errors = told("learn", "--matrix", book, "--hash", spec)
    assert (status, output) == (2, "")
    assert re.fullmatch(r"lookalike: --hash .* is not understood: .*\n", errors)


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("1,2,3,4", "it leaves out row 5"),
        ("1,2,3,4,4", "it names row 4 more than once"),
        ("1,2,3,4,5,5,5", "it names row 5 more than once"),
        (
            "0,1,2,3,4",
            "there is no row '0', as rows are counted from 1, unless by --first-row 0",
        ),
        ("1,2,3,4,5,6", "there is no row '6'"),
        ("a,b,c,d,x", "there is no row 'x'"),
    ],
)
def test_a_permutation_that_is_none_is_refused_in_one_line(order, why, told, book):
    status, output, errors = told("learn", "--matrix", book, "--permutation", order)
    assert (status, output) == (2, "")
    told_so = (
        f"--permutation {order} is not an order of the rows: {why}; name each from 1 to 5 once"
    )
    assert errors == f"lookalike: {told_so}\n"
    with pytest.raises(lookalike.SettingsError, match=f"permutation='{order}' is not an order"):
        lookalike.matrix_lesson(book, permutation=[order.split(",")])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hash": 3}, r"hash=3 is of type int: use text, as '3x\+1 mod 5'"),
        ({"hash": [None]}, "hash=None is of type NoneType: use text"),
        ({"hash": b"x mod 5"}, "hash=b'x mod 5' is of type bytes: use text"),
        ({"permutation": 3}, "permutation=3 is of type int: use text, as '2,1,3', or a list"),
        ({"permutation": [[1, 2], None]}, "permutation="),
        ({"permutation": b"1,2"}, "permutation=b'1,2' is of type bytes"),
        ({"first_row": "1", "hash": "x mod 5"}, "first_row='1': rows are counted from 0 or"),
    ],
    ids=str,
)
def test_what_is_of_another_type_is_refused_in_one_line(given, message, book):
    with pytest.raises(lookalike.SettingsError, match=message) as refused:
        lookalike.matrix_lesson(book, **given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("has", [None, 3, "abc", b"abc"])
def test_a_set_that_is_none_is_refused_by_its_name(has):
    with pytest.raises(lookalike.SourceError, match="the set 'b' is of type"):
        lookalike.matrix_lesson({"a": {"x"}, "b": has}, hash="x mod 5")


def test_the_sets_are_named_where_a_lesson_begins(told, tmp_path):
    (tmp_path / "m.txt").write_text("1 2\n0 1\n1 1\n")
    _, output, _ = told("learn", "--matrix", tmp_path / "m.txt", "--hash", "x mod 2")
    assert output.startswith("2 sets called 1, 2, rows 1 to 2.\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("S1 S2\n", "has a header and no rows"),
        ("1 0\n1 0 1\n", ":2 has 3 cells and line 1 has 2: give every row as many"),
        ("a 1 0\nb 1\n", ":2 has 2 cells and line 1 has 3"),
        ("x y z\n1 0\n", "has 3 names in its header and 2 cells in a row"),
        ("x y\n1 0\n0 2\n", ":3 has '2' in the place of a 0 or 1"),
        ("x y\n1 0\n0 \x1b\n", r":3 has '\\x1b' in the place of a 0 or 1"),
        ("0 2 1\n1 1 1\n", ":1 has '2' in the place of a 0 or 1"),
        ("1 2\n2 1\n3 0\n", ":1 has '2' in the place of a 0 or 1"),
        ("1 2 3\n2 0 1\n", ":1 has '2' in the place of a 0 or 1"),
        ("5 2\n1 0\n", ":1 has '2' in the place of a 0 or 1"),
        ("x x\n1 0\n", "has two sets called 'x': rename one"),
        ("element x y\na 1 0\na 0 1\n", "has two rows called 'a': rename one"),
    ],
)
def test_a_file_that_is_no_matrix_is_refused_in_one_line(text, message, told, tmp_path):
    path = tmp_path / "m.txt"
    path.write_text(text)
    status, output, errors = told("learn", "--matrix", path, "--hash", "x mod 2")
    assert (status, output) == (1, "")
    assert re.fullmatch(rf"lookalike: {re.escape(str(path))}[^\n]*{message}[^\n]*\n", errors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--matrix", "{}"], "--matrix needs hash functions, as --hash '3x+1 mod 5', or an order"),
        (["--hash", "x mod 5"], "--hash is for a lesson on a matrix: give --matrix too"),
        (["--first-row", "0"], "--first-row is for a lesson on a matrix"),
        (["--matrix", "{}", "--hash", "x mod 5", "{}"], "give documents, or --matrix, not both"),
        (["--matrix", "{}", "--hash", "x mod 5", "--bands", "2"], "--bands is for documents"),
        (["--matrix", "{}", "--hash", "x mod 5", "--first-row", "2"], "--first-row 2: rows are"),
        (["--matrix", "{}", *["--hash", "x mod 5"] * 21], "--hash was given 21 times, and at most"),
    ],
)
def test_options_that_cannot_be_together_are_refused_in_one_line(arguments, message, told, book):
    status, output, errors = told("learn", *(part.format(book) for part in arguments))
    assert (status, output) == (2, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert message in errors


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"S1": {"a"}}, "given 1 set and shows 2 to 8"),
        ({f"S{i}": {"a"} for i in range(9)}, "given 9 sets and shows 2 to 8"),
        ({"S1": set(), "S2": set()}, "sets without elements"),
        ({"S1": range(101), "S2": {1}}, "given 101 rows and shows at most 100"),
    ],
)
def test_a_matrix_of_another_size_is_refused(sets, message):
    with pytest.raises(lookalike.SettingsError, match=message):
        lookalike.matrix_lesson(sets, hash="x mod 5")


@pytest.mark.parametrize("first_row", [2, -1, True, 1.0, "0"])
def test_rows_are_counted_from_0_or_1(first_row, book):
    with pytest.raises(lookalike.SettingsError, match="rows are counted from 0 or from 1"):
        lookalike.matrix_lesson(book, hash="x mod 5", first_row=first_row)


def test_what_is_no_matrix_and_what_is_not_there_is_refused(told, tmp_path):
    with pytest.raises(lookalike.SourceError, match="cannot be read from a list: give the path"):
        lookalike.matrix_lesson([[0, 1]], hash="x mod 5")
    status, _, errors = told("learn", "--matrix", tmp_path / "gone.txt", "--hash", "x mod 5")
    assert (status, errors.count("\n")) == (1, 1)
    assert "gone.txt cannot be read" in errors
