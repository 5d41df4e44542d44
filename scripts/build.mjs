// Compiles src/ to dist/ and web/ to dist/web. `npm start` calls it each time: tsc is fast enough that no staleness check is worth its bugs; the
// dashboard is built again only when a file it is made of has changed.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync } from 'node:fs';
import { buildWeb } from './build-web.mjs';
import { pruneDist } from './prune-dist.mjs';

pruneDist('dist', 'src');

// First, so that a type error somewhere does not leave the build without its migrations.
cpSync('src/database/migrations', 'dist/database/migrations', { recursive: true });

const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
chmodSync('dist/cli.js', 0o755);
await buildWeb();
