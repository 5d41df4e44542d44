import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

test.each([
  ['by npm start', startFlags()],
  ['by the command', []],
])('V8 takes what was compiled ahead for a hub that is started %s', (_, flags) => {
  const folder = join('dist', flags.length === 0 ? 'compiled' : 'compiled-start');
  const files = readdirSync(folder).filter((name) => name.endsWith('.bin'));
  expect(files).toContain('start-hub.js.bin');
  const program = `
    const { readFileSync } = require('node:fs');
    const { wrap } = require('node:module');
    const { Script } = require('node:vm');
    // Sets the flags that the hub sets itself.
    require('./dist/compiled.js').openBundle('dist');
    for (const file of ${JSON.stringify(files)}) {
      const cachedData = readFileSync('${folder}/' + file).subarray(32);
      const { cachedDataRejected } = new Script(wrap(readFileSync('dist/' + file.slice(0, -4), 'utf8')), { cachedData });
      if (cachedDataRejected) console.log(file);
    }`;
  expect(spawnSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8' })).toMatchObject({
    stdout: '',
    stderr: '',
  });
});

/** What `npm start` gives Node before the program. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return / node (.*)dist\/cli\.js/.exec(scripts.start)?.[1]?.trim().split(' ') ?? [];
}
