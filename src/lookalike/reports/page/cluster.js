// One cluster: who belongs to it, how close they are, and who was first.

function clusterView(cluster) {
  const least = report.summary.command === "dedup" ? "the least similar to the one that is kept" : "the least similar two";
  const loose = cluster.similarity === null || cluster.size < 2 ? "" : `; ${least} at ${similarity(cluster.similarity)}`;
  const shown = cluster.members.length;
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, `Cluster ${cluster.number}`),
    h("p", { class: "lead" }, `${many(cluster.size, "document")}${loose}.`, shown < cluster.size ? ` ${count(shown)} of them are shown.` : ""),
    h("div", { class: "pictures" }, graphFigure(cluster), heatFigure(cluster)),
    timeSection(cluster),
    h("section", { "aria-labelledby": "members" }, h("h2", { id: "members" }, "Members"), h("ol", { class: shown > 12 ? "members long" : "members" }, cluster.members.map((number) => h("li", {}, documentLink(number, { long: true }))))),
    cluster.pairs.length ? h("section", { "aria-labelledby": "cluster-pairs" }, h("h2", { id: "cluster-pairs" }, "Pairs"), pairTable(report.pairs, cluster.pairs, { name: `cluster-${cluster.number}`, caption: `Pairs of cluster ${cluster.number}` })) : null,
  );
}

const MOST_MEMBERS = 48; // of a heat map

// What the pairs say of every two members; null for those that are no pair.
function matrixOfPairs(cluster) {
  const { members, pairs, size } = cluster;
  if (members.length < size || size > MOST_MEMBERS || !pairs.length) return null;
  const place = new Map(members.map((number, i) => [number, i]));
  const matrix = members.map((_, i) => members.map((_, j) => (i === j ? 1 : null)));
  for (const row of pairs) {
    const [one, other] = [place.get(report.pairs.a[row]), place.get(report.pairs.b[row])];
    matrix[one][other] = matrix[other][one] = report.pairs.similarity[row];
  }
  return matrix;
}

function graphFigure(cluster) {
  if (!cluster.pairs.length) return null;
  const shown = cluster.members.length;
  const numbers = shown > NAMED && shown <= NUMBERED ? " Numbers are those of the list below." : "";
  const more = shown > MOST_NODES ? ` The first ${MOST_NODES} documents.` : numbers;
  return h("figure", {}, clusterGraph(cluster), h("figcaption", {}, `A line for each pair, the thicker the more similar. Click a line for the pair, a point for the document.${more}`));
}

function heatFigure(cluster) {
  const matrix = cluster.matrix || matrixOfPairs(cluster);
  if (!matrix || matrix.length < 2) return null;
  const gaps = matrix.some((row) => row.includes(null)) ? " Two without a colour are no pair." : "";
  return h("figure", {}, heatMap(cluster, matrix), h("figcaption", {}, `Every two members, the stronger the colour, the more similar; numbers are those of the list below.${gaps}`));
}

// Members with a date, the oldest first, each with the older one that it is most like.
function inTime(cluster) {
  const { date, name } = report.documents;
  const dated = cluster.members.filter((number) => date[number]).sort((one, other) => (date[one] === date[other] ? (name[one] < name[other] ? -1 : 1) : date[one] < date[other] ? -1 : 1));
  const place = new Map(dated.map((number, i) => [number, i]));
  const entries = dated.map((number) => ({ document: number, date: date[number], older: -1, similarity: null }));
  for (const row of cluster.pairs) {
    const [one, other] = [place.get(report.pairs.a[row]), place.get(report.pairs.b[row])];
    if (one === undefined || other === undefined) continue;
    const [older, newer] = one < other ? [one, other] : [other, one];
    if (entries[older].date < entries[newer].date && entries[newer].older < 0) {
      Object.assign(entries[newer], { older, similarity: report.pairs.similarity[row] });
    }
  }
  return entries;
}

function timeSection(cluster) {
  const entries = inTime(cluster);
  if (entries.length < 2) return null;
  return h(
    "section",
    { "aria-labelledby": "time" },
    h("h2", { id: "time" }, "In time"),
    timeLine(entries),
    h("ol", { class: "times" }, entries.map((entry, i) => h("li", {}, h("time", {}, day(entry.date)), documentTitle(entry.document), timeNote(entries, entry, i)))),
  );
}

function documentTitle(number) {
  return h("a", { href: documentAddress(number) }, bdi(report.documents.name[number]));
}

function timeNote(entries, entry, place) {
  if (place === 0 && entries[1].date > entry.date) return h("span", { class: "tag" }, "oldest: the likely source");
  if (entry.older < 0) return null;
  const older = entries[entry.older].document;
  return h("span", { class: "muted" }, `${similarity(entry.similarity)} like the older `, h("a", { href: betweenAddress(entry.document, older) }, bdi(report.documents.name[older])));
}
