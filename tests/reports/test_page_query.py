"""The query line: what it asks of a row, and what it says when it cannot."""

import pytest

pytest.importorskip("playwright")
from javascript import call_all

ROWS = [
    {"sim": 1.0, "id": ["Draft one.txt", "final.txt"], "cluster": [3, 3], "words": 12},
    {"sim": 0.9, "id": ["ÉTUDE.txt", "draft-2.txt"], "cluster": [3, 3], "words": 120},
    {"sim": 0.874, "id": ["a.txt", "b.txt"], "cluster": [None, 4], "words": None},
    {"sim": 0.5, "id": ["http://x/a", "c.txt"], "cluster": [31, 31], "words": 0},
]
for place, row in enumerate(ROWS):
    row["date"] = [["2023-12-31"], ["2024-05-01", "2024-05-17T09:30:00"], [None], ["2025-01-01"]][
        place
    ]
    row["kept"] = [True, False, None, False][place]
    row["my column"] = ["Ann <b>", 7, True, "ann"][place]
KINDS = {
    "sim": "number",
    "name": "text",
    "id": "text",
    "cluster": "number",
    "words": "number",
    "date": "date",
    "kept": "flag",
    "my column": "mixed",
}
CHOSEN = """(() => {
    const get = (name) => (row) => row[name === "name" ? "id" : name];
    const kinds = Object.entries(one.kinds);
    const fields = new Map(kinds.map(([name, kind]) => [name, { kind, get: get(name) }]));
    const query = compileQuery(one.line, fields);
    if (query.errors.length) return query.errors.map((error) => error.message);
    return one.rows.flatMap((row, place) => (query.test(row) ? [place] : []));
})()"""

ASKED = {
    "": [0, 1, 2, 3],
    "   ": [0, 1, 2, 3],
    "sim:>0.9": [0],
    "sim:>=0.9": [0, 1],
    "sim:>=90%": [0, 1],
    "sim:<0.9": [2, 3],
    "sim:<=.9": [1, 2, 3],
    "sim:=0.5": [3],
    "sim:0.87": [2],
    "sim:0.88": [],
    "sim:0.8..0.9": [1, 2],
    "sim:1,0.5": [0, 3],
    "-sim:1": [1, 2, 3],
    "draft": [0, 1],
    "DRAFT one": [0],
    '"draft one"': [0],
    '"one draft"': [],
    "id:draft": [0, 1],
    "id:étude": [1],
    "-id:draft sim:>0.6": [2],
    "cluster:3": [0, 1],
    "cluster:4": [2],
    "cluster:3,31": [0, 1, 3],
    "-cluster:3": [2, 3],
    "words:>0": [0, 1],
    "-words:>0": [2, 3],
    "SIM:1": [0],
    '"http://x"': [3],
    'id:"http://x"': [3],
    "date:2024-05": [1],
    "date:2024-05-17": [1],
    "date:>2024": [3],
    "date:>=2024": [1, 3],
    "date:<2024": [0],
    "date:2023..2024": [0, 1],
    "date:2023-12..2024-04": [0],
    "kept:yes": [0],
    "kept:no": [1, 3],
    '"my column":ann': [0, 3],
    '"my column":">"': [0],
    '"my column":7': [1],
    '"my column":>6': [1],
    '"my column":yes': [2],
    "sim:>0.6 draft cluster:3 -final": [1],
}
WRONG = {
    "foo:1": [
        "there is no field “foo”; there are sim, name, id, cluster, words, date, kept, my column"
    ],
    "sim:high": ["“sim:high”: expected a number, as >0.9, 0.8..0.9 or 3"],
    "sim:>": ["“sim:>”: expected a number, as >0.9, 0.8..0.9 or 3"],
    "sim:": ["“sim:” needs a value"],
    "sim:,": ["“sim:,”: expected a number, as >0.9, 0.8..0.9 or 3"],
    "kept:perhaps": ["“kept:perhaps”: expected yes or no"],
    "date:may": ["“date:may”: expected a date, as 2024-05, >2024-05-17 or 2023..2024"],
    'id:"draft': ['a quotation mark " is not closed'],
    "foo:1 sim:x": [
        "there is no field “foo”; there are sim, name, id, cluster, words, date, kept, my column",
        "“sim:x”: expected a number, as >0.9, 0.8..0.9 or 3",
    ],
}


def test_a_line_chooses_the_rows_that_it_asks_for(page):
    lines = [{"line": line, "rows": ROWS, "kinds": KINDS} for line in ASKED]
    assert dict(zip(ASKED, call_all(page, ["query.js"], CHOSEN, lines), strict=True)) == ASKED


def test_a_line_that_is_wrong_says_what_is(page):
    lines = [{"line": line, "rows": ROWS, "kinds": KINDS} for line in WRONG]
    assert dict(zip(WRONG, call_all(page, ["query.js"], CHOSEN, lines), strict=True)) == WRONG
