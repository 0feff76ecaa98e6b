// The S-curve, drawn as wide as there is space, with every pair of the lesson on it.

const CURVE = { left: 46, right: 14, top: 14, height: 300, levels: 4, level: 15 };
const USUAL = { bands: 6, rows: 3, threshold: 0.7 };

class CurveFigure {
  constructor(facts) {
    this.facts = facts;
    this.pairs = bySimilarity(facts);
    this.bands = facts.bands || USUAL.bands;
    this.rows = facts.rows || USUAL.rows;
    this.threshold = facts.threshold || USUAL.threshold;
    this.picture = make("div", { class: "picture" });
    this.said = make("p", { class: "legend", "aria-live": "polite", id: "curve-said" });
    this.tables = make("div", { class: "two" });
    const change = (name) => (value) => {
      this[name] = value;
      this.show();
    };
    const limits = { min: 1, max: Math.max(100, this.bands) };
    this.sliders = {
      bands: slider("bands b", { id: "curve-bands", ...limits, value: this.bands, change: change("bands") }),
      rows: slider("rows r", {
        id: "curve-rows",
        min: 1,
        max: Math.max(20, this.rows),
        value: this.rows,
        change: change("rows"),
      }),
      threshold: slider("threshold", {
        id: "curve-threshold",
        min: 0.01,
        max: 1,
        step: 0.01,
        value: this.threshold,
        change: change("threshold"),
      }),
    };
    const own = { bands: this.bands, rows: this.rows };
    const words = facts.bands ? "As in this lesson" : curveName(own);
    const presets = [
      button(words, () => this.set(own)),
      facts.exercises.curves.map((one) =>
        button(curveName(one), () => this.set(one), { class: "preset" }),
      ),
    ];
    const nodes = Object.values(this.sliders).map((one) => one.node);
    const controls = make("div", { class: "controls" }, nodes, make("div", { class: "presets" }, presets));
    put("curve-figure", controls, this.picture, keys(), this.said, this.tables);
    addEventListener("resize", () => this.show());
    this.show();
  }

  set({ bands, rows }) {
    this.bands = bands;
    this.rows = rows;
    this.sliders.bands.set(bands, false);
    this.sliders.rows.set(rows, false);
    this.show();
  }

  chance(similarity) {
    return candidateChance(similarity, this.bands, this.rows);
  }

  show() {
    this.picture.replaceChildren(this.drawn());
    this.said.replaceChildren();
    fill(this.said, {}, this.sentences());
    this.tables.replaceChildren(this.tableOfTenths(), this.tableOfPairs());
  }

  sentences() {
    const { bands, rows, threshold } = this;
    const similarities = this.pairs.map((pair) => pair.exact);
    const { positives, negatives } = expectedErrors(similarities, threshold, bands, rows);
    const half = halfPoint(bands, rows).toFixed(4);
    const rule = ruleOfThumb(bands, rows).toFixed(4);
    const fact = (name, value) => make("b", { "data-number": name }, value);
    return [
      `${plural(bands, "band")} of ${plural(rows, "row")}, a signature of ${bands * rows}. `,
      "P = 1/2 at a similarity of ",
      fact("half", half),
      "; the rule of thumb (1/b)",
      make("sup", {}, "1/r"),
      " gives ",
      fact("rule", rule),
      ". Of these pairs expect ",
      fact("positives", positives.toFixed(3)),
      " false positives and ",
      fact("negatives", negatives.toFixed(3)),
      ` false negatives at the threshold ${threshold}.`,
    ];
  }

  tableOfTenths() {
    const rows = Array.from({ length: 10 }, (_, at) => (at + 1) / 10).map((s) => [
      s.toFixed(1),
      share(this.chance(s)),
      missChance(s, this.bands, this.rows).toFixed(4),
    ]);
    const heads = ["s", "candidate", "missed"];
    return table("Probability by similarity", heads, rows, { id: "curve-tenths" });
  }

  tableOfPairs() {
    const rows = this.pairs.map((pair) => {
      const isSimilar = pair.exact >= this.threshold;
      const chance = isSimilar ? missChance(pair.exact, this.bands, this.rows) : this.chance(pair.exact);
      const error = isSimilar ? "to be missed" : "to be a false positive";
      return [pairName(this.facts, pair), share(pair.exact), chance.toFixed(4), error];
    });
    const heads = ["pair", "s", "probability", ""];
    return table("What may go wrong with each pair", heads, rows, { id: "curve-pairs" });
  }

  drawn() {
    const width = Math.min(860, Math.max(280, this.picture.clientWidth || 680));
    const { left, right, top, height, levels, level } = CURVE;
    const x = (s) => left + s * (width - left - right);
    const y = (p) => top + (1 - p) * height;
    const whole = top + height + 44 + levels * level + 6;
    const name = `S-curve of ${this.bands} bands of ${this.rows} rows`;
    const half = halfPoint(this.bands, this.rows);
    const rule = ruleOfThumb(this.bands, this.rows);
    return draw(
      "svg",
      { viewBox: `0 0 ${width} ${whole}`, width, height: whole, role: "img", "aria-label": name },
      hatches(),
      this.areas(x, y),
      grid(x, y),
      draw("line", { class: "threshold", x1: x(this.threshold), x2: x(this.threshold), y1: y(0), y2: y(1) }),
      draw("text", { x: x(this.threshold), y: top - 3, class: "small", "text-anchor": "middle" }, "threshold"),
      draw("line", { class: "help", x1: x(0), x2: x(half), y1: y(0.5), y2: y(0.5) }),
      draw("line", { class: "help", x1: x(half), x2: x(half), y1: y(0.5), y2: y(0) }),
      draw("path", { class: "curve", d: this.path(x, y, 0, 1) }),
      draw("path", { class: "rule", d: diamond(x(rule), y(this.chance(rule))) }, draw("title", {}, `(1/b)^(1/r) = ${rule.toFixed(4)}`)),
      draw("circle", { class: "half", cx: x(half), cy: y(0.5), r: 5 }, draw("title", {}, `one half at ${half.toFixed(4)}`)),
      this.marks(x, y, width),
      // Last, as the lines of the marks would cross them.
      axisNames(x, y),
    );
  }

