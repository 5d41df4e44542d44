// src/ → dist/, web/ → dist/web. `npm start` calls it each time: it takes a second, so that no staleness check is worth
// its bugs; the dashboard is built again only when a file it is made of has changed. Types are checked by `npm run
// types`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { buildDatabase } from './build-database.mjs';
import { buildWeb } from './build-web.mjs';
import { bundle } from './bundle.mjs';
import { pruneDist } from './prune-dist.mjs';

const entries = {
  cli: 'src/cli.ts',
  main: 'src/cli/run.ts',
  compiled: 'src/cli/compiled.ts',
  'v8-flags': 'src/cli/v8-flags.ts',
  'embedded-worker': 'src/database/embedded-worker.ts',
  'code-worker': 'src/mcp/code/code-worker.ts',
  'document-worker': 'src/upstream/channels/openapi/document-worker.ts',
  'embedded-maker': 'src/database/embedded-maker.ts',
  'make-archive': 'src/database/make-archive.ts',
};
const migrations = 'src/database/migrations';
const made = [...(await bundle(entries, 'dist')), ...readdirSync(migrations).map((name) => `migrations/${name}`)];
cpSync(migrations, 'dist/migrations', { recursive: true });
chmodSync('dist/cli.js', 0o755);
pruneDist('dist', made);
await Promise.all([compileAhead(), buildWeb(), buildDatabase()]);

/**
 * Who sets `NODE_OPTIONS` for the build most likely starts the hub with them too. Where it fails the hub starts slower,
 * and still does what it does.
 */
async function compileAhead() {
  const stdio = ['ignore', 'ignore', 'inherit'];
  const { PATH = '', NODE_OPTIONS = '' } = process.env;
  const env = { PATH, NODE_OPTIONS };
  const [code] = await once(spawn(process.execPath, ['scripts/compile-ahead.mjs'], { stdio, env }), 'exit');
  if (code !== 0)
    process.stderr.write(`Nothing was compiled ahead (exit code ${code}); the hub starts slower for it.\n`);
}
