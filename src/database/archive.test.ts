import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder } from '../../test/kit/databases.ts';
import { pack, unpack } from './archive.ts';

const versions = { pglite: '0.5.14', pgvector: '0.0.15' };
const log = Buffer.concat([Buffer.from('begin\0\0end'), Buffer.alloc(2 ** 20)]);
let archive: string;
let target: string;

beforeEach(() => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'full', 'deep', 'empty'), { recursive: true });
  writeFileSync(join(folder, 'full', 'deep', 'log'), log);
  writeFileSync(join(folder, 'full', 'deep', 'old'), 'left out');
  writeFileSync(join(folder, 'full', 'nothing'), '');
  archive = join(folder, 'archive.gz');
  target = join(folder, 'target');
  const packed = pack(join(folder, 'full'), versions, (path) => path === 'deep/old');
  writeFileSync(archive, packed);
});

test('a folder comes out as it went in, but for what was left out', () => {
  unpack(archive, target, versions);
  expect(readFileSync(join(target, 'deep', 'log')).equals(log)).toBe(true);
  expect(readFileSync(join(target, 'nothing'), 'utf8')).toBe('');
  expect(statSync(join(target, 'deep', 'empty')).isDirectory()).toBe(true);
  expect(existsSync(join(target, 'deep', 'old'))).toBe(false);
});

test('an archive that is cut off, or has one wrong byte, is refused', () => {
  const whole = readFileSync(archive);
  writeFileSync(archive, whole.subarray(0, -1));
  expect(() => unpack(archive, target, versions)).toThrow('unexpected end of file');
  const wrong = Buffer.from(whole);
  wrong.writeUInt8(whole.readUInt8(whole.length - 6) ^ 1, whole.length - 6);
  writeFileSync(archive, wrong);
  expect(() => unpack(archive, target, versions)).toThrow('incorrect data check');
  expect(existsSync(target)).toBe(false);
});

test('an archive that was made with other versions than the installed ones is refused', () => {
  for (const other of [
    { ...versions, pglite: '0.5.15' },
    { ...versions, pgvector: null },
  ])
    expect(() => unpack(archive, target, other)).toThrow('It was made with');
  expect(existsSync(target)).toBe(false);
});
