import { HubError } from '../core/errors.ts';

/** Codes of a disk that has no space: full, over quota, over the size one file may have. */
const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const refused = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * The failure of a file operation in words the operator can act on. `what` is what was attempted (`Cannot write
 * settings file /x`), `where` the file or folder whose permissions or disk decide.
 */
export function diskError(error: unknown, what: string, where: string): HubError {
  return new HubError('misconfigured', `${what}: ${reason(errnoOf(error), where)}`, { cause: error });
}

/** The code of a system error for a disk that has no space, also where a failure of ours reports it; else undefined. */
export function diskFullCode(error: unknown): string | undefined {
  const codes = [errnoOf(error), error instanceof Error ? errnoOf(error.cause) : undefined];
  return codes.find((code) => code !== undefined && full.has(code));
}

export function isDiskFull(error: unknown): boolean {
  return diskFullCode(error) !== undefined;
}

/** The `errno` name of a system error (`ENOENT`), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function reason(code: string | undefined, where: string): string {
  if (code !== undefined && full.has(code)) return `no room left on the disk (${code}). Free some and try again.`;
  if (code !== undefined && refused.has(code)) {
    return `no permission (${code}). Give ${user()} the right to write to ${where}, or name another place.`;
  }
  if (code === 'EISDIR') {
    return `${where} is a folder (EISDIR). Docker makes one when the file to mount does not exist: remove it and put the file there.`;
  }
  if (code === 'ENOENT') return `${where} does not exist (ENOENT). Create it first.`;
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${where} is not a folder (${code}). Name another place.`;
  if (code === 'EMFILE' || code === 'ENFILE') return `too many open files (${code}). Raise the limit (ulimit -n).`;
  return `the system said ${code ?? 'something unexpected'}. Look at ${where}.`;
}

function user(): string {
  const uid = process.getuid?.();
  return uid === undefined ? 'the hub' : `user id ${uid}`;
}
