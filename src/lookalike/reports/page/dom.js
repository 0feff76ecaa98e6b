"use strict"; // as the first of the files, for all of them

// Elements, made from data without any markup in between: what a document says is always text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// An element of HTML: h("a", { href: "#pairs" }, "All pairs").
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An element of a drawing.
function g(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Signs that are not seen and change the order of others: a name with one could pass for another name.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

// A name that users gave: its direction is its own.
function bdi(text, attributes) {
  return h("bdi", attributes, String(text).replace(TURNS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

// A drawing that fits the width it is given, now and whenever that changes.
function fitted(draw, attributes) {
  const box = h("div", { class: "drawing", ...attributes });
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(box.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    box.replaceChildren(draw(width));
  };
  new ResizeObserver(redraw).observe(box);
  box.redraw = () => {
    drawn = 0;
    redraw();
  };
  return box;
}

// Some of several choices, as a row of radio buttons.
function choice(legend, name, options, chosen, changed) {
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, legend),
    options.map(([value, title]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name,
          value,
          checked: value === chosen,
          onchange: () => changed(value),
        }),
        h("span", {}, title),
      ),
    ),
  );
}

function checkbox(title, checked, changed) {
  const box = h("input", { type: "checkbox", checked, onchange: () => changed(box.checked) });
  return h("label", { class: "check" }, box, h("span", {}, title));
}
