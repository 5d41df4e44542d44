import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { builtParts } from '../../test/kit/built-parts.ts';
import { HubError } from '../core/errors.ts';
import { openDataDir } from './data-dir.ts';
import type { DataDir } from './data-dir.ts';
import { folderHolder } from './folder-lock.ts';

let folder = '';
let lock = '';
beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), 'data-'));
  atEnd(() => rmSync(base, { recursive: true }));
  folder = join(base, 'deep', 'data');
  lock = join(folder, 'hub.lock');
});

function open(): DataDir {
  const data = openDataDir(folder);
  atEnd(() => data.close());
  return data;
}

function refusal(act: () => unknown): HubError {
  try {
    act();
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error('accepted');
}

/** Another process that opens the folder, says what came of it, and holds it until its input ends. */
function another() {
  const script = `
    import { openDataDir } from ${JSON.stringify(builtParts)};
    let said = 'open';
    try { openDataDir(${JSON.stringify(folder)}).secret('jwt', 32); } catch (error) { said = error.code + ' ' + error.message; }
    process.stdout.write(said);
    process.stdout.end();
    process.stdin.resume();`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

function hold(holder: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(lock, JSON.stringify(holder));
}

/** The id of a process that has ended. */
function deadPid(): number {
  const { pid } = spawnSync(process.execPath, ['--version']);
  return pid;
}

test('the folder is made for its owner only, and nothing but the lock is in it', () => {
  expect(open().path).toBe(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['hub.lock']);
});

test('a folder that cannot be used is refused with what to do', () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file');
  const error = refusal(() => openDataDir(folder));
  expect(error.code).toBe('misconfigured');
  expect(error.message).toBe(
    `Cannot use data folder ${folder} (DATA_DIR): ${folder} is not a folder (EEXIST). Name another place.`,
  );
});

describe('the lock', () => {
  test('keeps a second opener of the same process out, and is gone after close', () => {
    const data = open();
    data.announce('http://127.0.0.1:3000');
    const error = refusal(() => openDataDir(folder));
    expect(error.code).toBe('conflict');
    expect(error.message).toBe(
      `Cannot use data folder ${folder}: the hub with process id ${process.pid} at http://127.0.0.1:3000 has it. Stop that one, or give this one another DATA_DIR.`,
    );
    expect(folderHolder(folder)).toMatchObject({ pid: process.pid, host: hostname(), url: 'http://127.0.0.1:3000' });
    data.close();
    expect(existsSync(lock)).toBe(false);
    expect(folderHolder(folder)).toBeUndefined();
    data.announce('http://late');
    data.close();
    expect(existsSync(lock)).toBe(false);
    open();
  });

  test('of a living process keeps others out; of one that was killed it is taken over', async () => {
    const child = another();
    expect(await text(child.stdout)).toBe('open');
    const error = refusal(() => openDataDir(folder));
    expect(error.message).toContain(`the hub with process id ${child.pid} has it`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(folderHolder(folder)).toBeUndefined();
    open();
    expect(folderHolder(folder)?.pid).toBe(process.pid);
  });

  test('of a process whose number somebody else has now is taken over', () => {
    hold({ pid: process.pid, startTime: '1', host: hostname() });
    open();
    expect(readdirSync(folder)).toEqual(['hub.lock']);
  });

  test('of another host is never taken over, even when it looks dead', () => {
    hold({ pid: deadPid(), startTime: '1', host: 'elsewhere' });
    const error = refusal(() => openDataDir(folder));
    expect(error.code).toBe('conflict');
    expect(error.message).toContain(`on host "elsewhere" has it. If that hub is gone for good, remove ${lock}.`);
    expect(readFileSync(lock, 'utf8')).toContain('elsewhere');
  });

  test('that cannot be read is somebody being quick while it is young, and rubbish when it is old', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(lock, '{"pid":');
    expect(refusal(() => openDataDir(folder)).message).toContain('another hub is starting on it');
    utimesSync(lock, new Date(0), new Date(0));
    open();
  });

  test('a mark that a crash left behind does not bar the folder for ever', () => {
    hold({ pid: deadPid(), startTime: '1', host: hostname() });
    writeFileSync(`${lock}.takeover`, '');
    expect(refusal(() => openDataDir(folder)).message).toContain('another hub is starting');
    utimesSync(`${lock}.takeover`, new Date(0), new Date(0));
    open();
  });

  test("that is somebody else's by now is not removed by close", () => {
    const data = open();
    writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' }));
    data.close();
    expect(readFileSync(lock, 'utf8')).toContain('elsewhere');
  });

  test.each(['no lock', 'a stale lock'])('of many that start at once over %s exactly one gets it', async (before) => {
    if (before === 'a stale lock') hold({ pid: deadPid(), startTime: '1', host: hostname() });
    const children = Array.from({ length: 6 }, another);
    const said = await Promise.all(children.map((child) => text(child.stdout)));
    for (const child of children) child.stdin.end();
    await Promise.all(children.map(async (child) => child.exitCode ?? (await once(child, 'exit'))));
    expect(said.filter((line) => line === 'open')).toHaveLength(1);
    expect(said.filter((line) => line.startsWith('conflict '))).toHaveLength(5);
  });
});

describe('a secret', () => {
  test('is made once, random, and kept for the owner only', () => {
    const data = open();
    const secret = data.secret('jwt', 32);
    expect(secret).toHaveLength(32);
    expect(data.secret('jwt', 32)).toEqual(secret);
    expect(data.secret('session', 32)).not.toEqual(secret);
    expect(statSync(join(folder, 'jwt.secret')).mode & 0o777).toBe(0o600);
    data.close();
    expect(open().secret('jwt', 32)).toEqual(secret);
    expect(readdirSync(folder).toSorted()).toEqual(['hub.lock', 'jwt.secret', 'session.secret']);
  });

  test('that others could read is closed to them', () => {
    const data = open();
    data.secret('jwt', 32);
    chmodSync(join(folder, 'jwt.secret'), 0o644);
    data.secret('jwt', 32);
    expect(statSync(join(folder, 'jwt.secret')).mode & 0o777).toBe(0o600);
  });

  test.each(['', 'short', 'z'.repeat(64), 'ab'.repeat(31)])('%j in its file is not replaced in silence', (content) => {
    const data = open();
    writeFileSync(join(folder, 'jwt.secret'), content);
    const error = refusal(() => data.secret('jwt', 32));
    expect(error.code).toBe('misconfigured');
    expect(error.message).toContain('should be 64 hexadecimal digits');
    expect(readFileSync(join(folder, 'jwt.secret'), 'utf8')).toBe(content);
  });
});
