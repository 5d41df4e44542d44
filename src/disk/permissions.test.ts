import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import type { Logger } from '../core/logger.ts';
import { closeContentToOthers, closeToOthers, openToOthers } from './permissions.ts';

let folder = '';
let said: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modes-'));
  said = [];
  atEnd(() => rmSync(folder, { recursive: true }));
});
const log: Logger = {
  debug: (message) => void said.push(`debug ${message}`),
  info: (message) => void said.push(`info ${message}`),
  warn: (message) => void said.push(`warn ${message}`),
  error: () => {},
};

function fileOf(mode: number, name = 'file'): string {
  const path = join(folder, name);
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test.each([
  ['644', '600'],
  ['666', '600'],
  ['755', '700'],
  ['604', '600'],
  ['444', '400'],
])('a file of mode %s, open to all, becomes %s, which is said', (mode, closed) => {
  const path = fileOf(Number.parseInt(mode, 8));
  closeToOthers('the file', path, log);
  expect(modeOf(path)).toBe(closed);
  expect(said).toEqual([`info Every user of this machine had access to the file (0${mode}); it is 0${closed} now`]);
});

test.each(['600', '640', '660', '400', '770'])('mode %s, open to a group at most, is a choice and stays', (mode) => {
  const path = fileOf(Number.parseInt(mode, 8));
  closeToOthers('the file', path, log);
  expect([modeOf(path), said]).toEqual([mode, []]);
});

test('what is of another kind than it should be is left as it is', () => {
  chmodSync(folder, 0o755);
  closeToOthers('the file', folder, log, 'file');
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', ['-m', '666', pipe]);
  closeToOthers('the file', pipe, log);
  expect([modeOf(folder), modeOf(pipe), said]).toEqual(['755', '666', []]);
});

test('a link is followed, and what is not there is nothing to close', () => {
  const path = fileOf(0o644);
  symlinkSync(path, join(folder, 'link'));
  closeToOthers('the file', join(folder, 'link'), log);
  expect(modeOf(path)).toBe('600');
  expect(openToOthers(join(folder, 'none'))).toBeUndefined();
  expect(openToOthers(join(path, 'below'))).toBeUndefined();
});

test.runIf(process.getuid?.() === 0)(
  'what belongs to another user is left, and the operator is told what to do',
  () => {
    const path = fileOf(0o644);
    chownSync(path, 12_345, 12_345);
    closeToOthers('settings file x', path, log);
    expect(modeOf(path)).toBe('644');
    expect(said).toEqual([
      `warn Every user of this machine has access to settings file x (0644), which may hold secrets. Close it: chmod 0600 ${path}`,
    ]);
  },
);

test('of a folder, files and folders in it are closed, and what links lead to is not', () => {
  const elsewhere = fileOf(0o644, 'elsewhere');
  const data = join(folder, 'data');
  mkdirSync(join(data, 'bundles'), { recursive: true });
  chmodSync(join(data, 'bundles'), 0o755);
  symlinkSync(elsewhere, join(data, 'link'));
  const file = fileOf(0o644, 'data/catalogue.json');
  closeContentToOthers(data, log);
  expect([modeOf(join(data, 'bundles')), modeOf(file), modeOf(elsewhere)]).toEqual(['700', '600', '644']);
  expect(said.map((line) => line.split(' ')[0])).toEqual(['debug', 'debug']);
});
