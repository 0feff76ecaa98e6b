// One pair: both texts side by side, with what they share and what not.

const reading = { layout: null, together: true, folded: true }; // `layout` once a reader chose one

let beside = null; // how the texts that are shown are drawn again

async function pairView({ pairs, row }) {
  const [a, b] = [pairs.a[row], pairs.b[row]];
  const [textA, textB] = await Promise.all([textOf(a), textOf(b)]);
  const near = pairs !== report.pairs;
  const [firstLink, secondLink] = bothLinks(a, b, { long: true });
  return h(
    "article",
    { class: "pair" },
    h("h1", { tabindex: -1 }, firstLink, h("small", {}, "and"), secondLink),
    near && h("p", { class: "note" }, `Below the threshold of ${report.summary.threshold}: not counted as a pair.`),
    pairFigures(pairs, row),
    likelySource(a, b),
    textA && textB ? bothTexts(pairs, row, textA, textB) : h("p", { class: "note" }, "The texts of this pair are not in this page."),
    neighbours(pairs, row),
  );
}

function figure(value, name, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, more) : null));
}

function pairFigures(pairs, row) {
  const known = (value) => value !== null && value !== undefined;
  const contained = report.summary.measure === "containment";
  const counts = known(pairs.shared[row]) && known(pairs.union[row]) ? `${count(pairs.shared[row])} of ${count(pairs.union[row])} shingles are in both` : null;
  return h(
    "dl",
    { class: "figures" },
    figure(similarity(pairs.similarity[row]), contained ? "Containment" : report.summary.exact ? "Similarity" : "Estimated similarity", counts),
    known(pairs.a_in_b[row]) ? figure(percent(pairs.a_in_b[row]), "First contained in second") : null,
    known(pairs.b_in_a[row]) ? figure(percent(pairs.b_in_a[row]), "Second contained in first") : null,
    known(pairs.passages[row]) ? figure(count(pairs.passages[row]), pairs.passages[row] === 1 ? "Shared passage" : "Shared passages", many(pairs.words[row], "word")) : null,
  );
}

function likelySource(a, b) {
  const dates = report.documents.date;
  if (!dates[a] || !dates[b] || dates[a] === dates[b]) return null;
  const [older, newer] = dates[a] < dates[b] ? [a, b] : [b, a];
  return h("p", { class: "older" }, bdi(report.documents.name[older]), ` is older (${day(dates[older])}; the other is of ${day(dates[newer])}) and so the likely source.`);
}

function neighbours(pairs, row) {
  const link = (to, title, rel) =>
    to >= 0 && to < pairs.a.length ? h("a", { href: pairAddress(pairs, to), rel }, title) : h("span", {});
  if (pairs.a.length < 2) return null;
  return h("nav", { class: "neighbours", "aria-label": "Other pairs" }, link(row - 1, "← Previous pair", "prev"), link(row + 1, "Next pair →", "next"));
}

// The passages of a pair in the order of its first text; those of the other's text are turned round.
function passagesOf(a, b, textA, textB) {
  const own = textA.passages[String(b)];
  const found = own || (textB.passages[String(a)] || []).map(([start, end, otherStart, otherEnd, words]) => [otherStart, otherEnd, start, end, words]);
  return [...found].sort((one, other) => one[0] - other[0] || one[2] - other[2]);
}

const MUCH_LONGER = 4; // so many times as long as the other, a text leaves most rows half empty

// Rows show what was changed; panes suit texts of which one is far longer, or whose passages were moved.
function suitedLayout(passages, moved, lengthA, lengthB) {
  const length = (place) => passages[place][1] - passages[place][0];
  const all = passages.reduce((sum, _, place) => sum + length(place), 0);
  const elsewhere = [...moved].reduce((sum, place) => sum + length(place), 0);
  const uneven = Math.max(lengthA, lengthB) > MUCH_LONGER * Math.min(lengthA, lengthB);
  return uneven || elsewhere > all / 2 ? "panes" : "rows";
}

