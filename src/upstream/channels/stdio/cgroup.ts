import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import type { SandboxBounds } from '../../../core/settings/server.ts';
import { statFields } from '../../../disk/process-start.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Spawned } from './program.ts';

/** Where the kernel says which groups a process is in, and where they are mounted. */
export interface ControlFiles {
  /** `/proc/self/cgroup` */
  readonly own: string;
  /** `/proc/self/mountinfo` */
  readonly mounts: string;
  /** `/proc` */
  readonly processes: string;
}

const ofThisProcess: ControlFiles = {
  own: '/proc/self/cgroup',
  mounts: '/proc/self/mountinfo',
  processes: '/proc',
};

/** The group of the hub and its launcher, since a group that divides what it has can hold no process itself. */
const ownLeaf = 'toolhub-processes';

/** What a shell does that enters a group and becomes the program: nothing of the program runs outside of its group. */
const entering =
  'echo 0 >"$0" || { echo "error: The control group of its bounds cannot be entered: it is not started." >&2; exit 126; }; exec "$@"';

/** Why bounds cannot hold on this machine. */
export const boundsObstacles = {
  no_group: 'The hub runs in no control group of version 2.',
  no_controller:
    'The control group of the hub does not control all of memory, processors and processes that are bounded.',
  no_right: 'The hub may not make control groups below its own.',
  shared_group: 'The control group of the hub has other processes, too.',
} as const;

/**
 * Undefined when nothing speaks against the bounds, as far as can be seen without a change. `hub`: the process that
 * starts programs, which is the first one where the hub is several (`WORKERS`).
 */
export function boundsObstacle(
  bounds: SandboxBounds,
  files = ofThisProcess,
  hub = cluster.isWorker ? process.ppid : process.pid,
): keyof typeof boundsObstacles | undefined {
  const needed = controllersOf(bounds);
  if (needed.length === 0) return undefined;
  const base = groupOf(files);
  if (base === undefined) return 'no_group';
  const offered = wordsOf(join(base, 'cgroup.controllers'));
  if (!needed.every((one) => offered.includes(one))) return 'no_controller';
  if (!isWritable(base)) return 'no_right';
  const isDivided = missingOf(base, needed).length === 0 || mayHaveProcesses(base);
  return isDivided || processesOf(base, files, hub).others.length === 0 ? undefined : 'shared_group';
}

/**
 * The same program, started in a control group of its own that holds it to its bounds (Linux, Control Group v2;
 * CONTRACT §10). The group is made when the program is about to be started. Where that cannot be it is started as it
 * is, and the log of the server says why.
 */
