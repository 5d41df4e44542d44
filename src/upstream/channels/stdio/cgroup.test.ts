import { execFileSync } from 'node:child_process';
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { silent, tempFolder } from '../../../../test/kit/databases.ts';
import type { Logger } from '../../../core/logger.ts';
import type { SandboxBounds } from '../../../core/settings/server.ts';
import { boundsObstacle, type ControlFiles, inControlGroup } from './cgroup.ts';
import type { Spawned } from './program.ts';

// The files of a control group in a plain folder: what is written to which, and in which order. What the kernel makes
// of them is in test/e2e/sandbox.test.ts, where the machine has control groups that may be divided.

interface Machine {
  readonly files: ControlFiles;
  /** The group of the hub. */
  readonly base: string;
}

/** A machine whose hub is in the group `/system.slice/hub.service`, or in another. */
function machine(controllers = 'cpu memory pids', path = '/system.slice/hub.service'): Machine {
  const folder = tempFolder();
  const base = join(folder, 'cgroup', path);
  mkdirSync(base, { recursive: true });
  writeFileSync(join(base, 'cgroup.controllers'), controllers);
  writeFileSync(join(base, 'cgroup.subtree_control'), '');
  writeFileSync(join(base, 'cgroup.procs'), `${process.pid}\n`);
  const files = { own: join(folder, 'own'), mounts: join(folder, 'mounts'), processes: join(folder, 'proc') };
  writeFileSync(files.own, `1:name=systemd:/other\n0::${path}\n`);
  writeFileSync(
    files.mounts,
    [
      '21 1 8:1 / / rw - ext4 /dev/root rw',
      `30 21 0:26 / ${join(folder, 'cgroup')} rw,nosuid shared:9 - cgroup2 cgroup2 rw`,
      '',
    ].join('\n'),
  );
  return { files, base };
}

function recorded(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const keep = (message: string) => void lines.push(message);
  return { log: { debug: keep, info: keep, warn: keep, error: keep }, lines };
}

/** Has these processes in a group that is not the first of the machine: their ids, each with that of its parent. */
function populate({ files, base }: Machine, parents: Readonly<Record<number, number>>): void {
  writeFileSync(join(base, 'cgroup.type'), 'domain\n');
  writeFileSync(join(base, 'cgroup.procs'), `${Object.keys(parents).join('\n')}\n`);
  for (const [pid, parent] of Object.entries(parents)) {
    mkdirSync(join(files.processes, pid), { recursive: true });
    writeFileSync(join(files.processes, pid, 'stat'), `${pid} (a program) S ${parent} 1 1`);
  }
}

const program = { command: '/bin/echo', args: ['hello', 'a b'] };

/** What is started when it is time for it. */
function prepared(bounds: SandboxBounds, files: ControlFiles, log: Logger = silent) {
  const { prepare } = inControlGroup(program, bounds, log, files);
  const spawned: Spawned = prepare?.() ?? program;
  const { command, args } = spawned;
  return { spawned, group: String(args[2]).replace(/\/cgroup\.procs$/, ''), run: [command, [...args]] as const };
}

const groupsIn = (base: string) => readdirSync(base).filter((name) => name.startsWith('server-'));

