import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { openBundle } from './compiled.ts';

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-compiled-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const kept = (folder: string): string => join(folder, 'compiled', 'one.js.bin');

/** Loads `one.js` of the folder and keeps what was compiled. */
function loadAndKeep(folder: string): unknown {
  const bundle = openBundle(folder);
  const exports = bundle.load('one.js');
  bundle.keep();
  return exports;
}

test('a module gets what a CommonJS module gets, once, and finds its neighbours, packages and what Node has', () => {
  const folder = folderOf({
    'one.js':
      "const { two } = require('./two.js'); exports.all = [two, require('./two.js').two, module.exports === exports, this === exports, __filename, __dirname, typeof require('hono').Hono, require('node:path').sep];",
    'two.js': 'exports.two = {};',
  });
  // Where packages are looked for: beside the file.
  const beside = mkdtempSync(join(process.cwd(), '.built-'));
  atEnd(() => rmSync(beside, { recursive: true, force: true }));
  for (const name of ['one.js', 'two.js']) writeFileSync(join(beside, name), readFileSync(join(folder, name)));
  const { all } = openBundle(beside).load('one.js') as { readonly all: readonly unknown[] };
  expect(all[0]).toBe(all[1]);
  expect(all.slice(2)).toEqual([true, true, join(beside, 'one.js'), beside, 'function', '/']);
});

test('a module that failed is run again when it is asked for again, and its neighbours are not', () => {
  const folder = folderOf({
    'one.js':
      'const two = require("./two.js"); two.times = (two.times ?? 0) + 1; if (two.times === 1) throw new Error("once"); exports.times = two.times;',
    'two.js': '',
  });
  const bundle = openBundle(folder);
  expect(() => bundle.load('one.js')).toThrow('once');
  expect(bundle.load('one.js')).toEqual({ times: 2 });
});

test('a look at the clock goes through no getter of Node', () => {
  openBundle(folderOf({}));
  expect(Object.getOwnPropertyDescriptor(globalThis, 'performance')).toMatchObject({ value: performance });
});

test('what was compiled is used again', () => {
  const folder = folderOf({ 'one.js': 'exports.value = 1;' });
  expect(loadAndKeep(folder)).toEqual({ value: 1 });
  // Only a loader that uses the kept code can still give 1.
  const data = readFileSync(kept(folder)).subarray(32);
  const text = 'exports.value = 2;';
  writeFileSync(join(folder, 'one.js'), text);
  writeFileSync(kept(folder), Buffer.concat([digest(text, data), data]));
  expect(openBundle(folder).load('one.js')).toEqual({ value: 1 });
});

test('what was compiled does not tell where, and errors name the file all the same', () => {
  const folder = folderOf({ 'one.js': 'exports.fail = () => { throw new Error("on purpose"); };' });
  loadAndKeep(folder);
  expect(readFileSync(kept(folder)).includes(folder)).toBe(false);
  const { fail } = openBundle(folder).load('one.js') as { readonly fail: () => void };
  expect(fail).toThrow(
    expect.objectContaining({ stack: expect.stringContaining(`${join(basename(folder), 'one.js')}:1:`) }),
  );
});

test('a file that was changed since is compiled again, were it by one character', () => {
  const folder = folderOf({ 'one.js': 'exports.value = 1;' });
  loadAndKeep(folder);
  writeFileSync(join(folder, 'one.js'), 'exports.value = 2;');
  expect(openBundle(folder).load('one.js')).toEqual({ value: 2 });
});

test.each([
  ['nothing', () => Buffer.alloc(0)],
  ['half of it', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ['one bit that is another', (whole: Buffer) => whole.map((byte, i) => (i === whole.length - 40 ? byte ^ 1 : byte))],
  ['what another version of Node made', (whole: Buffer) => ofOtherVersion(whole, 'exports.value = 1;')],
])('%s in place of what was kept does no harm', (_, damage) => {
  const folder = folderOf({ 'one.js': 'exports.value = 1;' });
  loadAndKeep(folder);
  writeFileSync(kept(folder), damage(readFileSync(kept(folder))));
  expect(openBundle(folder).load('one.js')).toEqual({ value: 1 });
});

test('what another version of Node made is not used, also where V8 would take it', () => {
  const folder = folderOf({ 'one.js': 'exports.value = 1;' });
  loadAndKeep(folder);
  const data = readFileSync(kept(folder)).subarray(32);
  // Only a loader that uses the kept code can still give 1.
  const text = 'exports.value = 2;';
  writeFileSync(join(folder, 'one.js'), text);
  writeFileSync(kept(folder), Buffer.concat([digest(text, data, 'v20.0.0'), data]));
  expect(openBundle(folder).load('one.js')).toEqual({ value: 2 });
});

function digest(text: string, data: Buffer, version = process.version): Buffer {
  return createHash('sha256').update(version).update(text).update(data).digest();
}

/** V8 itself knows by the version in its own header, after four bytes. */
function ofOtherVersion(whole: Buffer, text: string): Buffer {
  const data = Buffer.from(whole.subarray(32));
  data.writeUInt32LE((data.readUInt32LE(4) ^ 1) >>> 0, 4);
  return Buffer.concat([digest(text, data), data]);
}

test('where nothing is kept a module runs all the same, and one that is not there is said to be missing', () => {
  const folder = folderOf({ 'one.js': 'exports.value = 1;' });
  mkdirSync(dirname(kept(folder)));
  const bundle = openBundle(folder);
  expect(bundle.load('one.js')).toEqual({ value: 1 });
  expect(() => bundle.load('none.js')).toThrow('none.js');
});
