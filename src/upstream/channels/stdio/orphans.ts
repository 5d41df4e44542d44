import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../../core/logger.ts';
import { startOf, statFields } from '../../../disk/process-start.ts';
import { upstreamLimits } from '../../limits.ts';
import { findInstallers } from './installers.ts';
import type { InstallQueue } from './install-queue.ts';
import { openProcessTable } from './process-table.ts';
import { ownerVariable } from './child-env.ts';
import { endGroup } from './process-group.ts';

/**
 * Says which run of which hub started a process: `<hash>:<pid>:<start time>`. The hash is of the data directory, and of
 * the pid namespace because a container that shares the directory counts its processes differently; the start time
 * tells a later process with the same pid apart.
 */
export function ownerMark(dataDir: string): string {
  return `${ownerHash(dataDir)}:${process.pid}:${startOf(process.pid) ?? Math.round(performance.timeOrigin)}`;
}

/**
 * Ends what an earlier run of this hub left behind, should even the reaper have been killed: on Linux every process
 * that carries the mark of this data directory and whose hub is no longer alive, with its group. A launcher that is
 * installing is handed to `installs` in place of that. Returns how many processes were ended. Elsewhere it does
 * nothing.
 */
export async function endOrphans(
  dataDir: string,
  log: Logger,
  installs?: Pick<InstallQueue, 'adopt'>,
): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const all = await findOrphans(ownerHash(dataDir));
  const groupsOf = new Set(all.map(({ pgid }) => pgid));
  const installers =
    all.length === 0 ? [] : (await findInstallers(openProcessTable())).filter(({ group }) => groupsOf.has(group));
  for (const { group, launcher } of installers) {
    log.info(`An earlier run left ${launcher} installing a package; it ends by itself`);
    installs?.adopt(group, launcher);
  }
  const found = all.filter(({ pgid }) => !installers.some(({ group }) => group === pgid));
  if (found.length === 0) return 0;
  const names = [...new Set(found.map((orphan) => orphan.name))].join(', ');
  log.warn(`Ending ${found.length} processes that an earlier run left behind: ${names}`);
  const groups = new Set(found.map((orphan) => orphan.pgid));
  await Promise.all([...groups].map((pgid) => endGroup(pgid, upstreamLimits.killAfterMs)));
  return found.length;
}

interface Orphan {
  readonly pgid: number;
  readonly name: string;
}

/**
 * Processes that are looked at in one turn of the event loop. Their files are in memory: to wait for each of them took
 * most of the CPU time of a hub's start where hundreds of processes run.
 */
const readTogether = 64;

async function findOrphans(hash: string): Promise<Orphan[]> {
  const own = processGroup(readOrNothing('/proc/self/stat'));
  const orphans: Orphan[] = [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  for (const [i, pid] of pids.entries()) {
    if (i % readTogether === 0) await nextTurn();
    const owner = markOf(readOrNothing(`/proc/${pid}/environ`), hash);
    if (!owner || isAlive(owner)) continue;
    const stat = readOrNothing(`/proc/${pid}/stat`);
    const pgid = processGroup(stat);
    // Signals to group 0 or 1 would reach all processes; our own group includes this hub.
    if (pgid === undefined || pgid <= 1 || pgid === own) continue;
    orphans.push({ pgid, name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')) });
  }
  return orphans;
}

interface Owner {
  readonly pid: string;
  readonly startTime: string;
}

function markOf(environ: string, hash: string): Owner | undefined {
  const start = `${ownerVariable}=${hash}:`;
  if (!environ.includes(start)) return undefined;
  const mark = environ.split('\0').find((entry) => entry.startsWith(start));
  const [pid, startTime] = mark?.slice(start.length).split(':') ?? [];
  return pid && startTime && /^\d+$/.test(pid) ? { pid, startTime } : undefined;
}

function isAlive(owner: Owner): boolean {
  return startOf(Number(owner.pid)) === owner.startTime;
}

function processGroup(stat: string): number | undefined {
  const field = statFields(stat)[2];
  return field === undefined ? undefined : Number(field);
}

function ownerHash(dataDir: string): string {
  return createHash('sha256')
    .update(`${realPath(dataDir)}\n${pidNamespace()}`)
    .digest('hex')
    .slice(0, 16);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Processes end while they are looked at, and those of other users may not be: both read as nothing. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
