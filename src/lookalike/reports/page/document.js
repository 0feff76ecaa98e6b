// One document against all others: which share of it stands elsewhere, and where.

async function documentView(number) {
  const documents = report.documents;
  const text = await textOf(number);
  const cluster = documents.cluster[number];
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, bdi(documents.name[number])),
    h(
      "dl",
      { class: "figures" },
      documents.covered[number] === null ? null : figure(percent(documents.covered[number]), "Found in other documents"),
      documents.length[number] === null ? null : figure(count(documents.length[number]), "Characters"),
      documents.date[number] ? figure(day(documents.date[number]), report.summary.date || "Date") : null,
      documents.label[number] === null ? null : figure(labelOf(number), report.summary.label || "Label"),
      cluster === null ? null : figure(h("a", { href: `#cluster=${cluster}` }, String(cluster)), "Cluster"),
      documents.kept[number] === null ? null : figure(documents.kept[number] ? "kept" : "removed", "Decision"),
      Object.entries(documents.columns)
        .filter(([name, values]) => values[number] !== null && name !== report.summary.label && name !== report.summary.date)
        .slice(0, 6)
        .map(([name, values]) => figure(bdi(short(plain(values[number]), 40)), name)),
    ),
    text && coverageOf(text),
    timeOfDocument(number),
    pairsOfDocument(number),
    text ? documentText(text) : h("p", { class: "note" }, "The text of this document is not in this page."),
  );
}

function sourceColours(text) {
  const places = new Map(text.sources.map(([document], i) => [document, i]));
  const others = []; // that a stretch names, though their shares are too small to be listed
  for (const stretch of text.coverage) {
    if (places.has(stretch.document)) continue;
    places.set(stretch.document, places.size);
    others.push(stretch.document);
  }
  return {
    others,
    number: (document) => places.get(document) + 1,
    colour: (document) => (places.get(document) < COLOURS ? places.get(document) + 1 : 0),
  };
}

function coverageOf(text) {
  if (!text.coverage.length) {
    return h("p", { class: "note" }, "No passage of this text was found in another document.");
  }
  const colours = sourceColours(text);
  const jump = (place) => {
    const link = document.querySelectorAll(".document-text a.number")[place];
    if (link) {
      link.focus({ preventScroll: true });
      link.scrollIntoView({ block: "center" });
    }
  };
  return h(
    "section",
    { "aria-labelledby": "sources" },
    h("h2", { id: "sources" }, "Where else it is found"),
    coverageStrip(text, colours.colour, jump),
    h("p", { class: "muted" }, "The text from start to end; each colour and number is a document that has the same passage.", text.boilerplate.length ? " Grey below the strip, and in the text, is boilerplate: what many documents share." : ""),
    sourceList(text, colours),
  );
}

const FIRST_SOURCES = 12; // the others are folded away

function sourceList(text, colours) {
  const item = ([other, share]) =>
    h(
      "li",
      {},
      h("span", { class: `number colour-${colours.colour(other)}` }, colours.number(other)),
      h("span", { class: "share" }, percent(share)),
      otherLink(text.document, other),
      report.documents.date[other] ? h("time", { class: "muted" }, day(report.documents.date[other])) : null,
      isOlder(other, text.document) ? h("span", { class: "tag" }, "older") : null,
    );
  const rest = text.sources.slice(FIRST_SOURCES).concat(colours.others.map((other) => [other, null]));
  const more = Math.max(0, text.more_sources - colours.others.length);
  return [
    h("ol", { class: "sources" }, text.sources.slice(0, FIRST_SOURCES).map(item)),
    rest.length ? h("details", { class: "more" }, h("summary", {}, `${many(rest.length, "more document")}`), h("ol", { class: "sources" }, rest.map(item))) : null,
    more ? h("p", { class: "muted" }, `${many(more, "document")} with smaller shares ${more === 1 ? "is" : "are"} not listed.`) : null,
    text.remembered ? h("p", { class: "muted" }, `Some passages are in more than ${count(text.remembered)} documents. Of these, ${count(text.remembered)} are counted.`) : null,
  ];
}

function betweenAddress(one, other) {
  const address = `${report.documents.key[one]}-${report.documents.key[other]}`;
  return addresses.pairs.has(address) ? `#pair=${address}` : documentAddress(other);
}

function otherLink(one, other) {
  return h("a", { href: betweenAddress(one, other) }, bdi(report.documents.name[other]));
}

function documentText(text) {
  const colours = sourceColours(text);
  const layers = text.coverage.map((stretch) => ({
    start: stretch.start,
    end: stretch.end,
    kind: "source",
    number: colours.number(stretch.document),
    colour: colours.colour(stretch.document),
    title: report.documents.name[stretch.document],
    address: betweenAddress(text.document, stretch.document),
  }));
  return h(
    "section",
    { "aria-labelledby": "text" },
    h("h2", { id: "text" }, "The text"),
    h("div", { class: `document-text ${textClass(text.text)}`, dir: "auto" }, textParts(text.text, 0, text.text.length, boilerplateLayers(text).concat(layers))),
  );
}

function rowsOfDocument(number) {
  return rowsOf(report.pairs.a).filter((row) => report.pairs.a[row] === number || report.pairs.b[row] === number);
}

const MOST_IN_TIME = 60;

// The document among those that it is most similar to.
function timeOfDocument(number) {
  const rows = rowsOfDocument(number).slice(0, MOST_IN_TIME);
  const members = new Set([number, ...rows.flatMap((row) => [report.pairs.a[row], report.pairs.b[row]])]);
  return report.documents.date[number] ? timeSection([...members], rows) : null;
}

function pairsOfDocument(number) {
  const found = rowsOfDocument(number);
  if (!found.length) return null;
  return h("section", { "aria-labelledby": "its-pairs" }, h("h2", { id: "its-pairs" }, "Its pairs"), pairTable(report.pairs, found, { name: `document-${number}`, caption: "Pairs of this document" }));
}
