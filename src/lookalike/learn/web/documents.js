// What the lesson is on: its documents, their shingles, the matrix, and the exact similarities.

// The whole page shares one chosen pair; whoever shows it hears of another.
class Choice {
  constructor() {
    this.pair = null;
    this.listeners = [];
  }

  choose(pair) {
    this.pair = pair;
    for (const listener of this.listeners) listener(pair);
  }

  listen(listener) {
    this.listeners.push(listener);
  }
}

function pairName(facts, pair) {
  return `${facts.labels[pair.one]} ${facts.labels[pair.other]}`;
}

function bySimilarity(facts) {
  return [...facts.pairs].sort((one, other) => other.exact - one.exact);
}

// A blank at the end of a shingle is part of it, and is to be seen.
function elementText(element) {
  return make("code", { class: "element" }, `'${element}'`);
}

function fillFacts(facts) {
  const words = {
    count: facts.labels.length,
    "row-name": facts.element || "element",
    "column-name": facts.kind === "documents" ? "document" : "set",
    "elements-title": facts.element === "token" ? "Tokens" : "Shingles",
    "elements-sentence":
      facts.element === "token"
        ? "A document becomes the set of its tokens, as they are."
        : `A shingle is ${facts.size} in a row. A document becomes the set of its shingles.`,
    banding: `${plural(facts.bands || 0, "band")} of ${plural(facts.rows || 0, "row")}`,
  };
  for (const place of document.querySelectorAll("[data-fact]")) {
    place.textContent = words[place.dataset.fact];
  }
  for (const part of document.querySelectorAll("[data-for]")) {
    if (part.dataset.for !== facts.kind) part.remove();
  }
  byId("settings").textContent = facts.settings;
}

function showContents() {
  const links = [];
  document.querySelectorAll("main > section").forEach((section, at) => {
    const heading = section.querySelector("h2");
    const title = heading.textContent;
    heading.prepend(make("span", { class: "number" }, `${at + 1}`), " ");
    heading.id = `${section.id}-title`;
    section.setAttribute("aria-labelledby", heading.id);
    links.push(make("li", {}, make("a", { href: `#${section.id}` }, title)));
  });
  put("contents", make("ol", {}, links));
}

function showDocuments(facts) {
  const cards = facts.documents.map((one, at) =>
    make(
      "div",
      { class: "document" },
      make("p", {}, make("b", {}, facts.labels[at]), " ", make("span", {}, facts.names[at])),
      one.text === null ? null : make("blockquote", { tabindex: "0" }, one.text || "(empty)"),
    ),
  );
  put("documents-table", cards);
}

function showShingles(facts) {
  const noun = facts.element;
  const rows = facts.documents.map((one, at) => {
    const left = one.all - one.first.length;
    const listed = one.first.flatMap((element) => [elementText(element), " "]);
    const more = left > 0 ? `… and ${plural(left, "more")}`.replace(/s$/, "") : "";
    return [facts.labels[at], one.all, one.different, make("span", { class: "chips", tabindex: 0, role: "group", "aria-label": `Shingles of ${facts.labels[at]}` }, listed, more)];
  });
  const heads = ["", "in all", "different", "the first of them"];
  put("shingles-table", table(`The ${noun}s of each document`, heads, rows, { class: "shingles" }));
  const empty = facts.documents.flatMap((one, at) => (one.all ? [] : [facts.labels[at]]));
  if (empty.length) {
    byId("shingles-table").append(
      make("p", { class: "note" }, `Empty, and so similar to nothing: ${empty.join(" ")}.`),
    );
  }
}

const ROW_KINDS = { 11: "a", 10: "b", "01": "c", "00": "" };

function matrixCells(facts, at, mark) {
  const cells = Array.from(facts.cells[at], (cell, column) => {
    const isMarked = mark && mark(column);
    return make("td", { class: `bit bit-${cell}` }, isMarked ? make("span", { class: "first" }, cell) : cell);
  });
  const name = facts.element ? [elementText(facts.elements[at])] : [];
  return [...name, ...cells];
}

function matrixHeads(facts) {
  return [...(facts.element ? [facts.element] : []), ...facts.labels];
}

