import type { ItemKind } from '../../../core/catalogue.ts';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { upstreamLimits } from '../../limits.ts';

/**
 * Answers a server's `list_changed`, also a storm of them, by reading each changed list again: once, and once more for
 * what came meanwhile.
 */
export interface Relister {
  /** Also before `start`: what a server says while it is being listed may come too late for that list. */
  flag(kind: ItemKind): void;
  /** The connection is ready: from now on flagged lists are read. */
  start(): void;
  /** Forgets what is flagged: the connection is gone. */
  stop(): void;
}

/** When `read` fails for a list its last version stays, and the other lists are read all the same. */
export function createRelister(log: Logger, read: (kind: ItemKind) => Promise<void>): Relister {
  const flagged = new Set<ItemKind>();
  let timer: NodeJS.Timeout | undefined;
  let started = false;
  let running = false;

  function schedule(): void {
    if (started && !running && flagged.size > 0)
      timer ??= setTimeout(() => void run(), upstreamLimits.relistDebounceMs);
  }

  async function run(): Promise<void> {
    timer = undefined;
    running = true;
    const kinds = [...flagged];
    flagged.clear();
    for (const kind of kinds) {
      try {
        await read(kind);
      } catch (error) {
        log.warn('changed list could not be read; the last one stays', { list: kind, error: errorText(error) });
      }
    }
    running = false;
    schedule();
  }

  return {
    flag(kind) {
      flagged.add(kind);
      // There is no notification for templates of their own.
      if (kind === 'resources') flagged.add('templates');
      schedule();
    },
    start() {
      started = true;
      schedule();
    },
    stop() {
      started = false;
      clearTimeout(timer);
      timer = undefined;
      flagged.clear();
    },
  };
}
