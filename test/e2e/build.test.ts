import { isAscii } from 'node:buffer';
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

test('V8 takes what was compiled ahead for a hub that starts', () => {
  const files = readdirSync('dist/compiled').filter((name) => name.endsWith('.bin'));
  expect(files).toContain('start-hub.js.bin');
  const program = `
    const { readFileSync } = require('node:fs');
    const { wrap } = require('node:module');
    const { Script } = require('node:vm');
    // Sets the flags that the hub sets itself.
    require('./dist/compiled.js').openBundle('dist');
    // So does the thread of the embedded database, for the whole process, before it sees that this is not one.
    let refusal = 'embedded-worker.js was loaded';
    try { require('./dist/embedded-worker.js'); } catch (error) { refusal = error.message; }
    if (!refusal.includes('is a worker thread of the hub')) console.log(refusal);
    for (const file of ${JSON.stringify(files)}) {
      const cachedData = readFileSync('dist/compiled/' + file).subarray(32);
      const { cachedDataRejected } = new Script(wrap(readFileSync('dist/' + file.slice(0, -4), 'utf8')), { cachedData });
      if (cachedDataRejected) console.log(file);
    }`;
  expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })).toMatchObject({
    stdout: '',
    stderr: '',
  });
});

test('what a start loads is ASCII, of which V8 keeps a byte for each character, and two of any other text', () => {
  const files = readdirSync('dist/compiled').filter((name) => name.endsWith('.bin'));
  const others = files.filter((name) => !isAscii(readFileSync(join('dist', name.slice(0, -'.bin'.length)))));
  expect(others).toEqual([]);
});

test('no file that is compiled ahead, or may be, imports when it runs: Node would warn, or refuse', () => {
  const files = readdirSync('dist').filter((name) => name.endsWith('.js') && !name.endsWith('-worker.js'));
  expect(files.filter((name) => /\bimport\(\s*["'`]/.test(readFileSync(join('dist', name), 'utf8')))).toEqual([]);
});

test('a start makes no code from texts, to check the environment or the settings with', () => {
  const program = `
    const made = [];
    globalThis.Function = new Proxy(Function, {
      construct: (target, args) => (made.push(args.at(-1)), Reflect.construct(target, args)),
    });
    const bundle = require('./dist/compiled.js').openBundle(process.cwd() + '/dist');
    bundle.load('env.js').readProcessEnv({});
    bundle.load('parse-settings.js');
    console.log(JSON.stringify(made));`;
  expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })).toMatchObject({
    stdout: '[]\n',
    stderr: '',
  });
});

test('V8 takes what Node has compiled ahead of its own modules for a hub that starts', () => {
  // The tag goes by the version of V8 and its flags.
  const tag = "require('node:v8').cachedDataVersionTag()";
  const program = `
    const { Module } = require('node:module');
    const real = Module._load;
    const tags = {};
    Module._load = (id, ...rest) => {
      if (id === 'node:crypto' || id === 'node:http') tags[id] ??= ${tag};
      return real(id, ...rest);
    };
    // With this one Node loads its HTTP client.
    const { Response } = globalThis;
    Object.defineProperty(globalThis, 'Response', { get: () => ((tags.Response ??= ${tag}), Response) });
    const bundle = require('./dist/compiled.js').openBundle(process.cwd() + '/dist');
    bundle.load('start-hub.js');
    bundle.load('web-classes.js');
    console.log(JSON.stringify(tags));`;
  const usual = Number(spawnSync(process.execPath, ['-p', tag], { encoding: 'utf8' }).stdout);
  expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })).toMatchObject({
    stdout: `${JSON.stringify({ 'node:crypto': usual, 'node:http': usual, Response: usual })}\n`,
    stderr: '',
  });
});

test('the streams of the terminal, for which Node loads modules too, come before the flags of the hub', () => {
  const program = `
    const { cachedDataVersionTag } = require('node:v8');
    const { stdout } = process;
    let tag;
    Object.defineProperty(process, 'stdout', { get: () => ((tag ??= cachedDataVersionTag()), stdout) });
    const { exit } = process;
    process.exit = () => (console.log(tag), exit(0));
    process.argv = [process.argv[0], 'dist/cli.js', '--version'];
    require('./dist/cli.js');`;
  const usual = spawnSync(process.execPath, ['-p', "require('node:v8').cachedDataVersionTag()"], { encoding: 'utf8' });
  const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  expect(stdout.trim().split('\n').at(-1)).toBe(usual.stdout.trim());
});

test('what V8 is told to have again while a module of Node is loaded is what it has by itself', () => {
  const program = "console.log(require('./dist/v8-flags.js').usualFlags.join('\\n'))";
  const usual = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout.trim().split('\n');
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const defaults = new Set(Array.from(stdout.matchAll(/ default: (--\S+)$/gm), ([, flag]) => flag));
  expect(usual).toHaveLength(3);
  expect(usual.filter((flag) => !defaults.has(flag))).toEqual([]);
});
