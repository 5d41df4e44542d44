import { errorText, HubError } from '../core/errors.ts';

/** The bundle is at fault. `reason` is the end of a sentence. */
export function damaged(reason: string, cause?: unknown): HubError {
  return new HubError('invalid_input', `Cannot use the bundle: ${reason}.`, { cause });
}

export function tooLarge(reason: string): HubError {
  return new HubError('too_large', `Cannot use the bundle: ${reason}.`);
}

/** Whatever was thrown while a bundle was read or written: the disk's fault when the file system says so, else the bundle's. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  const reason = writeFailures[errnoOf(error) ?? ''];
  if (reason !== undefined) return new HubError('not_ready', `Cannot unpack the bundle: ${reason}.`, { cause: error });
  return damaged(`it is damaged (${errorText(error)})`, error);
}

/** What the file system says, in words for whoever uploaded. */
const writeFailures: Record<string, string> = {
  ENOSPC: 'the disk that holds DATA_DIR is full; free some space',
  EDQUOT: 'the disk quota for DATA_DIR is used up; free some space',
  EFBIG: 'a file in it is larger than this system allows the hub to write',
  EROFS: 'DATA_DIR is on a read-only file system',
  EACCES: 'the hub may not write to DATA_DIR',
  EPERM: 'the hub may not write to DATA_DIR',
  ENOTDIR: 'DATA_DIR, or "bundles" in it, is not a folder',
  EEXIST: 'DATA_DIR, or "bundles" in it, is not a folder',
  EIO: 'the disk that holds DATA_DIR has failed',
  EMFILE: 'the hub has too many files open; try again later',
  ENFILE: 'the system has too many files open; try again later',
};

/** The system's code of an error (`ENOENT`), if it has one. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

/** A name from a bundle as it may be shown: on one line, not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
