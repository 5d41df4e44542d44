import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { file, instrumented } = JSON.parse(process.env['MUTATE'] ?? '{}') as { file: string; instrumented: string };

export default defineConfig({
  plugins: [
    {
      name: 'changes',
      enforce: 'pre',
      // The file with all its changes stands in the place of the file.
      load: (id) => (id === file ? readFileSync(instrumented, 'utf8') : undefined),
    },
  ],
  test: {
    include: ['test/mutation/tries.mjs'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: [{}],
    onConsoleLog: () => true,
    disableConsoleIntercept: true,
  },
});
