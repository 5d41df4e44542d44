import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { createFile } from './create-file.ts';
import { diskLimits } from './limits.ts';
import { removeTemporaryFiles, temporaryName, writeFileAtomic } from './write-file-atomic.ts';

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

test('what a killed process left half written is removed once it is old, and nothing else', async () => {
  const leave = (name: string, ageMs = diskLimits.temporaryFileMs * 2) => {
    writeFileSync(at(name), 'secret');
    const then = new Date(Date.now() - ageMs);
    utimesSync(at(name), then, then);
    return name;
  };
  const nameFor = (target: string) => basename(temporaryName(at(target)));
  // The very file that a kill at this moment would leave.
  let made = '';
  await writeFileAtomic(at('settings'), 'x', {
    beforeSwap() {
      made = readdirSync(folder).find((name) => name !== 'settings') ?? '';
      expect(statSync(at(made)).mode & 0o777).toBe(0o600);
    },
  });
  const young = leave(nameFor('settings'), 0);
  const others = ['settings', '.other.tmp', '.a.1.tmp', 'a.1.0123456789ab.tmp', '.a.1.0123456789ab.tmp.txt'];
  for (const name of others) leave(name);
  mkdirSync(at('.a.1.0123456789ab.tmp'));
  const kept = [...others, young, '.a.1.0123456789ab.tmp'];

  leave(made);
  const ofOther = leave(nameFor('other'));
  removeTemporaryFiles(folder, 'settings');
  expect(readdirSync(folder).toSorted()).toEqual([...kept, ofOther].toSorted());
  removeTemporaryFiles(folder);
  expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
  removeTemporaryFiles(at('no such folder'));
});
