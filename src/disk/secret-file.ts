import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { HubError } from '../core/errors.ts';
import { errnoOf } from './disk-error.ts';
import { diskLimits } from './limits.ts';

/** Folders in which the system tells of itself: `/proc/self/environ` is full of secrets that are not meant. */
const ofTheSystem = /^\/(proc|sys|dev)(\/|$)/;

/**
 * The text of a file that holds one secret, without the line break at its end. Throws HubError `misconfigured` whose
 * message says what is wrong with the file, as the beginning of a sentence, and never what is in it.
 */
export function readSecretFile(path: string): string {
  if (!isAbsolute(path)) throw unusable(`${path === '' ? 'The path' : path} is not an absolute path`);
  const bytes = bytesOf(path);
  if (bytes.length > diskLimits.secretFileBytes)
    throw unusable(`${path} has more than ${diskLimits.secretFileBytes / 1024} KB; a secret is short`);
  const text = textOf(bytes, path).replace(/\r?\n$/, '');
  if (text.trim() === '') throw unusable(`${path} is empty`);
  return text;
}

function bytesOf(path: string): Buffer {
  let file: number | undefined;
  try {
    const real = realpathSync(path);
    if (ofTheSystem.test(real)) throw unusable(`${path} is a place where the system tells of itself, not a file`);
    // Opening a pipe would otherwise wait for its other end.
    file = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const kind = fstatSync(file);
    if (kind.isDirectory()) throw unusable(`${path} is a folder`);
    if (!kind.isFile()) throw unusable(`${path} is not a regular file`);
    const bytes = Buffer.alloc(diskLimits.secretFileBytes + 1);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } catch (error) {
    throw error instanceof HubError ? error : unreadable(error, path);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function textOf(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(`${path} is not text in UTF-8`);
  }
}

function unreadable(error: unknown, path: string): HubError {
  const code = errnoOf(error);
  if (code === undefined) throw error;
  const words: Record<string, string> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EACCES: "may not be read by the hub's user",
    EPERM: "may not be read by the hub's user",
    ELOOP: 'is a link that leads nowhere',
  };
  return unusable(`${path} ${words[code] ?? 'cannot be read'} (${code})`);
}

function unusable(why: string): HubError {
  return new HubError('misconfigured', why);
}
