// Documents in time: of two that are alike the older is the likely source.

function isOlder(one, other) {
  const { date } = report.documents;
  return Boolean(date[one] && date[other] && date[one] < date[other]);
}

// Of each newer document the older one that it is most like, by a list of pairs with the most similar first.
function nearestOlder(pairs, rows) {
  const found = new Map();
  for (const row of rows) {
    const [a, b] = [pairs.a[row], pairs.b[row]];
    const [older, newer] = isOlder(a, b) ? [a, b] : isOlder(b, a) ? [b, a] : [null, null];
    if (newer !== null && !found.has(newer)) found.set(newer, { older, similarity: pairs.similarity[row] });
  }
  return found;
}

// Members with a date, the oldest first, each with the older one that it is most like.
function inTime(members, rows) {
  const { date, name } = report.documents;
  const dated = members.filter((number) => date[number]).sort((one, other) => (date[one] === date[other] ? (name[one] < name[other] ? -1 : 1) : date[one] < date[other] ? -1 : 1));
  const place = new Map(dated.map((number, i) => [number, i]));
  const nearest = nearestOlder(report.pairs, rows);
  return dated.map((number) => {
    const found = nearest.get(number);
    const older = found && place.has(found.older) ? place.get(found.older) : -1;
    return { document: number, date: date[number], older, similarity: older < 0 ? null : found.similarity };
  });
}

function timeSection(members, rows) {
  const entries = inTime(members, rows);
  if (entries.length < 2) return null;
  return h(
    "section",
    { "aria-labelledby": "time" },
    h("h2", { id: "time" }, "Timeline"),
    timeLine(entries),
    h("ol", { class: "times" }, entries.map((entry, i) => h("li", { class: labelClass(entry.document) }, h("time", {}, day(entry.date)), documentTitle(entry.document), timeNote(entries, entry, i)))),
  );
}

function documentTitle(number) {
  return h("a", { href: documentAddress(number) }, bdi(report.documents.name[number]));
}

function timeNote(entries, entry, place) {
  if (place === 0 && entries[1].date > entry.date) return h("span", { class: "tag" }, "oldest: the likely source");
  if (entry.older < 0) return null;
  const older = entries[entry.older].document;
  return h("span", { class: "muted" }, "most similar older: ", h("a", { href: betweenAddress(entry.document, older) }, bdi(report.documents.name[older])), `, ${similarity(entry.similarity)}`);
}

// Documents that newer ones are most like, with how many: [[document, count], …], the most first.
function likelySources() {
  const counts = new Map();
  for (const { older } of nearestOlder(report.pairs, rowsOf(report.pairs.a)).values()) counts.set(older, (counts.get(older) || 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || (isOlder(one[0], other[0]) ? -1 : isOlder(other[0], one[0]) ? 1 : nameRank(one[0]) - nameRank(other[0])));
}
