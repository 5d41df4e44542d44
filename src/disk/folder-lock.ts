import { randomBytes } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { createFile } from './create-file.ts';
import { diskError, errnoOf, isDiskFull } from './disk-error.ts';
import { diskLimits } from './limits.ts';
import { isAnswered, openLivenessSocket } from './liveness-socket.ts';
import { bootId, pidNamespace } from './process-place.ts';
import { startOf } from './process-start.ts';
import { temporaryName } from './write-file-atomic.ts';

/** Empty where the system did not tell it, in locks of earlier versions. */
const told = z.string().transform((text) => (text === '' ? undefined : text));

const holderShape = z
  .object({
    pid: z.int().positive(),
    /** As `startOf` gives it: process ids are used again, above all in containers. */
    startTime: told.optional(),
    /** What the lock of the database called `startTime` up to 0.1. */
    started: told.optional(),
    host: z.string(),
    /** As `bootId` and `pidNamespace` give them. */
    boot: told.optional(),
    pids: told.optional(),
    /** File name, beside the lock, of a socket that the holder listens on while it runs; locks of 0.1 call it so. */
    door: told.optional(),
    /** Where the holder serves, once it does. */
    url: z.string().optional(),
    /** Tells two locks of the same process apart. */
    token: z.string().optional(),
  })
  .transform(({ started, ...holder }) => ({ ...holder, startTime: holder.startTime ?? started }));

/** The process that holds a lock. */
export type Holder = z.output<typeof holderShape>;

export interface LockRequest {
  /** Absolute path of the lock file, `<name>.lock`. Its socket is made beside it. */
  readonly path: string;
  /** Begins the messages of errors: what cannot be done while another process holds the lock. */
  readonly cannot: string;
  /** What else could be done than to stop the holder: `give this one another DATA_DIR`. */
  readonly instead: string;
}

export interface FolderLock {
  /**
   * Adds the address at which we serve, for a process that finds the folder taken. Throws the system's error, also for
   * a disk that is full.
   */
  announce(url: string): void;
  /** Idempotent. Never removes a lock that another process holds by now. */
  release(): void;
}

/**
 * Takes the lock for this process: two writers in one folder would destroy what is in it. A lock is taken over only
 * from a process that is certainly gone, never by its age: a running holder may have been silent for long. On a full
 * disk the lock is a file without content, which counts while a socket beside it is answered. Throws HubError
 * `conflict` that names the holder, or `misconfigured`.
 */
export async function takeLock(request: LockRequest): Promise<FolderLock> {
  const { path } = request;
  const stem = path.replace(/\.lock$/, '');
  const socket = await openLivenessSocket(`${stem}.${randomBytes(4).toString('hex')}.sock`);
  const me = thisProcess(socket.name);
  try {
    // The second attempt is for a holder that let go between the first one and the look at its lock.
    const got = create(path, me) || (await replaceStale(request, me)) || create(path, me);
    if (!got) throw refusal(request, readHolder(path));
  } catch (error) {
    socket.close();
    if (error instanceof HubError || errnoOf(error) === undefined) throw error;
    throw diskError(error, `${request.cannot}: its lock ${path} cannot be written`, dirname(path));
  }
  let mine = true;
  // Without content it is the one we made: while this process runs, its socket keeps others from taking it over.
  const isOurs = (text = readText(path)): boolean => text === '' || holderIn(text)?.token === me.token;
  return {
    announce(url) {
      if (mine && isOurs()) replace(path, { ...me, url });
    },
    release() {
      if (mine && isOurs()) rmSync(path, { force: true });
      mine = false;
      socket.close();
    },
  };
}

/** The process that holds a lock now, as far as can be told from here; undefined when none does. */
export async function lockHolder(path: string): Promise<Holder | undefined> {
  const holder = readHolder(path);
  return holder && !(await isGone(holder, dirname(path))) ? holder : undefined;
}

function thisProcess(socket: string): Holder {
  return {
    pid: process.pid,
    startTime: startOf(process.pid),
    host: hostname(),
    boot: bootId(),
    pids: pidNamespace(),
    door: socket,
    token: randomBytes(8).toString('hex'),
  };
}

/**
 * Puts our lock in the place of one whose process is gone. Of several that try, a mark lets one through at a time, and
 * each looks again behind it; a lock is never removed, only replaced, so that no other process can create one in
 * between.
 */
