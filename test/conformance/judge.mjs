// Compares what failed with what is known to fail. Stricter than the suite's own comparison: an entry whose check did
// not run is stale too.

/**
 * What failed in a scenario: `Map<check id, message>`. A warning is a SHOULD that was not kept, and fails; so does a
 * scenario that found nothing to test.
 */
function failures(checks) {
  const failed = new Map();
  if (!checks) return failed.set('ran', 'The scenario did not run.');
  for (const { id, status, errorMessage = '' } of checks) {
    if ((status === 'FAILURE' || status === 'WARNING') && !failed.has(id)) failed.set(id, errorMessage);
  }
  const tested = checks.some(({ id, status }) => status === 'SUCCESS' && id !== 'wire-schema-valid');
  if (!tested && failed.size === 0) failed.set('tested', 'The scenario tested nothing.');
  return failed;
}

/**
 * `results`: scenario to checks. `expected`: scenarios that must have run. `baseline`: `scenario:check` strings that
 * may fail. Answers which of the expected scenarios passed, which failures are new, which were known, and which entries
 * no longer fail.
 */
export function judge(results, expected, baseline) {
  const known = new Set(baseline);
  const verdict = { passed: [], unexpected: [], known: [], stale: [] };
  for (const scenario of expected) {
    const failed = failures(results.get(scenario));
    if (failed.size === 0) verdict.passed.push(scenario);
    for (const [check, message] of failed) {
      const entry = `${scenario}:${check}`;
      verdict[known.delete(entry) ? 'known' : 'unexpected'].push({ entry, message });
    }
  }
  verdict.stale = [...known];
  return verdict;
}
