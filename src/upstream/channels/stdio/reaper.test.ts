import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { builtParts } from '../../../../test/kit/built-parts.ts';
import { logLines } from '../../../../test/kit/channel-log.ts';
import { descendants, isAlive, processes } from '../../../../test/kit/processes.ts';
import { setLimits } from '../../../../test/kit/limits.ts';
import { until } from '../../../../test/kit/until.ts';
import { upstreamLimits } from '../../limits.ts';
import { endOrphans, ownerMark } from './orphans.ts';
import { signalGroup } from './process-group.ts';
import { openReaper } from './reaper.ts';

const fixtures = resolve('test/kit/fixtures');

interface HubOfOne {
  readonly hub: number;
  readonly server: number;
  readonly grandchild: number;
}

/**
 * Starts the channel in a process of its own, which has one server with a grandchild, and waits until all three run.
 */
async function startHub(dataDir: string, env: Record<string, string> = {}): Promise<HubOfOne> {
  const args = [join(fixtures, 'hub-of-one.mjs'), builtParts, join(fixtures, 'stdio-script.mjs'), dataDir];
  const hub = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(() => void hub.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: hub.stdout }), 'line')) as [string];
  const pids = JSON.parse(line) as HubOfOne;
  atEnd(() => void signalGroup(pids.server, 'SIGKILL'));
  return pids;
}

/** A process in a group of its own that only SIGKILL ends, when `stubborn`. */
function startGroup(stubborn = false): ChildProcess & { readonly pid: number } {
  const code = `${stubborn ? "process.on('SIGTERM', () => {});" : ''} setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' });
  atEnd(() => void child.kill('SIGKILL'));
  if (child.pid === undefined) throw new Error('no process');
  return Object.assign(child, { pid: child.pid });
}

function dataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'owner-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  return folder;
}

const shells = (of: number) => descendants(of).filter((one) => one.command.includes('toolhub-reaper'));

test('kill -9 of the hub leaves nothing, not even what ignores SIGTERM', async () => {
  const { hub, server, grandchild } = await startHub(dataDir());
  const [shell] = shells(hub);
  expect(shell).toBeDefined();
  process.kill(hub, 'SIGKILL');
  await until(
    'server, grandchild and shell are gone',
    () => ![hub, server, grandchild, shell?.pid ?? 0].some((pid) => isAlive(pid)),
  );
});

test('signals for the hub do not end the shell before it has done its work', async () => {
  const { hub, server, grandchild } = await startHub(dataDir());
  const [shell] = shells(hub);
  expect(shell).toBeDefined();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(shell?.pid ?? 0, signal);
  process.kill(hub, 'SIGKILL');
  await until('server and grandchild are gone', () => ![server, grandchild].some((pid) => isAlive(pid)));
});

test('one shell serves the whole hub, and a group that was taken out is left alone', async () => {
  const reaper = openReaper();
  const [kept, taken, other] = [startGroup(), startGroup(true), startGroup()];
  for (const { pid } of [kept, taken, other]) reaper.add(pid);
  reaper.remove(kept.pid);
  expect(shells(process.pid)).toHaveLength(1);
  await reaper.close();
  await until('both are gone', () => !isAlive(taken.pid) && !isAlive(other.pid));
  expect(isAlive(kept.pid)).toBe(true);
  expect(shells(process.pid)).toEqual([]);
});

test('a shell that was killed is replaced and knows all groups', async () => {
  const reaper = openReaper();
  const [first, second] = [startGroup(), startGroup()];
  reaper.add(first.pid);
  const [shell] = shells(process.pid);
  process.kill(shell?.pid ?? 0, 'SIGKILL');
  await until('a new shell is started', () => {
    reaper.add(second.pid);
    return shells(process.pid).some((one) => one.pid !== shell?.pid);
  });
  await reaper.close();
  await until('both are gone', () => !isAlive(first.pid) && !isAlive(second.pid));
});

test('the shell is there before the first process is', async () => {
  const reaper = openReaper();
  reaper.prepare();
  const [shell] = shells(process.pid);
  expect(shell).toBeDefined();
  const group = startGroup();
  reaper.add(group.pid);
  expect(shells(process.pid)).toEqual([shell]);
  await reaper.close();
  await until('it is gone', () => !isAlive(group.pid));
});

test('an installation that does not end is ended when its time is over', async () => {
  // Two looks, a second each: with one, the count has no time to be lost.
  setLimits(upstreamLimits, { installLeftMs: 2_000 });
  const reaper = openReaper();
  const group = startGroup();
  // Its leader counts as the launcher, and nothing as the program.
  reaper.add(group.pid, { launcher: '.', program: 'no process has this' });
  await reaper.close();
  await until('both are gone', () => !isAlive(group.pid) && shells(process.pid).length === 0);
});

test('a reaper that was never needed starts nothing', async () => {
  const reaper = openReaper();
  await reaper.close();
  expect(shells(process.pid)).toEqual([]);
});

test('what a killed hub left behind without its reaper is ended at the next start', async () => {
  const folder = dataDir();
  const { hub, server, grandchild } = await startHub(folder, { NO_REAPER: '1' });
  const log = logLines();
  // While its hub runs, a server is not an orphan.
  expect(await endOrphans(folder, log)).toBe(0);
  process.kill(hub, 'SIGKILL');
  await until('the hub is gone', () => !processes().some((one) => one.pid === hub));
  expect([server, grandchild].every((pid) => isAlive(pid))).toBe(true);
  // Another hub, with other data, leaves it alone.
  expect(await endOrphans(dataDir(), log)).toBe(0);
  expect(log.lines).toEqual([]);
  expect(await endOrphans(folder, log)).toBe(2);
  expect([server, grandchild].some((pid) => isAlive(pid))).toBe(false);
  expect(log.lines).toEqual([{ level: 'warn', message: 'Ending 2 processes that an earlier run left behind: node' }]);
});

test('the mark is the same for the same hub and folder, and another for another folder', () => {
  const folder = dataDir();
  expect(ownerMark(folder)).toBe(ownerMark(`${folder}/.`));
  expect(ownerMark(folder)).toMatch(new RegExp(`^[0-9a-f]{16}:${process.pid}:\\d+$`));
  expect(ownerMark(folder)).not.toBe(ownerMark(dataDir()));
});
