// Two panes that scroll together: what stands beside each other in rows stays on one line.

const scrolledTo = new WeakMap(); // where a pane was scrolled to by this page, not by a reader

function scrollTogether(one, other) {
  for (const [pane, follower] of [[one, other], [other, one]]) {
    pane.addEventListener("scroll", () => {
      const own = Math.abs(pane.scrollTop - scrolledTo.get(pane)) < 2;
      scrolledTo.delete(pane);
      if (own || !reading.together) return;
      scrollPane(follower, counterpart(pane, follower));
    }, { passive: true });
  }
}

function scrollPane(pane, position) {
  pane.scrollTop = position;
  scrolledTo.set(pane, pane.scrollTop);
}

// Where one pane has to be for the place of another. The line that is compared goes from the top of the pane
// to its bottom as the text does, so that both texts begin and end together.
function counterpart(pane, follower) {
  const hidden = pane.scrollHeight - pane.clientHeight;
  const share = hidden > 0 ? pane.scrollTop / hidden : 0;
  const line = pane.getBoundingClientRect().top + share * pane.clientHeight;
  const cell = cellAt(pane, line);
  const [from, to] = [cell, follower.children[cell.dataset.place]].map((one) => one.getBoundingClientRect());
  const inside = from.height ? Math.min(1, Math.max(0, (line - from.top) / from.height)) : 0;
  const beyond = Math.max(0, line - from.bottom) + Math.min(0, line - from.top); // in what pads the text
  const level = follower.getBoundingClientRect().top + share * follower.clientHeight;
  return follower.scrollTop + to.top + inside * to.height + beyond - level;
}

// The last cell that begins above a line; cells stand in order.
function cellAt(pane, line) {
  let [low, high] = [0, pane.children.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pane.children[middle].getBoundingClientRect().top <= line) low = middle;
    else high = middle - 1;
  }
  return pane.children[low];
}

// Bring an element of a pane to a height on the screen, by default the middle of the pane.
function scrollPaneTo(element, level) {
  const pane = element.closest(".pane");
  const box = pane.getBoundingClientRect();
  const wanted = level === null || level < box.top || level > box.bottom ? box.top + box.height / 2 : level;
  scrollPane(pane, pane.scrollTop + element.getBoundingClientRect().top - wanted);
}