  path(x, y, from, to) {
    const points = [];
    for (let at = 0; at <= 200; at += 1) {
      const s = from + ((to - from) * at) / 200;
      points.push(`${x(s).toFixed(2)} ${y(this.chance(s)).toFixed(2)}`);
    }
    return `M${points.join("L")}`;
  }

  areas(x, y) {
    const t = this.threshold;
    const positives = `${this.path(x, y, 0, t)}L${x(t)} ${y(0)}L${x(0)} ${y(0)}Z`;
    const negatives = `${this.path(x, y, t, 1)}L${x(1)} ${y(1)}L${x(t)} ${y(1)}Z`;
    return [
      draw("path", { class: "area positives", d: positives }, draw("title", {}, "false positives")),
      draw("path", { class: "area negatives", d: negatives }, draw("title", {}, "false negatives")),
    ];
  }

  // A dot on the curve for each similarity, and below the axis the pairs that have it.
  marks(x, y, width) {
    const groups = new Map();
    for (const pair of this.pairs) {
      groups.set(pair.exact, [...(groups.get(pair.exact) || []), pairName(this.facts, pair)]);
    }
    const ends = new Array(CURVE.levels).fill(-Infinity);
    return [...groups].sort(([one], [other]) => one - other).map(([similarity, names]) => {
      const label = names.length > 2 ? `${names.length} pairs` : names.join(", ");
      const size = label.length * 6.2;
      const at = Math.min(Math.max(x(similarity), size / 2 + 2), width - size / 2 - 2);
      const level = ends.findIndex((end) => end < at - size / 2);
      if (level >= 0) ends[level] = at + size / 2 + 6;
      const base = y(0) + 44 + level * CURVE.level;
      const isSimilar = similarity >= this.threshold;
      const [px, py] = [x(similarity), y(this.chance(similarity))];
      return draw(
        "g",
        { class: isSimilar ? "mark similar" : "mark" },
        draw("title", {}, `${names.join(", ")}: ${share(similarity)}, probability ${this.chance(similarity).toFixed(4)}`),
        // Not through the numbers of the axis.
        draw("line", { x1: px, x2: px, y1: py, y2: y(0) + 4 }),
        draw("line", { x1: px, x2: px, y1: y(0) + 21, y2: y(0) + 30 }),
        isSimilar ? draw("circle", { cx: px, cy: py, r: 4.5 }) : draw("path", { d: diamond(px, py, 5) }),
        level < 0 ? null : draw("text", { x: at, y: base, "text-anchor": "middle", class: "small" }, label),
      );
    });
  }
}

function diamond(x, y, size = 6) {
  return `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z`;
}

// What the signs in the picture mean.
function keys() {
  const key = (words, ...parts) =>
    make("li", {}, draw("svg", { viewBox: "0 0 22 16", width: 22, height: 16, "aria-hidden": "true" }, parts), words);
  const area = (kind) => draw("rect", { class: `area ${kind}`, width: 22, height: 16 });
  return make(
    "ul",
    { class: "keys" },
    key("pair from the threshold up", draw("g", { class: "mark" }, draw("circle", { cx: 11, cy: 8, r: 4.5 }))),
    key("pair below it", draw("g", { class: "mark" }, draw("path", { d: diamond(11, 8, 5) }))),
    key("P = 1/2", draw("circle", { class: "half", cx: 11, cy: 8, r: 5 })),
    key("rule of thumb", draw("path", { class: "rule", d: diamond(11, 8) })),
    key("false positives", area("positives")),
    key("false negatives", area("negatives")),
  );
}

// Stripes that lean to different sides tell the two areas apart without colours.
function hatches() {
  const pattern = (id, turned) =>
    draw(
      "pattern",
      { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${turned})` },
      draw("rect", { width: 7, height: 7, class: `${id}-back` }),
      draw("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: `${id}-line` }),
    );
  return draw("defs", {}, pattern("hatch-positives", 45), pattern("hatch-negatives", -45));
}

const FIFTHS = [0, 0.2, 0.4, 0.6, 0.8, 1];

function grid(x, y) {
  const lines = FIFTHS.map((value) => draw("line", { class: "grid", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }));
  return [...lines, draw("line", { class: "axis", x1: x(0), x2: x(1), y1: y(0), y2: y(0) })];
}

function axisNames(x, y) {
  const parts = [];
  for (const value of FIFTHS) {
    parts.push(draw("text", { x: x(0) - 8, y: y(value) + 4, "text-anchor": "end", class: "small" }, value.toFixed(1)));
    parts.push(draw("text", { x: x(value), y: y(0) + 16, "text-anchor": "middle", class: "small" }, value.toFixed(1)));
  }
  parts.push(draw("text", { x: x(1), y: y(0) - 6, "text-anchor": "end", class: "small" }, "similarity s"));
  parts.push(draw("text", { x: x(0) + 6, y: y(1) + 12, class: "small" }, "probability of being a candidate"));
  return parts;
}
