// Numbers and words as people read them.

const INTEGER = new Intl.NumberFormat("en");

function count(number) {
  return INTEGER.format(Math.round(number));
}

function many(number, one, several) {
  return `${count(number)} ${number === 1 ? one : several || `${one}s`}`;
}

// Three digits, or as many as keep it on its side of 1 and of the threshold: 0.7998 is below 0.8.
function similarity(value) {
  if (value === null || value === undefined) return "–";
  const limits = [1, report.summary.threshold].filter((limit) => limit !== null);
  let digits = 3;
  while (digits < 6 && limits.some((limit) => value < limit !== Number(value.toFixed(digits)) < limit)) digits++;
  return value.toFixed(digits);
}

// A share as a percentage, and never 100 % for what is less than all.
function percent(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1 && value > 0.9995) return "99.9 %";
  if (value > 0 && value < 0.001) return "0.1 %";
  return `${(value * 100).toFixed(value === 0 || value === 1 ? 0 : 1)} %`;
}

// A setting or a fact as text.
function plain(value) {
  if (value === null || value === undefined) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object") {
    const entries = Object.entries(value);
    return entries.length ? entries.map(([key, one]) => `${key} ${plain(one)}`).join(", ") : "–";
  }
  return String(value);
}

// A date and time without the letter between.
function day(date) {
  return date ? date.replace("T", " ").replace(" 00:00:00", "") : "";
}

// The middle of a long name left out: its ends tell most.
function short(name, most) {
  if (name.length <= most) return name;
  const half = Math.floor((most - 1) / 2);
  return `${name.slice(0, half)}…${name.slice(name.length - half)}`;
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
