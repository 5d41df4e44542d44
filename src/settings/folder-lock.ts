import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { createFile } from '../disk/create-file.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { isOpen, openDoor } from '../disk/door.ts';
import { bootId, pidNamespace } from '../disk/process-place.ts';
import { startOf } from '../disk/process-start.ts';
import { temporaryName } from '../disk/write-file-atomic.ts';

const holderShape = z.object({
  pid: z.int().positive(),
  /** As `startOf` gives it. */
  startTime: z.string().optional(),
  host: z.string(),
  /** As `bootId` and `pidNamespace` give them. Locks of earlier versions have neither. */
  boot: z.string().optional(),
  pids: z.string().optional(),
  /** File name, beside the lock, of the holder's door. */
  door: z.string().optional(),
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
 * of another host never is, because whether that process lives cannot be known from here; one of another container with our host name, when its door is
 * shut. Throws HubError `conflict` that names the holder.
 */
export async function takeLock(folder: string): Promise<FolderLock> {
  const path = join(folder, lockName);
  const door = await openDoor(join(folder, `hub.${randomBytes(4).toString('hex')}.sock`));
  const me = thisProcess(door.name);
  try {
    // The second attempt is for a holder that let go between the first one and the look at its lock.
    const got = createFile(path, textOf(me)) || (await replaceStale(path, me, folder)) || createFile(path, textOf(me));
    if (!got) throw taken(folder, path, readHolder(path));
  } catch (error) {
    door.close();
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
      door.close();
    },
  };
}

function thisProcess(door: string): Holder {
  return {
    pid: process.pid,
    startTime: startOf(process.pid),
    host: hostname(),
    boot: bootId(),
    pids: pidNamespace(),
    door,
    token: randomBytes(8).toString('hex'),
  };
}

/** Who holds a data folder now, as far as can be told from here; undefined when nobody does. */
export async function folderHolder(folder: string): Promise<Holder | undefined> {
  const holder = readHolder(join(folder, lockName));
  return holder && !(await isGone(holder, folder)) ? holder : undefined;
}

/**
 * Puts our lock in the place of one whose process is gone. Of several that try, a mark lets one through at a time, and each looks again
 * behind it; a lock is never removed, only replaced, so nobody can slip in between.
 */
async function replaceStale(path: string, me: Holder, folder: string): Promise<boolean> {
  const mark = `${path}.takeover`;
  if ((await staleLock(path)) === undefined) return false;
  if (ageMs(mark) > limits.takeoverMs) rmSync(mark, { force: true });
  if (!createFile(mark, textOf(me))) {
    throw new HubError(
      'conflict',
      `Cannot use data folder ${folder}: another hub is starting on it at this moment. Start only one.`,
    );
  }
  try {
    const stale = await staleLock(path);
    // While we asked, its holder may have let go and somebody else have taken the folder.
    if (stale === undefined || readText(path) !== stale) return false;
    replace(path, me);
    const door = holderIn(stale)?.door;
    if (door) rmSync(join(folder, basename(door)), { force: true });
    return true;
  } finally {
    rmSync(mark, { force: true });
  }
}

/** The text of a lock whose holder is gone; undefined for any other, and for none. */
async function staleLock(path: string): Promise<string | undefined> {
  const text = readText(path);
  if (text === undefined) return undefined;
  const holder = holderIn(text);
  // Unreadable and old: cut off by a power failure. Unreadable and young: somebody may be writing it.
  const isStale = holder === undefined ? ageMs(path) > limits.takeoverMs : await isGone(holder, dirname(path));
  return isStale ? text : undefined;
}

async function isGone(holder: Holder, folder: string): Promise<boolean> {
  if (holder.host !== hostname()) return false;
  if (isInOtherContainer(holder)) {
    // Whatever ran before the machine was restarted is gone.
    const boot = bootId();
    if (boot !== undefined && holder.boot !== undefined && holder.boot !== boot) return true;
    // Its process cannot be seen from here, but a socket on a shared volume works across containers.
    return Boolean(holder.door) && !(await isOpen(join(folder, basename(holder.door ?? ''))));
  }
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    if (errnoOf(error) === 'ESRCH') return true;
  }
  const now = startOf(holder.pid);
  return now !== undefined && holder.startTime !== undefined && now !== holder.startTime;
}

/** Containers may have one host name, and a container that was restarted keeps its own: process ids of one mean nothing in the other. */
function isInOtherContainer({ pids }: Holder): boolean {
  return pids !== undefined && pids !== pidNamespace();
}

function readHolder(path: string): Holder | undefined {
  return holderIn(readText(path));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function holderIn(text: string | undefined): Holder | undefined {
  try {
    return holderShape.safeParse(JSON.parse(text ?? '')).data;
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
  if (holder.host !== hostname() || isInOtherContainer(holder)) {
    const where = holder.host === hostname() ? 'in another container on' : 'on';
    return new HubError(
      'conflict',
      `Cannot use data folder ${folder}: process ${holder.pid} ${where} host ${JSON.stringify(holder.host)}${at} has it. If that hub is gone for good, remove ${path}.`,
    );
  }
  return new HubError(
    'conflict',
    `Cannot use data folder ${folder}: the hub with process id ${holder.pid}${at} has it. Stop that one, or give this one another DATA_DIR.`,
  );
}
