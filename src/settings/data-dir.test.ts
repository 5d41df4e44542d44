import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
