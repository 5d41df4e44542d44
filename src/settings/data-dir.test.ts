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

/** The name of the socket that shows other containers that the holder lives. */
const door = expect.stringMatching(/^hub\.[0-9a-f]{8}\.sock$/) as string;
let folder = '';
let lock = '';
beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), 'data-'));
  atEnd(() => rmSync(base, { recursive: true }));
  folder = join(base, 'deep', 'data');
  lock = join(folder, 'hub.lock');
});

async function open(): Promise<DataDir> {
  const data = await openDataDir(folder);
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

/** Another process that opens the folder, says what came of it, and holds it until its input ends. */
function another() {
  const script = `
    import { openDataDir } from ${JSON.stringify(builtParts)};
    let said = 'open';
    try { (await openDataDir(${JSON.stringify(folder)})).secret('jwt', 32); } catch (error) { said = error.code + ' ' + error.message; }
    process.stdout.write(said);
    process.stdout.end();
    process.stdin.resume();`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

function hold(holder: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(lock, JSON.stringify(holder));
}

/** Writes into the lock that its holder is in another container of this host: its process id says nothing here. */
function moveToOtherContainer(): void {
  const holder = JSON.parse(readFileSync(lock, 'utf8')) as object;
  hold({ ...holder, pid: deadPid(), pids: 'pid:[1]' });
}

/** The id of a process that has ended. */
function deadPid(): number {
  const { pid } = spawnSync(process.execPath, ['--version']);
  return pid;
}

test('the folder is made for its owner only, and nothing but the lock and its door is in it', async () => {
  expect((await open()).path).toBe(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual([door, 'hub.lock']);
});

test('a folder that cannot be used is refused with what to do', async () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file');
  const error = await refusal(() => openDataDir(folder));
  expect(error.code).toBe('misconfigured');
  expect(error.message).toBe(
    `Cannot use data folder ${folder} (DATA_DIR): ${folder} is not a folder (EEXIST). Name another place.`,
  );
});

describe('the lock', () => {
  test('keeps a second opener of the same process out, and is gone after close', async () => {
    const data = await open();
    data.announce('http://127.0.0.1:3000');
    const error = await refusal(() => openDataDir(folder));
    expect(error.code).toBe('conflict');
    expect(error.message).toBe(
      `Cannot use data folder ${folder}: the hub with process id ${process.pid} at http://127.0.0.1:3000 has it. Stop that one, or give this one another DATA_DIR.`,
    );
    expect(await folderHolder(folder)).toMatchObject({
      pid: process.pid,
      host: hostname(),
      url: 'http://127.0.0.1:3000',
    });
    data.close();
    expect(existsSync(lock)).toBe(false);
    expect(await folderHolder(folder)).toBeUndefined();
    data.announce('http://late');
    data.close();
    expect(existsSync(lock)).toBe(false);
    await open();
  });

  test('of a living process keeps others out; of one that was killed it is taken over', async () => {
    const child = another();
    expect(await text(child.stdout)).toBe('open');
    const error = await refusal(() => openDataDir(folder));
    expect(error.message).toContain(`the hub with process id ${child.pid} has it`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await folderHolder(folder)).toBeUndefined();
    await open();
    expect((await folderHolder(folder))?.pid).toBe(process.pid);
  });

  test('of a process whose number somebody else has now is taken over', async () => {
    hold({ pid: process.pid, startTime: '1', host: hostname() });
    await open();
    expect(readdirSync(folder).toSorted()).toEqual([door, 'hub.lock']);
  });

  test('of another host is never taken over, even when it looks dead', async () => {
    hold({ pid: deadPid(), startTime: '1', host: 'elsewhere' });
    const error = await refusal(() => openDataDir(folder));
    expect(error.code).toBe('conflict');
    expect(error.message).toContain(`on host "elsewhere" has it. If that hub is gone for good, remove ${lock}.`);
    expect(readFileSync(lock, 'utf8')).toContain('elsewhere');
  });

  test('that cannot be read is somebody being quick while it is young, and rubbish when it is old', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(lock, '{"pid":');
    expect((await refusal(() => openDataDir(folder))).message).toContain('another hub is starting on it');
    utimesSync(lock, new Date(0), new Date(0));
    await open();
  });

  test('a mark that a crash left behind does not bar the folder for ever', async () => {
    hold({ pid: deadPid(), startTime: '1', host: hostname() });
    writeFileSync(`${lock}.takeover`, '');
    expect((await refusal(() => openDataDir(folder))).message).toContain('another hub is starting');
    utimesSync(`${lock}.takeover`, new Date(0), new Date(0));
    await open();
  });

  test("that is somebody else's by now is not removed by close", async () => {
    const data = await open();
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

describe('the lock of another container with our host name', () => {
  test('is left to a hub that lives', async () => {
    const data = await open();
    moveToOtherContainer();
    const before = readFileSync(lock, 'utf8');
    const { code, message } = await refusal(() => openDataDir(folder));
    expect(code).toBe('conflict');
    expect(message).toContain(
      `in another container on host ${JSON.stringify(hostname())} has it. If that hub is gone for good, remove ${lock}.`,
    );
    expect(readFileSync(lock, 'utf8')).toBe(before);
    expect(await folderHolder(folder)).toMatchObject({ pids: 'pid:[1]' });
    data.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is taken over from one that was killed, as when its container starts anew', async () => {
    const child = another();
    expect(await text(child.stdout)).toBe('open');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(folder).toSorted()).toEqual([door, 'hub.lock', 'jwt.secret']);
    moveToOtherContainer();
    expect(await folderHolder(folder)).toBeUndefined();
    await open();
    expect(readdirSync(folder).toSorted()).toEqual([door, 'hub.lock', 'jwt.secret']);
  });

  test.each([
    ['that had no door', {}, 'conflict'],
    ['that had no door, before the machine was started anew', { boot: 'another' }, 'opens'],
    ['whose door is gone', { door: 'hub.0.sock' }, 'opens'],
    ['of a version that did not name its container', { pids: undefined }, 'opens'],
  ])('%s: %s', async (_, left, outcome) => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    hold({ pid: deadPid(), startTime: '1', host: hostname(), boot, pids: 'pid:[1]', ...left });
    const opened = open().then(
      () => 'opens',
      (error: HubError) => error.code,
    );
    expect(await opened).toBe(outcome);
  });
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
    expect(readdirSync(folder).toSorted()).toEqual([door, 'hub.lock', 'jwt.secret', 'session.secret']);
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
