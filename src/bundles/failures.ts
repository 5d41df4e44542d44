import { errorText, HubError } from '../core/errors.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';

/** The bundle is at fault. `reason` is the end of a sentence. */
export function damaged(reason: string, cause?: unknown): HubError {
  return new HubError('invalid_input', `Cannot use the bundle: ${reason}.`, { cause });
}

export function tooLarge(reason: string): HubError {
  return new HubError('too_large', `Cannot use the bundle: ${reason}.`);
}

/**
 * Whatever was thrown while a bundle was read or unpacked to `folder`: the disk's fault when the system has a code for
 * it, else the bundle's.
 */
export function asHubError(error: unknown, folder: string): HubError {
  if (error instanceof HubError) return error;
  if (/^E[A-Z]+$/.test(errnoOf(error) ?? '')) return diskError(error, 'Cannot unpack the bundle', folder);
  return damaged(`it is damaged (${errorText(error)})`, error);
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

/** A name from a bundle as it may be shown: on one line, not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
