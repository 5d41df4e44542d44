import { defineConfig } from 'vitest/config';

/** The tests beside the code that is changed, and no others: each change is tried with those that reach it. */
export default defineConfig({
  test: {
    include: ['src/core/{access,policies,pins}/**/*.test.ts', 'src/mcp/relay/*.test.ts', 'src/governance/*.test.ts'],
    testTimeout: 60_000,
    // All files of a run in one thread: they share what they load, the engine of policies above all. Half the time.
    isolate: false,
  },
});
