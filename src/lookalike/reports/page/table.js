// A table that is sorted, filtered and shown a page at a time: a hundred thousand rows are no more
// elements than fifty.

const PAGE_SIZE = 50;

// What each table was showing when it was left, by its name.
const remembered = new Map();

// { name, caption, unit, columns, rows, sort, fields, address }: a column is { key, title, value(row),
// cell(row), numeric, date, wide, extra }, `rows` the numbers of all rows, `sort` the column to begin with, with -
// for downwards, `fields` those of the query line (or null for none), `address(row)` what a row opens (or none).
function table(options) {
  const { columns, fields, unit } = options;
  const state = remembered.get(options.name) || { query: "", sort: options.sort, page: 0, focus: null };
  remembered.set(options.name, state);
  let shown = options.rows;

  const status = h("p", { class: "status", role: "status", "aria-live": "polite" });
  const problem = h("p", { class: "problem", id: `${options.name}-problem`, role: "alert" });
  const body = h("tbody", { onkeydown: moveInRows, onclick: openRow });
  const heads = new Map(columns.map((column) => [column.key, headOf(column)]));
  const pager = h("nav", { class: "pager", "aria-label": `Pages of ${unit[1]}` });
  const input = fields && filterInput();

  function headOf(column) {
    const button = h("button", { type: "button", onclick: () => sortBy(column) }, column.title);
    const classes = `${column.numeric ? "numeric" : ""} ${column.extra ? "extra" : ""}`;
    return h("th", { scope: "col", class: classes }, column.value ? button : column.title);
  }

  function filterInput() {
    return h("input", {
      type: "search",
      id: `${options.name}-filter`,
      value: state.query,
      placeholder: options.placeholder,
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-describedby": `${options.name}-problem`,
      oninput: () => {
        state.query = input.value;
        state.page = 0;
        choose();
      },
      onkeydown: (event) => {
        if (event.key === "ArrowDown") focusRow(0);
        else if (event.key !== "Escape" || !input.value) return;
        else {
          input.value = state.query = "";
          choose();
          event.stopPropagation();
        }
        event.preventDefault();
      },
    });
  }

  function sortBy(column) {
    const [key, down] = [state.sort.replace("-", ""), state.sort.startsWith("-")];
    const first = column.numeric ? "-" : "";
    state.sort = key === column.key ? `${down ? "" : "-"}${key}` : `${first}${column.key}`;
    state.page = 0;
    choose();
  }

  // The rows that the query asks for, in order. One with an error leaves what was there.
  function choose() {
    const query = fields ? compileQuery(state.query, fields) : { errors: [], test: () => true };
    problem.textContent = query.errors.map((error) => error.message).join("; ");
    if (input) input.setAttribute("aria-invalid", String(query.errors.length > 0));
    if (!query.errors.length) {
      shown = sorted(state.query.trim() ? options.rows.filter(query.test) : options.rows);
    }
    draw();
  }

  function sorted(rows) {
    const down = state.sort.startsWith("-") ? -1 : 1;
    const column = columns.find((one) => one.key === state.sort.replace("-", ""));
    const missing = (value) => value === null || value === undefined;
    const keyed = Array.from(rows, (row) => [column.value(row), row]);
    keyed.sort(([one], [other]) => {
      if (missing(one) || missing(other)) return missing(one) - missing(other);
      return one < other ? -down : Number(one > other) * down;
    });
    return keyed.map(([, row]) => row);
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE_SIZE));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const first = state.page * PAGE_SIZE;
    const rows = shown.slice(first, first + PAGE_SIZE);
    body.replaceChildren(...(rows.length ? rows.map((row, i) => rowOf(row, first + i)) : [nothing()]));
    for (const column of columns) {
      const [key, down] = [state.sort.replace("-", ""), state.sort.startsWith("-")];
      const head = heads.get(column.key);
      if (key === column.key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const all = many(options.rows.length, ...unit);
    status.textContent = shown.length === options.rows.length ? all : `${count(shown.length)} of ${all}`;
    drawPager(pages, first, rows.length);
  }

  function rowOf(row, place) {
    const cells = columns.map((column, i) => {
      const classes = `${column.numeric ? "numeric" : ""} ${column.extra ? "extra" : ""} ${column.wide ? "wide" : ""} ${column.date ? "date" : ""}`;
      return h(i ? "td" : "th", { class: classes, scope: i ? null : "row" }, column.cell(row));
    });
    return h("tr", { class: options.address ? "opens" : null, "data-row": row, "aria-rowindex": place + 2 }, cells);
  }

  function nothing() {
    return h("tr", { class: "nothing" }, h("td", { colspan: columns.length }, options.nothing || "None."));
  }

  function drawPager(pages, first, rows) {
    pager.hidden = pages < 2;
    if (pages < 2) return;
    const button = (title, page, possible) =>
      h("button", { type: "button", disabled: !possible, onclick: () => goTo(page) }, title);
    pager.replaceChildren(
      button("First", 0, state.page > 0),
      button("Previous", state.page - 1, state.page > 0),
      h("span", {}, `${count(first + 1)} to ${count(first + rows)} of ${count(shown.length)}`),
      button("Next", state.page + 1, state.page + 1 < pages),
      button("Last", pages - 1, state.page + 1 < pages),
    );
  }

  function goTo(page) {
    state.page = page;
    draw();
    focusRow(0);
  }

  function focusRow(place) {
    const row = body.children[place];
    const link = row && row.querySelector("a");
    if (link) link.focus();
    return Boolean(link);
  }

  function moveInRows(event) {
    const row = event.target.closest("tr");
    const place = [...body.children].indexOf(row);
    const last = body.children.length - 1;
    const pages = Math.ceil(shown.length / PAGE_SIZE);
    const move = {
      ArrowDown: () => (place < last ? focusRow(place + 1) : state.page + 1 < pages && goTo(state.page + 1)),
      ArrowUp: () => {
        if (place > 0) focusRow(place - 1);
        else if (state.page > 0) {
          goTo(state.page - 1);
          focusRow(PAGE_SIZE - 1);
        } else if (input) input.focus();
      },
      Home: () => focusRow(0),
      End: () => focusRow(last),
      PageDown: () => state.page + 1 < pages && goTo(state.page + 1),
      PageUp: () => state.page > 0 && goTo(state.page - 1),
    }[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move();
  }

  function openRow(event) {
    const row = event.target.closest("tr.opens");
    if (!row) return;
    state.focus = Number(row.dataset.row);
    if (!event.target.closest("a, button") && !String(getSelection())) {
      location.hash = options.address(state.focus);
    }
  }

  choose();
  const element = h(
    "section",
    { class: "table", "aria-label": options.caption },
    input && h("div", { class: "filter" }, h("label", { for: input.id }, "Filter"), input, queryHelp(fields)),
    problem,
    status,
    h(
      "table",
      { "aria-rowcount": options.rows.length + 1 },
      h("caption", { class: "unseen" }, options.caption),
      h("thead", {}, h("tr", { "aria-rowindex": 1 }, [...heads.values()])),
      body,
    ),
    pager,
  );
  // After coming back: the row that was opened.
  element.refocus = () => {
    const row = state.focus === null ? null : body.querySelector(`tr[data-row="${state.focus}"] a`);
    state.focus = null;
    if (row) row.focus();
    return Boolean(row);
  };
  return element;
}

function queryHelp(fields) {
  const rows = [...fields]
    .filter(([name]) => name !== "name")
    .map(([, field]) => h("div", {}, h("dt", {}, h("code", {}, field.example)), h("dd", {}, field.help)));
  return h(
    "details",
    { class: "help" },
    h("summary", {}, "How to filter"),
    h("p", {}, "Write one or more conditions; all have to hold. A word alone is looked for in names. ", h("code", {}, "-"), " in front means not, a comma means or, quotation marks keep words together, and ", h("code", {}, "0.8..0.9"), " is a range."),
    h("dl", {}, rows),
  );
}
