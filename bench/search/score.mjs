// The measures of the benchmark, for one query or as the mean over many.

/**
 * `gold` are the wanted tools, `alternatives[id]` those that are as good as one of them. Each wanted tool counts once,
 * for the first result that stands for it. Recall is over all wanted tools; nDCG is relative to the best order that its
 * depth allows.
 */
export function scoreQuery(ranked, gold, alternatives = {}) {
  const wanted = gold.map((id) => new Set([id, ...(alternatives[id] ?? [])]));
  const hits = ranked.slice(0, 10).map((id) => {
    const found = wanted.findIndex((tools) => tools.has(id));
    if (found === -1) return 0;
    wanted.splice(found, 1);
    return 1;
  });
  return {
    recall1: sum(hits.slice(0, 1)) / gold.length,
    recall5: sum(hits.slice(0, 5)) / gold.length,
    recall10: sum(hits) / gold.length,
    ndcg5: gain(hits, 5) / gain(Array(gold.length).fill(1), 5),
    first: hits.indexOf(1) === -1 ? 0 : 1 / (hits.indexOf(1) + 1),
  };
}

/** The mean of each measure. */
export function mean(scores) {
  return Object.fromEntries(
    Object.keys(scores[0]).map((measure) => [measure, sum(scores.map((score) => score[measure])) / scores.length]),
  );
}

function gain(hits, depth) {
  return sum(hits.slice(0, depth).map((hit, i) => hit / Math.log2(i + 2)));
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