function bothTexts(pairs, row, textA, textB) {
  const [a, b] = [pairs.a[row], pairs.b[row]];
  const passages = passagesOf(a, b, textA, textB);
  const chain = longestChain(passages);
  const moved = new Set(passages.map((_, i) => i));
  chain.forEach((place) => moved.delete(place));
  const rows = tidiedRows(alignedRows(passages, chain, textA.text.length, textB.text.length), textA.text, textB.text);
  const texts = { a: textA, b: textB, passages, moved, rows };
  const suited = suitedLayout(passages, moved, textA.text.length, textB.text.length);
  const layout = () => reading.layout || suited;
  const holder = h("div", {});
  texts.jump = (place, from) => jumpTo(holder, place, from);
  const together = checkbox("Scroll together", reading.together, (value) => (reading.together = value));
  const draw = () => {
    together.hidden = layout() === "rows";
    holder.replaceChildren(layout() === "rows" ? inRows(texts, a, b) : inPanes(texts, a, b));
  };
  draw();
  beside = { draw, drawRows: () => holder.replaceChildren(inRows(texts, a, b)), layout };
  const change = (name) => (value) => {
    reading[name] = value;
    draw();
  };
  return [
    ribbons(passages, moved, textA.text.length, textB.text.length, (place) => texts.jump(place, null)),
    h(
      "div",
      { class: "tools" },
      choice("Layout", "layout", [["rows", "Rows"], ["panes", "Two panes"]], layout(), change("layout")),
      together,
      checkbox("Fold identical text", reading.folded, change("folded")),
      h("button", { type: "button", onclick: () => print() }, "Print"),
    ),
    legendOf(moved, textA, textB),
    holder,
  ];
}

function legendOf(moved, textA, textB) {
  const item = (node, text) => h("li", {}, node, h("span", {}, text));
  return h(
    "ul",
    { class: "legend reading" },
    item(h("mark", {}, "shared"), ["in both", h("span", { class: "screen" }, "; click to see it in the other")]),
    moved.size ? item(h("mark", { class: "moved" }, "moved"), "in both, in another place") : null,
    item(h("span", { class: "difference" }, "different"), "only in this text"),
    textA.boilerplate.length || textB.boilerplate.length ? item(h("span", { class: "boilerplate" }, "boilerplate"), "in many documents") : null,
  );
}

// Go to a passage: in the other text than the one it was chosen in, or in both (`from` null).
function jumpTo(holder, place, from) {
  const number = place + 1;
  for (const mark of holder.querySelectorAll(".chosen")) mark.classList.remove("chosen");
  for (const mark of holder.querySelectorAll(`mark[data-mark="${number}"]`)) mark.classList.add("chosen");
  // On a narrow screen what is the same is shown once.
  const seen = [...holder.querySelectorAll(`.cell button[data-passage="${number}"]`)].filter((one) => one.getClientRects().length);
  const on = (side) => seen.find((one) => one.closest(`.side-${side}`));
  const target = (from && on(from === "a" ? "b" : "a")) || seen[0];
  if (!target) return;
  if (target.closest(".pane")) {
    holder.scrollIntoView({ block: "nearest", behavior: "instant" });
    const level = from && on(from) ? on(from).getBoundingClientRect().top : null;
    for (const one of from ? [target] : seen) scrollPaneTo(one, level);
  } else target.scrollIntoView({ block: "center", behavior: "instant" });
  target.focus({ preventScroll: true });
}

function sideLayers(texts, side) {
  const [from, to] = side === "a" ? [0, 1] : [2, 3];
  const layers = texts.passages.map((passage, place) => ({
    start: passage[from],
    end: passage[to],
    kind: "passage",
    number: place + 1,
    moved: texts.moved.has(place),
    open: () => texts.jump(place, side),
  }));
  // The passage of a row first; one that lies on it as well shows its number.
  layers.sort((one, other) => one.moved - other.moved);
  return layers.concat(boilerplateLayers(texts[side]));
}

