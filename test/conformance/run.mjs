// Runs the official conformance suite through the hub: every kind of server behind it, both revisions in front of it.
//   npm run conformance [-- <endpoint>] [<revision>]      for example: npm run conformance -- http-old 2026-07-28
// Exits with 77 where the suite is not there and cannot be installed.
// Fails on a failure that baseline/<endpoint>.<revision>.yml does not name, and on a line there that no longer fails.
// Results: .test-results/conformance/
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { authorizationScenarios, runAuthorization } from './authorization.mjs';
import { judge } from './judge.mjs';
import { httpFixture, startHub, stdioFixture, tasksFixture } from './parties.mjs';
import { endSuite, installSuite, runSuite, scoredScenarios } from './suite.mjs';

const revisions = ['2025-11-25', '2026-07-28'];

/**
 * Not scored by the suite, because none could have passed them when the revision came out; the fixture does, so the hub
 * must. Left out: `tasks-*`, an extension the fixture does not have (`taskScenarios`), and `server-sse-polling`, which
 * looks at answers that are event streams, and whether one is depends on timing.
 */
const more = {
  '2025-11-25': ['server-session-lifecycle', 'json-schema-2020-12'],
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
};

/** All that have something to look at: `tasks-status-notifications` tests nothing, as it says. */
const taskScenarios = [
  'tasks-capability-negotiation',
  'tasks-dispatch-and-envelope',
  'tasks-lifecycle',
  'tasks-mrtr-composition',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-request-state-removal',
  'tasks-required-task-error',
  'tasks-wire-fields',
];

/**
 * `group`: two servers, whose names with the hub's prefix are those of the suite; `smart`: the search of them. `twins`:
 * two that offer the same, so that the suite's names lead nowhere. `tasks-group`: the one server of a group is known by
 * its own names as well. `authorization` is none: the hub as the authorization server of all of them.
 */
const endpoints = [
  'stdio-old',
  'stdio-new',
  'http-old',
  'http-new',
  'group',
  'twins',
  'smart',
  'tasks',
  'tasks-group',
  'authorization',
];

/**
 * What runs at the same time, since a run mostly waits: never two with a server in common, of which one would hear what
 * the other changes.
 */
const together = [
  [
    ['stdio-old', 'http-old'],
    ['stdio-new', 'http-new'],
  ],
  [
    ['group', 'smart'],
    ['twins', 'tasks', 'tasks-group', 'authorization'],
  ],
];

/** Where an endpoint is, unless it is called like its server or group. */
const paths = { smart: '$smart/smart' };

/** Scenarios about tools or prompts that an endpoint does not have under their names. */
const notJudged = {
  twins: /^tools-call-|^elicitation-|^prompts-get-|^input-required-result-(?!unsupported)|^json-schema|^http-custom/,
  smart: /^tools-call-|^elicitation-|^input-required-result-(?!unsupported|non-tool)|^json-schema|^http-custom/,
};

/** Tools that a smart endpoint lists beside the search: those that `server-stateless` cannot do without. */
const pinned = [
  'missing_capability',
  'streaming_elicitation',
  'logging_tool',
  'passing_tool',
  'trigger_tool_change',
  'trigger_prompt_change',
];

/** Exit code when there is no suite to run: neither passed nor failed. */
const cannotRun = 77;

const results = fileURLToPath(new URL('../../.test-results/conformance/', import.meta.url));

const given = process.argv.slice(2);
const opened = [];
process.exitCode = 1;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void closeAll().finally(() => process.exit(1)));
try {
  const green = await run();
  process.exitCode = green === undefined ? cannotRun : green ? 0 : 1;
} finally {
  await closeAll();
}