test('a program with bounds enters a group of its own that has them, before it runs', () => {
  const { files, base } = machine();
  const { group, run } = prepared({ memoryMb: 64, cpus: 0.5, processes: 20 }, files);
  expect(groupsIn(base)).toEqual([expect.stringMatching(/^server-[0-9a-f]{8}$/)]);
  const value = (file: string) => readFileSync(join(group, file), 'utf8');
  expect(value('memory.max')).toBe('67108864');
  expect(value('memory.oom.group')).toBe('1');
  expect(value('cpu.max')).toBe('50000 100000');
  expect(value('pids.max')).toBe('20');
  expect(readFileSync(join(base, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +cpu +pids');
  expect(execFileSync(...run, { encoding: 'utf8' })).toBe('hello a b\n');
  // 0: the process that writes it.
  expect(value('cgroup.procs')).toBe('0\n');
});

test('only what is bounded is asked for, and a program that cannot enter its group does not run and says so', () => {
  const { files, base } = machine('pids');
  writeFileSync(join(base, 'cgroup.subtree_control'), 'pids');
  const { group, run } = prepared({ processes: 3 }, files);
  expect(readFileSync(join(base, 'cgroup.subtree_control'), 'utf8')).toBe('pids');
  expect(existsSync(join(group, 'memory.max'))).toBe(false);
  rmSync(group, { recursive: true });
  expect(() => execFileSync(...run, { stdio: 'pipe' })).toThrow('cannot be entered: it is not started');
});

test('there is no group before the program is about to be started, and that of a program that could not be is ended', () => {
  const { files, base } = machine('cpu');
  const held = inControlGroup(program, { cpus: 1 }, silent, files);
  expect(groupsIn(base)).toEqual([]);
  const spawned = held.prepare?.();
  const [group = ''] = groupsIn(base);
  spawned?.notStarted?.();
  expect(readFileSync(join(base, group, 'cgroup.kill'), 'utf8')).toBe('1');
  // The kernel ends all that is in the group for it; a folder of files stays, since only the kernel removes those.
});

test('a group whose bounds cannot be written is removed, and the program is started without', () => {
  const { files, base } = machine();
  const { log, lines } = recorded();
  const write = fs.writeFileSync;
  const spy = vi.spyOn(fs, 'writeFileSync').mockImplementation((path, ...more) => {
    if (String(path).endsWith('memory.max')) throw new Error('no');
    write(path, ...more);
  });
  syncBuiltinESMExports();
  const { spawned } = prepared({ memoryMb: 64 }, files, log);
  spy.mockRestore();
  syncBuiltinESMExports();
  expect(spawned).toBe(program);
  expect(lines).toEqual([expect.stringContaining('The control group cannot be made: no.')]);
  expect(groupsIn(base)).toEqual([]);
});

test('without bounds, and where they cannot hold, it is started as it is, and the log says why', () => {
  const { files } = machine();
  expect(inControlGroup(program, {}, silent, files)).toBe(program);
  const none = { ...files, own: join(tempFolder(), 'none') };
  const few = machine('cpu pids').files;
  for (const [where, why] of [
    [none, 'The hub runs in no control group of version 2.'],
    [few, 'does not control all'],
  ] as const) {
    const { log, lines } = recorded();
    expect(prepared({ memoryMb: 64 }, where, log).spawned).toBe(program);
    expect(lines).toEqual([expect.stringContaining(why)]);
  }
  expect(boundsObstacle({ memoryMb: 64 }, none)).toBe('no_group');
  expect(boundsObstacle({ memoryMb: 64 }, few)).toBe('no_controller');
  expect(boundsObstacle({ cpus: 1 }, few)).toBeUndefined();
  expect(boundsObstacle({}, none)).toBeUndefined();
  rmSync(join(few.own, '../cgroup/system.slice/hub.service/cgroup.procs'));
  expect(boundsObstacle({ cpus: 1 }, few)).toBe('no_right');
});

test('before its group is divided the hub moves into the leaf, with what started it and what it has started', () => {
  const at = machine('memory');
  populate(at, { 2: 1, [process.pid]: 2, 4_194_301: process.pid, 4_194_302: 4_194_301 });
  const { log, lines } = recorded();
  expect(prepared({ memoryMb: 64 }, at.files, log).spawned).not.toBe(program);
  const leaf = join(at.base, 'toolhub-processes');
  // The last one that was written.
  expect(readFileSync(join(leaf, 'cgroup.procs'), 'utf8')).toBe('4194302');
  const ids = ['2', `${process.pid}`, '4194301', '4194302'].toSorted((one, other) => Number(one) - Number(other));
  expect(lines).toEqual([`The hub divides its control group: processes ${ids.join(', ')} are in ${leaf} from now on.`]);
});

test.each([
  ['a sibling', { 2: 1, [process.pid]: 2, 4_194_301: 2 }],
  ['what came from outside', { [process.pid]: 1, 4_194_301: 9 }],
  ['what cannot be seen', { [process.pid]: 1, 0: 0 }],
])('a group that has other processes is not divided and nothing is moved: %s', (_, parents) => {
  const at = machine('memory');
  populate(at, parents);
  const { log, lines } = recorded();
  expect(boundsObstacle({ memoryMb: 64 }, at.files)).toBe('shared_group');
  expect(prepared({ memoryMb: 64 }, at.files, log).spawned).toBe(program);
  expect(lines).toEqual([expect.stringContaining('The control group of the hub has other processes, too.')]);
  expect(existsSync(join(at.base, 'toolhub-processes'))).toBe(false);
  expect(readFileSync(join(at.base, 'cgroup.subtree_control'), 'utf8')).toBe('');
  // Of one that is divided already the kernel has seen to it.
  writeFileSync(join(at.base, 'cgroup.subtree_control'), 'memory');
  expect(boundsObstacle({ memoryMb: 64 }, at.files)).toBeUndefined();
});

test('a process that has ended meanwhile is no other one', () => {
  const at = machine('memory');
  populate(at, { [process.pid]: 1 });
  writeFileSync(join(at.base, 'cgroup.procs'), `${process.pid}\n4194301\n`);
  expect(boundsObstacle({ memoryMb: 64 }, at.files)).toBeUndefined();
});

test('a hub whose processes are in the leaf makes groups beside the leaf, and in a group named "hub" below that', () => {
  const { files, base } = machine('pids', '/system.slice/hub.service');
  writeFileSync(files.own, '0::/system.slice/hub.service/toolhub-processes\n');
  prepared({ processes: 3 }, files);
  expect(groupsIn(base)).toHaveLength(1);
  const named = machine('pids', '/apps/hub');
  prepared({ processes: 3 }, named.files);
  expect(groupsIn(named.base)).toHaveLength(1);
});

test('what was hit is in the log when the program has ended', () => {
  const { files } = machine();
  const { log, lines } = recorded();
  const { spawned, group } = prepared({ memoryMb: 64, processes: 3 }, files, log);
  writeFileSync(join(group, 'memory.events'), 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n');
  writeFileSync(join(group, 'pids.events'), 'max 2\n');
  spawned.ended?.({});
  expect(lines).toEqual([expect.stringContaining('sandbox.memoryMb'), expect.stringContaining('sandbox.processes')]);
  expect(readFileSync(join(group, 'cgroup.kill'), 'utf8')).toBe('1');
});

test.each([
  [{ memoryMb: 64 }, 'oom 0\noom_kill 1\n'],
  [{ cpus: 1 }, 'oom 1\noom_kill 1\n'],
])('a kill for want of memory elsewhere is not said to be one of the sandbox: %j', (bounds, events) => {
  const { files } = machine();
  const { log, lines } = recorded();
  const { spawned, group } = prepared(bounds, files, log);
  writeFileSync(join(group, 'memory.events'), events);
  spawned.ended?.({});
  expect(lines).toEqual([]);
});

test('empty groups that are left over are removed, and new ones and those of others are not', () => {
  const { files, base } = machine();
  const hourAgo = Date.now() / 1_000 - 3_600;
  for (const name of ['server-0123abcd', 'server-89abcdef', 'server-of-others', 'server-00000000']) {
    mkdirSync(join(base, name));
    if (name === 'server-00000000') writeFileSync(join(base, name, 'cgroup.procs'), '7\n');
    if (name !== 'server-89abcdef') utimesSync(join(base, name), hourAgo, hourAgo);
  }
  const { group } = prepared({ cpus: 1 }, files);
  expect(groupsIn(base).toSorted()).toEqual(
    ['server-00000000', 'server-89abcdef', 'server-of-others', group.slice(base.length + 1)].toSorted(),
  );
});