// The cells of all rows: [{ row, a: nodes, b: nodes }]; `apart` where each is a block by itself.
function cellsOf(texts, apart) {
  const layers = { a: sideLayers(texts, "a"), b: sideLayers(texts, "b") };
  return texts.rows.map((whole) => {
    const row = apart ? { ...whole, a: withoutBlankEnds(texts.a.text, whole.a), b: withoutBlankEnds(texts.b.text, whole.b) } : whole;
    const element = { row, folds: null };
    const more = row.passage < 0 ? differences(texts.a.text, row.a, texts.b.text, row.b) : { a: [], b: [] };
    const folds = row.passage < 0 || !reading.folded ? null : { a: foldRange(texts.a.text, ...row.a), b: foldRange(texts.b.text, ...row.b) };
    element.folds = folds && folds.a && folds.b ? folds : null;
    for (const side of ["a", "b"]) {
      const own = layers[side].concat(more[side].map((span) => ({ ...span, kind: "difference" })));
      element[side] = cellOf(texts[side].text, row[side], own, element.folds && element.folds[side]);
    }
    return element;
  });
}

function cellOf(text, [start, end], layers, fold) {
  if (!fold) return textParts(text, start, end, layers);
  const words = (text.slice(...fold).match(WORD) || []).length;
  const hidden = h("span", { class: "folded" });
  // What is hidden is drawn when it is opened or printed.
  hidden.fill = () => {
    if (!hidden.firstChild) hidden.append(...[textParts(text, fold[0], fold[1], layers)].flat(Infinity));
  };
  const button = h("button", { type: "button", class: "fold", "aria-expanded": "false", onclick: () => unfold(button) }, `… ${many(words, "identical word")} …`);
  return [markedText(text, start, fold[0], layers), button, hidden, markedText(text, fold[1], end, layers)];
}

function unfold(button) {
  const place = button.closest("[data-place]").dataset.place;
  for (const cell of button.closest(".texts").querySelectorAll(`[data-place="${place}"]`)) {
    for (const hidden of cell.querySelectorAll(".folded")) {
      hidden.fill();
      hidden.classList.add("open");
    }
    for (const one of cell.querySelectorAll("button.fold")) one.hidden = true;
  }
}

// On paper texts stand in rows, and whole.
addEventListener("beforeprint", () => {
  if (beside && beside.layout() === "panes") beside.drawRows();
  for (const hidden of document.querySelectorAll(".folded")) hidden.fill();
});

addEventListener("afterprint", () => {
  if (beside && beside.layout() === "panes") beside.draw();
});

function columnHead(number, side) {
  return h("h2", { class: `column-head side-${side}` }, bdi(report.documents.name[number]));
}

function cellElement(element, side, place) {
  return h("div", { class: `cell side-${side}`, dir: "auto", "data-place": place }, element[side]);
}

// Passages beside each other, row by row; the page scrolls both.
function inRows(texts, a, b) {
  const rows = cellsOf(texts, true).map((element, place) =>
    h("div", { class: element.row.passage < 0 ? "row different" : "row same" }, cellElement(element, "a", place), cellElement(element, "b", place)),
  );
  return h("div", { class: `texts rows ${textClass(texts.a.text, texts.b.text)}` }, h("div", { class: "row heads" }, columnHead(a, "a"), columnHead(b, "b")), rows);
}

// Each text in a pane of its own.
function inPanes(texts, a, b) {
  const cells = cellsOf(texts, false);
  const pane = (side, number) => h("div", { class: "pane", tabindex: 0, role: "region", "aria-label": report.documents.name[number] }, cells.map((element, place) => cellElement(element, side, place)));
  const [one, other] = [pane("a", a), pane("b", b)];
  scrollTogether(one, other);
  return h(
    "div",
    { class: `texts panes ${textClass(texts.a.text, texts.b.text)}` },
    h("section", { class: "side side-a" }, columnHead(a, "a"), one),
    h("section", { class: "side side-b" }, columnHead(b, "b"), other),
  );
}
