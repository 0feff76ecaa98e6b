// The textbook's exercises on bands, answered; the numbers come with the lesson.

function exercise(id, title, question, ...answer) {
  return make(
    "article",
    { class: "exercise", id },
    make("h3", {}, title),
    make("p", {}, question),
    make("details", {}, make("summary", {}, "Answer"), answer),
  );
}

function curveName({ rows, bands }) {
  return `r = ${rows}, b = ${bands}`;
}

function showExercises(facts, curve) {
  const { exercises } = facts;
  const { curves } = exercises;
  const names = curves.map(curveName);

  function onSliders(one) {
    return button(`Show ${curveName(one)} on the curve`, () => {
      curve.set(one);
      byId("curve").scrollIntoView();
      byId("curve-bands").focus({ preventScroll: true });
    });
  }
  const showThem = make("div", { class: "controls" }, curves.map(onSliders));

  const values = exercise(
    "exercise-1",
    "3.4.1 Points of the curve",
    [
      "Compute 1 − (1 − s", make("sup", {}, "r"), ")", make("sup", {}, "b"),
      ` for s = 0.1, 0.2, …, 0.9, for ${names.join("; ").replaceAll(" = ", "\u00a0=\u00a0")}.`,
    ],
    table(
      "Probability of being a candidate",
      ["s", ...names],
      exercises.similarities.map((s, at) => [s.toFixed(1), ...curves.map((one) => share(one.chances[at]))]),
      { id: "exercise-1-answer" },
    ),
    showThem,
  );

  const thresholds = exercise(
    "exercise-2",
    "3.4.2 The threshold",
    "For each of the three, find the s at which the probability is exactly 1/2. How good is the rule of thumb?",
    make(
      "p", {}, "From 1 − (1 − s", make("sup", {}, "r"), ")", make("sup", {}, "b"), " = ½ follows s = (1 − (½)",
      make("sup", {}, "1/b"), ")", make("sup", {}, "1/r"), ". The rule of thumb is (1/b)", make("sup", {}, "1/r"),
      ". It is always a little high: there the probability is already about 1 − 1/e = 0.63, not 1/2.",
    ),
    table(
      "Where the curve rises",
      ["", "one half at", "rule of thumb", "difference"],
      curves.map((one) => [
        curveName(one), one.half.toFixed(4), one.rule.toFixed(4), `+${(one.rule - one.half).toFixed(4)}`,
      ]),
      { id: "exercise-2-answer" },
    ),
  );

  const small = exercise(
    "exercise-3",
    "3.4.3 Where agreement is rare",
    ["Give an estimate of the curve for the case that s", make("sup", {}, "r"), " is very small."],
    make(
      "p", {}, "Write x for s", make("sup", {}, "r"), ". For small x, (1 − x)", make("sup", {}, "1/x"),
      " is nearly 1/e, so (1 − x)", make("sup", {}, "b"), " is nearly e", make("sup", {}, "−bx"),
      ". The curve is nearly 1 − e", make("sup", {}, "−b·s^r"), ", and while b·s", make("sup", {}, "r"),
      " is small too, nearly b·s", make("sup", {}, "r"), " itself.",
    ),
    table(
      "Exact, and by the estimate",
      ["s", ...names.flatMap((name) => [name, "estimate"])],
      exercises.small.map((s, at) => [
        s.toFixed(1),
        ...curves.flatMap((one) => [one.chances[exercises.similarities.indexOf(s)].toFixed(6), one.small[at].toFixed(6)]),
      ]),
      { id: "exercise-3-answer" },
    ),
  );
  put("exercises-list", values, thresholds, small, mapReduce(facts), errors(exercises.noted, onSliders));
}

// Two rounds of map and reduce, on the buckets of this lesson where there are some.
function mapReduce(facts) {
  const steps = make(
    "ol", {},
    make("li", {}, "Map takes a column i with its signature, and gives for each band k the pair of the key (k, the rows of band k) and the value i. Reduce collects the values of a key: each key with its columns is a bucket."),
    make("li", {}, "Map takes a bucket, and gives for every two of its columns i < j the pair (i, j). Reduce collects for each i all j, each once: the columns with which i is to be compared."),
  );
  const question = "Signatures are spread over many machines, a column to an element. How do two rounds of map and reduce give the buckets of all bands, and then for each column i the columns j > i to compare it with?";
  const answer = [steps];
  if (facts.buckets) {
    const buckets = facts.buckets.flatMap((band, at) => band.map((bucket) => [at + 1, bucket]));
    const shared = buckets.filter(([, bucket]) => bucket.members.length > 1).slice(0, 12);
    const name = (member) => facts.labels[member];
    answer.push(
      table(
        "After the first round, here: the buckets of two or more",
        ["band", "rows of the band", "columns"],
        shared.map(([band, bucket]) => [band, bucket.key.join(" "), bucket.members.map(name).join(", ")]),
        { id: "exercise-4-buckets" },
      ),
    );
    const lists = facts.labels.map((label, one) => {
      const others = facts.candidates.filter((pair) => pair.one === one).map((pair) => name(pair.other));
      return [label, others.join(", ") || "none"];
    });
    answer.push(table("After the second", ["column i", "columns j to compare it with"], lists, { id: "exercise-4-lists" }));
  }
  return exercise("exercise-4", "3.4.4 With map and reduce", question, answer);
}

function errors(noted, onSliders) {
  const { rows, bands, similar, dissimilar, missed, taken } = noted;
  const question = `The threshold is 0.5. With ${bands} bands of ${rows} rows, with what probability is a pair of similarity ${similar} missed? With what probability is a pair of ${dissimilar} a candidate?`;
  return exercise(
    "exercise-5",
    "Two kinds of error",
    question,
    make(
      "p", {}, `The first is a false negative: (1 − ${similar}`, make("sup", {}, rows), ")", make("sup", {}, bands), " = ",
      make("b", { "data-number": "missed" }, missed.toFixed(4)), `. The second is a false positive: 1 − (1 − ${dissimilar}`,
      make("sup", {}, rows), ")", make("sup", {}, bands), " = ", make("b", { "data-number": "taken" }, taken.toFixed(6)),
      ". Three bands are too few: more of them would miss less, and let more unlike pairs through, which the exact check strikes out.",
    ),
    make("div", { class: "controls" }, onSliders(noted)),
  );
}
