// Small drawings: a cluster as a graph and as a heat map, passages between two texts, a text's sources
// along its length, documents in time.

const MOST_NODES = 150;
const NAMED = 8; // so many documents of a graph have their names beside them,
const NUMBERED = 40; // and so many their numbers

// What a click on a part of a drawing opens. To a screen reader a drawing is one picture, and to the
// keyboard none: the lists beside it have the same links.
function opens(address) {
  return { class: "opens", onclick: () => (location.hash = address) };
}

function clusterGraph(cluster) {
  const members = cluster.members.slice(0, MOST_NODES);
  const place = new Map(members.map((number, i) => [number, i]));
  const rows = cluster.pairs.filter((row) => place.has(report.pairs.a[row]) && place.has(report.pairs.b[row]));
  const edges = rows.map((row) => [place.get(report.pairs.a[row]), place.get(report.pairs.b[row]), Math.max(0.05, report.pairs.similarity[row])]);
  const places = graphLayout(members.length, edges);
  const floor = Math.min(1, ...rows.map((row) => report.pairs.similarity[row]));
  return fitted((width) => {
    // As high as a heat map beside it where there are many.
    const some = members.length > 2 ? Math.min(380, Math.max(220, width * 0.7)) : 120;
    const height = members.length > 16 ? Math.min(540, width) : some;
    const [padX, padY] = [Math.min(70, width * 0.18), 34];
    const at = (i) => [padX + places[i].x * (width - 2 * padX), padY + places[i].y * (height - 2 * padY)];
    const drawing = g("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Graph of ${many(members.length, "document")} and the ${many(rows.length, "pair")} among them; the pairs are listed below.` });
    rows.forEach((row, i) => {
      const [x1, y1] = at(edges[i][0]);
      const [x2, y2] = at(edges[i][1]);
      const strength = floor < 1 ? (report.pairs.similarity[row] - floor) / (1 - floor) : 1;
      const line = g("line", { class: "edge", x1, y1, x2, y2, "stroke-width": 1.5 + 3 * strength, "stroke-opacity": (0.4 + 0.5 * strength) * Math.max(0.12, Math.min(1, 200 / rows.length)) });
      drawing.append(g("g", opens(pairAddress(report.pairs, row)), g("title", {}, pairTitle(report.pairs, row)), g("line", { class: "grip", x1, y1, x2, y2 }), line));
    });
    members.forEach((number, i) => {
      const [cx, cy] = at(i);
      const shape = g("circle", { class: `node ${labelClass(number) || ""}`, cx, cy, r: members.length > 40 ? 5 : 8 });
      const name = report.documents.name[number];
      const link = g("g", opens(documentAddress(number)), g("title", {}, name), shape);
      if (members.length <= NUMBERED) {
        const room = Math.max(8, Math.floor(Math.min(cx, width - cx) / 3.7));
        const text = members.length <= NAMED ? short(name.split("/").pop(), room) : i + 1;
        link.append(g("text", { class: "node-name", x: cx, y: cy + (places[i].y > 0.5 ? 22 : -14), "text-anchor": "middle" }, text));
      }
      drawing.append(link);
    });
    return drawing;
  });
}

function pairTitle(pairs, row) {
  const names = report.documents.name;
  return `${names[pairs.a[row]]} and ${names[pairs.b[row]]}: ${similarity(pairs.similarity[row])}`;
}

function heatMap(cluster, matrix) {
  const order = neighbourOrder(matrix.map((row) => row.map((value) => (value === null ? -1 : value))));
  const values = order.flatMap((i) => order.filter((j) => j !== i).map((j) => matrix[i][j]));
  const floor = Math.min(...values.filter((value) => value !== null));
  return fitted((width) => {
    const n = order.length;
    const number = 26;
    const cell = Math.min(64, (width - number - 2) / n);
    const size = number + n * cell;
    const drawing = g("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `Heat map of the similarities of ${n} documents, the least ${similarity(floor)}.` });
    order.forEach((i, y) => {
      const middle = number + (y + 0.5) * cell;
      if (cell > 9) {
        drawing.append(
          g("text", { class: "tick", x: number - 6, y: middle + 4, "text-anchor": "end" }, i + 1),
          upperNumber(middle, number, i + 1, cell),
        );
      }
      order.forEach((j, x) => drawing.append(heatCell(cluster, matrix, [i, j], { x: number + x * cell, y: number + y * cell, cell, floor })));
    });
    return drawing;
  }, { class: "drawing heat-map" });
}

// The number over a column, upright where it would reach into the next.
function upperNumber(x, bottom, number, cell) {
  if (cell >= 20) return g("text", { class: "tick", x, y: bottom - 8, "text-anchor": "middle" }, number);
  return g("text", { class: "tick", transform: `translate(${x + 4} ${bottom - 5}) rotate(-90)` }, number);
}

function heatCell(cluster, matrix, [i, j], { x, y, cell, floor }) {
  const value = matrix[i][j];
  if (value === null) return g("rect", { class: "heat unknown", x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1 });
  const [one, other] = [cluster.members[i], cluster.members[j]];
  const strength = i === j ? 0 : floor < 1 ? 0.12 + (0.88 * (value - floor)) / (1 - floor) : 1;
  const box = g("rect", { class: i === j ? "heat self" : "heat", x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, "fill-opacity": i === j ? 1 : strength });
  const names = report.documents.name;
  box.append(g("title", {}, i === j ? names[one] : `${names[one]} and ${names[other]}: ${similarity(value)}`));
  if (i === j) return box;
  const parts = [box];
  if (cell >= 34) parts.push(g("text", { class: strength > 0.55 ? "heat-value strong" : "heat-value", x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }, twoDigits(value)));
  const keys = report.documents.key;
  const address = `${keys[one]}-${keys[other]}`;
  return g("g", addresses.pairs.has(address) ? opens(`#pair=${address}`) : {}, parts);
}

function twoDigits(value) {
  if (value >= 1) return "1";
  return (value > 0.99 ? 0.99 : value).toFixed(2).replace("0.", ".");
}

const MOST_RIBBONS = 400;

// Both texts as bars, and a ribbon for each shared passage from one to the other.
function ribbons(passages, moved, lengthA, lengthB, chosen) {
  return fitted((width) => {
    const height = 84;
    const most = Math.max(lengthA, lengthB, 1);
    const x = (position) => (position / most) * width;
    const drawing = g("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${many(passages.length, "shared passage")} between the first text above and the second below.` });
    drawing.append(
      g("rect", { class: "strip", x: 0, y: 2, width: Math.max(1, x(lengthA)), height: 14, rx: 3 }),
      g("rect", { class: "strip", x: 0, y: height - 16, width: Math.max(1, x(lengthB)), height: 14, rx: 3 }),
    );
    const byLength = passages.map((_, i) => i).sort((one, other) => passages[other][1] - passages[other][0] - (passages[one][1] - passages[one][0]));
    for (const i of byLength.slice(0, MOST_RIBBONS)) {
      const [start, end, otherStart, otherEnd] = passages[i];
      const [a1, a2] = [x(start), Math.max(x(end), x(start) + 1)];
      const [b1, b2] = [x(otherStart), Math.max(x(otherEnd), x(otherStart) + 1)];
      const [top, low, middle] = [16, height - 16, height / 2];
      const path = `M${a1} ${top}C${a1} ${middle} ${b1} ${middle} ${b1} ${low}L${b2} ${low}C${b2} ${middle} ${a2} ${middle} ${a2} ${top}Z`;
      const group = g(
        "g",
        { class: moved.has(i) ? "ribbon moved" : "ribbon", "data-passage": i + 1, onclick: () => chosen(i) },
        g("title", {}, `Passage ${i + 1}: ${many(passages[i][4], "word")}`),
        g("path", { d: path }),
        g("rect", { x: a1, y: 2, width: a2 - a1, height: 14 }),
        g("rect", { x: b1, y: low, width: b2 - b1, height: 14 }),
      );
      drawing.append(group);
    }
    return drawing;
  });
}

// A text along its length: where each stretch that stands elsewhere comes from.
function coverageStrip(text, colourOf, chosen) {
  return fitted((width) => {
    const height = 44;
    const x = (position) => (position / Math.max(1, text.text.length)) * width;
    const drawing = g("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${many(text.coverage.length, "passage")} of this text found in other documents, from start to end.` });
    drawing.append(g("rect", { class: "strip", x: 0, y: 2, width, height: 28, rx: 4 }));
    text.coverage.forEach((stretch, i) => {
      drawing.append(
        g(
          "rect",
          { class: `source colour-${colourOf(stretch.document)}`, x: x(stretch.start), y: 2, width: Math.max(1, x(stretch.end) - x(stretch.start)), height: 28, onclick: () => chosen(i) },
          g("title", {}, `${report.documents.name[stretch.document]}: ${many(stretch.words, "word")}`),
        ),
      );
    });
    for (const [start, end, documents] of text.boilerplate) {
      drawing.append(g("rect", { class: "boilerplate-strip", x: x(start), y: 34, width: Math.max(1, x(end) - x(start)), height: 6 }, g("title", {}, `in ${many(documents, "document")}`)));
    }
    return drawing;
  });
}

// Documents along time, each joined to the older one that it is most like.
function timeLine(entries) {
  const times = entries.map((entry) => Date.parse(entry.date));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (!(last > first)) return null;
  return fitted((width) => {
    const height = 96;
    const base = height - 26;
    const x = (time) => 16 + ((time - first) / (last - first)) * (width - 32);
    const drawing = g("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Timeline from ${day(entries[0].date)} to ${day(entries[entries.length - 1].date)}; the list has the same documents.` });
    drawing.append(g("line", { class: "axis", x1: 4, x2: width - 4, y1: base, y2: base }));
    entries.forEach((entry, i) => {
      if (entry.older < 0) return;
      const [from, to] = [x(times[entry.older]), x(times[i])];
      const high = Math.min(base - 8, 10 + (to - from) / 3);
      drawing.append(g("path", { class: "arc", d: `M${from} ${base}C${from} ${base - high} ${to} ${base - high} ${to} ${base}` }));
    });
    entries.forEach((entry, i) => {
      drawing.append(
        g("g", opens(documentAddress(entry.document)), g("title", {}, `${day(entry.date)} ${report.documents.name[entry.document]}`), g("circle", { class: `node ${labelClass(entry.document) || ""}`, cx: x(times[i]), cy: base, r: 6 })),
      );
    });
    drawing.append(
      g("text", { class: "tick", x: 4, y: height - 4 }, day(entries[0].date)),
      g("text", { class: "tick", x: width - 4, y: height - 4, "text-anchor": "end" }, day(entries[entries.length - 1].date)),
    );
    return drawing;
  });
}
