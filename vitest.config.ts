import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/kit/build.ts', 'test/kit/run-postgres.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Two cores, and many suites start child processes: more workers only make them fight.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
