// Minhashes: by orders of the rows, by hash functions row by row, and the signatures they make.

function valueText(value) {
  return value === null ? "∞" : String(value);
}

// An order that the lesson has, or one drawn here: the first draws are those of the lesson.
class Orders {
  constructor(facts) {
    this.facts = facts;
    this.draws = 0;
    this.agreed = facts.pairs.map(() => 0);
    this.next();
  }

  next() {
    const { facts } = this;
    const count = facts.cells.length;
    const given = facts.orders[this.draws];
    this.isGiven = Boolean(given);
    this.order = given || randomOrder(count, facts.firstRow, this.randomAt(this.draws));
    this.draws += 1;
    this.minhashes = firstOnes(facts.cells, this.order, facts.firstRow);
    facts.pairs.forEach((pair, at) => {
      if (this.agree(pair)) this.agreed[at] += 1;
    });
  }

  // Each draw has numbers of its own.
  randomAt(draw) {
    return randomNumbers(Math.imul(draw, 0x9e3779b1) ^ this.facts.drawSeed);
  }

  agree(pair) {
    const [one, other] = [this.minhashes[pair.one], this.minhashes[pair.other]];
    return one !== null && one === other;
  }
}

function showPermutation(facts) {
  const orders = new Orders(facts);
  const { firstRow } = facts;
  const found = make("div");
  const said = make("p", { class: "legend", "aria-live": "polite", id: "draw-said" });
  const tally = make("div");
  const heads = ["place", "row", ...matrixHeads(facts)];
  const inOrder = new ScrollTable("Rows in the random order", heads, facts.cells.length, (place) => {
    const row = orders.order[place] - firstRow;
    const isFirst = (column) => orders.minhashes[column] === place + firstRow;
    return { cells: [place + firstRow, orders.order[place], ...matrixCells(facts, row, isFirst)] };
  });

  function showFound() {
    const rows = facts.labels.map((label, column) => {
      const place = orders.minhashes[column];
      const row = place === null ? null : orders.order[place - firstRow];
      const name = row === null ? "none" : elementText(facts.elements[row - firstRow]);
      return [label, valueText(place), row === null ? "" : row, ...(facts.element ? [name] : [])];
    });
    const named = facts.element ? [facts.element] : [];
    const caption = "The minhash of each column in this order";
    found.replaceChildren(table(caption, ["", "minhash", "row", ...named], rows, { id: "minhashes" }));
  }

  function showTally() {
    const rows = bySimilarity(facts).map((pair) => {
      const times = orders.agreed[facts.pairs.indexOf(pair)];
      const now = orders.agree(pair) ? "yes" : "";
      const part = share(times / orders.draws);
      return [pairName(facts, pair), now, `${times} of ${orders.draws}`, part, share(pair.exact)];
    });
    const titles = ["pair", "agree now", "agreed in", "share", "similarity"];
    tally.replaceChildren(table("How often two columns agree", titles, rows, { id: "tally" }));
  }

  function show() {
    const which = orders.isGiven ? "This order comes with the lesson" : "An order drawn here";
    const first = orders.order.slice(0, 12).join(", ");
    const more = orders.order.length > 12 ? ", …" : "";
    said.textContent = `Draw ${orders.draws}. ${which}: ${first}${more}`;
    showFound();
    showTally();
    inOrder.scrollTo(0);
  }

  function drawSome(times) {
    for (let time = 0; time < times; time += 1) orders.next();
    show();
  }

  const controls = make(
    "div",
    { class: "controls" },
    button("Draw again", () => drawSome(1), { id: "draw-again" }),
    button("Draw 100 more", () => drawSome(100), { id: "draw-hundred" }),
  );
  const right = make("div", {}, found, tally);
  put("permutation-figure", controls, said, make("div", { class: "beside" }, inOrder.node, right));
  show();
}

function formulaText(at, [a, b, p]) {
  const times = a === "1" ? "" : `${a} `;
  const added = b.startsWith("-") ? `− ${b.slice(1)}` : `+ ${b}`;
  return `h${at + 1}(r) = (${times}r ${added}) mod ${p}`;
}

const SHOWN_FUNCTIONS = 24;

