// Where things stand in a drawing. No chance in it: the same data gives the same picture.

// Places { x, y } from 0 to 1 for n nodes, of which similar ones attract each other. Edges are
// [one, other, weight].
function graphLayout(n, edges) {
  const nodes = Array.from({ length: n }, (_, i) => ({
    x: Math.cos((2 * Math.PI * i) / n),
    y: Math.sin((2 * Math.PI * i) / n),
  }));
  const ideal = 1.6 / Math.sqrt(n);
  const reach = (5 * ideal) ** 2; // what nothing links would push each other out of the picture
  const rounds = n > 150 ? 60 : 200;
  for (let round = 0; round < rounds; round++) {
    const step = 0.12 * (1 - round / rounds);
    const moves = nodes.map((node) => ({ x: -0.02 * node.x, y: -0.02 * node.y }));
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) {
        const [dx, dy] = [nodes[i].x - nodes[j].x, nodes[i].y - nodes[j].y];
        const apart = dx * dx + dy * dy;
        if (apart > reach) continue;
        const force = (ideal * ideal) / Math.max(apart, 1e-4);
        moves[i].x += dx * force;
        moves[i].y += dy * force;
        moves[j].x -= dx * force;
        moves[j].y -= dy * force;
      }
    }
    for (const [one, other, weight] of edges) {
      const [dx, dy] = [nodes[one].x - nodes[other].x, nodes[one].y - nodes[other].y];
      const force = (Math.hypot(dx, dy) / ideal) * weight;
      moves[one].x -= dx * force;
      moves[one].y -= dy * force;
      moves[other].x += dx * force;
      moves[other].y += dy * force;
    }
    nodes.forEach((node, i) => {
      const length = Math.hypot(moves[i].x, moves[i].y) || 1;
      const most = Math.min(length, step) / length;
      node.x += moves[i].x * most;
      node.y += moves[i].y * most;
    });
  }
  return scaledToUnit(nodes);
}

function scaledToUnit(nodes) {
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const wide = Math.max(...xs) - left;
  const high = Math.max(...ys) - top;
  return nodes.map((node) => ({
    x: wide > 1e-9 ? (node.x - left) / wide : 0.5,
    y: high > 1e-9 ? (node.y - top) / high : 0.5,
  }));
}

// An order of the members in which similar ones are neighbours: from the most similar two on, the one
// nearest to either end is added there.
function neighbourOrder(matrix) {
  const n = matrix.length;
  if (n < 3) return matrix.map((_, i) => i);
  let [first, second] = [0, 1];
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      if (matrix[i][j] > matrix[first][second]) [first, second] = [i, j];
    }
  }
  const order = [first, second];
  const left = matrix.map((_, i) => i).filter((i) => i !== first && i !== second);
  while (left.length) {
    let best = { at: 0, front: false, value: -Infinity };
    left.forEach((member, at) => {
      const front = matrix[member][order[0]];
      const back = matrix[member][order[order.length - 1]];
      if (back > best.value) best = { at, front: false, value: back };
      if (front > best.value) best = { at, front: true, value: front };
    });
    const [member] = left.splice(best.at, 1);
    if (best.front) order.unshift(member);
    else order.push(member);
  }
  return order;
}

// Round numbers from 0 to a little over `most`, some four of them.
function linearTicks(most) {
  if (!(most > 0)) return [0, 1];
  const rough = most / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough) * unit;
  const ticks = [];
  for (let i = 0; i * step < most + step * 0.999; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// Powers of ten from 1 on until `most` is under the last.
function logTicks(most) {
  const ticks = [1];
  while (ticks[ticks.length - 1] < most) ticks.push(ticks[ticks.length - 1] * 10);
  return ticks.length > 1 ? ticks : [1, 10];
}
