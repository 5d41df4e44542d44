import type { ItemKind } from '../core/catalogue.ts';
import { errorText } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';

/** Answers a server's `list_changed`, also a storm of them, by reading each changed list again: once, and once more for what came meanwhile. */
export interface Relister {
  flag(kind: ItemKind): void;
  /** Forgets what is flagged: the connection is gone. It can be used again for the next one. */
  stop(): void;
}

/** When `read` fails the last lists stay. */
export function createRelister(log: Logger, read: (kinds: readonly ItemKind[]) => Promise<void>): Relister {
  const flagged = new Set<ItemKind>();
  let timer: NodeJS.Timeout | undefined;
  let running = false;

  function schedule(): void {
    if (!running && flagged.size > 0) timer ??= setTimeout(() => void run(), limits.relistDebounceMs);
  }

  async function run(): Promise<void> {
    timer = undefined;
    running = true;
    const kinds = [...flagged];
    flagged.clear();
    try {
      await read(kinds);
    } catch (error) {
      log.warn('changed list could not be read; the last one stays', {
        lists: kinds.join(', '),
        error: errorText(error),
      });
    } finally {
      running = false;
      schedule();
    }
  }

  return {
    flag(kind) {
      flagged.add(kind);
      // There is no notification for templates of their own.
      if (kind === 'resources') flagged.add('templates');
      schedule();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      flagged.clear();
    },
  };
}