function kindOf(facts, pair, at) {
  return pair ? ROW_KINDS[facts.cells[at][pair.one] + facts.cells[at][pair.other]] : "";
}

function showMatrix(facts, choice) {
  const count = facts.cells.length;
  const heads = ["row", ...matrixHeads(facts), ""];
  const shown = new ScrollTable("Characteristic matrix", heads, count, (at) => {
    const kind = kindOf(facts, choice.pair, at);
    const cells = [at + facts.firstRow, ...matrixCells(facts, at), make("td", { class: "kind" }, kind)];
    return { cells, kind: kind ? `kind-${kind}` : "" };
  });
  const said = make("p", { class: "legend" });
  choice.listen((pair) => {
    shown.show(true);
    const chosen = pair ? ` a, b and c are the kinds of rows of ${pairName(facts, pair)}, the pair chosen in the next step.` : "";
    said.textContent = `${plural(count, "row")}.${chosen}`;
  });
  put("matrix-table", shown.node, said);
}

function showSimilarities(facts, choice) {
  const pairs = bySimilarity(facts);
  const buttons = pairs.map((pair) =>
    button(pairName(facts, pair), () => choice.choose(pair), { class: "pair", "aria-pressed": "false" }),
  );
  const rows = pairs.map((pair, at) => ({
    attributes: { "data-pair": pairName(facts, pair) },
    cells: [buttons[at], pair.a, pair.b, pair.c, `${pair.a} / ${pair.a + pair.b + pair.c}`, share(pair.exact)],
  }));
  const heads = ["pair", "a", "b", "c", "a / (a + b + c)", "similarity"];
  const all = table("Exact similarity of every pair", heads, rows, { id: "similarities" });
  const counted = new CountedRows(facts);
  put("similarity-table", make("div", { class: "two" }, all, counted.node));
  choice.listen((pair) => {
    counted.show(pair);
    pairs.forEach((one, at) => {
      buttons[at].setAttribute("aria-pressed", String(one === pair));
      buttons[at].closest("tr").classList.toggle("chosen", one === pair);
    });
  });
}

// The rows of two columns that are not both 0.
class CountedRows {
  constructor(facts) {
    this.facts = facts;
    this.rows = [];
    this.said = make("p", { class: "legend", "aria-live": "polite", id: "pair-said" });
    const heads = ["row", ...matrixHeads({ ...facts, labels: ["first", "second"] }), "kind"];
    this.table = new ScrollTable("Rows of the chosen pair that count", heads, 0, (at) => this.row(at));
    this.node = make("div", {}, this.said, this.table.node);
  }

  row(index) {
    const { facts, pair } = this;
    const at = this.rows[index];
    const kind = kindOf(facts, pair, at);
    const bits = [pair.one, pair.other].map((column) => {
      const bit = facts.cells[at][column];
      return make("td", { class: `bit bit-${bit}` }, bit);
    });
    const name = facts.element ? [elementText(facts.elements[at])] : [];
    const cells = [at + facts.firstRow, ...name, ...bits, make("td", { class: "kind" }, kind)];
    return { cells, kind: `kind-${kind}` };
  }

  show(pair) {
    const { facts } = this;
    this.pair = pair;
    this.rows = facts.cells.flatMap((_, at) => (kindOf(facts, pair, at) ? [at] : []));
    const titles = this.table.box.querySelectorAll("thead th");
    [pair.one, pair.other].forEach((column, at) => {
      titles[titles.length - 3 + at].textContent = facts.labels[column];
    });
    this.said.textContent =
      `${pairName(facts, pair)}: ${pair.a} rows of kind a, ${pair.b} of b, ${pair.c} of c; ` +
      `${pair.a} / ${pair.a + pair.b + pair.c} = ${share(pair.exact)}.`;
    this.table.restart(this.rows.length);
  }
}

// The pair in the middle: a picture with something of everything in it.
function usualPair(facts) {
  const far = (pair) => Math.abs(pair.exact - 0.5);
  return facts.pairs.reduce((best, pair) => (far(pair) < far(best) ? pair : best));
}
