import { defineConfig } from 'vitest/config';
import { groupedByProject } from './test/kit/sequence.ts';

// Each Node that starts reads the certificates of this file, which takes more than half of its start, and the tests start
// hundreds; none of them speaks to another machine.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** What hubs have that do not ask for a database themselves (`test/kit/hub-database.ts`). `each`: the gate, in which `test/again` runs. */
const asked = process.env['TEST_DATABASE'] ?? 'off';
const database = asked === 'each' ? 'off' : asked;

/** `npm run test:fast`: without a build, and without what starts programs or databases. */
const fast = process.env['TEST_FAST'] !== undefined;
const slowTests = [
  'src/{cli,database,logs,bundles,backup}/**',
  'src/**/{nothing-lost,table,folder-lock,embeddings-database,kept,dedicated-connections,grants-in-table}.test.ts',
  'src/upstream/channels/{stdio/**,http/streamable-http.test.ts}',
  'src/{auth/{passwords,revocation-file},core/busy-map,governance/{approvals,shared-call-counts,shared-pins},http/records/logs,smart/embeddings}.test.ts',
  'src/smart/search-engine.property.test.ts',
];

/**
 * What runs again with hubs that have a database (`again.ts`), as files beside all others. On PostgreSQL what keeps
 * tokens, hashes and last uses beside the settings, which are in a file or there, and groups, in which parts of the
 * settings name each other: other settings are one document in either (`settings/table.test.ts`), which every route
 * changes in `api-fuzz`. On both kinds what is recorded, which is in memory where there is no database. The tests of
 * the modules open both by themselves.
 */
const againTests = 'test/again/*.test.ts';
/** What looks at all that is kept runs on both kinds of database, and in the gate nowhere else. */
const wholeTests = ['test/e2e/surfaces.test.ts', 'test/e2e/api-canary.test.ts', 'test/property/api-fuzz.test.ts'];

/** Test files one after the other in the same processes: loading the whole hub takes longer than most of them run. `each-file.ts` tidies up between them. */
const project = (name: string, include: string[], more: object = {}) => ({
  test: {
    name,
    include,
    env: { TEST_DATABASE: database },
    globalSetup: database === 'postgres' ? runPostgres : [],
    setupFiles: ['test/kit/each-file.ts'],
    pool: 'forks' as const,
    isolate: false,
    // Only for a test that would never end: one that is slow because others compute is not to fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As `until` waits.
    expect: { poll: { timeout: 30_000 } },
    ...more,
  },
});

const runPostgres = ['test/kit/run-postgres.ts'];
const withPages = { setupFiles: ['test/kit/each-file.ts', 'test/browser/each-file.ts'] };
const browserTests = 'test/browser/**/*.test.ts';
/** What needs no database; `modules` also without what is slow, for `npm run test:fast`. */
const plain = [
  project('hub', ['test/**/*.test.ts'], { exclude: ['**/node_modules/**', browserTests, againTests] }),
  project('browser', [browserTests], withPages),
  project('modules', ['src/**/*.test.ts', 'web/src/**/*.test.ts'], {
    exclude: ['**/node_modules/**', ...(fast ? slowTests : [])],
  }),
];
/** Tests that compare CPU time of their process: where many files ran before, it is that of collecting their garbage. */
export const measured = [
  'src/auth/passwords.test.ts',
  'src/core/schema/check.test.ts',
  'src/governance/approvals.test.ts',
  'src/smart/document.test.ts',
  'src/smart/search-engine.test.ts',
  'src/smart/words/actions.test.ts',
  'src/smart/words/analyzer.test.ts',
  'src/smart/words/clauses.test.ts',
  'src/smart/words/implied.test.ts',
  'src/upstream/channels/stdio/pipes.test.ts',
];
/** All others as one, since for each project its processes load the whole hub. */
const gate = [
  project('measured', measured),
  project('all', ['{test,src,web/src}/**/*.test.ts'], {
    ...withPages,
    globalSetup: runPostgres,
    exclude: ['**/node_modules/**', ...wholeTests, ...measured],
  }),
];

export default defineConfig({
  test: {
    globalSetup: fast ? [] : ['test/kit/build.ts'],
    // The projects have the same modules: transformed once, not by each.
    experimental: { fsModuleCache: true },
    // Two cores; most suites wait for processes about a third of their time. Six took as long, and each had less CPU.
    maxWorkers: 4,
    sequence: { sequencer: groupedByProject },
    projects: [
      ...(asked === 'each' ? gate : plain),
      // `npm run chaos`: minutes, so it is not in the gate.
      ...(process.env['CHAOS'] === undefined
        ? []
        : [project('chaos', ['test/chaos/*.chaos.ts'], { testTimeout: 1_800_000 })]),
    ],
  },
});
