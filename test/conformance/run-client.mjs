// Runs the official conformance suite against the hub as a client: the suite plays the server, the hub connects to it,
// and a client in front makes the hub do what a scenario wants to see (hub-client.mjs).
//   npm run conformance:client [-- <scenario>] [<revision>]      for example: npm run conformance:client --
// http-custom-headers 2026-07-28 Exits with 77 where the suite is not there and cannot be installed. Fails as run.mjs
// does, by baseline/client.<revision>.yml. Results: .test-results/conformance/
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { judge } from './judge.mjs';
import { installSuite, runClientScenario, scoredScenarios } from './suite.mjs';

const revisions = ['2025-11-25', '2026-07-28'];

/** Not scored, because they came with a later release of the suite; the hub passes them. */
const more = ['json-schema-2020-12-preservation'];

const command = `${process.execPath} ${fileURLToPath(new URL('hub-client.mjs', import.meta.url))}`;
const results = fileURLToPath(new URL('../../.test-results/conformance/', import.meta.url));
const given = process.argv.slice(2);

process.exitCode = installSuite() ? ((await run()) ? 0 : 1) : 77;

async function run() {
  const lines = [];
  let green = true;
  for (const revision of revisions) {
    if (given.some((word) => revisions.includes(word) && word !== revision)) continue;
    const wanted = given.filter((word) => !revisions.includes(word));
    const scenarios = [...new Set([...scoredScenarios(revision, 'client'), ...more])].filter(
      (scenario) => wanted.length === 0 || wanted.includes(scenario),
    );
    const folder = join(results, `client.${revision}`);
    const checks = new Map();
    // One after the other: each starts a hub, and a scenario has 30 s.
    for (const scenario of scenarios) {
      const found = await runClientScenario({ scenario, revision, command, folder });
      if (found) checks.set(scenario, found);
    }
    const known = baseline(revision).filter((entry) => scenarios.includes(entry.slice(0, entry.lastIndexOf(':'))));
    const verdict = judge(checks, scenarios, known);
    report(revision, verdict);
    lines.push(
      `client   ${revision}   ${verdict.passed.length}/${scenarios.length}   checks: ` +
        `${verdict.known.length} known to fail, ${verdict.unexpected.length} unexpected, ${verdict.stale.length} stale`,
    );
    green &&= verdict.unexpected.length === 0 && verdict.stale.length === 0;
  }
  console.log(`\n${lines.join('\n')}\n`);
  return green;
}

function report(revision, { unexpected, stale }) {
  for (const { entry, message } of unexpected)
    console.log(`client ${revision}  FAILS  ${entry}  ${message.slice(0, 300)}`);
  for (const entry of stale)
    console.log(`client ${revision}  STALE  ${entry}  no longer fails: take it out of the baseline`);
}

function baseline(revision) {
  const file = fileURLToPath(new URL(`baseline/client.${revision}.yml`, import.meta.url));
  return existsSync(file) ? (load(readFileSync(file, 'utf8'))?.client ?? []) : [];
}
