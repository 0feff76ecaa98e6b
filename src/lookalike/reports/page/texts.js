// Text with marks on it.

const ORDER = ["passage", "source", "difference", "boilerplate"];

// The layer that shows where several lie on each other.
function uppermost(stretch) {
  for (const kind of ORDER) {
    const found = stretch.on.find((layer) => layer.kind === kind);
    if (found) return found;
  }
  return null;
}

// The nodes of a stretch of text. A layer is { start, end, kind }: a passage has a `number` too and
// what its button does (`open`), a source its `colour`, `number`, `address` and `title`.
function markedText(text, start, end, layers) {
  const nodes = [];
  let run = null; // stretches that look the same are one mark
  const close = () => run && nodes.push(markOf(run, text.slice(run.start, run.end)));
  for (const stretch of stretches(start, end, layers)) {
    const layer = uppermost(stretch);
    const common = stretch.on.find((one) => one.kind === "boilerplate") || null;
    const numbers = stretch.on.filter((one) => one.start === stretch.start).map(numberOf).filter(Boolean);
    if (run && run.layer === layer && run.common === common && !numbers.length) {
      run.end = stretch.end;
      continue;
    }
    close();
    nodes.push(...numbers);
    run = { layer, common, start: stretch.start, end: stretch.end };
  }
  close();
  return nodes;
}

// Boilerplate is grey beneath any mark too: it is in many documents, and so always in another one.
function markOf({ layer, common }, piece) {
  if (!layer) return document.createTextNode(piece);
  const inside = common && layer !== common ? h("span", { class: "boilerplate", title: common.title }, piece) : piece;
  if (layer.kind === "passage") return passageMark(layer, inside);
  if (layer.kind === "source") return h("mark", { class: common ? "common" : `colour-${layer.colour}`, title: layer.title }, inside);
  return h("span", { class: layer.kind, title: layer.title }, inside);
}

function passageMark(passage, piece) {
  return h("mark", { class: passage.moved ? "moved" : null, "data-mark": passage.number, onclick: () => !String(getSelection()) && passage.open() }, piece);
}

function numberOf(layer) {
  if (layer.kind === "passage") {
    return h("button", { type: "button", class: layer.moved ? "number moved" : "number", "data-passage": layer.number, "aria-label": `Passage ${layer.number}: go to it in the other text`, onclick: layer.open }, layer.number);
  }
  if (layer.kind === "source") {
    return h("a", { class: `number colour-${layer.colour}`, href: layer.address, title: layer.title, "aria-label": `${layer.number}: from ${layer.title}` }, layer.number);
  }
  return null;
}

// A stretch in parts that the browser lays out when they come into view.
function textParts(text, start, end, layers) {
  const parts = partsOf(text, start, end);
  if (parts.length === 1) return markedText(text, start, end, layers);
  return parts.map(([from, to]) => h("div", { class: "part" }, markedText(text, from, to, layers)));
}

function boilerplateLayers(text) {
  return text.boilerplate.map(([start, end, documents]) => ({ start, end, kind: "boilerplate", title: `boilerplate: in ${many(documents, "document")}` }));
}

// Prose whose lines were cut at some width runs on in the column that it gets: a line end within a
// paragraph is shown as a blank, so that every offset stays what it is.
function reflowed(text) {
  const broken = [...text.slice(0, 50000).matchAll(/^.*\S.*\n(?=.*\S)/gm)].map((line) => line[0].length - 1);
  const wrapped = broken.filter((length) => length >= 45 && length <= 100).length;
  if (broken.length < 3 || wrapped < broken.length * 0.6 || looksLikeCode(text)) return text;
  return text.replace(/(?<=\S)\n(?![\s*•>|#+-]|\d+[.)]|$)/g, " ");
}

// Program text is shown with letters of one width: many of its lines are indented.
function looksLikeCode(text) {
  const lines = text.slice(0, 20000).split("\n").filter((line) => line.trim());
  const indented = lines.filter((line) => /^(\t|  )|[;{}]\s*$/.test(line)).length;
  return lines.length > 4 && indented > lines.length * 0.4;
}

function textClass(...texts) {
  return texts.some((text) => looksLikeCode(text)) ? "code" : "prose";
}
