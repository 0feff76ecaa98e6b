// Two texts laid beside each other by the passages that they share. Offsets are UTF-16 code units.

// The passages [start, end, otherStart, otherEnd, words] that can stand in rows in the order of both
// texts: of all such choices, one with the most text. Gives their places in `passages`.
function longestChain(passages) {
  const order = passages.map((_, place) => place);
  order.sort((one, other) => passages[one][2] - passages[other][2] || one - other);
  const ends = [...new Set(passages.map((passage) => passage[1]))].sort((one, other) => one - other);
  const tree = new Array(ends.length + 1).fill(-1); // of places, by their ends in the first text
  const weight = new Array(passages.length).fill(0);
  const before = new Array(passages.length).fill(-1);
  const better = (one, other) => (other < 0 || (one >= 0 && weight[one] >= weight[other]) ? one : other);
  const rank = (position) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  let waiting = [];
  let best = -1;
  for (const place of order) {
    const [start, end, otherStart] = passages[place];
    // One that overlaps this in the other text cannot come before it.
    waiting = waiting.filter((earlier) => {
      if (passages[earlier][3] > otherStart) return true;
      for (let i = rank(passages[earlier][1]); i <= ends.length; i += i & -i) tree[i] = better(tree[i], earlier);
      return false;
    });
    for (let i = rank(start); i > 0; i -= i & -i) before[place] = better(before[place], tree[i]);
    weight[place] = end - start + (before[place] < 0 ? 0 : weight[before[place]]);
    waiting.push(place);
    if (best < 0 || weight[place] > weight[best]) best = place;
  }
  const chain = [];
  for (let place = best; place >= 0; place = before[place]) chain.push(place);
  return chain.reverse();
}

// Rows { passage, a: [start, end], b: [start, end] } that together are both texts, in order: a
// passage of the chain beside itself, or with passage -1 what stands between two of them.
function alignedRows(passages, chain, lengthA, lengthB) {
  const rows = [];
  let [a, b] = [0, 0];
  const between = (endA, endB) => {
    if (endA > a || endB > b) rows.push({ passage: -1, a: [a, endA], b: [b, endB] });
  };
  for (const place of chain) {
    const [start, end, otherStart, otherEnd] = passages[place];
    between(start, otherStart);
    rows.push({ passage: place, a: [start, end], b: [otherStart, otherEnd] });
    [a, b] = [end, otherEnd];
  }
  between(lengthA, lengthB);
  return rows;
}

// Stretches of [start, end) with what lies on each: [{ start, end, on: [layer, …] }]. A layer is any
// object with start and end; on a stretch they stand in the order that they were given.
function stretches(start, end, layers) {
  const cuts = new Set([start, end]);
  const inside = layers.filter((layer) => layer.end > start && layer.start < end);
  for (const layer of inside) {
    cuts.add(Math.max(start, layer.start));
    cuts.add(Math.min(end, layer.end));
  }
  const places = [...cuts].sort((one, other) => one - other);
  const opening = new Map();
  inside.forEach((layer, order) => {
    const from = Math.max(start, layer.start);
    if (!opening.has(from)) opening.set(from, []);
    opening.get(from).push([order, layer]);
  });
  let open = [];
  const found = [];
  for (let i = 0; i + 1 < places.length; i++) {
    open = open.filter(([, layer]) => layer.end > places[i]);
    if (opening.has(places[i])) {
      open = open.concat(opening.get(places[i])).sort((one, other) => one[0] - other[0]);
    }
    found.push({ start: places[i], end: places[i + 1], on: open.map(([, layer]) => layer) });
  }
  return found;
}

// An ideograph or a kana is a word by itself.
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}])+/gu;
const MOST_CELLS = 1_000_000;
const MOST_TEXT = 50_000; // longer stretches that share no passage have nothing to line up

function wordsOf(text, start, end) {
  return [...text.slice(start, end).matchAll(WORD)].map((match) => ({
    word: match[0].toLowerCase(),
    start: start + match.index,
    end: start + match.index + match[0].length,
  }));
}

