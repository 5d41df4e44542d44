import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative } from 'node:path';
import { HubError } from '../../core/errors.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { linkTarget, writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { cliLimits } from '../limits.ts';

/** A file of a user, below the home folder, that belongs to another program. */
export interface UserFile {
  readonly path: string;
  /** Undefined when it is not there. */
  readonly text: string | undefined;
  /** Throws HubError `conflict` when it is not any more what `text` says. Mode and owner stay. */
  write(text: string): Promise<void>;
  /** The same for its end. */
  remove(): void;
}

/**
 * Reads the file. Throws HubError `misconfigured` for one that leads out of the home folder, is another user's, or is
 * no text.
 */
export async function userFile(path: string, home: string): Promise<UserFile> {
  const target = await linkTarget(path);
  const folder = existing(dirname(target));
  if (!isBelow(folder, realpathSync(home)))
    throw new HubError('misconfigured', `${path} is not below your home folder ${home}, so it is left alone.`);
  const text = textOf(target, path);
  const found = text === undefined ? undefined : statSync(target);
  const me = process.getuid?.();
  if (found !== undefined && me !== undefined && me !== 0 && found.uid !== me)
    throw new HubError('misconfigured', `${path} belongs to another user, so it is left alone.`);

  const unchanged = (): void => {
    if (textOf(target, path) !== text)
      throw new HubError('conflict', `${path} was changed meanwhile. Nothing was written; try again.`);
  };
  return {
    path,
    text,
    async write(next) {
      try {
        mkdirSync(dirname(target), { recursive: true });
        if (!isBelow(realpathSync(dirname(target)), realpathSync(home)))
          throw new HubError('misconfigured', `${path} is not below your home folder any more.`);
        await writeFileAtomic(target, next, { beforeSwap: unchanged });
      } catch (error) {
        throw errnoOf(error) === undefined ? error : diskError(error, `Cannot write ${path}`, dirname(target));
      }
    },
    remove() {
      unchanged();
      rmSync(target, { force: true });
    },
  };
}

/** The deepest folder of a path that is there, links followed. */
function existing(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    const parent = dirname(folder);
    // A link that leads nowhere could be made to lead anywhere.
    if (errnoOf(error) !== 'ENOENT' || parent === folder || isThere(folder))
      throw diskError(error, `Cannot look at ${folder}`, folder);
    return existing(parent);
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function textOf(target: string, path: string): string | undefined {
  const kind = lstatSync(target, { throwIfNoEntry: false });
  if (kind === undefined) return undefined;
  if (!kind.isFile()) throw new HubError('misconfigured', `${path} is no file.`);
  if (kind.size > cliLimits.clientFileBytes)
    throw new HubError('misconfigured', `${path} has more than ${cliLimits.clientFileBytes / 1024 / 1024} MB.`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(target));
  } catch (error) {
    if (errnoOf(error) !== undefined && error instanceof Error && !(error instanceof TypeError))
      throw diskError(error, `Cannot read ${path}`, path);
    throw new HubError('misconfigured', `${path} is no text in UTF-8.`);
  }
}
