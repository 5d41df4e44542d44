import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import { forEachYielding } from '../../core/for-each-yielding.ts';
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
/** Longer texts are memory that V8 gives back only when it collects all (decisions/0099). */
const itemsInPart = 20;

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

/**
 * The offers that a hub begins with, and the digest of what its own file at `path` has, for `catalogueSaver`. A further
 * worker begins with what the first has saved at `ofFirst`: its own file is missing where there were fewer workers
 * before.
 */
export async function startCatalogue(
  path: string,
  ofFirst: string | undefined,
  log: Logger,
): Promise<{ saved: readonly SavedOffer[]; savedDigest: string }> {
  const own = await loadCatalogue(path, log);
  const first = ofFirst === undefined ? [] : await loadCatalogue(ofFirst, log);
  return { saved: first.length > 0 ? first : own, savedDigest: await catalogueDigest(own) };
}

/** The text of the file in parts, since the whole of many large servers is as large as all they offer. */
function* catalogueParts(offers: readonly SavedOffer[]): Generator<string> {
  yield `{"version":${formatVersion},"offers":[`;
  for (const [at, { fingerprint, offer }] of offers.entries()) {
    const { tools, prompts, resources, templates, ...about } = offer;
    yield `${at === 0 ? '' : ','}{"fingerprint":${JSON.stringify(fingerprint)},"offer":{${JSON.stringify(about).slice(1, -1)}`;
    for (const [kind, items] of Object.entries({ tools, prompts, resources, templates })) {
      yield `,"${kind}":[`;
      for (let from = 0; from < items.length; from += itemsInPart)
        yield `${from === 0 ? '' : ','}${JSON.stringify(items.slice(from, from + itemsInPart)).slice(1, -1)}`;
      yield ']';
    }
    yield '}}';
  }
  yield ']}';
}

/**
 * How a catalogue on disk is remembered: its text takes as much memory as all that the servers offer. Made in slices:
 * of a hundred thousand tools it takes a second.
 */
export async function catalogueDigest(offers: readonly SavedOffer[]): Promise<string> {
  const hash = createHash('sha256');
  await forEachYielding(catalogueParts(offers), 1, (part) => hash.update(part));
  return hash.digest('base64');
}

function areSame(a: readonly SavedOffer[], b: readonly SavedOffer[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ offer, fingerprint }, i) => offer === b[i]?.offer && fingerprint === b[i].fingerprint)
  );
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

/**
 * Writes the catalogue to disk some time after it changed, and at the end; `savedDigest` is of what is there already. A
 * disk that is full costs only the next start some seconds.
 */
export function catalogueSaver(
  path: string,
  savedDigest: string,
  pool: { toSave(): readonly SavedOffer[] },
  log: Logger,
) {
  let last = savedDigest;
  /** What was looked at last: most of what the hub is told of servers changes nothing that they offer. */
  let seen: readonly SavedOffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    const offers = pool.toSave();
    if (offers.length > 0 && areSame(offers, seen)) return;
    const digest = await catalogueDigest(offers);
    try {
      if (digest !== last) await writeFileAtomic(path, catalogueParts(offers));
      last = digest;
      seen = offers;
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