async function run() {
  if (!installSuite()) return undefined;
  const hub = await startParties();
  const runs = endpoints
    .flatMap((endpoint) => revisions.map((revision) => ({ endpoint, revision })))
    .filter(({ endpoint, revision }) => !endpoint.startsWith('tasks') || revision === '2026-07-28')
    .filter((one) => given.every((word) => one.endpoint === word || one.revision === word));
  if (runs.length === 0) throw new Error(`Nothing to run for: ${given.join(' ')}`);

  const verdicts = new Map();
  const runLane = async (lane) => {
    for (const one of runs.filter(({ endpoint }) => lane.includes(endpoint))) verdicts.set(one, await runOne(hub, one));
  };
  for (const lanes of together) await Promise.all(lanes.map(runLane));

  console.log(`\n${runs.map((one) => verdicts.get(one).line).join('\n')}\n`);
  return runs.every((one) => verdicts.get(one).green);
}

/** Runs one revision against one endpoint: `{ line, green }`. */
async function runOne(hub, { endpoint, revision }) {
  const name = `${endpoint.padEnd(13)} ${revision}`;
  const folder = join(results, `${endpoint}.${revision}`);
  const isEndpoint = endpoint !== 'authorization';
  const hasTasks = endpoint.startsWith('tasks');
  const scored = isEndpoint && !hasTasks ? judged(endpoint, scoredScenarios(revision)) : [];
  const other = hasTasks ? taskScenarios : isEndpoint ? judged(endpoint, more[revision]) : authorizationScenarios;
  const checks = isEndpoint
    ? await runSuite(`${hub.url}/mcp/${paths[endpoint] ?? endpoint}`, revision, folder)
    : await runAuthorization(hub, revision, folder);
  const verdict = judge(checks, [...scored, ...other], baseline(endpoint, revision));
  report(name, verdict);
  return {
    line:
      `${name}   scored ${passed(scored, verdict)}   more ${passed(other, verdict)}   checks: ` +
      `${verdict.known.length} known to fail, ${verdict.unexpected.length} unexpected, ${verdict.stale.length} stale`,
    green: verdict.unexpected.length === 0 && verdict.stale.length === 0,
  };
}

function judged(endpoint, scenarios) {
  const left = notJudged[endpoint];
  return left ? scenarios.filter((scenario) => !left.test(scenario)) : scenarios;
}

function passed(scenarios, verdict) {
  const count = scenarios.filter((scenario) => verdict.passed.includes(scenario)).length;
  return `${count}/${scenarios.length}`.padStart(5);
}

/** One hub with the four kinds of server, one with tasks, and groups. */
async function startParties() {
  const open = async (opening) => {
    const party = await opening;
    opened.push(party);
    return party;
  };
  const old = await open(httpFixture('old'));
  const now = await open(httpFixture('new'));
  const named = await open(httpFixture('new', 'test_'));
  const tasks = await open(tasksFixture());
  return open(
    startHub({
      mcpServers: {
        'stdio-old': stdioFixture('old'),
        'stdio-new': stdioFixture('new'),
        'http-old': old.config,
        'http-new': now.config,
        test: named.config,
        json: stdioFixture('old', 'json_'),
        tasks: tasks.config,
      },
      groups: [
        { name: 'group', servers: ['test', 'json'] },
        { name: 'smart', servers: [{ name: 'test', pinnedTools: pinned }, 'json'] },
        { name: 'twins', servers: ['stdio-old', 'http-new'] },
        { name: 'tasks-group', servers: ['tasks'] },
      ],
      systemConfig: { nameSeparator: '_' },
    }),
  );
}

function baseline(endpoint, revision) {
  const file = fileURLToPath(new URL(`baseline/${endpoint}.${revision}.yml`, import.meta.url));
  return existsSync(file) ? (load(readFileSync(file, 'utf8'))?.server ?? []) : [];
}

function report(name, { unexpected, stale }) {
  for (const { entry, message } of unexpected) console.log(`${name}  FAILS  ${entry}  ${message.slice(0, 300)}`);
  for (const entry of stale) console.log(`${name}  STALE  ${entry}  no longer fails: take it out of the baseline`);
}

async function closeAll() {
  endSuite();
  while (opened.length > 0) await opened.pop().close();
}
