// Which part of the report is shown: the address after # says it, so that a link leads there.

const PARTS = [
  ["summary", "Summary", () => true],
  ["pairs", "Pairs", () => report.pairs.a.length > 0],
  ["clusters", "Clusters", () => report.clusters.length > 0],
  ["near", "Near misses", () => report.near_misses !== null],
  ["documents", "Documents", () => report.documents.name.length > 0],
  ["method", "Method", () => true],
];

// { part, name } of an address: `#pair=KEY-KEY`, `#cluster-3`, `#pairs`.
function readAddress(hash) {
  const match = /^#?(summary|pairs|clusters|near|documents|method|pair|cluster|document)(?:[=-](.+))?$/.exec(hash);
  return match ? { part: match[1], name: match[2] || "" } : { part: "summary", name: "" };
}

// The list that an opened thing belongs to.
const PARENTS = { pair: "pairs", cluster: "clusters", document: "documents" };

async function viewOf({ part, name }) {
  if (part === "pair" && addresses.pairs.has(name)) return pairView(addresses.pairs.get(name));
  if (part === "document" && addresses.documents.has(name)) return documentView(addresses.documents.get(name));
  if (part === "cluster") {
    const cluster = report.clusters.find((one) => String(one.number) === name);
    if (cluster) return clusterView(cluster);
  }
  if (part in PARENTS) return missingView(part, name);
  if (part === "near" && !report.near_misses) return summaryView();
  return { summary: summaryView, pairs: pairsView, clusters: clustersView, near: nearView, documents: documentsView, method: methodView }[part]();
}

function missingView(part, name) {
  return h("article", {}, h("h1", { tabindex: -1 }, `No such ${part}`), h("p", {}, `This page has no ${part} `, bdi(name), ": it may be one of those that are not listed."), leftOut());
}

// What a part is called in the list of windows: of a pair its names alone, without labels and dates.
function titleOf(view) {
  const names = [...view.querySelectorAll("h1 .document > a")].map((link) => link.textContent);
  return names.length ? names.join(" and ") : view.querySelector("h1").textContent;
}

let turn = 0;
let came = null; // from where the shown part was opened

async function show() {
  const address = readAddress(location.hash);
  const mine = ++turn;
  const main = document.getElementById("main");
  main.setAttribute("aria-busy", "true");
  const view = await viewOf(address);
  if (mine !== turn) return; // another was asked for meanwhile
  const back = address.part in PARENTS ? h("a", { class: "back", href: came || `#${PARENTS[address.part]}` }, "← Back") : null;
  main.replaceChildren(...[back, view].filter(Boolean));
  main.removeAttribute("aria-busy");
  for (const link of document.querySelectorAll("#parts a")) {
    if (link.hash === `#${PARENTS[address.part] || address.part}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${titleOf(view)} – ${report.summary.title}`;
  if (mine === 1 && !location.hash) return;
  const list = view.querySelector(".table");
  if (list && list.refocus()) return;
  scrollTo(0, 0);
  view.querySelector("h1").focus({ preventScroll: true });
}

function changed(event) {
  const before = new URL(event.oldURL).hash;
  const [from, to] = [readAddress(before), readAddress(location.hash)];
  if (!(to.part in PARENTS)) came = null;
  else if (!(from.part in PARENTS)) came = before || "#summary";
  show();
}

function pressed(event) {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape" && document.querySelector("a.back")) document.querySelector("a.back").click();
  else if (event.key === "/" && !typing && document.querySelector(".filter input")) document.querySelector(".filter input").focus();
  else return;
  event.preventDefault();
}

function frame() {
  const parts = PARTS.filter(([, , there]) => there()).map(([part, title]) => h("li", {}, h("a", { href: `#${part}` }, title)));
  return [
    h("a", { class: "skip", href: "#main", onclick: skipToMain }, "Skip to the content"),
    h("header", { class: "top" }, h("p", { class: "brand" }, "Lookalike"), h("nav", { id: "parts", "aria-label": "Parts of the report" }, h("ul", {}, parts))),
    h("main", { id: "main" }),
    h("footer", {}, h("p", {}, `Made by Lookalike ${report.summary.version}. This page is one file and loads nothing from the network.`)),
  ];
}

// The address is the part that is shown, so the link moves the focus by itself.
function skipToMain(event) {
  event.preventDefault();
  document.querySelector("#main h1").focus();
}

async function start() {
  const page = document.getElementById("page");
  try {
    report = await unpack("main-data");
    noteAddresses();
    if (onlyPair()) {
      page.replaceChildren(h("main", { id: "main" }, await pairView({ pairs: report.pairs, row: 0 })), h("footer", {}, h("p", {}, `${report.summary.score}. Made by Lookalike ${report.summary.version}.`)));
    } else {
      page.replaceChildren(...frame());
      addEventListener("hashchange", changed);
      addEventListener("keydown", pressed);
      await show();
    }
  } catch (error) {
    page.replaceChildren(h("p", { class: "note warning", role: "alert" }, `This page could not be shown: ${error.message}. A browser of 2023 or later is needed.`));
    throw error;
  }
  document.documentElement.dataset.ready = "yes";
}

start();
