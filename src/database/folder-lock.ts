import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { isOpen, openDoor } from '../disk/door.ts';
import { bootId, pidNamespace } from '../disk/process-place.ts';
import { startOf } from '../disk/process-start.ts';

/** Who holds a folder. `started`, `boot` and `pids` are empty where the system does not tell them. */
interface Holder {
  readonly token: string;
  readonly pid: number;
  /** As `startOf` gives it: process ids come round again, above all in containers. */
  readonly started: string;
  readonly host: string;
  /** As `bootId` gives it. */
  readonly boot: string;
  /** As `pidNamespace` gives it. */
  readonly pids: string;
  /** File name, beside the lock, of a socket the holder listens on while it lives; empty when it could not. */
  readonly door: string;
}

/**
 * Takes `<folder>.lock` for this process and gives the function that lets go. Throws HubError `conflict` while its holder lives, or when that cannot be known. A lock is
 * taken over only from a process that is gone, never by its age: a live holder may well have been silent for long.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const file = `${folder}.lock`;
  const door = await openDoor(`${folder}.${randomUUID().slice(0, 8)}.sock`);
  const mine = thisProcess(door.name);
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (await taken(file, mine)) {
        return () => {
          if (read(file)?.token === mine.token) rmSync(file, { force: true });
          door.close();
        };
      }
      await removeStale(folder, file, mine);
    }
    throw new HubError('conflict', `Cannot open the database in ${folder}: another process is opening it too.`);
  } catch (error) {
    door.close();
    throw error;
  }
}

async function taken(file: string, mine: Holder): Promise<boolean> {
  if (!created(file, mine)) return false;
  await settled();
  // Someone may have judged the old lock just before we replaced it, and have moved ours away by mistake.
  return read(file)?.token === mine.token;
}

/** Removes a lock whose holder is gone, or one that cannot be read; throws while the holder lives. */
async function removeStale(folder: string, file: string, mine: Holder): Promise<void> {
  const text = readText(file);
  if (text === undefined) return;
  const holder = parse(text);
  if (holder === undefined) await settled(); // Being written right now, or damaged.
  else if (!(await isGone(holder, mine, dirname(file)))) throw held(folder, file, holder);
  if (readText(file) !== text) return;
  remove(file, text);
  if (holder !== undefined && holder.door !== '') rmSync(join(dirname(file), basename(holder.door)), { force: true });
}

function held(folder: string, file: string, holder: Holder): HubError {
  return new HubError(
    'conflict',
    `Cannot open the database in ${folder}: process ${holder.pid} on ${holder.host} has it open. Stop that hub, give this one another DATA_DIR, or have both use PostgreSQL (DB_URL). ` +
      `If that process certainly no longer runs, delete ${file}.`,
  );
}

/** True only when it is certain that the holder no longer runs. */
async function isGone(holder: Holder, mine: Holder, folder: string): Promise<boolean> {
  const sameKernel = holder.boot === '' ? holder.host === mine.host : holder.boot === mine.boot;
  // The machine was started anew since; or it is another machine, about which nothing is known.
  if (!sameKernel) return holder.host === mine.host;
  if (holder.pids === mine.pids) return !runs(holder.pid) || (startOf(holder.pid) ?? '') !== holder.started;
  // A process of another container cannot be seen from here, but a socket on a shared volume works across containers.
  return holder.door !== '' && !(await isOpen(join(folder, basename(holder.door))));
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function thisProcess(door: string): Holder {
  return {
    token: randomUUID(),
    pid: process.pid,
    started: startOf(process.pid) ?? '',
    host: hostname(),
    boot: bootId() ?? '',
    pids: pidNamespace() ?? '',
    door,
  };
}

function created(file: string, mine: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock with this text. Moved aside first: between looking and removing it may have become another process's. */
function remove(file: string, text: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== text) linkSync(aside, file);
  } catch {
    // Another process was quicker.
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(file: string): Holder | undefined {
  return parse(readText(file));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parse(text: string | undefined): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (!isObject(value) || typeof value['pid'] !== 'number' || typeof value['token'] !== 'string') return undefined;
    const field = (name: string): string => (typeof value[name] === 'string' ? value[name] : '');
    return {
      token: value['token'],
      pid: value['pid'],
      started: field('started'),
      host: field('host'),
      boot: field('boot'),
      pids: field('pids'),
      door: field('door'),
    };
  } catch {
    return undefined;
  }
}

function settled(): Promise<void> {
  return sleep(limits.lockSettleMs);
}
