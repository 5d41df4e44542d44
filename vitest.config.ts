import { defineConfig } from 'vitest/config';
import { groupedByProject } from './test/kit/sequence.ts';

/** What hubs have that do not ask for a database themselves, as in test/kit/hub-database.ts; `each`: what keeps anything runs again on both kinds. */
const asked = process.env['TEST_DATABASE'] ?? 'off';
const database = asked === 'each' ? 'off' : asked;

/** What keeps anything, through the whole hub: on both kinds of database. The rooms' own tests open both by themselves. */
const keepers = [
  'test/e2e/api-{auth,bundles,canary,groups,keys,servers,settings,users}.test.ts',
  'test/e2e/surfaces.test.ts',
  'test/property/api-fuzz.test.ts',
];
/** What is kept in memory where there is no database: on both kinds and without. */
const recorders = ['test/e2e/api-{activity,logs}.test.ts'];
const onDatabases = [...keepers, ...recorders];

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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    ...more,
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/kit/build.ts'],
    // Two cores; most suites wait for processes about a third of their time.
    maxWorkers: 3,
    sequence: { sequencer: groupedByProject },
    projects: [
      project('hub', ['test/**/*.test.ts'], database, {
        exclude: ['**/node_modules/**', 'test/browser/**', ...(asked === 'each' ? keepers : [])],
      }),
      project('browser', ['test/browser/**/*.test.ts'], database, {
        setupFiles: ['test/kit/each-file.ts', 'test/browser/each-file.ts'],
      }),
      ...(asked === 'each'
        ? [project('postgres', onDatabases, 'postgres'), project('embedded', onDatabases, 'embedded')]
        : []),
      project('rooms', ['src/**/*.test.ts']),
    ],
  },
});