async function replaceStale({ path, cannot }: LockRequest, me: Holder): Promise<boolean> {
  const mark = `${path}.takeover`;
  if ((await staleLock(path, me)) === undefined) return false;
  if (ageMs(mark) > diskLimits.takeoverMs) rmSync(mark, { force: true });
  if (!create(mark, me)) {
    throw new HubError('conflict', `${cannot}: another hub is starting on it at this moment. Start only one.`);
  }
  try {
    const stale = await staleLock(path, me);
    // While we asked, its holder may have let go and another process have taken the folder.
    if (stale === undefined || readText(path) !== stale) return false;
    takeOver(path, me);
    const socket = holderIn(stale)?.door;
    if (socket !== undefined) rmSync(join(dirname(path), basename(socket)), { force: true });
    return true;
  } finally {
    rmSync(mark, { force: true });
  }
}

/** The text of a lock whose holder is gone; undefined for any other, and for none. */
async function staleLock(path: string, me: Holder): Promise<string | undefined> {
  const text = readText(path);
  if (text === undefined) return undefined;
  const holder = holderIn(text);
  if (holder !== undefined) return (await isGone(holder, dirname(path))) ? text : undefined;
  // Cut off by a power failure, made on a full disk, or being written right now: a holder that runs listens on a socket
  // beside it.
  const others = socketsBeside(path).filter((name) => name !== me.door);
  const answers = await Promise.all(others.map((name) => isAnswered(join(dirname(path), name))));
  if (answers.includes(true)) return undefined;
  return others.length > 0 || ageMs(path) > diskLimits.takeoverMs ? text : undefined;
}

function socketsBeside(path: string): string[] {
  const start = `${basename(path, '.lock')}.`;
  return readdirSync(dirname(path)).filter((name) => name.startsWith(start) && name.endsWith('.sock'));
}

/** True only when it is certain that the holder no longer runs. */
async function isGone(holder: Holder, folder: string): Promise<boolean> {
  const here = hostname();
  if (!isOfThisBoot(holder)) {
    // Another boot of this machine: what ran then is gone. Another machine: nothing can be known about it.
    return holder.host === here;
  }
  if (isInView(holder)) return !runs(holder);
  // A process of another container cannot be seen from here, but a socket on a shared volume works across containers.
  return holder.door !== undefined && !(await isAnswered(join(folder, basename(holder.door))));
}

/**
 * Whether the holder ran, or runs, on the kernel we run on. The boot id tells, also for containers with host names of
 * their own.
 */
function isOfThisBoot({ boot, host }: Holder): boolean {
  const ours = bootId();
  return boot === undefined || ours === undefined ? host === hostname() : boot === ours;
}

/**
 * Whether the holder's process id means the same process here: containers count their own, and the number of a
 * namespace says which.
 */
function isInView({ pids, host }: Holder): boolean {
  // Without it (earlier versions, systems that have none) the host name has to do.
  return pids === undefined ? host === hostname() : pids === pidNamespace();
}

function runs({ pid, startTime }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs and belongs to another user.
    if (errnoOf(error) === 'ESRCH') return false;
  }
  const now = startOf(pid);
  return now === undefined || startTime === undefined || now === startTime;
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

/**
 * Makes the file only if it is not there; without content on a full disk, which as a rule still takes an empty file.
 */
function create(path: string, holder: Holder): boolean {
  try {
    return createFile(path, textOf(holder));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return createEmpty(path);
  }
}

function createEmpty(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * On a full disk the old lock is written over, since its space is enough as a rule; else it is left without content, as
 * `create` does.
 */
function takeOver(path: string, holder: Holder): void {
  try {
    replace(path, holder);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const file = openSync(path, 'r+');
    try {
      const bytes = Buffer.from(textOf(holder));
      ftruncateSync(file, writtenOver(file, bytes) === bytes.length ? bytes.length : 0);
    } finally {
      closeSync(file);
    }
  }
}

function writtenOver(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes, 0, bytes.length, 0);
  } catch (error) {
    if (isDiskFull(error)) return 0;
    throw error;
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

function refusal({ path, cannot, instead }: LockRequest, holder: Holder | undefined): HubError {
  if (holder === undefined)
    return new HubError('conflict', `${cannot}: another hub is starting on it. Start only one, or ${instead}.`);
  const at = holder.url === undefined ? '' : ` at ${holder.url}`;
  if (isOfThisBoot(holder) && isInView(holder))
    return new HubError(
      'conflict',
      `${cannot}: the hub with process id ${holder.pid}${at} has it. Stop that one, or ${instead}.`,
    );
  const where = isOfThisBoot(holder) ? 'in another container, on' : 'on';
  return new HubError(
    'conflict',
    `${cannot}: process ${holder.pid} ${where} host ${JSON.stringify(holder.host)}${at} has it. Stop that hub, or ${instead}. If it is gone for good, remove ${path}.`,
  );
}
