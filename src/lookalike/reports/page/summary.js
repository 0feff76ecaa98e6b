// What was found, in two lines and some lists; and how it was done.

function summaryView() {
  const { summary, pairs, clusters } = report;
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, summary.title),
    h("p", { class: "lead" }, leadOf()),
    summary.warnings.map((warning) => h("p", { class: "note warning" }, sentence(warning))),
    summary.anonymous ? h("p", { class: "note" }, "Names were replaced. The key to them is in another file.") : null,
    factsOf(summary),
    leftOut(),
    h(
      "div",
      { class: "columns" },
      pairs.a.length ? h("section", { "aria-labelledby": "top-pairs" }, h("h2", { id: "top-pairs" }, "The most similar"), h("ul", { class: "cards" }, topPairs().map(pairCard)), more("#pairs", pairs.a.length, 5, "pair")) : null,
      clusters.length ? h("section", { "aria-labelledby": "top-clusters" }, h("h2", { id: "top-clusters" }, "The largest clusters"), h("ul", { class: "cards" }, clusters.slice(0, 5).map(clusterCard)), more("#clusters", clusters.length, 5, "cluster")) : null,
      mostCovered(),
      topSources(),
    ),
    report.histogram || report.plan ? h("section", { "aria-labelledby": "how-similar" }, h("h2", { id: "how-similar" }, "How similar the documents are"), planChart(report.plan, report.histogram, summary.threshold), report.plan && h("p", { class: "muted" }, report.plan.sentence)) : null,
    report.skipped.count ? h("p", { class: "note" }, `${many(report.skipped.count, ...UNREAD)} ${report.skipped.count === 1 ? "was" : "were"} not read. `, h("a", { href: "#method" }, "Which, and why")) : null,
  );
}

const LONG_FACT = 24; // what is longer is a sentence, not a figure

// Short facts large, long ones as lines. What the page says elsewhere is left out.
function factsOf(summary) {
  const elsewhere = new Set([summary.title, summary.score, report.plan && report.plan.sentence]);
  const left = summary.facts.filter(([, value]) => !elsewhere.has(value));
  const line = ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return [
    h("dl", { class: "figures" }, left.filter(([, value]) => value.length <= LONG_FACT).map(([name, value]) => figure(value, name))),
    h("dl", { class: "lines" }, left.filter(([, value]) => value.length > LONG_FACT).map(line)),
  ];
}

function leadOf() {
  const { pairs, clusters, documents, summary } = report;
  if (!pairs.a.length) {
    const least = summary.threshold === null ? "are similar" : `have a ${summary.measure} of ${summary.threshold} or more`;
    return `No two documents ${least}. ${report.near_misses && report.near_misses.pairs.a.length ? `${many(report.near_misses.pairs.a.length, "pair is", "pairs are")} just below.` : ""}`;
  }
  const [a, b, value] = [documents.name[pairs.a[0]], documents.name[pairs.b[0]], pairs.similarity[0]];
  const parts = [];
  if (summary.command === "dedup") parts.push("The closest: ", bdi(a), ` was removed; its similarity to `, bdi(b), `, which is kept, is ${similarity(value)}. `);
  else if (summary.command === "contained") parts.push(`${percent(value)} of `, bdi(a), " is in ", bdi(b), ". ");
  else parts.push("The closest are ", bdi(a), " and ", bdi(b), value === 1 ? ", with identical shingles. " : `, at ${similarity(value)}. `);
  if (clusters.length) parts.push(`${many(clusters.length, "cluster")}; the largest has ${many(clusters[0].size, "document")}. `);
  parts.push(summary.exact ? `Every ${summary.measure} is exact: ${summary.score}.` : `Similarities are estimated: ${summary.score}.`);
  return parts;
}

function more(address, all, shown, one) {
  return all > shown ? h("p", {}, h("a", { href: address }, `All ${many(all, one)}`)) : null;
}

// The first pairs, but no document twice as long as there are others.
function topPairs() {
  const { a, b } = report.pairs;
  const [seen, first, rest] = [new Set(), [], []];
  for (let row = 0; row < Math.min(a.length, 2000) && first.length < 5; row++) {
    const fresh = !seen.has(a[row]) && !seen.has(b[row]);
    (fresh ? first : rest).push(row);
    if (fresh) seen.add(a[row]).add(b[row]);
  }
  return first.concat(rest).slice(0, 5).sort((one, other) => one - other);
}

function cardName(number) {
  return bdi(short(report.documents.name[number], 27));
}

function pairCard(row) {
  const { pairs, documents } = report;
  return h("li", {}, h("a", { href: pairAddress(pairs, row) }, meter(pairs.similarity[row]), h("span", { class: "names" }, cardName(pairs.a[row]), cardName(pairs.b[row]))));
}