// Which words of two lists are in a longest common subsequence; null where that takes too long.
function commonWords(one, other) {
  let head = 0;
  while (head < one.length && head < other.length && one[head].word === other[head].word) head += 1;
  let tail = 0;
  while (
    tail < one.length - head &&
    tail < other.length - head &&
    one[one.length - 1 - tail].word === other[other.length - 1 - tail].word
  ) {
    tail += 1;
  }
  const [rows, columns] = [one.length - head - tail, other.length - head - tail];
  if (rows * columns > MOST_CELLS) return null;
  const inOne = one.map((_, i) => i < head || i >= one.length - tail);
  const inOther = other.map((_, i) => i < head || i >= other.length - tail);
  const width = columns + 1;
  const longest = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      longest[i * width + j] =
        one[head + i].word === other[head + j].word
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (one[head + i].word === other[head + j].word) {
      inOne[head + i++] = true;
      inOther[head + j++] = true;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [inOne, inOther];
}

// Spans of words that are not common, those side by side in one.
function spansOfRest(words, common) {
  const spans = [];
  words.forEach((word, i) => {
    if (common[i]) return;
    if (i && !common[i - 1]) spans[spans.length - 1].end = word.end;
    else spans.push({ start: word.start, end: word.end });
  });
  return spans;
}

// What differs between two stretches, word by word: { a: [{ start, end }], b: […] }.
function differences(textA, [startA, endA], textB, [startB, endB]) {
  if (Math.min(endA - startA, endB - startB) > MOST_TEXT) {
    return { a: [{ start: startA, end: endA }], b: [{ start: startB, end: endB }] };
  }
  const a = wordsOf(textA, startA, endA);
  const b = wordsOf(textB, startB, endB);
  const common = commonWords(a, b) || [a.map(() => false), b.map(() => false)];
  return { a: spansOfRest(a, common[0]), b: spansOfRest(b, common[1]) };
}

// After these no word is cut: a blank, and signs of scripts without blanks, each a word of its own.
const WORD_ENDS = /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

// Where to fold a stretch that both have: [start, end] of what is hidden, or null where it is short.
// Cuts are where words end, so that no word and no character is cut.
function foldRange(text, start, end) {
  const [shown, least] = [160, 240];
  if (end - start < 2 * shown + least) return null;
  const first = [...text.slice(start, start + shown).matchAll(WORD_ENDS)].pop();
  const [last] = text.slice(end - shown, end).matchAll(WORD_ENDS);
  if (!first || !last) return null;
  return [start + first.index + first[0].length, end - shown + last.index + last[0].length];
}

// A long stretch in parts of some thousand characters, cut after a line, or else after a blank.
function partsOf(text, start, end) {
  const size = 4000;
  const parts = [];
  while (end - start > size * 1.5) {
    let cut = text.lastIndexOf("\n", start + size);
    if (cut < start + size / 2) cut = text.lastIndexOf(" ", start + size);
    if (cut < start + size / 2) cut = start + size;
    else cut += 1;
    const code = text.charCodeAt(cut);
    if (code >= 0xdc00 && code <= 0xdfff) cut += 1; // not through a surrogate pair
    parts.push([start, cut]);
    start = cut;
  }
  parts.push([start, end]);
  return parts;
}

// Rows, of which those between passages begin with a word: what stands before it ends the row
// before. One without any word is no row of its own.
function tidiedRows(rows, textA, textB) {
  const tidied = [];
  for (const row of rows) {
    const own = { ...row, a: [...row.a], b: [...row.b] };
    const last = tidied[tidied.length - 1];
    if (last && row.passage < 0) {
      for (const [side, text] of [["a", textA], ["b", textB]]) {
        const first = text.slice(...row[side]).search(WORD);
        last[side][1] = own[side][0] = first < 0 ? row[side][1] : row[side][0] + first;
      }
      if (own.a[0] === own.a[1] && own.b[0] === own.b[1]) continue;
    }
    tidied.push(own);
  }
  return tidied;
}

// A stretch without the blank lines at its ends, where a row ends anyway.
function withoutBlankEnds(text, [start, end]) {
  const piece = text.slice(start, end);
  const before = /^(?:[^\S\n]*\n)*/.exec(piece)[0].length;
  const after = piece.length - piece.trimEnd().length;
  return [start + Math.min(before, piece.length - after), end - after];
}
