// The report's columns, as tables sort them and queries ask about them.

let report; // all but the texts; set once, when the page starts

const addresses = { documents: new Map(), pairs: new Map() };

// Whether the page is of one pair alone, and has nothing else to lead to.
function onlyPair() {
  return JSON.parse(document.getElementById("data").textContent).page === "pair";
}

function pairAddress(pairs, row) {
  const keys = report.documents.key;
  return `#pair=${keys[pairs.a[row]]}-${keys[pairs.b[row]]}`;
}

function documentAddress(number) {
  return `#document=${report.documents.key[number]}`;
}

// Note which address stands for what: { pairs, row } of a pair, in whichever order it is named.
function noteAddresses() {
  report.documents.key.forEach((key, number) => addresses.documents.set(key, number));
  for (const pairs of [report.pairs, report.near_misses && report.near_misses.pairs]) {
    if (!pairs) continue;
    for (let row = 0; row < pairs.a.length; row++) {
      const [a, b] = [report.documents.key[pairs.a[row]], report.documents.key[pairs.b[row]]];
      for (const address of [`${a}-${b}`, `${b}-${a}`]) {
        if (!addresses.pairs.has(address)) addresses.pairs.set(address, { pairs, row });
      }
    }
  }
}

let ranks = null;

// The place of a document's name among all, so that sorting pairs compares numbers.
function nameRank(number) {
  if (!ranks) {
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    const names = report.documents.name;
    const order = names.map((_, i) => i).sort((one, other) => compare(names[one], names[other]) || one - other);
    ranks = new Uint32Array(names.length);
    order.forEach((document, rank) => (ranks[document] = rank));
  }
  return ranks[number];
}

function largest(one, other) {
  if (one === null) return other;
  return other === null ? one : Math.max(one, other);
}

function earliest(one, other) {
  if (!one || !other) return one || other || null;
  return one < other ? one : other;
}

function hasAny(column) {
  return column.some((value) => value !== null && value !== undefined);
}

// The fields of documents; `of` gives the documents of a row, of which one has to fit.
function documentFields(of) {
  const documents = report.documents;
  const column = (values) => (row) => of(row).map((number) => values[number]);
  const fields = new Map();
  fields.set("id", { kind: "text", get: column(documents.name), help: "part of a name", example: "id:draft" });
  fields.set("name", fields.get("id"));
  if (hasAny(documents.cluster)) {
    fields.set("cluster", { kind: "number", get: column(documents.cluster), help: "number of a cluster", example: "cluster:3" });
  }
  if (hasAny(documents.label)) {
    fields.set("label", { kind: "text", get: column(documents.label), help: `label (${report.summary.label})`, example: "label:a" });
  }
  if (hasAny(documents.date)) {
    fields.set("date", { kind: "date", get: column(documents.date), help: "date", example: "date:>2024-05" });
  }
  if (hasAny(documents.kept)) {
    fields.set("kept", { kind: "flag", get: column(documents.kept), help: "kept or removed", example: "kept:no" });
  }
  if (hasAny(documents.covered)) {
    fields.set("covered", { kind: "number", get: column(documents.covered), help: "share found in other documents", example: "covered:>50%" });
  }
  if (new Set(documents.corpus).size > 1) {
    fields.set("corpus", { kind: "whole", get: column(documents.corpus), help: "source, reference or index", example: "corpus:reference" });
  }
  for (const [name, values] of Object.entries(documents.columns)) {
    if (!fields.has(name)) fields.set(name, { kind: "mixed", get: column(values), help: "column of the input", example: `${/[\s":]/.test(name) ? `"${name}"` : name}:…` });
  }
  return fields;
}

function pairFields(pairs) {
  const names = report.documents.name;
  const similar = { kind: "number", get: (row) => pairs.similarity[row], help: report.summary.measure, example: "sim:>0.9" };
  const fields = new Map([["sim", similar], ...documentFields((row) => [pairs.a[row], pairs.b[row]])]);
  fields.set("a", { kind: "text", get: (row) => names[pairs.a[row]], help: "part of the first name", example: "a:draft" });
  fields.set("b", { kind: "text", get: (row) => names[pairs.b[row]], help: "part of the second name", example: "b:final" });
  fields.set("inside", {
    kind: "number",
    get: (row) => largest(pairs.a_in_b[row], pairs.b_in_a[row]),
    help: "share of one that is in the other",
    example: "inside:>95%",
  });
  if (hasAny(pairs.words)) {
    fields.set("shared", { kind: "number", get: (row) => pairs.words[row], help: "words in shared passages", example: "shared:>100" });
    fields.set("passages", { kind: "number", get: (row) => pairs.passages[row], help: "number of shared passages", example: "passages:>3" });
  }
  return fields;
}

const COLOURS = 8;

let labels = null;

// The number of a label's colour, from 1 by how often it occurs; 0 for those past the last colour.
function labelColour(label) {
  if (!labels) {
    const counts = new Map();
    for (const one of report.documents.label) {
      if (one !== null) counts.set(one, (counts.get(one) || 0) + 1);
    }
    labels = new Map(
      [...counts]
        .sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1))
        .map(([name], place) => [name, place < COLOURS ? place + 1 : 0]),
    );
  }
  return labels.get(label) || 0;
}

// The class that gives what stands for a document the colour of its label.
function labelClass(number) {
  const label = report.documents.label[number];
  return label === null ? null : `colour-${labelColour(label)}`;
}

function labelOf(number) {
  const label = report.documents.label[number];
  if (label === null) return null;
  return h("span", { class: "label" }, h("i", { class: `dot colour-${labelColour(label)}` }), bdi(label));
}

// A document's name as a link, with its label and date where there are some, and whether it is the `older` of two.
function documentLink(number, { long = false, older = false } = {}) {
  const documents = report.documents;
  const kept = documents.kept[number];
  const name = bdi(long ? documents.name[number] : short(documents.name[number], 64));
  return h(
    "span",
    { class: "document" },
    onlyPair() ? name : h("a", { href: documentAddress(number), title: documents.name[number] }, name),
    kept === null ? null : h("span", { class: "tag" }, kept ? "kept" : "removed"),
    labelOf(number),
    documents.date[number] ? h("time", {}, day(documents.date[number])) : null,
    older ? h("span", { class: "tag" }, "older") : null,
  );
}

// Both documents of a pair.
function bothLinks(a, b, options = {}) {
  return [documentLink(a, { ...options, older: isOlder(a, b) }), documentLink(b, { ...options, older: isOlder(b, a) })];
}

// A similarity with a bar as long.
function meter(value) {
  const width = `${Math.max(0, Math.min(1, value)) * 100}%`;
  return h("span", { class: "meter" }, h("i", {}, h("b", { style: { width } })), h("span", {}, similarity(value)));
}
