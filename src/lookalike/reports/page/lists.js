// The tables: pairs, near misses, clusters, documents, and what was skipped.

function rowsOf(column) {
  return Array.from({ length: column.length }, (_, row) => row);
}

const FEW_ROWS = 8; // so many are seen at once, without a filter

function pairTable(pairs, rows, { name, caption, whole = false }) {
  const documents = report.documents;
  const clusters = hasAny(documents.cluster);
  const contained = report.summary.measure === "containment";
  const columns = [
    {
      key: "sim",
      title: contained ? "Containment" : "Similarity",
      numeric: true,
      value: (row) => pairs.similarity[row],
      cell: (row) => h("a", { href: pairAddress(pairs, row), class: "open", "aria-label": pairTitle(pairs, row) }, meter(pairs.similarity[row])),
    },
    {
      key: "name",
      title: (pairs === report.pairs && { dedup: "Removed and kept", contained: "Part and whole" }[report.summary.command]) || "Documents",
      wide: true,
      value: (row) => nameRank(pairs.a[row]) * documents.name.length + nameRank(pairs.b[row]),
      cell: (row) => bothLinks(pairs.a[row], pairs.b[row]),
    },
    { key: "shared", title: "Words shared", numeric: true, extra: true, value: (row) => pairs.words[row], cell: (row) => (pairs.words[row] === null ? "–" : count(pairs.words[row])) },
  ];
  if (!contained) {
    columns.push({
      key: "inside",
      title: "Containment",
      numeric: true,
      extra: true,
      value: (row) => largest(pairs.a_in_b[row], pairs.b_in_a[row]),
      cell: (row) => percent(largest(pairs.a_in_b[row], pairs.b_in_a[row])),
    });
  }
  if (hasAny(documents.date)) {
    columns.push({ key: "date", date: true, title: "Older", extra: true, value: (row) => earliest(documents.date[pairs.a[row]], documents.date[pairs.b[row]]), cell: (row) => day(earliest(documents.date[pairs.a[row]], documents.date[pairs.b[row]])) });
  }
  if (clusters && whole) {
    const clusterOf = (row) => documents.cluster[pairs.a[row]];
    columns.push({ key: "cluster", title: "Cluster", numeric: true, extra: true, value: clusterOf, cell: (row) => (clusterOf(row) === null ? "–" : h("a", { href: `#cluster=${clusterOf(row)}` }, String(clusterOf(row)))) });
  }
  return table({
    name,
    caption,
    unit: ["pair", "pairs"],
    columns,
    rows,
    sort: "-sim",
    fields: whole || rows.length > FEW_ROWS ? pairFields(pairs) : null,
    placeholder: pairs === report.pairs ? "sim:>0.9 id:draft" : "id:draft shared:>100",
    nothing: rows.length ? "No pair fits this filter." : "No pairs.",
    address: (row) => pairAddress(pairs, row),
  });
}

function pairsView() {
  return h("article", {}, h("h1", { tabindex: -1 }, "Pairs"), leftOut(), pairTable(report.pairs, rowsOf(report.pairs.a), { name: "pairs", caption: "Similar pairs", whole: true }));
}

function nearView() {
  const near = report.near_misses;
  return h("article", {}, h("h1", { tabindex: -1 }, "Near misses"), h("p", { class: "lead" }, near.what), near.pairs.a.length ? pairTable(near.pairs, rowsOf(near.pairs.a), { name: "near", caption: "Pairs just below the threshold", whole: true }) : null);
}

// What this page does not show, and the files that have it.
function leftOut() {
  const { left_out: sentences, files } = report.summary;
  if (!sentences.length) return null;
  return h("div", { class: "note" }, sentences.map((sentence) => h("p", {}, sentence)), fileLinks(files));
}

function fileLinks(files) {
  // Files beside the page alone: an address with a scheme would lead elsewhere.
  const beside = files.filter((file) => !/^\s*[a-z][a-z0-9+.-]*:|^\s*[/\\]{2}/i.test(file.address));
  if (!beside.length) return null;
  return h("p", { class: "files" }, beside.map((file) => h("a", { href: file.address }, bdi(file.name))));
}

