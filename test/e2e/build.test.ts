import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pruneDist } from '../../scripts/prune-dist.mjs';
import { atEnd } from '../kit/at-end.ts';

test('a build leaves nothing of what the sources have no more, and what is there stays where it is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-build-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  };
  const made = ['dist/cli.js', 'dist/cli.js.map', 'dist/database/migrations/0002-new.sql', 'dist/web/index.html'];
  const stale = ['dist/gone.js', 'dist/gone.js.map', 'dist/cli.test.js', 'dist/database/migrations/0002-old.sql'];
  for (const path of [...made, ...stale, 'dist/room/gone.js', 'dist/notes.txt']) write(path);
  for (const path of ['src/cli.ts', 'src/cli.test.ts', 'src/database/migrations/0002-new.sql']) write(path);
  pruneDist(join(folder, 'dist'), join(folder, 'src'));
  expect(made.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  expect([...stale, 'dist/room', 'dist/notes.txt'].filter((path) => existsSync(join(folder, path)))).toEqual([]);
  // A first build has nothing to take out.
  pruneDist(join(folder, 'none'), join(folder, 'src'));
});
