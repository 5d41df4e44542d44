// src/ → dist/, web/ → dist/web. `npm start` calls it each time: it takes a second, so that no staleness check is worth its bugs; the dashboard is built again
// only when a file it is made of has changed. Types are checked by `npm run types`.
import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { buildWeb } from './build-web.mjs';
import { bundle } from './bundle.mjs';
import { pruneDist } from './prune-dist.mjs';

const entries = {
  cli: 'src/cli.ts',
  'embedded-worker': 'src/database/embedded-worker.ts',
  'embedded-maker': 'src/database/embedded-maker.ts',
};
const migrations = 'src/database/migrations';
const made = [...(await bundle(entries, 'dist')), ...readdirSync(migrations).map((name) => `migrations/${name}`)];
cpSync(migrations, 'dist/migrations', { recursive: true });
chmodSync('dist/cli.js', 0o755);
pruneDist('dist', made);
await buildWeb();
