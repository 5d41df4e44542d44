import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
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
import { type FolderLock, lockHolder, takeLock } from './folder-lock.ts';

const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const pids = readlinkSync('/proc/self/ns/pid');
const socketName = expect.stringMatching(/^hub\.[0-9a-f]{8}\.sock$/) as string;

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  path = join(folder, 'hub.lock');
});

const request = () => ({ path, cannot: 'Cannot use it', instead: 'take another' });

async function take(): Promise<FolderLock> {
  const lock = await takeLock(request());
  atEnd(() => lock.release());
  return lock;
}

/** `opens`, or the code of the refusal. */
async function outcome(): Promise<string> {
  return take().then(
    () => 'opens',
    (error: HubError) => error.code,
  );
}

async function refusal(): Promise<string> {
  const error: unknown = await takeLock(request()).catch((failed: unknown) => failed);
  if (error instanceof HubError && error.code === 'conflict') return error.message;
  throw error instanceof Error ? error : new Error('taken');
}

/** Another process that takes the lock, says what came of it, and holds it until its input ends. */
function another() {
  const script = `
    import { takeLock } from ${JSON.stringify(builtParts)};
    let said = 'opens';
    try { await takeLock(${JSON.stringify(request())}); } catch (error) { said = error.code; }
    process.stdout.write(said);
    process.stdout.end();
    process.stdin.resume();`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function killedHolder(): Promise<void> {
  const child = another();
  expect(await text(child.stdout)).toBe('opens');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The id of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;

const left = (holder: object): void => writeFileSync(path, JSON.stringify(holder));
/** Changes the lock that is there. */
const change = (to: object): void => left({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...to });
/** As if its holder were in another container on this machine: its process id says nothing here. */
const moveToOtherContainer = (more: object = {}): void => change({ pid: deadPid(), pids: 'pid:[1]', ...more });

test('it is for its owner only, named while it is held, and gone with its socket after the release', async () => {
  const lock = await take();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual([socketName, 'hub.lock']);
  lock.announce('http://127.0.0.1:3000');
  expect(await refusal()).toBe(
    `Cannot use it: the hub with process id ${process.pid} at http://127.0.0.1:3000 has it. Stop that one, or take another.`,
  );
  expect(await lockHolder(path)).toMatchObject({
    pid: process.pid,
    host: hostname(),
    url: 'http://127.0.0.1:3000',
  });
  lock.release();
  expect(readdirSync(folder)).toEqual([]);
  expect(await lockHolder(path)).toBeUndefined();
  lock.announce('http://late');
  lock.release();
  expect(existsSync(path)).toBe(false);
  await take();
});

test('a living process keeps others out; of one that was killed it is taken over', async () => {
  const child = another();
  expect(await text(child.stdout)).toBe('opens');
  expect(await refusal()).toContain(`the hub with process id ${child.pid} has it`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await lockHolder(path)).toBeUndefined();
  await take();
  expect((await lockHolder(path))?.pid).toBe(process.pid);
  expect(readdirSync(folder).toSorted()).toEqual([socketName, 'hub.lock']);
});

// Locks as hubs of this version and of earlier ones leave them: `startTime` was `started` for the database, where what
// was unknown was empty.
const dead = { pid: 2 ** 22 + 1, startTime: '1', host: hostname(), boot, pids };
const deadFor = { token: 'x', pid: 2 ** 22 + 1, started: '1', host: hostname(), boot, pids, door: '' };
describe.each([
  ['data folder', dead],
  ['database', deadFor],
])('a lock of the %s left by', (_, was: object) => {
  test.each([
    ['a process that is gone', {}, 'opens'],
    ['a process whose id another has now', { pid: process.pid }, 'opens'],
    ['a process that lives and says no start time', { pid: process.pid, started: '', startTime: '' }, 'conflict'],
    ['a process of another user that lives', { pid: 1, started: '', startTime: '' }, 'conflict'],
    ['another boot of this machine', { pid: process.pid, boot: 'another' }, 'opens'],
    ['another machine', { host: 'elsewhere', boot: 'another' }, 'conflict'],
    ['another machine of which no boot is known', { host: 'elsewhere', boot: undefined, pids: undefined }, 'conflict'],
    ['a version that said neither boot nor container', { boot: undefined, pids: undefined }, 'opens'],
    ['another container with our host name and no socket', { pids: 'pid:[1]' }, 'conflict'],
    ['another container with our host name whose socket is gone', { pids: 'pid:[1]', door: 'hub.0.sock' }, 'opens'],
    ['a container with its own host name and no socket', { pids: 'pid:[1]', host: 'c0ffee' }, 'conflict'],
    [
      'a container with its own host name whose socket is gone',
      { pids: 'pid:[1]', host: 'c', door: 'x.sock' },
      'opens',
    ],
    ['a container that cannot tell its process ids', { pids: undefined, host: 'c0ffee' }, 'conflict'],
  ])('%s: %s', async (__, changes, expected) => {
    left({ ...was, ...changes });
    const before = readFileSync(path, 'utf8');
    expect(await outcome()).toBe(expected);
    if (expected === 'conflict') expect(readFileSync(path, 'utf8')).toBe(before);
    else expect((await lockHolder(path))?.pid).toBe(process.pid);
  });
});

test.each([hostname(), 'c0ffee'])(
  'a hub that lives in another container, of host name %s, is left alone',
  async (host) => {
    const lock = await take();
    moveToOtherContainer({ host });
    const before = readFileSync(path, 'utf8');
    expect(await refusal()).toContain(
      `in another container, on host ${JSON.stringify(host)} has it. Stop that hub, or take another. If it is gone for good, remove ${path}.`,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await lockHolder(path)).toMatchObject({ pids: 'pid:[1]' });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  },
);

test.each([hostname(), 'c0ffee'])(
  'a hub killed in another container, of host name %s, bars nothing, as when its container starts again',
  async (host) => {
    await killedHolder();
    moveToOtherContainer({ host });
    expect(await lockHolder(path)).toBeUndefined();
    await take();
    expect(readdirSync(folder).toSorted()).toEqual([socketName, 'hub.lock']);
  },
);

test('the socket of another machine says nothing: its lock is never taken over', async () => {
  left({ ...dead, host: 'elsewhere', boot: 'another', pids: 'pid:[1]', door: 'hub.0.sock' });
  expect(await refusal()).toContain(`on host "elsewhere" has it.`);
});

test.each(['{"pid":', '', '[]', '{"pid":"1","host":"x"}'])(
  'a lock %j is being written while it is young, and damaged when it is old',
  async (content) => {
    writeFileSync(path, content);
    expect(await refusal()).toContain('another hub is starting on it');
    utimesSync(path, new Date(0), new Date(0));
    await take();
  },
);

test('a lock without content, as a full disk leaves it, is held while a socket beside it is answered', async () => {
  const lock = await take();
  writeFileSync(path, '');
  utimesSync(path, new Date(0), new Date(0));
  expect(await refusal()).toContain('another hub is starting on it');
  lock.announce('http://127.0.0.1:3000');
  expect(await refusal()).toContain('at http://127.0.0.1:3000 has it');
  writeFileSync(path, '');
  lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

test('a lock without content bars nothing once the process that listened beside it was killed', async () => {
  await killedHolder();
  writeFileSync(path, '');
  await take();
  expect(await lockHolder(path)).toMatchObject({ pid: process.pid });
});

test('a mark that a crash left behind does not bar the folder for ever', async () => {
  left(dead);
  writeFileSync(`${path}.takeover`, '');
  expect(await refusal()).toContain('another hub is starting');
  utimesSync(`${path}.takeover`, new Date(0), new Date(0));
  await take();
});

test('a lock that another process holds by now is not removed by the release', async () => {
  const lock = await take();
  left({ pid: 1, host: 'elsewhere' });
  lock.release();
  expect(readFileSync(path, 'utf8')).toContain('elsewhere');
});

test('a folder that cannot be written to is an error with what to do', async () => {
  path = join(folder, 'missing', 'hub.lock');
  await expect(take()).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('does not exist (ENOENT). Create it first.') as string,
  });
});

describe.each(['no lock', 'a stale lock'])('of many that start at once over %s', (before) => {
  beforeEach(() => {
    if (before === 'a stale lock') left(dead);
  });

  test('exactly one of six processes gets it', async () => {
    const children = Array.from({ length: 6 }, another);
    const said = await Promise.all(children.map((child) => text(child.stdout)));
    for (const child of children) child.stdin.end();
    await Promise.all(children.map(async (child) => child.exitCode ?? (await once(child, 'exit'))));
    expect(said.toSorted()).toEqual([...Array<string>(5).fill('conflict'), 'opens']);
  });

  test('exactly one of eight in one process gets it, and gives it back', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(request())));
    const winners = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(winners).toHaveLength(1);
    winners[0]?.release();
    await take();
  });
});
