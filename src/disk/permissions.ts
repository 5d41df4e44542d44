import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../core/logger.ts';
import { errnoOf } from './disk-error.ts';

/** A file or folder that every user of the machine can look into, or change. Modes as `chmod` takes them: `0644`. */
export interface OpenToOthers {
  readonly mode: string;
  /** The mode it should have. */
  readonly closed: string;
  readonly isOurs: boolean;
}

/**
 * What is to be closed at this path, links followed; undefined when other users have no access, nothing is there, or
 * the system knows no modes. Access for a group alone is left as it is: it takes a choice, while systems make 0644 and
 * 0755 by themselves.
 */
export function openToOthers(path: string): OpenToOthers | undefined {
  const user = process.getuid?.();
  const found = user === undefined ? undefined : statOf(path);
  if (found === undefined || (found.mode & 0o007) === 0) return undefined;
  return { mode: octal(found.mode & 0o777), closed: octal(found.mode & 0o700), isOurs: found.uid === user };
}

/** For the operator: what is open, and what to do. `what` is what it is, with its path. */
export function openText(what: string, path: string, { mode, closed }: OpenToOthers): string {
  return `Every user of this machine has access to ${what} (${mode}), which may hold secrets. Close it: chmod ${closed} ${path}`;
}

/**
 * Closes the file or folder at this path to other users, and logs that, or what the operator has to do where it may
 * not. What is of another kind than `kind` is left as it is: the code that reads it refuses it.
 */
export function closeToOthers(what: string, path: string, log: Logger, kind?: 'file' | 'folder'): void {
  const open = openToOthers(path);
  if (open === undefined || !isOfKind(path, kind)) return;
  try {
    // Root could close what another user made for others to read; it is not for us to judge.
    if (!open.isOurs) return log.warn(openText(what, path, open));
    chmodSync(path, Number.parseInt(open.closed, 8));
    log.info(`Every user of this machine had access to ${what} (${open.mode}); it is ${open.closed} now`);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    log.warn(openText(what, path, open));
  }
}

/**
 * The same for the files and folders in a folder that is closed itself as a rule, hence hardly worth a line. What is
 * below those cannot be reached then; links are left alone.
 */
export function closeContentToOthers(folder: string, log: Logger): void {
  const quiet: Logger = { ...log, info: (message) => log.debug(message) };
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const kind = lstatSync(path, { throwIfNoEntry: false });
    if (kind?.isFile() === true || kind?.isDirectory() === true) closeToOthers(path, path, quiet);
  }
}

/** Devices, pipes and sockets are of neither kind: all programs of the machine may need them. */
function isOfKind(path: string, kind: 'file' | 'folder' | undefined): boolean {
  const found = statOf(path);
  return (found?.isFile() === true && kind !== 'folder') || (found?.isDirectory() === true && kind !== 'file');
}

/** Undefined when it cannot be looked at: the code that has to read it reports that. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
