import { editObject, elements, memberText, members } from './json/text.ts';
import { isObject } from './protocol/rpc.ts';
import type { GroupSettings } from './settings/group.ts';
import type { ServerSettings } from './settings/server.ts';
import type { Settings } from './settings/settings.ts';

/**
 * Results of tools in parts (CONTRACT §11, Large results): what counts as an item, and what a client gets of a result
 * that is longer than the settings let it be.
 */

/** The name of the tool that reads on. */
export const readResultName = 'read_result';

export const readResultText = JSON.stringify({
  name: readResultName,
  title: 'Read on in a result',
  description:
    'Some results are given in parts: they end with a handle and the number of items there are. This gives the next items of such a result, or those that have all words of a query.',
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', description: 'As the result gave it.' },
      from: { type: 'integer', minimum: 0, default: 0, description: 'The item to begin with; the first is 0.' },
      query: { type: 'string', description: 'Only items in which all these words are.' },
    },
    required: ['handle'],
  },
  annotations: { title: 'Read on in a result', readOnlyHint: true },
});

/**
 * How many tokens a result may have; undefined: any number. The tool's own limit counts, then that of the endpoint's
 * group, of the server, of the hub; 0 is no limit.
 */
export function resultLimit(
  { servers, system }: Settings,
  group: Pick<GroupSettings, 'maxResultTokens'> | undefined,
  { server, key }: { readonly server: string; readonly key: string },
): number | undefined {
  const settings = servers.get(server);
  if (!settings) return undefined;
  const own = settings.tools.get(key)?.maxResultTokens;
  const limit = own ?? group?.maxResultTokens ?? settings.maxResultTokens ?? system.maxResultTokens;
  return limit === 0 ? undefined : limit;
}

/** Whether a limit may be in force on an endpoint with these servers. */
export function hasResultLimit(
  { system }: Settings,
  group: Pick<GroupSettings, 'maxResultTokens'> | undefined,
  servers: Iterable<ServerSettings>,
): boolean {
  if (system.maxResultTokens || group?.maxResultTokens) return true;
  for (const { maxResultTokens, tools } of servers)
    if (maxResultTokens || [...tools.values()].some((tool) => tool.maxResultTokens)) return true;
  return false;
}

/** Whether the settings limit results anywhere. Looked at once for each settings. */
export function limitsResults(settings: Settings): boolean {
  let known = limiting.get(settings);
  if (known === undefined) {
    known =
      hasResultLimit(settings, undefined, settings.servers.values()) ||
      settings.groups.some(({ maxResultTokens }) => maxResultTokens);
    limiting.set(settings, known);
  }
  return known;
}

const limiting = new WeakMap<Settings, boolean>();

/** A text as items that are given whole. */
export interface Items {
  readonly items: readonly string[];
  /** Some of them, written as the whole was. */
  write(part: readonly string[]): string;
}

/** Characters of a token, as `tokensOf` counts. */
const tokenChars = 4;

/**
 * The elements of an array, or of the largest array in an object; the rows of a table in Markdown; else lines. What has
 * no items that fit is cut into pieces of `most` characters.
 */
export function itemsOf(text: string, most: number): Items {
  const found = listIn(text) ?? rowsIn(text) ?? linesIn(text);
  const isUsable = found.items.length > 1 && found.items.every((item) => item.length <= 4 * most);
  return isUsable ? found : { items: pieces(text, most), write: (part) => part.join('') };
}

function listIn(text: string): Items | undefined {
  const value = parsed(text);
  if (Array.isArray(value)) return { items: elements(text), write: (part) => `[${part.join(',')}]` };
  if (!isObject(value)) return undefined;
  const [largest] = members(text)
    .filter(({ key }) => Array.isArray(value[key]))
    .sort((a, b) => b.end - b.start - (a.end - a.start));
  if (!largest || largest.end - largest.start < text.length / 2) return undefined;
  const list = text.slice(largest.start, largest.end);
  return { items: elements(list), write: (part) => editObject(text, { [largest.key]: `[${part.join(',')}]` }) };
}

function rowsIn(text: string): Items | undefined {
  const lines = text.split('\n');
  const [head = '', rule = ''] = lines;
  if (!head.includes('|') || !/^[\s|:-]*-[\s|:-]*$/.test(rule)) return undefined;
  return { items: lines.slice(2), write: (part) => [head, rule, ...part].join('\n') };
}

