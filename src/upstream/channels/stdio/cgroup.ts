import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import type { SandboxBounds } from '../../../core/settings/server.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Spawned } from './program.ts';

/** Where the kernel says which groups a process is in, and where they are mounted. */
export interface ControlFiles {
  /** `/proc/self/cgroup` */
  readonly own: string;
  /** `/proc/self/mountinfo` */
  readonly mounts: string;
}

const ofThisProcess: ControlFiles = { own: '/proc/self/cgroup', mounts: '/proc/self/mountinfo' };

/** The group of the hub and its launcher, since a group that divides what it has can hold no process itself. */
const ownLeaf = 'hub';

/** Why bounds cannot hold on this machine. */
export const boundsObstacles = {
  no_group: 'The hub runs in no control group of version 2.',
  no_controller:
    'The control group of the hub does not control all of memory, processors and processes that are bounded.',
  no_right: 'The hub may not make control groups below its own.',
} as const;

/** Undefined when nothing speaks against the bounds, as far as can be seen without a change. */
export function boundsObstacle(bounds: SandboxBounds, files = ofThisProcess): keyof typeof boundsObstacles | undefined {
  const needed = controllersOf(bounds);
  if (needed.length === 0) return undefined;
  const base = groupOf(files);
  if (base === undefined) return 'no_group';
  const offered = wordsOf(join(base, 'cgroup.controllers'));
  if (!needed.every((one) => offered.includes(one))) return 'no_controller';
  return isWritable(base) ? undefined : 'no_right';
}

/**
 * The same program, started in a control group of its own that holds it to its bounds (Linux, Control Group v2;
 * CONTRACT §10). Where that cannot be it is started as it is, and the log of the server says why.
 */
export function inControlGroup(spawned: Spawned, bounds: SandboxBounds, log: Logger, files = ofThisProcess): Spawned {
  if (controllersOf(bounds).length === 0) return spawned;
  const unbounded = (why: string): Spawned => {
    log.warn(`The bounds of its sandbox do not hold: it is started without. ${why} See docs/sandbox.md, "Bounds".`);
    return spawned;
  };
  const obstacle = boundsObstacle(bounds, files);
  if (obstacle !== undefined) return unbounded(boundsObstacles[obstacle]);
  let group: string;
  try {
    group = madeGroup(groupOf(files) ?? '', bounds);
  } catch (error) {
    return unbounded(`The control group cannot be made: ${errorText(error)}.`);
  }
  return {
    command: '/bin/sh',
    // The shell enters the group and becomes the program, so nothing of the program runs outside of it.
    args: ['-c', 'echo 0 >"$0" && exec "$@"', join(group, 'cgroup.procs'), spawned.command, ...spawned.args],
    ended(env) {
      spawned.ended?.(env);
      tellWhatWasHit(group, log);
      removeGroup(group);
    },
  };
}

/** The folder below which this hub makes groups: that of its own process, or the one above its leaf. */
function groupOf({ own, mounts }: ControlFiles): string | undefined {
  try {
    const path = /^0::(\/.*)$/m.exec(readFileSync(own, 'utf8'))?.[1];
    // …: its id, that of its parent, the device, the root of the mount, where it is, options, "-", type.
    const mount = /^\d+ \d+ \S+ (\S+) (\S+) .*? - cgroup2 /m.exec(readFileSync(mounts, 'utf8'));
    if (path === undefined || mount === null) return undefined;
    const [, root = '/', place = ''] = mount;
    const within = root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;
    const group = join(place, within);
    return basename(group) === ownLeaf ? dirname(group) : group;
  } catch {
    return undefined;
  }
}

function madeGroup(base: string, bounds: SandboxBounds): string {
  delegate(base, controllersOf(bounds));
  removeLeftOvers(base);
  const group = join(base, `server-${process.pid}-${++made}`);
  mkdirSync(group);
  for (const [file, value] of Object.entries(valuesOf(bounds))) writeFileSync(join(group, file), value);
  // Where the kernel counts memory that was written to a disk, none of it is.
  if (bounds.memoryMb !== undefined && existsSync(join(group, 'memory.swap.max')))
    writeFileSync(join(group, 'memory.swap.max'), '0');
  return group;
}

let made = 0;

/**
 * Has the groups below this one divide these. A group that does so may have no process itself, except for the first of
 * the machine: where the kernel refuses, those in it (the hub, and what started it) go into a leaf.
 */
function delegate(base: string, controllers: readonly string[]): void {
  const file = join(base, 'cgroup.subtree_control');
  const divided = wordsOf(file);
  const missing = controllers.filter((one) => !divided.includes(one)).map((one) => `+${one}`);
  if (missing.length === 0) return;
  try {
    writeFileSync(file, missing.join(' '));
  } catch (error) {
    if (!hasCode(error, 'EBUSY')) throw error;
    moveAll(base, join(base, ownLeaf));
    writeFileSync(file, missing.join(' '));
  }
}

/** What starts meanwhile is in the group of its parent, which may not have been moved yet. */
function moveAll(from: string, to: string, times = 5): void {
  mkdirSync(to, { recursive: true });
  for (const pid of wordsOf(join(from, 'cgroup.procs')))
    try {
      writeFileSync(join(to, 'cgroup.procs'), pid);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  if (times > 1 && wordsOf(join(from, 'cgroup.procs')).length > 0) moveAll(from, to, times - 1);
}

/** What the kernel is told: files of the group and their values. */
function valuesOf({ memoryMb, cpus, processes }: SandboxBounds): Record<string, string> {
  return {
    ...(memoryMb !== undefined && {
      'memory.max': `${memoryMb * 1024 * 1024}`,
      // All of it ends, and not the one process that the kernel chooses.
      'memory.oom.group': '1',
    }),
    // Microseconds of each period of 100 000.
    ...(cpus !== undefined && { 'cpu.max': `${Math.round(cpus * 100_000)} 100000` }),
    ...(processes !== undefined && { 'pids.max': `${processes}` }),
  };
}

function controllersOf({ memoryMb, cpus, processes }: SandboxBounds): string[] {
  return [
    ...(memoryMb === undefined ? [] : ['memory']),
    ...(cpus === undefined ? [] : ['cpu']),
    ...(processes === undefined ? [] : ['pids']),
  ];
}

/** Says in the log of the server which of its bounds it came up against. */
function tellWhatWasHit(group: string, log: Logger): void {
  if (eventsOf(group, 'memory.events', 'oom_kill') > 0)
    log.error('It was ended because it took more memory than its sandbox allows (sandbox.memoryMb).');
  if (eventsOf(group, 'pids.events', 'max') > 0)
    log.warn('It wanted to start more processes than its sandbox allows (sandbox.processes).');
}

function eventsOf(group: string, file: string, event: string): number {
  try {
    return Number(new RegExp(`^${event} (\\d+)$`, 'm').exec(readFileSync(join(group, file), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Ends what is left in a group, and removes it once it is empty. */
function removeGroup(group: string, tries: number = upstreamLimits.groupRemovals): void {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1');
  } catch {
    // Linux before 5.14 has no such file: the process group is ended in any case.
  }
  if (removed(group) || tries <= 1) return;
  setTimeout(() => removeGroup(group, tries - 1), upstreamLimits.groupRemovalMs).unref();
}

function removed(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}

/** Empty groups of hubs that were killed. */
function removeLeftOvers(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = /^server-(\d+)-\d+$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removed(join(base, name));
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function isWritable(base: string): boolean {
  try {
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) accessSync(join(base, file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function wordsOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}
