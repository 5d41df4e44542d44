import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { createFile } from '../disk/create-file.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { startOf } from '../disk/process-start.ts';
import { temporaryName } from '../disk/write-file-atomic.ts';

const holderShape = z.object({
  pid: z.int().positive(),
  /** As `startOf` gives it. */
  startTime: z.string().optional(),
  host: z.string(),
  /** Where the holder listens, once it does. */
  url: z.string().optional(),
  /** Tells two locks of the same process apart. */
  token: z.string().optional(),
});

/** Who has a data folder. */
export type Holder = z.output<typeof holderShape>;

export interface FolderLock {
  /** Adds where we listen, for whoever finds the folder taken. */
  announce(url: string): void;
  /** Idempotent. Never removes a lock that is somebody else's by now. */
  release(): void;
}

const lockName = 'hub.lock';

/**
 * Takes the folder for this process: two hubs on one folder would destroy the embedded database. The lock of a process that is gone is taken over; one
 * of another host never is, because whether that process lives cannot be known from here. Throws HubError `conflict` that names the holder.
 */
export function takeLock(folder: string): FolderLock {
  const path = join(folder, lockName);
  const startTime = startOf(process.pid);
  const me: Holder = {
    pid: process.pid,
    ...(startTime !== undefined && { startTime }),
    host: hostname(),
    token: randomBytes(8).toString('hex'),
  };
  try {
    // The second attempt is for a holder that let go between the first one and the look at its lock.
    const got = createFile(path, textOf(me)) || replaceStale(path, me, folder) || createFile(path, textOf(me));
    if (!got) throw taken(folder, path, readHolder(path));
  } catch (error) {
    if (error instanceof HubError || errnoOf(error) === undefined) throw error;
    throw diskError(error, `Cannot lock data folder ${folder}`, folder);
  }
  let mine = true;
  return {
    announce(url) {
      if (mine && readHolder(path)?.token === me.token) replace(path, { ...me, url });
    },
    release() {
      if (mine && readHolder(path)?.token === me.token) rmSync(path, { force: true });
      mine = false;
    },
  };
}

/** Who holds a data folder now, as far as can be told from here; undefined when nobody does. */
export function folderHolder(folder: string): Holder | undefined {
  const holder = readHolder(join(folder, lockName));
  return holder && !isGone(holder) ? holder : undefined;
}

/**
 * Puts our lock in the place of one whose process is gone. Of several that try, a mark lets one through at a time, and each looks again
 * behind it; a lock is never removed, only replaced, so nobody can slip in between.
 */
function replaceStale(path: string, me: Holder, folder: string): boolean {
  const mark = `${path}.takeover`;
  if (!isStale(path)) return false;
  if (ageMs(mark) > limits.takeoverMs) rmSync(mark, { force: true });
  if (!createFile(mark, textOf(me))) {
    throw new HubError(
      'conflict',
      `Cannot use data folder ${folder}: another hub is starting on it at this moment. Start only one.`,
    );
  }
  try {
    if (!isStale(path)) return false;
    replace(path, me);
    return true;
  } finally {
    rmSync(mark, { force: true });
  }
}

function isStale(path: string): boolean {
  const holder = readHolder(path);
  // Unreadable and old: cut off by a power failure. Unreadable and young: somebody may be writing it.
  return holder === undefined ? ageMs(path) > limits.takeoverMs : isGone(holder);
}

function isGone(holder: Holder): boolean {
  if (holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    if (errnoOf(error) === 'ESRCH') return true;
  }
  const now = startOf(holder.pid);
  return now !== undefined && holder.startTime !== undefined && now !== holder.startTime;
}

function readHolder(path: string): Holder | undefined {
  try {
    return holderShape.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function replace(path: string, holder: Holder): void {
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, textOf(holder), { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function textOf(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`;
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function taken(folder: string, path: string, holder: Holder | undefined): HubError {
  if (holder === undefined) {
    return new HubError(
      'conflict',
      `Cannot use data folder ${folder}: another hub is starting on it. Start only one, or set DATA_DIR.`,
    );
  }
  const at = holder.url === undefined ? '' : ` at ${holder.url}`;
  if (holder.host !== hostname()) {
    return new HubError(
      'conflict',
      `Cannot use data folder ${folder}: process ${holder.pid} on host ${JSON.stringify(holder.host)}${at} has it. If that hub is gone for good, remove ${path}.`,
    );
  }
  return new HubError(
    'conflict',
    `Cannot use data folder ${folder}: the hub with process id ${holder.pid}${at} has it. Stop that one, or give this one another DATA_DIR.`,
  );
}
