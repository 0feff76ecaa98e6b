// Parts of the page. Text goes in as text alone: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";
const ROW_HEIGHT = 28;
const PRINTED_ROWS = 30;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === "") continue;
    node.append(typeof child === "object" ? child : document.createTextNode(String(child)));
  }
  return node;
}

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function put(id, ...children) {
  const place = byId(id);
  place.replaceChildren();
  return fill(place, {}, children);
}

function plural(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// What stands over a column; over one that needs no name, nothing that would be read out.
function headCell(head) {
  return head === "" ? make("td") : make("th", { scope: "col" }, head);
}

// A table whose first column names its rows.
function table(caption, heads, rows, attributes) {
  const headCells = heads.map(headCell);
  const body = rows.map((row) => {
    const cells = Array.isArray(row) ? row : row.cells;
    const line = make("tr", Array.isArray(row) ? {} : row.attributes);
    cells.forEach((cell, at) => {
      line.append(at === 0 ? make("th", { scope: "row" }, cell) : make("td", {}, cell));
    });
    return line;
  });
  return make(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table",
      attributes || {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, headCells)),
      make("tbody", {}, body),
    ),
  );
}

// A table of any length in a box that scrolls: only the rows that can be seen are on the page.
class ScrollTable {
  constructor(caption, heads, count, cellsOf) {
    this.count = count;
    this.cellsOf = cellsOf;
    this.body = make("tbody");
    this.more = make("p", { class: "only-print" });
    this.box = make(
      "div",
      {
        class: "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": `${caption}, scrolls`,
        onscroll: () => this.show(),
      },
      make(
        "table",
        { class: "fixed" },
        make("caption", {}, caption),
        make("thead", {}, make("tr", {}, heads.map(headCell))),
        this.body,
      ),
    );
    this.node = make("div", { class: "scrolled" }, this.box, this.more);
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.show(true));
    addEventListener("resize", () => this.show());
    this.show(true);
  }

  show(anew) {
    const seen = Math.ceil((this.box.clientHeight || 420) / ROW_HEIGHT) + 12;
    const top = Math.max(0, Math.floor(this.box.scrollTop / ROW_HEIGHT) - 6);
    const first = Math.min(top, Math.max(0, this.count - seen));
    if (!anew && first === this.first && seen === this.seen) return;
    this.first = first;
    this.seen = seen;
    this.fillRows(first, Math.min(this.count, first + seen));
    this.more.replaceChildren();
  }

  fillRows(first, end) {
    const spacer = (rows) => {
      const cell = make("td", { colspan: "99", class: "spacer" });
      cell.style.height = `${rows * ROW_HEIGHT}px`;
      return rows ? make("tr", { "aria-hidden": "true" }, cell) : null;
    };
    this.body.parentNode.setAttribute("aria-rowcount", this.count + 1);
    const lines = [];
    for (let at = first; at < end; at += 1) {
      const { cells, kind } = this.cellsOf(at);
      lines.push(
        make(
          "tr",
          { "aria-rowindex": at + 2, class: kind },
          cells.map((cell, column) => {
            if (column === 0) return make("th", { scope: "row" }, cell);
            return cell instanceof Node && cell.tagName === "TD" ? cell : make("td", {}, cell);
          }),
        ),
      );
    }
    this.body.replaceChildren();
    fill(this.body, {}, [spacer(first), lines, spacer(this.count - end)]);
  }

  // Show other rows, from the first on.
  restart(count) {
    this.count = count;
    this.scrollTo(0);
  }

  scrollTo(row) {
    this.box.scrollTop = row * ROW_HEIGHT;
    this.show(true);
  }

  // On paper nothing scrolls.
  print() {
    const end = Math.min(this.count, PRINTED_ROWS);
    this.fillRows(0, end);
    for (const cell of this.body.querySelectorAll(".spacer")) cell.parentNode.remove();
    const left = this.count - end;
    this.more.textContent = left ? `… and ${plural(left, "more row")}.` : "";
  }
}

// A slider with its name and its value; `change` is called with the number.
function slider(name, { min, max, step = 1, value, id, text = String, change }) {
  const output = make("output", { for: id }, text(value));
  const input = make("input", {
    type: "range",
    id,
    min,
    max,
    step,
    value,
    "aria-valuetext": text(value),
    oninput: () => set(Number(input.value), true),
  });
  function set(given, tell) {
    input.value = given;
    output.textContent = text(given);
    input.setAttribute("aria-valuetext", text(given));
    if (tell) change(given);
  }
  const node = make("div", { class: "slider" }, make("label", { for: id }, name), input, output);
  return { node, set, input, value: () => Number(input.value) };
}

function button(words, press, attributes) {
  return make("button", { type: "button", onclick: press, ...attributes }, words);
}