export function inControlGroup(spawned: Spawned, bounds: SandboxBounds, log: Logger, files = ofThisProcess): Spawned {
  if (controllersOf(bounds).length === 0) return spawned;
  const unbounded = (why: string): Spawned => {
    log.warn(`The bounds of its sandbox do not hold: it is started without. ${why} See docs/sandbox.md, "Bounds".`);
    return spawned;
  };
  const prepare = (): Spawned => {
    const obstacle = boundsObstacle(bounds, files, process.pid);
    if (obstacle !== undefined) return unbounded(boundsObstacles[obstacle]);
    let group: string;
    try {
      group = madeGroup(groupOf(files) ?? '', bounds, { log, files });
    } catch (error) {
      return unbounded(`The control group cannot be made: ${errorText(error)}.`);
    }
    return {
      command: '/bin/sh',
      args: ['-c', entering, join(group, 'cgroup.procs'), spawned.command, ...spawned.args],
      ended(env) {
        spawned.ended?.(env);
        tellWhatWasHit(group, bounds, log);
        removeGroup(group);
      },
      notStarted: () => removeGroup(group),
    };
  };
  return { ...spawned, prepare };
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

interface Making {
  /** Of the server whose program is started. */
  readonly log: Logger;
  readonly files: ControlFiles;
}

function madeGroup(base: string, bounds: SandboxBounds, making: Making): string {
  delegate(base, controllersOf(bounds), making);
  removeLeftOvers(base);
  const group = join(base, `server-${randomBytes(4).toString('hex')}`);
  mkdirSync(group);
  try {
    for (const [file, value] of Object.entries(valuesOf(bounds))) writeFileSync(join(group, file), value);
    // Swap is switched off where the kernel can limit it.
    if (bounds.memoryMb !== undefined && existsSync(join(group, 'memory.swap.max')))
      writeFileSync(join(group, 'memory.swap.max'), '0');
  } catch (error) {
    removed(group);
    throw error;
  }
  return group;
}

/**
 * Has the groups below this one divide these. A group that does so may have no process itself, except for the first of
 * the machine: those of the hub go into a leaf before, since groups below one with processes cannot be entered.
 */
function delegate(base: string, controllers: readonly string[], making: Making): void {
  const missing = missingOf(base, controllers);
  if (missing.length === 0) return;
  if (!mayHaveProcesses(base)) moveOwn(base, making);
  writeFileSync(join(base, 'cgroup.subtree_control'), missing.map((one) => `+${one}`).join(' '));
}

/** Those of the controllers that the groups below this one do not divide yet. */
function missingOf(base: string, controllers: readonly string[]): string[] {
  const divided = wordsOf(join(base, 'cgroup.subtree_control'));
  return controllers.filter((one) => !divided.includes(one));
}

/** The first group of the machine is the only one without a type. */
function mayHaveProcesses(base: string): boolean {
  return !existsSync(join(base, 'cgroup.type'));
}

/** Moves the hub, what started it, and what it has started, as far as they are in this group. */
function moveOwn(base: string, { log, files }: Making): void {
  const leaf = join(base, ownLeaf);
  const moved = new Set<string>();
  // What starts meanwhile is in the group of its parent, which may not have been moved yet.
  for (let times = 0; times < 5; times++) {
    const { own } = processesOf(base, files, process.pid);
    if (own.every((pid) => moved.has(pid))) break;
    mkdirSync(leaf, { recursive: true });
    for (const pid of own)
      try {
        writeFileSync(join(leaf, 'cgroup.procs'), pid);
        moved.add(pid);
      } catch (error) {
        if (!hasCode(error, 'ESRCH')) throw error;
      }
  }
  if (moved.size > 0)
    log.info(`The hub divides its control group: processes ${[...moved].join(', ')} are in ${leaf} from now on.`);
}

/**
 * The processes of a group: `own` are the hub, what started it, and what it has started, as far as they are in it.
 * Those that have ended meanwhile are left out. `0` is one that this process cannot see.
 */
function processesOf(base: string, { processes }: ControlFiles, hub: number): Record<'own' | 'others', string[]> {
  const parents = new Map<string, string>();
  for (const pid of wordsOf(join(base, 'cgroup.procs'))) {
    const parent = pid === '0' ? '' : parentOf(join(processes, pid, 'stat'));
    if (parent !== undefined) parents.set(pid, parent);
  }
  const lineOf = (pid: string): string[] => {
    const line: string[] = [];
    for (let at: string | undefined = pid; at !== undefined && !line.includes(at); at = parents.get(at)) line.push(at);
    return line;
  };
  const above = lineOf(`${hub}`);
  const isOwn = (pid: string): boolean => above.includes(pid) || lineOf(pid).includes(`${hub}`);
  const all = [...parents.keys()];
  return { own: all.filter(isOwn), others: all.filter((pid) => !isOwn(pid)) };
}

/** Undefined: the process is gone. */
function parentOf(file: string): string | undefined {
  try {
    return statFields(readFileSync(file, 'utf8'))[1];
  } catch {
    return undefined;
  }
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
function tellWhatWasHit(group: string, { memoryMb, processes }: SandboxBounds, log: Logger): void {
  // `oom_kill` alone may be the machine's own want of memory, or that of a group above.
  if (memoryMb !== undefined && ['oom', 'oom_kill'].every((event) => eventsOf(group, 'memory.events', event) > 0))
    log.error('It was ended because it took more memory than its sandbox allows (sandbox.memoryMb).');
  if (processes !== undefined && eventsOf(group, 'pids.events', 'max') > 0)
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

/** Empty groups of hubs that were killed. Another hub has made a new one, and its program has not entered it yet. */
function removeLeftOvers(base: string): void {
  for (const name of readdirSync(base))
    if (/^server-[0-9a-f]{8}$/.test(name) && ageMs(join(base, name)) > upstreamLimits.groupNewMs)
      removed(join(base, name));
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
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
