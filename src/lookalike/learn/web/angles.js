// Two vectors in their plane, lines through the origin, and the bits that these give.

const TURNED = 20;
const MOST_LINES = 64;

class AngleFigure {
  constructor(facts) {
    this.facts = facts;
    this.redraws = 0;
    this.used = MOST_LINES;
    this.angles = facts.angles || [];
    this.picture = make("div", { class: "picture" });
    this.said = make("p", { class: "legend", "aria-live": "polite", id: "angle-said" });
    this.bits = make("div", { class: "bits", id: "angle-bits" });
    this.names = ["u", "v"];
    const turn = (which) => (value) => {
      this.directions[which] = value;
      this.names = ["u", "v"];
      this.show();
    };
    const degrees = { min: 0, max: 359.9, step: 0.1, text: (value) => `${Number(value).toFixed(1)}°` };
    this.directions = [TURNED, 75];
    this.sliders = [
      slider("first vector", { id: "angle-first", ...degrees, value: TURNED, change: turn(0) }),
      slider("second vector", { id: "angle-second", ...degrees, value: 75, change: turn(1) }),
    ];
    const lines = slider("lines", {
      id: "angle-lines",
      min: 1,
      max: MOST_LINES,
      value: MOST_LINES,
      change: (value) => {
        this.used = value;
        this.show();
      },
    });
    const controls = make(
      "div",
      { class: "controls" },
      this.sliders.map((one) => one.node),
      lines.node,
      button("Draw other lines", () => this.drawLines(), { id: "angle-redraw" }),
    );
    const drawn = make("div", { class: "two" }, this.picture, make("div", {}, this.said, this.bits));
    put("angles-figure", controls, drawn, this.angles.length ? this.pairTable() : null);
    this.normals = this.randomNormals();
    if (this.angles.length) this.take(this.usualPair());
    else this.show();
  }

  // The pair whose angle is nearest to half a right one: a picture with something in it.
  usualPair() {
    const far = (one) => Math.abs(one.exact - 45);
    return this.angles.reduce((best, one) => (far(one) < far(best) ? one : best));
  }

  randomNormals() {
    const random = randomNumbers(Math.imul(this.redraws + 1, 0x85ebca6b) ^ this.facts.drawSeed);
    return Array.from({ length: MOST_LINES }, () => random() * 360);
  }

  drawLines() {
    this.redraws += 1;
    this.normals = this.randomNormals();
    this.isOfLesson = false;
    this.show();
  }

  take(pair) {
    this.directions = [TURNED, TURNED + pair.exact];
    this.sliders.forEach((one, at) => one.set(this.directions[at].toFixed(1), false));
    this.isOfLesson = pair.normals !== null;
    this.normals = pair.normals ? pair.normals.map((one) => one + TURNED) : this.randomNormals();
    this.names = [pair.one, pair.other].map((one) => this.facts.labels[one]);
    this.show();
  }

  pairTable() {
    const rows = this.angles.map((pair) => [
      button(pairName(this.facts, pair), () => this.take(pair), { class: "pair" }),
      pair.differ,
      pair.estimated.toFixed(1),
      pair.exact.toFixed(1),
      share(pair.cosine),
    ]);
    const heads = ["pair", "bits that differ", "estimated °", "exact °", "cosine"];
    return table("Angles of every pair, by 64 hyperplanes", heads, rows, { id: "angle-pairs" });
  }

  show() {
    const normals = this.normals.slice(0, this.used);
    const bits = this.directions.map((one) => sideBits(one, normals));
    const differ = normals.map((_, at) => bits[0][at] !== bits[1][at]);
    const number = differ.filter(Boolean).length;
    const exact = angleBetween(...this.directions);
    const estimate = (180 * number) / normals.length;
    const fact = (name, value) => make("b", { "data-number": name }, value);
    this.said.replaceChildren();
    fill(this.said, {}, [
      `${this.names.join(" and ")}: `,
      fact("differ", number),
      ` of ${plural(normals.length, "bit")} ${normals.length === 1 ? "differs" : "differ"}. Estimated `,
      fact("estimated", `${estimate.toFixed(1)}°`),
      ", exact ",
      fact("exact", `${exact.toFixed(1)}°`),
      this.isOfLesson ? ". The lines are the lesson's own hyperplanes, cut by this plane." : ". The lines were drawn here.",
    ]);
    this.bits.replaceChildren();
    fill(this.bits, {}, [0, 1].map((which) => this.bitLine(this.names[which], bits[which], differ)));
    this.picture.replaceChildren(this.drawn(normals, differ));
  }

  bitLine(name, bits, differ) {
    const signs = bits.map((bit, at) => make("span", { class: differ[at] ? "differs" : "" }, bit));
    return make("p", {}, make("b", {}, name), " ", make("span", { class: "signs" }, signs));
  }

  drawn(normals, differ) {
    const at = (direction, length) => {
      const radians = (direction * Math.PI) / 180;
      return [160 + length * Math.cos(radians), 160 - length * Math.sin(radians)];
    };
    const lines = normals.map((normal, index) => {
      const [[x1, y1], [x2, y2]] = [at(normal + 90, 145), at(normal - 90, 145)];
      return draw("line", { x1, y1, x2, y2, class: differ[index] ? "plane parts" : "plane" });
    });
    const [one, other] = this.directions;
    const small = angleBetween(one, other);
    const turnsLeft = (((other - one) % 360) + 360) % 360 <= 180;
    const [from, to] = turnsLeft ? [one, other] : [other, one];
    const [[sx, sy], [ex, ey], middle] = [at(from, 46), at(to, 46), at(from + small / 2, 64)];
    const name = `${this.names.join(" and ")}, ${small.toFixed(1)} degrees apart, and ${plural(normals.length, "line")}`;
    return draw(
      "svg",
      { viewBox: "0 0 320 320", class: "plane-picture", role: "img", "aria-label": name },
      draw("circle", { cx: 160, cy: 160, r: 145, class: "rim" }),
      lines,
      draw("path", { class: "angle", d: `M160 160L${sx} ${sy}A46 46 0 0 0 ${ex} ${ey}Z` }),
      draw("text", { x: middle[0], y: middle[1] + 4, "text-anchor": "middle", class: "degrees" }, `${small.toFixed(1)}°`),
      this.directions.map((direction, which) => this.arrow(at, direction, which)),
    );
  }

  arrow(at, direction, which) {
    const [x, y] = at(direction, 118);
    const [nx, ny] = at(direction, 138);
    const handle = draw("circle", { cx: x, cy: y, r: 9, class: "tip" });
    const grip = draw("circle", { cx: x, cy: y, r: 22, class: "grip", "data-vector": which });
    grip.addEventListener("pointerdown", (event) => this.drag(event, which));
    const classes = `arrow arrow-${which}`;
    return draw(
      "g",
      { class: classes },
      draw("line", { x1: 160, y1: 160, x2: x, y2: y }),
      handle,
      draw("text", { x: nx, y: ny + 5, "text-anchor": "middle" }, this.names[which]),
      grip,
    );
  }

  drag(event, which) {
    event.preventDefault();
    const move = (moved) => {
      const box = this.picture.querySelector("svg").getBoundingClientRect();
      const [x, y] = [moved.clientX - box.left - box.width / 2, box.top + box.height / 2 - moved.clientY];
      const degrees = ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360;
      this.sliders[which].set(Math.min(359.9, Number(degrees.toFixed(1))), true);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }
}
