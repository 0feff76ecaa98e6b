// How similar the documents of the corpus are, and under it how likely each similarity is found.

function planChart(plan, histogram, threshold) {
  const state = { scale: "linear", sum: "counts" };
  const box = fitted((width) => drawChart(plan, histogram, threshold, state, width), { class: "drawing chart" });
  const redraw = (name) => (value) => {
    state[name] = value;
    box.redraw();
  };
  return h(
    "figure",
    {},
    histogram &&
      h(
        "div",
        { class: "choices" },
        choice("Scale", "scale", [["linear", "Linear"], ["log", "Logarithmic"]], "linear", redraw("scale")),
        choice("Pairs", "sum", [["counts", "Counts"], ["cumulated", "Cumulative, from the right"]], "counts", redraw("sum")),
      ),
    box,
    h("figcaption", {}, chartLegend(plan, histogram)),
  );
}

function chartLegend(plan, histogram) {
  const items = [];
  for (const series of histogram ? histogram.series : []) {
    items.push(h("li", {}, h("i", { class: `key bar-${series.name}` }), series.what));
  }
  if (plan && plan.found.length) {
    const whole = plan.cascade && report.summary.exact ? "compared exactly (right axis); below the threshold it is then rejected." : "found (right axis).";
    items.push(h("li", {}, h("i", { class: "key line-found" }), `Probability that a pair is ${whole}`));
    if (plan.cascade) {
      items.push(h("li", {}, h("i", { class: "key line-candidate" }), `Probability that it becomes a candidate by ${plan.cascade}.`));
    }
  }
  return h("ul", { class: "legend" }, items);
}

function drawChart(plan, histogram, threshold, state, width) {
  const height = Math.max(220, Math.min(340, width * 0.42));
  const area = { left: 52, right: width - 52, top: 30, bottom: height - 44 };
  const edges = histogram ? histogram.edges : plan.similarities;
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const x = (value) => area.left + ((value - low) / (high - low)) * (area.right - area.left);
  const share = (value) => area.bottom - value * (area.bottom - area.top);
  const drawing = g("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": chartDescription(plan, histogram, threshold),
  });
  if (histogram) {
    drawBars(drawing, histogram, state, area, x);
    drawing.append(g("text", { class: "tick", x: area.left - 8, y: area.top - 16, "text-anchor": "end" }, "pairs"));
  }
  drawAxes(drawing, area, x, share, [low, high], Boolean(plan && plan.found.length));
  if (plan && plan.found.length) drawing.append(g("text", { class: "tick", x: width - 2, y: area.top - 16, "text-anchor": "end" }, "probability"));
  if (plan) {
    if (plan.cascade) drawCurve(drawing, plan.similarities, plan.candidate, x, share, "line-candidate");
    drawCurve(drawing, plan.similarities, plan.found, x, share, "line-found");
  }
  if (threshold !== null) {
    drawing.append(
      g("line", { class: "threshold", x1: x(threshold), x2: x(threshold), y1: area.top, y2: area.bottom }),
      // Above the curves, which are high here.
      g("text", { class: "threshold-name", x: x(threshold), y: area.top - 8, "text-anchor": "middle" }, `threshold ${threshold}`),
    );
  }
  return drawing;
}

function chartDescription(plan, histogram, threshold) {
  const parts = ["Similarity from left to right."];
  for (const series of histogram ? histogram.series : []) {
    const at = threshold === null ? -1 : histogram.edges.findIndex((edge) => edge >= threshold - 1e-9);
    const above = at < 0 || at >= series.cumulated.length ? null : series.cumulated[at];
    parts.push(`${series.what}${above === null ? "" : ` ${count(above)} from ${threshold} on.`}`);
  }
  if (plan) parts.push(plan.sentence);
  return parts.join(" ");
}

function drawBars(drawing, histogram, state, area, x) {
  const most = Math.max(1, ...histogram.series.flatMap((series) => series[state.sum]));
  const ticks = state.scale === "log" ? logTicks(most) : linearTicks(most);
  const top = ticks[ticks.length - 1];
  const part = (value) => {
    if (state.scale === "linear") return value / top;
    return value < 1 ? Math.max(0, value) * 0.02 : 0.02 + (0.98 * Math.log10(value)) / Math.log10(top);
  };
  const y = (value) => area.bottom - part(value) * (area.bottom - area.top);
  for (const tick of ticks) {
    drawing.append(
      g("line", { class: "grid", x1: area.left, x2: area.right, y1: y(tick), y2: y(tick) }),
      g("text", { class: "tick", x: area.left - 8, y: y(tick) + 4, "text-anchor": "end" }, brief(tick)),
    );
  }
  histogram.series.forEach((series, place) => {
    series[state.sum].forEach((value, bin) => {
      if (!value) return;
      const [left, right] = [x(histogram.edges[bin]), x(histogram.edges[bin + 1])];
      const inset = Math.min(place * 2, (right - left) / 4);
      const high = Math.max(1.5, area.bottom - y(value));
      const bar = g("rect", { class: `bar-${series.name}`, x: left + 0.5 + inset, width: Math.max(0.5, right - left - 1 - 2 * inset), y: area.bottom - high, height: high });
      const where = state.sum === "counts" ? `to ${histogram.edges[bin + 1].toFixed(2)}` : "on";
      bar.append(g("title", {}, `${count(value)} from ${histogram.edges[bin].toFixed(2)} ${where}`));
      drawing.append(bar);
    });
  });
}

function brief(number) {
  if (number >= 1e6) return `${number / 1e6}M`;
  return number >= 1e4 ? `${number / 1e3}k` : String(number);
}

function drawAxes(drawing, area, x, share, [low, high], right) {
  drawing.append(g("line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }));
  const steps = area.right - area.left < 420 ? 5 : 10;
  for (let i = 0; i <= steps; i++) {
    const value = low + ((high - low) * i) / steps;
    drawing.append(g("text", { class: "tick", x: x(value), y: area.bottom + 18, "text-anchor": "middle" }, value.toFixed(1)));
  }
  drawing.append(g("text", { class: "tick", x: (area.left + area.right) / 2, y: area.bottom + 38, "text-anchor": "middle" }, "similarity"));
  for (const value of right ? [0, 0.5, 1] : []) {
    drawing.append(g("text", { class: "tick", x: area.right + 8, y: share(value) + 4 }, `${value * 100} %`));
  }
}

function drawCurve(drawing, similarities, values, x, share, name) {
  if (!values.length) return;
  const points = similarities.map((value, i) => `${x(value).toFixed(1)},${share(values[i]).toFixed(1)}`);
  drawing.append(g("polyline", { class: name, points: points.join(" ") }));
}
