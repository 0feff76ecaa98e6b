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
    timeSection(cluster.members, cluster.pairs),
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
  const numbers = shown > NAMED && shown <= NUMBERED ? " Numbers refer to the list of members." : "";
  const more = shown > MOST_NODES ? ` The first ${MOST_NODES} documents.` : numbers;
  return h("figure", {}, clusterGraph(cluster), h("figcaption", {}, `Each line is a pair; thicker is more similar. Click a line to open the pair, a point to open the document.${more}`));
}

function heatFigure(cluster) {
  const matrix = cluster.matrix || matrixOfPairs(cluster);
  if (!matrix || matrix.length < 3) return null; // of two, there is no more than their pair
  const gaps = matrix.some((row) => row.includes(null)) ? " Empty cells are not pairs." : "";
  const values = matrix.flatMap((row, i) => row.filter((value, j) => i !== j && value !== null));
  const [least, most] = [Math.min(...values), Math.max(...values)].map(similarity);
  const range = least === most ? `: ${least}` : `, from ${least} (faintest) to ${most} (strongest)`;
  return h("figure", {}, heatMap(cluster, matrix), h("figcaption", {}, `Similarity of every two members${range}. Numbers refer to the list of members.${gaps}`));
}
