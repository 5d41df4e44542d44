import { watch as watchFolder } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { linkTarget } from '../disk/write-file-atomic.ts';
import { settingsLimits } from './limits.ts';

/**
 * Calls back once a file was changed, replaced, made or removed and has been quiet for
 * `settingsLimits.settingsDebounceMs`. The folder is watched, not the file, because editors replace files; where the
 * system reports nothing, a look every `settingsLimits.settingsPollMs` finds it.
 */
export async function watchFile(path: string, changed: () => void): Promise<{ close(): Promise<void> }> {
  let closed = false;
  let quiet: NodeJS.Timeout | undefined;
  let seen = await fingerprint(path);

  const note = () => {
    if (closed) return;
    clearTimeout(quiet);
    quiet = setTimeout(changed, settingsLimits.settingsDebounceMs);
    quiet.unref();
  };
  let looking = false;
  const look = async () => {
    // A network disk that hangs would otherwise collect one look after the other.
    if (looking) return;
    looking = true;
    const now = await fingerprint(path);
    looking = false;
    if (now === seen) return;
    seen = now;
    note();
  };

  const places = new Set([path, await linkTarget(path)]);
  const watchers = [...places].flatMap((place) => watchPlace(place, note) ?? []);
  const poll = setInterval(() => void look(), settingsLimits.settingsPollMs);
  poll.unref();
  return {
    async close() {
      closed = true;
      clearTimeout(quiet);
      clearInterval(poll);
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watchPlace(place: string, note: () => void): FSWatcher | undefined {
  try {
    const name = basename(place);
    const watcher = watchFolder(dirname(place), { persistent: false }, (_, changed) => {
      if (changed === null || changed === name) note();
    });
    // A folder that went away or a system out of watches: the poll goes on.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

async function fingerprint(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return '';
  }
}