function clusterCard(cluster) {
  const names = cluster.members.slice(0, 2).map(cardName);
  const rest = cluster.size - names.length;
  return h("li", {}, h("a", { href: `#cluster=${cluster.number}` }, h("span", { class: "size" }, count(cluster.size), h("small", {}, "documents")), h("span", { class: "names" }, names, rest > 0 ? h("span", { class: "muted" }, `and ${count(rest)} more`) : null)));
}

function mostCovered() {
  const { covered, name } = report.documents;
  const rows = rowsOf(name).filter((row) => covered[row] > 0).sort((one, other) => covered[other] - covered[one] || nameRank(one) - nameRank(other));
  if (!rows.length) return null;
  return h(
    "section",
    { "aria-labelledby": "top-covered" },
    h("h2", { id: "top-covered" }, "Largest share found elsewhere"),
    h("ul", { class: "cards" }, rows.slice(0, 5).map((row) => h("li", {}, h("a", { href: documentAddress(row) }, h("span", { class: "size" }, percent(covered[row])), h("span", { class: "names" }, cardName(row)))))),
    more("#documents", name.length, 5, "document"),
  );
}

function topSources() {
  if (!hasAny(report.documents.date)) return null;
  const sources = likelySources();
  if (!sources.length) return null;
  const card = ([number, newer]) =>
    h("li", {}, h("a", { href: documentAddress(number) }, h("span", { class: "size" }, count(newer), h("small", {}, newer === 1 ? "newer" : "newer ones")), h("span", { class: "names" }, cardName(number), h("time", { class: "muted" }, day(report.documents.date[number])))));
  return h(
    "section",
    { "aria-labelledby": "top-sources" },
    h("h2", { id: "top-sources" }, "Likely sources"),
    h("ul", { class: "cards" }, sources.slice(0, 5).map(card)),
    h("p", { class: "muted" }, "Older documents, with how many newer ones are more similar to them than to any other older one."),
  );
}

function methodView() {
  const { summary, plan, audit, skipped } = report;
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, "Method"),
    h("p", { class: "lead" }, summary.score, summary.threshold === null ? "." : `; the threshold is ${summary.threshold}.`),
    plan && h("section", { "aria-labelledby": "plan" }, h("h2", { id: "plan" }, "The plan"), h("p", {}, plan.sentence), planFigures(plan), planChart(plan, report.histogram, summary.threshold)),
    audit && h("section", { "aria-labelledby": "audit" }, h("h2", { id: "audit" }, "The audit"), auditFacts(audit)),
    skipped.count ? h("section", { "aria-labelledby": "skipped" }, h("h2", { id: "skipped" }, "What was not read"), h("p", {}, skipped.path.length < skipped.count ? `${count(skipped.path.length)} of ${many(skipped.count, ...UNREAD)} are listed.` : ""), skippedTable()) : null,
    summary.notes.length ? h("section", { "aria-labelledby": "notes" }, h("h2", { id: "notes" }, "Notes"), h("ul", {}, summary.notes.map((note) => h("li", {}, note)))) : null,
    facts("Counts", summary.counts),
    facts("Settings", summary.settings),
    facts("Seconds", summary.seconds),
    facts("Versions", { lookalike: summary.version, ...summary.versions }),
  );
}

function planFigures(plan) {
  return h(
    "dl",
    { class: "figures" },
    plan.bands ? figure(count(plan.bands), "Bands", plan.rows ? `of ${many(plan.rows, "row")}` : null) : null,
    figure(plain(plan.recall), "Recall requested"),
    plan.half === null ? null : figure(similarity(plan.half), "P = 1/2 at"),
    plan.rule_of_thumb === null ? null : figure(similarity(plan.rule_of_thumb), "(1/b)^(1/r)"),
    plan.shingle ? figure(plan.shingle, "Shingles", plan.shingle_reason) : null,
  );
}

function facts(title, values) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  const rows = entries.map(([name, value]) => h("div", {}, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, bdi(plain(value)))));
  return h("details", { class: "facts" }, h("summary", {}, title), h("dl", {}, rows));
}

// An audit's figures: numbers and sentences first, what has parts below.
function auditFacts(audit) {
  const entries = Object.entries(audit);
  const simple = entries.filter(([, value]) => value === null || typeof value !== "object");
  const parts = entries.filter(([, value]) => value !== null && typeof value === "object");
  return [
    h("dl", { class: "figures" }, simple.map(([name, value]) => figure(typeof value === "number" && !Number.isInteger(value) ? similarity(value) : plain(value), name.replaceAll("_", " ")))),
    parts.map(([name, value]) => facts(name.replaceAll("_", " "), value)),
  ];
}