function linesIn(text: string): Items {
  return { items: text.split('\n'), write: (part) => part.join('\n') };
}

/** No piece ends in the middle of a character. */
function pieces(text: string, most: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + Math.max(2, most));
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

function parsed(text: string): unknown {
  const first = text.trimStart().charAt(0);
  if (first !== '[' && first !== '{') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The place after the items from `from` on that fit into `tokens`: one at least. */
export function endOf(items: readonly string[], from: number, tokens: number): number {
  let left = tokens * tokenChars;
  let at = from;
  while (at < items.length) {
    left -= (items[at]?.length ?? 0) + 1;
    if (left < 0 && at > from) break;
    at++;
  }
  return at;
}

/** A result that was cut. */
export interface CutResult {
  /** The result with its first items, as JSON text. */
  readonly text: string;
  readonly all: Items;
  /** The first item that is not in it. */
  readonly next: number;
}

export interface CutOptions {
  readonly tokens: number;
  readonly handle: string;
  /** Whether a structured content is what the tool's output schema says. */
  readonly fits: (structured: string) => boolean;
}

/**
 * The beginning of a result that is longer than `tokens`; undefined for one that is not, and where no text in it can be
 * cut. Of the blocks the longest text is cut, the others stay. `structuredContent` that says the same is cut alike
 * where that still fits the schema, and stays whole otherwise.
 */
export function cutResult(result: string, { tokens, handle, fits }: CutOptions): CutResult | undefined {
  if (result.length <= tokens * tokenChars) return undefined;
  const blocks = elements(memberText(result, 'content') ?? '[]');
  const texts = blocks.map(blockText);
  const at = texts.reduce<number>((best, text = '', i) => (text.length > (texts[best] ?? '').length ? i : best), 0);
  const text = texts[at];
  if (text === undefined) return undefined;
  const all = itemsOf(text, tokens * tokenChars);
  const structured = memberText(result, 'structuredContent');
  // Only a list: pieces of anything else are no JSON.
  const same = structured === undefined ? undefined : listIn(structured);
  const isSame = same !== undefined && same.items.length === all.items.length;
  const others = result.length - JSON.stringify(text).length - (isSame ? (structured?.length ?? 0) : 0);
  // What cannot be cut is too long by itself: less text would not help.
  if (others >= tokens * tokenChars) return undefined;
  const room = Math.max(1, Math.floor((tokens - Math.ceil(others / tokenChars)) / (isSame ? 2 : 1)));
  const next = endOf(all.items, 0, room);
  if (next >= all.items.length) return undefined;
  const cut = isSame ? same.write(same.items.slice(0, next)) : undefined;
  const first = editObject(blocks[at] ?? '{}', { text: JSON.stringify(all.write(all.items.slice(0, next))) });
  const total = all.items.length;
  const told = JSON.stringify({ type: 'text', text: moreText({ handle, total, from: 0, next }) });
  const content = [...blocks.slice(0, at), first, ...blocks.slice(at + 1), told];
  const meta = editObject(memberText(result, '_meta') ?? '{}', {
    [moreMember]: JSON.stringify({ handle, total, next }),
  });
  return {
    text: editObject(result, {
      content: `[${content.join(',')}]`,
      ...(cut !== undefined && fits(cut) && { structuredContent: cut }),
      _meta: meta,
    }),
    all,
    next,
  };
}

/** The member of `_meta` that says that there is more. */
export const moreMember = 'toolhub/more';

/** The same for a model, which does not see `_meta`. */
export function moreText(given: {
  readonly handle: string;
  readonly total: number;
  readonly from: number;
  readonly next: number | undefined;
}): string {
  const { handle, total, from, next } = given;
  if (next === undefined) return `These were the last of ${total} items.`;
  return `These are the items ${from} to ${next - 1} of ${total}. ${readResultName} with handle "${handle}" and from ${next} gives the next ones; with a query it finds items.`;
}

function blockText(block: string): string | undefined {
  const value: unknown = JSON.parse(block);
  if (!isObject(value) || value['type'] !== 'text') return undefined;
  return typeof value['text'] === 'string' ? value['text'] : undefined;
}