function clustersView() {
  const clusters = report.clusters;
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, "Clusters"),
    h("p", { class: "lead" }, "Documents that are connected by pairs. Looseness is 1 minus the similarity of the least similar two."),
    table({
      name: "clusters",
      caption: "Clusters",
      unit: ["cluster", "clusters"],
      columns: [
        { key: "number", title: "Cluster", value: (row) => clusters[row].number, cell: (row) => h("a", { href: `#cluster=${clusters[row].number}`, class: "open" }, String(clusters[row].number)) },
        { key: "size", title: "Size", numeric: true, value: (row) => clusters[row].size, cell: (row) => count(clusters[row].size) },
        { key: "loose", title: "Looseness", numeric: true, extra: true, value: (row) => looseness(clusters[row]), cell: (row) => similarity(looseness(clusters[row])) },
        { key: "least", title: "Least similar", numeric: true, value: (row) => clusters[row].similarity, cell: (row) => (clusters[row].similarity === null ? "–" : meter(clusters[row].similarity)) },
        { key: "mean", title: "Mean", numeric: true, extra: true, value: (row) => clusters[row].mean, cell: (row) => similarity(clusters[row].mean) },
        ...(hasAny(report.documents.date) ? [{ key: "date", date: true, title: "Oldest", extra: true, value: (row) => oldest(clusters[row]), cell: (row) => day(oldest(clusters[row])) }] : []),
        { key: "members", title: "Members", wide: true, cell: (row) => memberNames(clusters[row]) },
      ],
      rows: rowsOf(clusters),
      sort: "-size",
      fields: clusterFields(),
      placeholder: "size:>2 sim:<0.9 draft",
      nothing: clusters.length ? "No cluster fits this filter." : "No clusters.",
      address: (row) => `#cluster=${clusters[row].number}`,
    }),
  );
}

function looseness(cluster) {
  return cluster.similarity === null ? null : 1 - cluster.similarity;
}

function oldest(cluster) {
  return cluster.members.reduce((found, number) => earliest(found, report.documents.date[number]), null);
}

function clusterFields() {
  const clusters = report.clusters;
  const fields = new Map([
    ["size", { kind: "number", get: (row) => clusters[row].size, help: "number of documents", example: "size:>2" }],
    ["sim", { kind: "number", get: (row) => clusters[row].similarity, help: "of the least similar two", example: "sim:<0.9" }],
    ["mean", { kind: "number", get: (row) => clusters[row].mean, help: "mean similarity of its pairs", example: "mean:>0.9" }],
    ...documentFields((row) => clusters[row].members),
  ]);
  fields.set("cluster", { kind: "number", get: (row) => clusters[row].number, help: "number of the cluster", example: "cluster:3" });
  return fields;
}

function memberNames(cluster) {
  const shown = cluster.members.slice(0, 3).map((number) => h("div", { class: "member" }, documentLink(number)));
  return cluster.size > shown.length ? [shown, h("span", { class: "muted" }, `and ${count(cluster.size - shown.length)} more`)] : shown;
}

function documentsView() {
  const documents = report.documents;
  const columns = [
    { key: "name", title: "Document", wide: true, value: nameRank, cell: (row) => documentLink(row) },
    { key: "covered", title: "Found elsewhere", numeric: true, value: (row) => documents.covered[row], cell: (row) => percent(documents.covered[row]) },
    { key: "length", title: "Characters", numeric: true, extra: true, value: (row) => documents.length[row], cell: (row) => (documents.length[row] === null ? "–" : count(documents.length[row])) },
  ];
  if (hasAny(documents.date)) columns.push({ key: "date", date: true, title: "Date", extra: true, value: (row) => documents.date[row], cell: (row) => day(documents.date[row]) });
  if (hasAny(documents.cluster)) columns.push({ key: "cluster", title: "Cluster", numeric: true, value: (row) => documents.cluster[row], cell: (row) => (documents.cluster[row] === null ? "–" : h("a", { href: `#cluster=${documents.cluster[row]}` }, String(documents.cluster[row]))) });
  return h(
    "article",
    {},
    h("h1", { tabindex: -1 }, "Documents"),
    h("p", { class: "lead" }, "How much of each document is also in others, and where."),
    table({
      name: "documents",
      caption: "Documents",
      unit: ["document", "documents"],
      columns,
      rows: rowsOf(documents.name),
      sort: hasAny(documents.covered) ? "-covered" : "name",
      fields: documentFields((row) => [row]),
      placeholder: "draft covered:>50%",
      nothing: documents.name.length ? "No document fits this filter." : "No documents.",
      address: documentAddress,
    }),
  );
}

const UNREAD = ["file or record", "files and records"];

function skippedTable() {
  const skipped = report.skipped;
  return table({
    name: "skipped",
    caption: "What was not read",
    unit: UNREAD,
    columns: [
      { key: "path", title: "Path", wide: true, value: (row) => skipped.path[row], cell: (row) => bdi(skipped.path[row]) },
      { key: "reason", title: "Why", value: (row) => skipped.reason[row], cell: (row) => bdi(skipped.reason[row]) },
    ],
    rows: rowsOf(skipped.path),
    sort: "path",
    fields: null,
  });
}
