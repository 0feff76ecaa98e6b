// Bands and their buckets, the candidates they bring together, and the exact check.

const SHOWN_BANDS = 24;

function memberChip(facts, member) {
  return make("span", { class: "chip", "data-member": member }, facts.labels[member]);
}

function showBands(facts) {
  const figure = byId("bands-figure");
  const said = make("p", { class: "legend", "aria-live": "polite", id: "bucket-said" });

  // All that belongs to the members of a bucket lights up, wherever it stands in this figure.
  function light(bucket, place) {
    const members = new Set(bucket ? bucket.members.map(String) : []);
    for (const chip of figure.querySelectorAll("[data-member]")) {
      chip.classList.toggle("lit", members.has(chip.dataset.member));
    }
    for (const one of figure.querySelectorAll(".bucket")) one.classList.toggle("lit", one === place);
    said.textContent = bucket ? bucketSentence(facts, bucket) : WHERE_TO_POINT;
  }

  const bands = facts.buckets.slice(0, SHOWN_BANDS).map((buckets, at) => {
    const span = `h${at * facts.rows + 1} to h${(at + 1) * facts.rows}`;
    const title = facts.rows === 1 ? `h${at + 1}` : span;
    const places = buckets.map((bucket) => {
      const place = make(
        "button",
        {
          type: "button",
          class: bucket.members.length > 1 ? "bucket shared" : "bucket",
          "aria-label": bucketName(facts, bucket, at + 1),
          onmouseenter: () => light(bucket, place),
          onmouseleave: () => light(null, null),
          onfocus: () => light(bucket, place),
          onblur: () => light(null, null),
        },
        make("span", { class: "key" }, bucket.key.map(valueText).join(" ")),
        " ",
        make("span", { class: "members" }, bucket.members.flatMap((one) => [memberChip(facts, one), " "])),
      );
      return make("li", {}, place);
    });
    const heading = make("p", {}, make("b", {}, `Band ${at + 1}`), ` ${title}`);
    return make("li", { class: "band" }, heading, make("ul", {}, places));
  });
  const left = facts.buckets.length - bands.length;
  const more = left ? make("p", { class: "note" }, `… and ${plural(left, "more band")}.`) : null;
  put("bands-figure", make("ol", { class: "bands" }, bands), said, more);
  light(null, null);
}

const WHERE_TO_POINT = "A bucket with a strong border has two members or more.";

// Begins with what is seen, so that whoever speaks to the page can name it.
function bucketName(facts, bucket, band) {
  const names = bucket.members.map((one) => facts.labels[one]).join(" ");
  return `${bucket.key.map(valueText).join(" ")} ${names}: band ${band}, ${bucketSentence(facts, bucket)}`;
}

function bucketSentence(facts, bucket) {
  const names = bucket.members.map((one) => facts.labels[one]).join(", ");
  const verb = bucket.members.length > 1 ? "share" : "alone in";
  return `${names} ${verb} the bucket ${bucket.key.map(valueText).join(" ")}`;
}

// What becomes of a pair: found, a false positive, missed, or rightly left alone.
function verdict(exact, isCandidate, threshold) {
  if (isCandidate) return exact >= threshold ? "pair" : "false positive";
  return exact >= threshold ? "false negative" : "not compared";
}

const VERDICT_MARKS = { pair: "✓", "false positive": "✗", "false negative": "!", "not compared": "" };

function showCheck(facts) {
  const shared = new Map(facts.candidates.map((one) => [`${one.one} ${one.other}`, one.bands]));
  const tables = make("div");
  const said = make("p", { class: "legend", "aria-live": "polite", id: "check-said" });

  function line(pair, threshold) {
    const bands = shared.get(`${pair.one} ${pair.other}`);
    const found = verdict(pair.exact, Boolean(bands), threshold);
    const name = pairName(facts, pair);
    const isStruck = found === "false positive";
    const which = bands ? bands.slice(0, 12).join(", ") + (bands.length > 12 ? ", …" : "") : "none";
    return {
      found,
      attributes: { class: found.replace(" ", "-"), "data-pair": name },
      cells: [
        isStruck ? make("s", {}, name) : name,
        bands ? `${bands.length} of ${facts.bands}` : "0",
        which,
        share(pair.exact),
        make("span", { class: "verdict" }, VERDICT_MARKS[found], " ", found),
      ],
    };
  }

  function show(threshold) {
    const lines = bySimilarity(facts).map((pair) => line(pair, threshold));
    const heads = ["pair", "bands shared", "which", "exact", "verdict"];
    tables.replaceChildren(table("Every pair, and what became of it", heads, lines, { id: "verdicts" }));
    const count = (kind) => lines.filter((one) => one.found === kind).length;
    said.textContent =
      `${facts.candidates.length} of ${plural(lines.length, "pair")} are candidates. ` +
      `From ${threshold} up: ${plural(count("pair"), "pair")} found, ` +
      `${plural(count("false positive"), "false positive")} struck out, ` +
      `${plural(count("false negative"), "false negative")}.`;
  }

  const threshold = slider("threshold", {
    id: "check-threshold",
    min: 0.01,
    max: 1,
    step: 0.01,
    value: facts.threshold,
    change: show,
  });
  put("check-figure", make("div", { class: "controls" }, threshold.node), said, tables);
  show(facts.threshold);
}
