import { type Abilities, capabilitiesText } from '../core/protocol/asks.ts';
import type { CacheHint, Item, ItemKind, ServerAbout } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { elements, memberText } from '../core/json/text.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { Answer } from './pending.ts';

/** The session-era revisions this side speaks, newest first (the first is what `initialize` offers). */
export const upstreamRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** Sends one of the hub's own requests to the server and waits for its answer. */
export type Ask = (method: string, params: string | undefined, timeoutMs: number) => Promise<Answer>;

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

/** Runs `initialize` (session era) and says what the server is. `abilities`: what it may ask of clients. Throws HubError `upstream_failed`. */
export async function initialize(
  ask: Ask,
  version: string,
  abilities: Abilities,
  timeoutMs: number,
): Promise<ServerAbout> {
  const info = JSON.stringify({ name: 'toolhub', version });
  const params = `{"protocolVersion":"${upstreamRevisions[0]}","capabilities":${capabilitiesText(abilities)},"clientInfo":${info}}`;
  const { message, text } = await ask('initialize', params, timeoutMs);
  const { result } = message;
  if (!isObject(result)) throw new HubError('upstream_failed', `initialize was refused: ${refusal(message.error)}`);
  const protocolVersion = String(result['protocolVersion']);
  if (!upstreamRevisions.includes(protocolVersion)) {
    throw new HubError('upstream_failed', `The server speaks MCP ${protocolVersion}, which this hub does not know.`);
  }
  const { instructions } = result;
  return {
    info: memberText(memberText(text, 'result') ?? '{}', 'serverInfo') ?? '{}',
    instructions: typeof instructions === 'string' ? instructions : undefined,
    capabilities: capabilityNames(result['capabilities']),
    protocolVersion,
  };
}

/** One list of a server, all its pages. */
export interface ListRead {
  readonly items: readonly Item[];
  readonly hint: CacheHint | undefined;
}

/**
 * Reads every page of one list. Items without a key are dropped, of two with the same key the first is kept. Throws HubError when the server
 * refuses or does not answer; a server that says the method does not exist has an empty list. The hint is what all pages together allow a cache to do.
 */
export async function readList(ask: Ask, kind: ItemKind, log: Logger, timeoutMs: number): Promise<ListRead> {
  const { method, member, key } = listMethods[kind];
  const items = new Map<string, Item>();
  const cursors = new Set<string>();
  let params: string | undefined;
  let dropped = 0;
  let hint: CacheHint | undefined;
  for (let page = 0; page < limits.listPages; page++) {
    const { message, text } = await ask(method, params, timeoutMs);
    if (isObject(message.error) && message.error['code'] === -32601) return { items: [], hint };
    if (!isObject(message.result)) {
      throw new HubError('upstream_failed', `${method} was refused: ${refusal(message.error)}`);
    }
    hint = narrower(hint, hintOf(message.result));
    const result = memberText(text, 'result') ?? '{}';
    for (const itemText of elements(memberText(result, member) ?? '[]')) {
      const item = itemOf(itemText, key);
      if (item && !items.has(item.key) && items.size < limits.listItems) items.set(item.key, item);
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

/** The text of a JSON-RPC error as far as it can be shown. */
export function refusal(error: unknown): string {
  if (!isObject(error)) return 'the answer has neither result nor error';
  const message = typeof error['message'] === 'string' ? error['message'] : 'no message';
  return `${message.slice(0, 500)} (${String(error['code'])})`;
}

function itemOf(text: string, key: string): Item | undefined {
  const name: unknown = JSON.parse(memberText(text, key) ?? 'null');
  // One line: items go out in SSE frames and stdio lines, and JSON strings cannot hold a raw line break.
  return typeof name === 'string' && name !== '' ? { key: name, text: oneLine(text) } : undefined;
}

/** JSON text without line breaks: outside strings they are white space, inside they cannot be. */
export function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
}

/** Names of the capabilities a server declares, with the parts that are true: `resources`, `resources.subscribe`. */
export function capabilityNames(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return [];
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const parts = isObject(value)
      ? Object.keys(value).filter((part) => value[part] === true || isObject(value[part]))
      : [];
    return [name, ...parts.map((part) => `${name}.${part}`)];
  });
}
