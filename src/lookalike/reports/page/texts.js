// Text with marks on it.

// The nodes of a stretch of text. A layer is { start, end, kind }: a passage has a `number` too and
// what its button does (`open`), a source its `colour`, `number`, `address` and `title`.
function markedText(text, start, end, layers) {
  return stretches(start, end, layers).map((stretch) => {
    const piece = text.slice(stretch.start, stretch.end);
    const on = (kind) => stretch.on.filter((layer) => layer.kind === kind);
    const begins = stretch.on.filter((layer) => layer.start === stretch.start);
    const numbers = begins.map((layer) => numberOf(layer)).filter(Boolean);
    const [passage] = on("passage");
    if (passage) return [numbers, passageMark(passage, piece)];
    const [source] = on("source");
    if (source) return [numbers, h("mark", { class: `colour-${source.colour}`, title: source.title }, piece)];
    if (on("boilerplate").length) return h("span", { class: "boilerplate", title: on("boilerplate")[0].title }, piece);
    if (on("difference").length) return h("span", { class: "difference" }, piece);
    return document.createTextNode(piece);
  });
}

function passageMark(passage, piece) {
  return h("mark", { class: passage.moved ? "moved" : null, "data-mark": passage.number, onclick: () => !String(getSelection()) && passage.open() }, piece);
}

function numberOf(layer) {
  if (layer.kind === "passage") {
    return h("button", { type: "button", class: layer.moved ? "number moved" : "number", "data-passage": layer.number, "aria-label": `Passage ${layer.number}: go to it in the other text`, onclick: layer.open }, layer.number);
  }
  if (layer.kind === "source") {
    return h("a", { class: `number colour-${layer.colour}`, href: layer.address, title: layer.title, "aria-label": `From ${layer.title}` }, layer.number);
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

// Program text is shown with letters of one width: many of its lines are indented.
function looksLikeCode(text) {
  const lines = text.slice(0, 20000).split("\n").filter((line) => line.trim());
  const indented = lines.filter((line) => /^(\t|  )|[;{}]\s*$/.test(line)).length;
  return lines.length > 4 && indented > lines.length * 0.4;
}

function textClass(...texts) {
  return texts.some((text) => looksLikeCode(text)) ? "code" : "prose";
}
