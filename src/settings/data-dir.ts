import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { createFile } from '../disk/create-file.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { type Holder, lockHolder, takeLock } from '../disk/folder-lock.ts';
import type { FullDiskRetry } from '../disk/full-disk-retry.ts';
import { closeContentToOthers, closeToOthers } from '../disk/permissions.ts';
import { notForOneProgram } from '../disk/system-folder.ts';
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
  /** Tries once more to keep the secrets that a full disk had no room for: what they sealed would be lost with them. */
  keepSecrets(): void;
  /** Does `keepSecrets`, and releases the folder. Idempotent. */
  close(): void;
}

/**
 * Makes the folder if need be (0700), locks it, and closes it and what is in it to other users, unless it is one that
 * all users may write to. Throws HubError `misconfigured` (cannot be used, or is of the whole machine) or `conflict`
 * (another hub has it).
 */
export async function openDataDir(folder: string, log: Logger, room: FullDiskRetry): Promise<DataDir> {
  const path = resolve(folder);
  const why = notForOneProgram(path);
  if (why !== undefined) throw new HubError('misconfigured', `Cannot use data folder ${path} (DATA_DIR): ${why}`);
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
  if (isShared(path)) {
    const own = join(path, 'toolhub');
    log.warn(`Other programs use data folder ${path} too: it is not closed to them. Set DATA_DIR to one like ${own}`);
  } else {
    closeToOthers(`data folder ${path}`, path, log);
    closeContentToOthers(path, log);
  }
  const secrets = secretsIn(path, room);
  return {
    path,
    announce: (url) => room.keep(`who has ${path}`, () => lock.announce(url)),
    ...secrets,
    close() {
      secrets.keepSecrets();
      lock.release();
    },
  };
}

/** Made for all users of the machine: closed to others, it would end what they do there. */
function isShared(path: string): boolean {
  return (statSync(path).mode & 0o1000) !== 0;
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

function secretsIn(folder: string, room: FullDiskRetry): Pick<DataDir, 'secret' | 'keepSecrets'> {
  /** By path, those that a full disk has had no room for. */
  const unwritten = new Map<string, Buffer>();
  const write = (path: string, made: Buffer): void => {
    if (createFile(path, `${made.toString('hex')}\n`)) unwritten.delete(path);
  };
  return {
    secret(name, bytes) {
      if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`Not a secret's name: ${name}`);
      const path = join(folder, `${name}.secret`);
      try {
        if (!existsSync(path)) {
          const made = unwritten.get(path) ?? randomBytes(bytes);
          room.keep(`the secret ${path}`, () => write(path, made));
          if (!existsSync(path)) unwritten.set(path, made);
        }
        const kept = unwritten.get(path);
        if (kept !== undefined) return kept;
        chmodSync(path, 0o600);
        return parseSecret(readFileSync(path, 'utf8'), bytes, path);
      } catch (error) {
        if (error instanceof HubError || errnoOf(error) === undefined) throw error;
        throw diskError(error, `Cannot keep the secret ${path}`, path);
      }
    },
    keepSecrets() {
      for (const [path, made] of unwritten) {
        try {
          write(path, made);
        } catch {
          // The log has said that there is no room.
        }
      }
    },
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
