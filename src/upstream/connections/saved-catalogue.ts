import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { catalogueText } from './catalogue-file.ts';
import { upstreamLimits } from '../limits.ts';
import type { Pool } from './pool.ts';

/**
 * Writes the catalogue to disk some time after it changed, and at the end; `savedText` is what is there already. A disk
 * that is full costs only the next start some seconds.
 */
export function catalogueSaver(path: string, savedText: string, pool: Pick<Pool, 'toSave'>, log: Logger) {
  let last = savedText;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    const text = catalogueText(pool.toSave());
    if (text === last) return;
    try {
      await writeFileAtomic(path, text);
      last = text;
    } catch (error) {
      log.warn('catalogue not saved', { error: errorText(error) });
    }
  }

  return {
    soon(): void {
      timer ??= setTimeout(() => {
        timer = undefined;
        writing = writing.then(save);
      }, upstreamLimits.catalogueSaveMs);
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await writing.then(save);
    },
  };
}
