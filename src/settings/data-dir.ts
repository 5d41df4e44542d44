import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { createFile } from '../disk/create-file.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { type Holder, lockHolder, takeLock } from '../disk/folder-lock.ts';
import type { FullDiskRetry } from '../disk/full-disk-retry.ts';
import { closeContentToOthers, closeToOthers } from '../disk/permissions.ts';
import { temporaryName } from '../disk/write-file-atomic.ts';

/** The hub's own folder (`DATA_DIR`), locked for this process. The code that opened it closes it. */
export interface DataDir {
  /** Absolute. */
  readonly path: string;
  /** Writes into the lock where this hub can be reached, for a hub that finds the folder taken. */
  announce(url: string): void;
  /**
   * A random secret that is made once and kept in `<name>.secret` (0600), on a full disk once there is room; every
   * caller gets the same. Throws HubError `misconfigured` when the file holds something else: making a new one would
   * silently end every session and token.
   */
  secret(name: string, bytes: number): Buffer;
  /** Releases the folder. Idempotent. */
  close(): void;
}

/**
 * Makes the folder if need be (0700), locks it, and closes it and what is in it to other users. Throws HubError
 * `misconfigured` (cannot be used) or `conflict` (another hub has it).
 */
export async function openDataDir(folder: string, log: Logger, room: FullDiskRetry): Promise<DataDir> {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    room.keep('new files', () => tryToWrite(path));
  } catch (error) {
    throw diskError(error, `Cannot use data folder ${path} (DATA_DIR)`, path);
  }
  const lock = await takeLock({
    path: lockIn(path),
    cannot: `Cannot use data folder ${path}`,
    instead: 'give this one another DATA_DIR',
  });
  closeToOthers(`data folder ${path}`, path, log);
  closeContentToOthers(path, log);
  return {
    path,
    announce: (url) => room.keep(`who has ${path}`, () => lock.announce(url)),
    secret: secretIn(path, room),
    close: () => lock.release(),
  };
}

/** Throws HubError `misconfigured` for a folder in which a restore was interrupted: it has a part of each. */
export function refuseHalfRestored(folder: string): void {
  if (!existsSync(join(folder, 'restore.json'))) return;
  throw new HubError(
    'misconfigured',
    `Cannot use data folder ${folder}: a restore of it was interrupted, and nothing is lost. Run "toolhub restore --undo" to get back what was there before, or "toolhub restore <file> --replace" to restore once more.`,
  );
}

/** The hub that has a data folder now, as far as can be told from here; undefined when none has. */
export function folderHolder(folder: string): Promise<Holder | undefined> {
  return lockHolder(lockIn(folder));
}

function lockIn(folder: string): string {
  return join(folder, 'hub.lock');
}

/** The only test that is right for read-only mounts, root, ACLs and full disks alike. */
function tryToWrite(path: string): void {
  const probe = temporaryName(join(path, 'probe'));
  try {
    writeFileSync(probe, 'x', { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}

function secretIn(folder: string, room: FullDiskRetry): DataDir['secret'] {
  /** Those that a full disk has had no room for. */
  const unwritten = new Map<string, Buffer>();
  return (name, bytes) => {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`Not a secret's name: ${name}`);
    const path = join(folder, `${name}.secret`);
    try {
      if (!existsSync(path)) {
        const made = unwritten.get(name) ?? randomBytes(bytes);
        room.keep(`the secret ${path}`, () => void createFile(path, `${made.toString('hex')}\n`));
        if (!existsSync(path)) unwritten.set(name, made);
      }
      const kept = unwritten.get(name);
      if (kept !== undefined) return kept;
      chmodSync(path, 0o600);
      return parseSecret(readFileSync(path, 'utf8'), bytes, path);
    } catch (error) {
      if (error instanceof HubError || errnoOf(error) === undefined) throw error;
      throw diskError(error, `Cannot keep the secret ${path}`, path);
    }
  };
}

function parseSecret(text: string, bytes: number, path: string): Buffer {
  const hex = text.trim();
  if (/^[0-9a-f]*$/.test(hex) && hex.length === bytes * 2) return Buffer.from(hex, 'hex');
  throw new HubError(
    'misconfigured',
    `Cannot use the secret ${path}: it should be ${bytes * 2} hexadecimal digits. Restore it, or remove it to get a new one (everybody has to log in again).`,
  );
}
