"use strict";
// The method itself, as far as this page computes anew: orders, first ones, signatures, curves.
// Nothing here touches the page.

// A small generator of random numbers, so that the same lesson draws the same orders everywhere.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// Every order of the rows is as likely as any other.
function randomOrder(count, firstRow, random) {
  const order = Array.from({ length: count }, (_, at) => at + firstRow);
  for (let last = count - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

// The place of each column's first 1, counted as rows are; null where a column has none.
function firstOnes(cells, order, firstRow) {
  const columns = cells.length ? cells[0].length : 0;
  const found = new Array(columns).fill(null);
  let missing = columns;
  for (let place = 0; place < order.length && missing; place += 1) {
    const row = cells[order[place] - firstRow];
    for (let column = 0; column < columns; column += 1) {
      if (found[column] === null && row[column] === "1") {
        found[column] = place + firstRow;
        missing -= 1;
      }
    }
  }
  return found;
}

// h(r) = (a r + b) mod p; by whole numbers of any size where doubles would round.
function hashFunction([a, b, p], lastRow) {
  const [x, y, z] = [a, b, p].map(BigInt);
  const most = [x, y].map((one) => (one < 0n ? -one : one));
  if (most[0] * BigInt(lastRow) + most[1] + z <= BigInt(Number.MAX_SAFE_INTEGER)) {
    const [m, n, q] = [a, b, p].map(Number);
    return (row) => (((m * row + n) % q) + q) % q;
  }
  return (row) => (((x * BigInt(row) + y) % z) + z) % z;
}

// Signatures while the matrix is read: state, the hashes of a row, and what they lower.
class RowByRow {
  constructor(cells, firstRow, functions) {
    this.cells = cells;
    this.firstRow = firstRow;
    const lastRow = firstRow + cells.length - 1;
    this.functions = functions.map((one) => hashFunction(one, lastRow));
    this.restart();
  }

  restart() {
    this.read = 0;
    const columns = this.cells.length ? this.cells[0].length : 0;
    this.values = this.functions.map(() => new Array(columns).fill(null));
    this.hashes = [];
    this.lowered = [];
  }

  get height() {
    return this.cells.length;
  }

  // Read one row; say whether it lowered anything.
  next() {
    const row = this.read + this.firstRow;
    const cells = this.cells[this.read];
    this.read += 1;
    this.hashes = this.functions.map((hash) => hash(row));
    this.lowered = this.hashes.map((hash, at) =>
      Array.from(cells, (cell, column) => {
        const old = this.values[at][column];
        const lower = cell === "1" && (old === null || hash < old);
        if (lower) this.values[at][column] = hash;
        return lower;
      }),
    );
    return this.lowered.some((row) => row.some(Boolean));
  }

  go(to) {
    if (to < this.read) this.restart();
    while (this.read < to) this.next();
    if (to === 0) this.restart();
  }

  goToChange() {
    while (this.read < this.height) if (this.next()) return;
  }
}

function equalRows(one, other, rows) {
  let equal = 0;
  for (let row = 0; row < rows; row += 1) {
    if (one[row] !== null && one[row] === other[row]) equal += 1;
  }
  return equal;
}

// 1 - (1 - s^r)^b, without losing what is small to rounding.
function candidateChance(similarity, bands, rows) {
  const agree = similarity ** rows;
  return agree >= 1 ? 1 : -Math.expm1(bands * Math.log1p(-agree));
}

function missChance(similarity, bands, rows) {
  return (1 - similarity ** rows) ** bands;
}

function ruleOfThumb(bands, rows) {
  return (1 / bands) ** (1 / rows);
}

function halfPoint(bands, rows) {
  return (1 - 0.5 ** (1 / bands)) ** (1 / rows);
}

// How many pairs below the threshold are expected to meet, and how many above it not to.
function expectedErrors(similarities, threshold, bands, rows) {
  let positives = 0;
  let negatives = 0;
  for (const similarity of similarities) {
    if (similarity < threshold) positives += candidateChance(similarity, bands, rows);
    else negatives += missChance(similarity, bands, rows);
  }
  return { positives, negatives };
}

// + or -, by the side of each line on which a direction lies; all in degrees.
function sideBits(direction, normals) {
  return normals.map((normal) => {
    const along = Math.cos(((normal - direction) * Math.PI) / 180);
    return along >= 0 ? "+" : "-";
  });
}

function angleBetween(one, other) {
  const turned = Math.abs(one - other) % 360;
  return turned > 180 ? 360 - turned : turned;
}

// A share as people read it, to four digits; what is below 1 is never shown as 1.
function share(value) {
  let units = Number(value.toFixed(4).replace(".", ""));
  // A tie goes to the even digit; to four digits only odd parts of 32 are ties.
  if (Number.isInteger(value * 32) && Math.abs((value * 32) % 2) === 1) {
    const below = Math.floor(value * 10000);
    units = below % 2 === 0 ? below : below + 1;
  }
  if (value * (1 + 1e-12) < 1 && units === 10000) units = 9999;
  return (units / 10000).toFixed(4);
}
