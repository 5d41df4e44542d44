import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pruneDist } from '../../scripts/prune-dist.mjs';
import { atEnd } from '../kit/at-end.ts';

test('a build leaves nothing of what it does not make any more, and what is there stays where it is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-build-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  };
  const made = ['cli.js', 'migrations/0002-new.sql'];
  const stale = ['gone.js', 'cli.js.map', 'migrations/0002-old.sql', 'room/gone.js', 'webs/index.html'];
  for (const path of [...made, ...stale, 'web/index.html']) write(path);
  pruneDist(folder, made);
  expect([...made, 'web/index.html'].filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  expect([...stale, 'room', 'webs'].filter((path) => existsSync(join(folder, path)))).toEqual([]);
  // A first build has nothing to take out.
  pruneDist(join(folder, 'none'), made);
});
