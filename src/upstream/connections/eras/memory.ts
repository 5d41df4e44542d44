import { readFile } from 'node:fs/promises';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { writeFileAtomic } from '../../../disk/write-file-atomic.ts';
import { upstreamLimits } from '../../limits.ts';
import { type EraMemory, eraKey, type Verdict } from './era.ts';

const formatVersion = 1;

/**
 * The memory of eras in a file. One that is missing, or cannot be used, costs each server one question at its next
 * start. It holds hashes and dates, nothing of what servers are called or where they are.
 */
export async function openEraMemory(path: string, log: Logger): Promise<EraMemory & { close(): Promise<void> }> {
  const verdicts = await load(path, log);
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    try {
      await writeFileAtomic(path, JSON.stringify({ version: formatVersion, servers: Object.fromEntries(verdicts) }));
    } catch (error) {
      log.warn('what is known of the eras of servers is not saved', { error: errorText(error) });
    }
  }

  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = writing.then(save);
    }, upstreamLimits.catalogueSaveMs);
  }

  return {
    recall: (server) => verdicts.get(eraKey(server)),
    learn(server, verdict) {
      const key = eraKey(server);
      // The newest entries stay: servers are added and removed, and the hub is not told when one is removed for good.
      const had = verdicts.delete(key);
      if (verdict) verdicts.set(key, verdict);
      else if (!had) return;
      const [oldest] = verdicts.keys();
      if (verdicts.size > upstreamLimits.erasKept && oldest !== undefined) verdicts.delete(oldest);
      soon();
    },
    async close() {
      if (timer === undefined) return writing;
      clearTimeout(timer);
      timer = undefined;
      await writing.then(save);
    },
  };
}

async function load(path: string, log: Logger): Promise<Map<string, Verdict>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn('what was known of the eras of servers is not read', { error: errorText(error) });
    return new Map();
  }
  try {
    const saved: unknown = JSON.parse(text);
    if (!isObject(saved) || saved['version'] !== formatVersion || !isObject(saved['servers']))
      throw new Error('unknown format');
    const servers = Object.entries(saved['servers']).filter((entry): entry is [string, Verdict] => isVerdict(entry[1]));
    return new Map(servers.slice(-upstreamLimits.erasKept));
  } catch (error) {
    log.warn('what was known of the eras of servers is ignored', { error: errorText(error) });
    return new Map();
  }
}

function isVerdict(value: unknown): value is Verdict {
  if (!isObject(value)) return false;
  const { era, at, info } = value;
  // A date to come would be believed for ever.
  return (
    (era === 'session' || era === 'stateless') && typeof at === 'number' && at <= Date.now() && typeof info === 'string'
  );
}
