// What a line like `sim:>0.9 id:draft -cluster:3` asks of a row.
//
// Conditions are separated by blanks, and all have to hold. `field:value` asks about a field, a word
// alone about names; "…" keeps blanks together, `-` in front says not, and a comma between values is
// an or. Numbers and dates take > >= < <= = and ranges as 0.8..0.9.

function foldCase(text) {
  return text.normalize("NFC").toLowerCase();
}

// The conditions of a line, each with its place in it: { not, field, value, quoted, start, end }.
function splitQuery(line) {
  const terms = [];
  const errors = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at])) {
      at += 1;
      continue;
    }
    const start = at;
    const not = line[at] === "-" && at + 1 < line.length && !/\s/.test(line[at + 1]);
    if (not) at += 1;
    let field = null;
    let value = "";
    let quoted = false;
    while (at < line.length && !/\s/.test(line[at])) {
      if (line[at] === '"') {
        const close = line.indexOf('"', at + 1);
        if (close < 0) errors.push({ start: at, message: 'a quotation mark " is not closed' });
        value += line.slice(at + 1, close < 0 ? line.length : close);
        quoted = true;
        at = close < 0 ? line.length : close + 1;
      } else if (line[at] === ":" && field === null && value) {
        field = value;
        value = "";
        quoted = false;
        at += 1;
      } else {
        value += line[at];
        at += 1;
      }
    }
    terms.push({ not, field, value, quoted, start, end: at });
  }
  return { terms, errors };
}

function readNumber(text) {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(%?)$/.exec(text.trim());
  if (!match) return null;
  const digits = (match[1].split(".")[1] || "").length + (match[2] ? 2 : 0);
  return { value: match[2] ? Number(match[1]) / 100 : Number(match[1]), digits };
}

const COMPARISONS = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};

function numberTest(value) {
  const range = /^(.+?)\.\.(.+)$/.exec(value);
  if (range) {
    const [low, high] = [readNumber(range[1]), readNumber(range[2])];
    return low && high ? (number) => number >= low.value && number <= high.value : null;
  }
  const [, sign, rest] = /^(>=|<=|>|<|=)?(.*)$/s.exec(value);
  const wanted = readNumber(rest);
  if (!wanted) return null;
  if (sign) return (number) => COMPARISONS[sign](number, wanted.value);
  // 0.87 stands for what is shown as 0.87.
  if (!wanted.digits) return (number) => number === wanted.value;
  const half = 0.5 / 10 ** wanted.digits;
  return (number) => number >= wanted.value - half && number < wanted.value + half;
}

// Dates compare as far as the condition goes: 2024-05 is any day of May.
function dateTest(value) {
  const range = /^(.+?)\.\.(.+)$/.exec(value);
  const [, sign, rest] = /^(>=|<=|>|<|=)?(.*)$/s.exec(value);
  if (!(range ? range.slice(1) : [rest]).every((part) => /^\d{4}(-\d\d?){0,2}([T ].*)?$/.test(part))) {
    return null;
  }
  const cut = (date, like) => date.slice(0, like.length);
  if (range) return (date) => cut(date, range[1]) >= range[1] && cut(date, range[2]) <= range[2];
  return (date) => COMPARISONS[sign || "="](cut(date, rest), rest);
}

function textTest(value, whole) {
  const wanted = foldCase(value);
  return whole
    ? (text) => foldCase(String(text)) === wanted
    : (text) => foldCase(String(text)).includes(wanted);
}

// A cell of a column of the input, which may hold numbers, words or both.
function mixedTest(value, quoted) {
  const number = quoted ? null : numberTest(value);
  const [, sign, rest] = /^(>=|<=|>|<|=)?(.*)$/s.exec(value);
  const compared = sign && !quoted ? (text) => COMPARISONS[sign](foldCase(text), foldCase(rest)) : null;
  const contained = textTest(value, false);
  return (cell) => {
    if (typeof cell === "number" && number) return number(cell);
    if (number && sign) return false; // words are not more or less than a number
    return compared ? compared(String(cell)) : contained(plainCell(cell));
  };
}

function plainCell(cell) {
  if (typeof cell === "boolean") return cell ? "yes true" : "no false";
  return String(cell);
}

function flagTest(value) {
  const wanted = { yes: true, true: true, no: false, false: false }[foldCase(value)];
  return wanted === undefined ? null : (flag) => flag === wanted;
}

const EXPECTED = {
  number: "a number, as >0.9, 0.8..0.9 or 3",
  date: "a date, as 2024-05, >2024-05-17 or 2023..2024",
  flag: "yes or no",
};

function conditionTest(field, value, quoted) {
  if (field.kind === "number") return numberTest(value);
  if (field.kind === "date") return dateTest(value);
  if (field.kind === "flag") return flagTest(value);
  if (field.kind === "mixed") return mixedTest(value, quoted);
  return textTest(value, field.kind === "whole");
}

// A test of rows, and what is wrong with the line. `fields` has by name { kind, get(row) }, where
// `get` gives a value or several, of which one has to do; `name` is what a word alone asks about.
function compileQuery(line, fields) {
  const { terms, errors } = splitQuery(line);
  const tests = [];
  for (const term of terms) {
    const name = term.field === null ? "name" : term.field;
    const field = fields.get(name) || fields.get(name.toLowerCase());
    if (!field) {
      const known = [...fields.keys()].join(", ");
      errors.push({ start: term.start, message: `there is no field “${name}”; there are ${known}` });
      continue;
    }
    if (!term.value) {
      errors.push({ start: term.start, message: `“${name}:” needs a value` });
      continue;
    }
    const values = term.quoted ? [term.value] : term.value.split(",").filter(Boolean);
    const any = values.map((value) => conditionTest(field, value, term.quoted));
    if (!any.length || any.includes(null)) {
      const wrong = any.length ? values[any.indexOf(null)] : term.value;
      errors.push({ start: term.start, message: `“${name}:${wrong}”: expected ${EXPECTED[field.kind] || "a value"}` });
      continue;
    }
    const holds = (value) =>
      value !== null && value !== undefined && any.some((condition) => condition(value));
    tests.push((row) => {
      const value = field.get(row);
      return (Array.isArray(value) ? value.some(holds) : holds(value)) !== term.not;
    });
  }
  errors.sort((one, other) => one.start - other.start);
  return { errors, test: (row) => tests.every((test) => test(row)) };
}
