import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import type { CacheHint, Item, Offer } from '../../core/catalogue.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { upstreamLimits } from '../limits.ts';

/**
 * An offer with the fingerprint of the server settings it was made under: a server with other settings may offer
 * something else.
 */
export interface SavedOffer {
  readonly fingerprint: string;
  readonly offer: Offer;
}

const formatVersion = 1;

/**
 * The offers of the last run; none when there is no file or it cannot be used, which costs only the time until the
 * servers answer.
 */
export async function loadCatalogue(path: string, log: Logger): Promise<SavedOffer[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn('saved catalogue not read', { error: errorText(error) });
    return [];
  }
  try {
    const saved: unknown = JSON.parse(text);
    if (!isObject(saved) || saved['version'] !== formatVersion || !Array.isArray(saved['offers']))
      throw new Error('unknown format');
    return saved['offers'].filter(isSavedOffer);
  } catch (error) {
    log.warn('saved catalogue ignored', { error: errorText(error) });
    return [];
  }
}

export function catalogueText(offers: readonly SavedOffer[]): string {
  return JSON.stringify({ version: formatVersion, offers });
}

function isSavedOffer(value: unknown): value is SavedOffer {
  if (!isObject(value) || typeof value['fingerprint'] !== 'string' || !isObject(value['offer'])) return false;
  const { server, about, tools, prompts, resources, templates, hints = {} } = value['offer'];
  return (
    typeof server === 'string' &&
    isObject(about) &&
    typeof about['info'] === 'string' &&
    Array.isArray(about['capabilities']) &&
    isObject(hints) &&
    Object.values(hints).every(isHint) &&
    [tools, prompts, resources, templates].every((items) => Array.isArray(items) && items.every(isItem))
  );
}

function isHint(value: unknown): value is CacheHint {
  if (!isObject(value) || (value['scope'] !== 'public' && value['scope'] !== 'private')) return false;
  return typeof value['ttlMs'] === 'number' && value['ttlMs'] >= 0;
}

function isItem(value: unknown): value is Item {
  return isObject(value) && typeof value['key'] === 'string' && typeof value['text'] === 'string';
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/**
 * Writes the catalogue to disk some time after it changed, and at the end; `savedText` is what is there already. A disk
 * that is full costs only the next start some seconds.
 */
export function catalogueSaver(
  path: string,
  savedText: string,
  pool: { toSave(): readonly SavedOffer[] },
  log: Logger,
) {
  // Not the text: of many large servers it takes as much memory as all they offer.
  let last = digestOf(savedText);
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    const text = catalogueText(pool.toSave());
    const digest = digestOf(text);
    if (digest === last) return;
    try {
      await writeFileAtomic(path, text);
      last = digest;
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
