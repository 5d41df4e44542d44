import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silent, tempFolder } from '../../../../test/kit/databases.ts';
import type { Logger } from '../../../core/logger.ts';
import { boundsObstacle, type ControlFiles, inControlGroup } from './cgroup.ts';

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
  const files = { own: join(folder, 'own'), mounts: join(folder, 'mounts') };
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

const program = { command: '/bin/echo', args: ['hello', 'a b'] };

test('a program with bounds enters a group of its own that has them, before it runs', () => {
  const { files, base } = machine();
  const { command, args } = inControlGroup(program, { memoryMb: 64, cpus: 0.5, processes: 20 }, silent, files);
  const group = join(base, `server-${process.pid}-1`);
  const value = (file: string) => readFileSync(join(group, file), 'utf8');
  expect(value('memory.max')).toBe('67108864');
  expect(value('memory.oom.group')).toBe('1');
  expect(value('cpu.max')).toBe('50000 100000');
  expect(value('pids.max')).toBe('20');
  expect(readFileSync(join(base, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +cpu +pids');
  expect(execFileSync(command, [...args], { encoding: 'utf8' })).toBe('hello a b\n');
  // 0: the process that writes it.
  expect(value('cgroup.procs')).toBe('0\n');
});

test('only what is bounded is asked for, and a program that cannot enter its group does not run', () => {
  const { files, base } = machine('pids');
  writeFileSync(join(base, 'cgroup.subtree_control'), 'pids');
  const { command, args } = inControlGroup(program, { processes: 3 }, silent, files);
  expect(readFileSync(join(base, 'cgroup.subtree_control'), 'utf8')).toBe('pids');
  const group = String(args[2]).replace(/\/cgroup\.procs$/, '');
  expect(existsSync(join(group, 'memory.max'))).toBe(false);
  rmSync(group, { recursive: true });
  expect(() => execFileSync(command, [...args], { stdio: 'ignore' })).toThrow('Command failed');
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
    expect(inControlGroup(program, { memoryMb: 64 }, log, where)).toBe(program);
    expect(lines).toEqual([expect.stringContaining(why)]);
  }
  expect(boundsObstacle({ memoryMb: 64 }, none)).toBe('no_group');
  expect(boundsObstacle({ memoryMb: 64 }, few)).toBe('no_controller');
  expect(boundsObstacle({ cpus: 1 }, few)).toBeUndefined();
  expect(boundsObstacle({}, none)).toBeUndefined();
  rmSync(join(few.own, '../cgroup/system.slice/hub.service/cgroup.procs'));
  expect(boundsObstacle({ cpus: 1 }, few)).toBe('no_right');
});

test('a hub whose processes are in the leaf makes groups beside the leaf', () => {
  const { files, base } = machine('pids', '/system.slice/hub.service');
  mkdirSync(join(base, 'hub'));
  writeFileSync(files.own, '0::/system.slice/hub.service/hub\n');
  const { args } = inControlGroup(program, { processes: 3 }, silent, files);
  expect(args[2]).toMatch(new RegExp(`^${base}/server-${process.pid}-\\d+/cgroup\\.procs$`));
});

test('what was hit is in the log when the program has ended, and groups of hubs that are gone are removed', () => {
  const { files, base } = machine();
  const old = join(base, 'server-4194304-1');
  mkdirSync(old);
  const { log, lines } = recorded();
  const { args, ended } = inControlGroup(program, { memoryMb: 64, processes: 3 }, log, files);
  expect(existsSync(old)).toBe(false);
  const group = String(args[2]).replace(/\/cgroup\.procs$/, '');
  writeFileSync(join(group, 'memory.events'), 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n');
  writeFileSync(join(group, 'pids.events'), 'max 2\n');
  ended?.({});
  expect(lines).toEqual([expect.stringContaining('sandbox.memoryMb'), expect.stringContaining('sandbox.processes')]);
  expect(readFileSync(join(group, 'cgroup.kill'), 'utf8')).toBe('1');
});
