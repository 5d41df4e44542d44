import { defineConfig } from 'vitest/config';
import { groupedByProject } from './test/kit/sequence.ts';

/** What hubs have that do not ask for a database themselves, as in test/kit/hub-database.ts; `each`: what keeps anything runs again on both kinds. */
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
 * What keeps tokens, hashes and last uses beside the settings, which are in a file or in PostgreSQL: both run, and so
 * do groups, in which parts of the settings name each other. Other settings are one document in either
 * (`settings/table.test.ts`), which every route changes in `api-fuzz`.
 */
const settingsTests = ['test/e2e/api-{auth,groups,keys,users}.test.ts'];
/** What looks at all that is kept: on both kinds of database. The tests of the modules open both by themselves. */
const wholeTests = ['test/e2e/surfaces.test.ts', 'test/e2e/api-canary.test.ts', 'test/property/api-fuzz.test.ts'];
/** What is recorded is in memory where there is no database. */
const recordTests = ['test/e2e/api-{activity,logs}.test.ts'];

/** Test files one after the other in the same processes: loading the whole hub takes longer than most of them run. `each-file.ts` tidies up between them. */
const project = (name: string, include: string[], kind = database, more: object = {}) => ({
  test: {
    name,
    include,
    env: { TEST_DATABASE: kind },
    globalSetup: kind === 'postgres' ? ['test/kit/run-postgres.ts'] : [],
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

const withPages = { setupFiles: ['test/kit/each-file.ts', 'test/browser/each-file.ts'] };
const browserTests = 'test/browser/**/*.test.ts';
/** What needs no database; `modules` also without what is slow, for `npm run test:fast`. */
const plain = [
  project('hub', ['test/**/*.test.ts'], database, { exclude: ['**/node_modules/**', browserTests] }),
  project('browser', [browserTests], database, withPages),
  project('modules', ['src/**/*.test.ts', 'web/src/**/*.test.ts'], database, {
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
  'src/upstream/channels/stdio/lines.test.ts',
];
/** What runs again on each database, and the others as one, since for each project its processes load the whole hub. */
const gate = [
  project('measured', measured),
  project('postgres', [...settingsTests, ...wholeTests, ...recordTests], 'postgres'),
  project('embedded', [...wholeTests, ...recordTests], 'embedded'),
  project('all', ['{test,src,web/src}/**/*.test.ts'], database, {
    ...withPages,
    exclude: ['**/node_modules/**', ...wholeTests, ...measured],
  }),
];

export default defineConfig({
  test: {
    globalSetup: fast ? [] : ['test/kit/build.ts'],
    // The projects have the same modules: transformed once, not by each.
    experimental: { fsModuleCache: true },
    // Two cores; most suites wait for processes about a third of their time. Five took as long.
    maxWorkers: 4,
    sequence: { sequencer: groupedByProject },
    projects: [
      ...(asked === 'each' ? gate : plain),
      // `npm run chaos`: minutes, so it is not in the gate.
      ...(process.env['CHAOS'] === undefined
        ? []
        : [project('chaos', ['test/chaos/*.chaos.ts'], database, { testTimeout: 1_800_000 })]),
    ],
  },
});
