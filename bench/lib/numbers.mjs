// What is made of readings.

export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? NaN : sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

export const median = (values) => {
  const sorted = [...values].filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

/** Three digits that count: more would be noise. What is left of a difference of equal numbers is 0. */
export const rounded = (value) =>
  Number.isFinite(value) ? (Math.abs(value) < 1e-9 ? 0 : Number(value.toPrecision(3))) : null;

/** The median of each number over the rounds of one cell. */
export function medians(rounds) {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))];
  return Object.fromEntries(names.map((name) => [name, rounded(median(rounds.map((round) => round[name])))]));
}

export const after = (ms) => new Promise((done) => setTimeout(done, ms));
