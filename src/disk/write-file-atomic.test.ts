import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { createFile } from './create-file.ts';
import { writeFileAtomic } from './write-file-atomic.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'disk-'));
  atEnd(() => rmSync(folder, { recursive: true }));
});
const at = (name: string) => join(folder, name);

test('a new file has the mode asked for, an old one keeps its own', async () => {
  await writeFileAtomic(at('a'), 'one');
  expect(statSync(at('a')).mode & 0o777).toBe(0o600);
  await writeFileAtomic(at('b'), 'one', { mode: 0o644 });
  expect(statSync(at('b')).mode & 0o777).toBe(0o644);
  chmodSync(at('a'), 0o660);
  await writeFileAtomic(at('a'), new Uint8Array([116, 119, 111]));
  expect(readFileSync(at('a'), 'utf8')).toBe('two');
  expect(statSync(at('a')).mode & 0o777).toBe(0o660);
});

test('who has the old file open reads the old content to its end', async () => {
  writeFileSync(at('a'), 'old');
  const before = statSync(at('a')).ino;
  await writeFileAtomic(at('a'), 'new');
  expect(statSync(at('a')).ino).not.toBe(before);
});

test('links are followed, also to a file that is not there yet, and stay links', async () => {
  symlinkSync('two', at('one'));
  symlinkSync('file', at('two'));
  await writeFileAtomic(at('one'), 'x');
  expect(readFileSync(at('file'), 'utf8')).toBe('x');
  expect(readlinkSync(at('one'))).toBe('two');
  expect(readdirSync(folder).toSorted()).toEqual(['file', 'one', 'two']);
});

test('when it is told to stop right before the swap, nothing has changed and nothing is left', async () => {
  writeFileSync(at('a'), 'old');
  const write = writeFileAtomic(at('a'), 'new', {
    beforeSwap() {
      expect(readdirSync(folder)).toHaveLength(2);
      throw new Error('stop');
    },
  });
  await expect(write).rejects.toThrow('stop');
  expect(readFileSync(at('a'), 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['a']);
});

test("a folder that is not there, and one in the place of the file, are the system's errors", async () => {
  await expect(writeFileAtomic(at('no/a'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(writeFileAtomic(folder, 'x')).rejects.toMatchObject({ code: 'EISDIR' });
});

test('a file is created by one and seen whole by the others', () => {
  expect(createFile(at('a'), 'first')).toBe(true);
  expect(createFile(at('a'), 'second')).toBe(false);
  expect(readFileSync(at('a'), 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['a']);
});
