// Put the lesson on the page, step by step.

function start() {
  const facts = JSON.parse(byId("data").textContent);
  const choice = new Choice();
  fillFacts(facts);
  if (!facts.functions.length) byId("rows").remove();
  showContents();
  const isDocuments = facts.kind === "documents";
  if (isDocuments) {
    showDocuments(facts);
    showShingles(facts);
  }
  showMatrix(facts, choice);
  showSimilarities(facts, choice);
  showPermutation(facts);
  if (facts.functions.length) showRowByRow(facts);
  showSignatures(facts, choice);
  if (isDocuments) {
    showBands(facts);
    showCheck(facts);
  }
  const curve = new CurveFigure(facts);
  new AngleFigure(facts);
  showExercises(facts, curve);
  choice.choose(usualPair(facts));
  // What is folded on the screen is open on paper.
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
}

start();
