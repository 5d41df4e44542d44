import type { CacheHint, Item, ItemKind } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import { detached } from '../../../core/json/detached.ts';
import { compact, elements, memberText } from '../../../core/json/text.ts';
import { coreLimits } from '../../../core/limits.ts';
import type { Logger } from '../../../core/logger.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { type Ask, refusal } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';

export const listMethods: Record<ItemKind, { method: string; member: string; key: string; capability: string }> = {
  tools: { method: 'tools/list', member: 'tools', key: 'name', capability: 'tools' },
  prompts: { method: 'prompts/list', member: 'prompts', key: 'name', capability: 'prompts' },
  resources: { method: 'resources/list', member: 'resources', key: 'uri', capability: 'resources' },
  templates: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
  },
};

/** One list of a server, all its pages. */
export interface ListRead {
  readonly items: readonly Item[];
  readonly hint: CacheHint | undefined;
}

/**
 * Reads every page of one list. Items without a key are dropped, of two with the same key the first is kept. Throws
 * HubError when the server refuses or does not answer; a server that says the method does not exist has an empty list.
 * The hint is what all pages together allow a cache to do.
 */
export async function readList(ask: Ask, kind: ItemKind, log: Logger, timeoutMs: number): Promise<ListRead> {
  const { method, member, key } = listMethods[kind];
  const items = new Map<string, Item>();
  const cursors = new Set<string>();
  let params: string | undefined;
  let dropped = 0;
  let hint: CacheHint | undefined;
  for (let page = 0; page < upstreamLimits.listPages; page++) {
    const { message, text } = await ask(method, params, timeoutMs);
    if (isObject(message.error) && message.error['code'] === -32601) return { items: [], hint };
    if (!isObject(message.result)) {
      throw new HubError('upstream_failed', `${method} was refused: ${refusal(message.error)}`);
    }
    hint = narrower(hint, hintOf(message.result));
    const result = memberText(text, 'result') ?? '{}';
    const isLarge = text.length > upstreamLimits.listDetachChars;
    for (const part of elements(memberText(result, member) ?? '[]')) {
      const item = itemOf(isLarge ? detached(part) : part, key);
      if (item && !items.has(item.key) && items.size < coreLimits.listItems) items.set(item.key, item);
      else dropped++;
    }
    const cursor = memberText(result, 'nextCursor');
    if (cursor === undefined || cursor === 'null' || cursor === '""') break;
    if (cursors.has(cursor)) {
      log.warn('list repeats a page cursor; the rest is not read', { method, page });
      break;
    }
    cursors.add(cursor);
    params = `{"cursor":${cursor}}`;
  }
  if (dropped > 0)
    log.warn('list has items without a name, repeated or beyond the limit; they are left out', { method, dropped });
  return { items: [...items.values()], hint };
}

/** What a cache may do with a result (2026-07-28, Caching); undefined where nothing is said. */
function hintOf({ ttlMs, cacheScope }: Record<string, unknown>): CacheHint | undefined {
  if (ttlMs === undefined && cacheScope === undefined) return undefined;
  const isTime = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs > 0;
  return { ttlMs: isTime ? ttlMs : 0, scope: cacheScope === 'public' ? 'public' : 'private' };
}

/** What holds for both of two pages. */
function narrower(a: CacheHint | undefined, b: CacheHint | undefined): CacheHint | undefined {
  if (!a || !b) return a ?? b;
  return {
    ttlMs: Math.min(a.ttlMs, b.ttlMs),
    scope: a.scope === 'public' && b.scope === 'public' ? 'public' : 'private',
  };
}

function itemOf(text: string, key: string): Item | undefined {
  const name: unknown = JSON.parse(memberText(text, key) ?? 'null');
  return typeof name === 'string' && name !== '' ? { key: name, text: onOneLine(text) } : undefined;
}

/**
 * Items go out in SSE frames and stdio lines, where no line may break; and models are given what a search found as
 * text, where layout costs tokens.
 */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? compact(text) : text;
}
