import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { silent } from '../../test/kit/databases.ts';
import { HubError } from '../core/errors.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import { folderHolder, openDataDir } from './data-dir.ts';
import type { DataDir } from './data-dir.ts';

/** The socket that shows other containers that the holder lives. */
const socket = expect.stringMatching(/^hub\.[0-9a-f]{8}\.sock$/) as string;
let folder = '';
let lock = '';
beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), 'data-'));
  atEnd(() => rmSync(base, { recursive: true }));
  folder = join(base, 'deep', 'data');
  lock = join(folder, 'hub.lock');
});

async function open(): Promise<DataDir> {
  const data = await openDataDir(folder, silent, createFullDiskRetry(silent));
  atEnd(() => data.close());
  return data;
}

async function refusal(act: () => unknown): Promise<HubError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error('accepted');
}

test('a folder of the whole machine is not closed to other programs, nor is what is in it, and that is said', async () => {
  mkdirSync(folder, { recursive: true });
  const other = join(folder, 'other');
  writeFileSync(other, 'x');
  chmodSync(other, 0o644);
  chmodSync(folder, 0o1777);
  const said: string[] = [];
  const log = { ...silent, warn: (message: string) => void said.push(message) };
  const data = await openDataDir(folder, log, createFullDiskRetry(silent));
  atEnd(() => data.close());
  expect([statSync(folder).mode & 0o7777, statSync(other).mode & 0o777]).toEqual([0o1777, 0o644]);
  expect(said).toEqual([
    `Other programs use data folder ${folder} too: it is not closed to them. Set DATA_DIR to one like ${join(folder, 'toolhub')}`,
  ]);
});

test('the folder is made for its owner only, and nothing but the lock and its socket is in it', async () => {
  expect((await open()).path).toBe(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual([socket, 'hub.lock']);
});

test('a folder that cannot be used is refused with what to do', async () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file');
  const error = await refusal(() => openDataDir(folder, silent, createFullDiskRetry(silent)));
  expect(error.code).toBe('misconfigured');
  expect(error.message).toBe(
    `Cannot use data folder ${folder} (DATA_DIR): ${folder} is not a folder (EEXIST). Name another place.`,
  );
});

test.runIf(process.platform === 'linux')(
  'a folder that keeps no files is refused before any is made, also by a link',
  async () => {
    const link = join(folder, '..');
    mkdirSync(join(link, '..'), { recursive: true });
    symlinkSync('/proc/self', link);
    for (const path of ['/proc/self', link]) {
      const error = await refusal(() => openDataDir(path, silent, createFullDiskRetry(silent)));
      expect(error.code).toBe('misconfigured');
      expect(error.message).toMatch(
        /^Cannot use data folder .* \(DATA_DIR\): it is in a file system of the kernel, which keeps no files\. Name/,
      );
    }
  },
);

test('one hub has the folder: it is named with its address to a second one, until it closes', async () => {
  const data = await open();
  data.announce('http://127.0.0.1:3000');
  const error = await refusal(() => openDataDir(folder, silent, createFullDiskRetry(silent)));
  expect(error.code).toBe('conflict');
  expect(error.message).toBe(
    `Cannot use data folder ${folder}: the hub with process id ${process.pid} at http://127.0.0.1:3000 has it. Stop that one, or give this one another DATA_DIR.`,
  );
  expect(await folderHolder(folder)).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:3000' });
  data.close();
  data.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(await folderHolder(folder)).toBeUndefined();
});

describe('a secret', () => {
  test('is made once, random, and kept for the owner only', async () => {
    const data = await open();
    const secret = data.secret('jwt', 32);
    expect(secret).toHaveLength(32);
    expect(data.secret('jwt', 32)).toEqual(secret);
    expect(data.secret('session', 32)).not.toEqual(secret);
    expect(statSync(join(folder, 'jwt.secret')).mode & 0o777).toBe(0o600);
    data.close();
    expect((await open()).secret('jwt', 32)).toEqual(secret);
    expect(readdirSync(folder).toSorted()).toEqual([socket, 'hub.lock', 'jwt.secret', 'session.secret']);
  });

  test('that a full disk had no room for is written when the hub stops, unless another is there', async () => {
    const full = { isFull: true, wait: () => undefined, keep: () => undefined, close: () => undefined };
    const data = await openDataDir(folder, silent, full);
    const secret = data.secret('jwt', 32);
    data.secret('hub', 32);
    expect(readdirSync(folder).filter((name) => name.endsWith('.secret'))).toEqual([]);
    writeFileSync(join(folder, 'hub.secret'), 'another');
    data.close();
    expect(readFileSync(join(folder, 'jwt.secret'), 'utf8')).toBe(`${secret.toString('hex')}\n`);
    expect(readFileSync(join(folder, 'hub.secret'), 'utf8')).toBe('another');
    rmSync(join(folder, 'jwt.secret'));
    data.keepSecrets();
    expect(readdirSync(folder)).toEqual(['hub.secret']);
  });

  test('that others could read is closed to them', async () => {
    const data = await open();
    data.secret('jwt', 32);
    chmodSync(join(folder, 'jwt.secret'), 0o644);
    data.secret('jwt', 32);
    expect(statSync(join(folder, 'jwt.secret')).mode & 0o777).toBe(0o600);
  });

  test.each(['', 'short', 'z'.repeat(64), 'ab'.repeat(31)])(
    '%j in its file is not replaced in silence',
    async (content) => {
      const data = await open();
      writeFileSync(join(folder, 'jwt.secret'), content);
      const error = await refusal(() => data.secret('jwt', 32));
      expect(error.code).toBe('misconfigured');
      expect(error.message).toContain('should be 64 hexadecimal digits');
      expect(readFileSync(join(folder, 'jwt.secret'), 'utf8')).toBe(content);
    },
  );
});