function showRowByRow(facts) {
  const shown = facts.functions.slice(0, SHOWN_FUNCTIONS);
  const steps = new RowByRow(facts.cells, facts.firstRow, shown);
  const { firstRow } = facts;
  const said = make("p", { class: "legend", "aria-live": "polite", id: "step-said" });
  const matrix = make("div");
  const place = slider("row", {
    id: "step-row",
    min: 0,
    max: steps.height,
    value: 0,
    text: (read) => (read ? `${read + firstRow - 1}` : "start"),
    change: (to) => move(() => steps.go(to)),
  });

  function sentence() {
    const { read } = steps;
    if (!read) return "Before the first row: every value is infinite.";
    const has = facts.labels.filter((_, column) => facts.cells[read - 1][column] === "1");
    const name = facts.element ? ` '${facts.elements[read - 1]}'` : "";
    const lowered = steps.lowered.flat().filter(Boolean).length;
    const falls = lowered ? `${plural(lowered, "value")} ${lowered === 1 ? "falls" : "fall"}` : "nothing changes";
    const where = has.length ? `1 in ${has.join(", ")}` : "1 in no column";
    return `Row ${read + firstRow - 1}${name}: ${where}; ${falls}.`;
  }

  function show() {
    said.textContent = sentence();
    place.set(steps.read, false);
    const rows = shown.map((one, at) => [
      `h${at + 1}`,
      steps.read ? String(steps.hashes[at]) : "",
      ...steps.values[at].map((value, column) => {
        const fell = steps.read && steps.lowered[at][column];
        return make("span", { class: fell ? "fell" : "" }, fell ? "▾ " : "", valueText(value));
      }),
      make("span", { class: "formula" }, formulaText(at, one)),
    ]);
    const heads = ["", "hash of the row", ...facts.labels, "hash function"];
    const caption = "Signatures so far; ▾ marks a value that this row lowered";
    matrix.replaceChildren(table(caption, heads, rows, { id: "steps" }));
  }

  function move(how) {
    how();
    show();
  }

  const controls = make(
    "div",
    { class: "controls" },
    button("Start", () => move(() => steps.go(0)), { id: "step-start" }),
    button("Back", () => move(() => steps.go(Math.max(0, steps.read - 1))), { id: "step-back" }),
    button("Next row", () => move(() => steps.go(Math.min(steps.height, steps.read + 1))), {
      id: "step-next",
    }),
    button("Next change", () => move(() => steps.goToChange()), { id: "step-change" }),
    button("Last row", () => move(() => steps.go(steps.height)), { id: "step-last" }),
    place.node,
  );
  const left = facts.functions.length - shown.length;
  const more = left ? make("p", { class: "note" }, `… and ${plural(left, "more hash function")}.`) : null;
  const collided = facts.collisions.map((line) => make("p", { class: "note" }, line));
  put("rows-figure", controls, said, matrix, more, collided);
  show();
}

// The truth as a line, the estimate as a ring, on a scale from 0 to 1.
function estimateBar(exact, estimate) {
  const at = (value) => 4 + 112 * value;
  return draw(
    "svg",
    { class: "bar", viewBox: "0 0 120 16", width: 120, height: 16, "aria-hidden": "true" },
    draw("line", { class: "axis", x1: 4, x2: 116, y1: 8, y2: 8 }),
    draw("line", { class: "gap", x1: at(exact), x2: at(estimate), y1: 8, y2: 8 }),
    draw("line", { class: "truth", x1: at(exact), x2: at(exact), y1: 2, y2: 14 }),
    draw("circle", { class: "ring", cx: at(estimate), cy: 8, r: 3.5 }),
  );
}

function showSignatures(facts, choice) {
  const figures = facts.signatureSets.map((set) => signatureFigure(facts, choice, set));
  put("signatures-figure", figures);
}

function signatureFigure(facts, choice, { letter, signatures }) {
  const length = signatures[0].length;
  const isEqual = (at) => {
    const { pair } = choice;
    return pair && equalRows([signatures[pair.one][at]], [signatures[pair.other][at]], 1) === 1;
  };
  const made = letter === "p" ? "orders" : "hash functions";
  const caption = `Signature matrix by ${made}`;
  const matrix = new ScrollTable(caption, ["", ...facts.labels, ""], length, (at) => {
    const cells = signatures.map((column) => make("td", { class: "bit" }, valueText(column[at])));
    const mark = make("td", { class: "kind" }, isEqual(at) ? "=" : "");
    return { cells: [`${letter}${at + 1}`, ...cells, mark], kind: isEqual(at) ? "equal" : "" };
  });
  const said = make("p", { class: "legend" });
  choice.listen((pair) => {
    matrix.show(true);
    said.textContent = `= marks the rows in which ${pairName(facts, pair)} agree.`;
  });
  const estimates = make("div");

  function show(used) {
    const lines = bySimilarity(facts).map((pair) => {
      const equal = equalRows(signatures[pair.one], signatures[pair.other], used);
      const [estimate, exact] = [share(equal / used), share(pair.exact)];
      const error = Number(estimate) - Number(exact);
      const signed = `${error < 0 ? "−" : "+"}${Math.abs(error).toFixed(4)}`;
      const bar = estimateBar(pair.exact, equal / used);
      return [pairName(facts, pair), `${equal} of ${used}`, estimate, exact, signed, bar];
    });
    const titles = ["pair", "equal rows", "estimated", "exact", "error", "from 0 to 1"];
    const error = (0.5 / Math.sqrt(used)).toFixed(2);
    const words = `Estimates by ${plural(used, "row")}; the standard error is up to ${error}`;
    estimates.replaceChildren(table(words, titles, lines, { id: `estimates-${letter}` }));
  }

  const used = slider("rows used", {
    id: `used-rows-${letter}`,
    min: 1,
    max: length,
    value: length,
    change: show,
  });
  show(length);
  const right = make("div", {}, make("div", { class: "controls" }, used.node), estimates);
  return make("div", { class: "beside" }, make("div", {}, matrix.node, said), right);
}
