import { randomBytes } from 'node:crypto';
import { toolOf } from '../core/access/decision.ts';
import { type HubId, idAt } from '../core/hub-id.ts';
import { groupOf } from '../core/access/rules.ts';
import { type Principal, principalId } from '../core/access/principal.ts';
import type { Target, Views } from '../core/access/view.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { memberText } from '../core/json/text.ts';
import {
  cutResult,
  endOf,
  type Items,
  limitsResults,
  moreMember,
  moreText,
  readResultName,
  resultLimit,
} from '../core/large-results.ts';
import { ownServer } from '../core/own-items.ts';
import type { Settings } from '../core/settings/settings.ts';
import { mcpLimits } from './limits.ts';
import { forbiddenNow, type MadeCall, madeCall } from './made-call.ts';
import type { ClientRequest } from './request.ts';

/**
 * Results that were too long for their clients (CONTRACT §11, Large results): kept in memory, for who made the call,
 * for a quarter of an hour, and less where others need the room.
 */
export interface KeptResults {
  /** How many tokens the result of a call may have; undefined: any number. Callers over REST get all of it. */
  limit(request: ClientRequest, target: Target): number | undefined;
  /** The result as the client gets it: the text that came, or the beginning of it. */
  shortened(request: ClientRequest, target: Target, text: string): string;
  /** The result of `read_result`. */
  read(principal: Principal, given: Readonly<Record<string, unknown>>): object;
}

export interface KeptResultsOptions {
  /** Part of each handle. */
  readonly hub: HubId;
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  readonly views: Views;
  /** A value against the `inputSchema` of a tool as JSON text: what is wrong with it. */
  readonly problems: (toolText: string, value: unknown) => readonly unknown[];
}

/** About what an item costs besides its text. */
const itemChars = 32;

interface Kept {
  readonly caller: string;
  /** The call that it is the result of. */
  readonly call: MadeCall;
  readonly all: Items;
  readonly tokens: number;
  readonly chars: number;
  /** As of `performance.now()`. */
  readonly until: number;
}

export function createKeptResults({ hub, settings, catalogue, views, problems }: KeptResultsOptions): KeptResults {
  // In the order in which they were made.
  const kept = new Map<string, Kept>();
  let chars = 0;

  function forget(handle: string, one: Kept): void {
    if (kept.delete(handle)) chars -= one.chars;
  }

  /** What is over goes without another result coming. */
  function sweep(): void {
    const now = performance.now();
    for (const [handle, one] of kept) {
      if (one.until >= now) break;
      forget(handle, one);
    }
    if (kept.size > 0) setTimeout(sweep, mcpLimits.keptResultMs).unref();
  }

  function keep(handle: string, one: Kept): void {
    const now = performance.now();
    if (kept.size === 0) setTimeout(sweep, mcpLimits.keptResultMs + 1_000).unref();
    kept.set(handle, one);
    chars += one.chars;
    for (const [other, old] of kept) {
      const isOver = old.until < now || chars > mcpLimits.keptResultChars || kept.size > mcpLimits.keptResults;
      if (!isOver || other === handle) break;
      forget(other, old);
    }
  }

  /** Whether what is structured still is what the tool says of its results. */
  function fits({ server, key }: Target, structured: string): boolean {
    const item = toolOf(catalogue().offers.get(server)?.tools, key);
    const schema = item && memberText(item.text, 'outputSchema');
    return schema === undefined || problems(`{"inputSchema":${schema}}`, JSON.parse(structured)).length === 0;
  }

  function limit(request: ClientRequest, target: Target): number | undefined {
    const now = settings();
    if (request.method !== 'tools/call' || request.reply.refused || !limitsResults(now)) return undefined;
    // A server may have a tool of that name at its own endpoint: the rest could not be read there.
    if (request.view.tool(readResultName)?.server !== ownServer) return undefined;
    return resultLimit(now, groupOf(now, request.principal, request.scope), target);
  }

  /** Whether the caller could still make the call: what is taken away is not read on in either. */
  function mayStill(principal: Principal, call: MadeCall): boolean {
    const { server, key } = call.target;
    const { all } = views.get(principal, call.scope);
    if (!all.targets.some((one) => one.server === server && one.key === key)) return false;
    return forbiddenNow(principal, call, { settings, catalogue }) === undefined;
  }

  return {
    limit,
    shortened(request, target, text) {
      const tokens = limit(request, target);
      if (tokens === undefined) return text;
      const handle = idAt(hub, randomBytes(18).toString('base64url'));
      const cut = cutResult(text, { tokens, handle, fits: (structured) => fits(target, structured) });
      if (!cut) return text;
      // A short item costs memory of its own.
      const size = text.length + cut.all.items.length * itemChars + (request.params?.length ?? 0);
      if (size > mcpLimits.keptResultChars / 4) return text;
      keep(handle, {
        caller: principalId(request.principal),
        call: madeCall(request, target),
        all: cut.all,
        tokens,
        chars: size,
        until: performance.now() + mcpLimits.keptResultMs,
      });
      return cut.text;
    },
    read(principal, given) {
      const { handle } = given;
      // Models write null for what they leave out.
      const from = given['from'] ?? 0;
      const query = given['query'] ?? undefined;
      const one = typeof handle === 'string' ? kept.get(handle) : undefined;
      const isTheirs = one?.caller === principalId(principal) && one.until >= performance.now();
      if (!one || !isTheirs || !mayStill(principal, one.call))
        return failure('There is no result with this handle: it ends after 15 minutes. Call the tool again.');
      if (typeof from !== 'number' || !Number.isInteger(from) || from < 0)
        return failure('"from" must be the number of an item; the first is 0.');
      if (query !== undefined && (typeof query !== 'string' || query.length > mcpLimits.readQueryChars))
        return failure(`"query" must be a text of at most ${mcpLimits.readQueryChars} characters.`);
      return part(String(handle), one, from, query);
    },
  };
}

function part(handle: string, { all, tokens }: Kept, from: number, query: string | undefined): object {
  const { items } = all;
  const total = items.length;
  const words = [...new Set((query ?? '').toLowerCase().split(/\s+/).filter(Boolean))];
  const isWanted = (item: string): boolean => {
    const text = words.length > 0 ? item.toLowerCase() : '';
    return words.every((word) => text.includes(word));
  };
  const places =
    words.length === 0 ? undefined : [...items.keys()].filter((at) => at >= from && isWanted(items[at] ?? ''));
  const wanted = places ? places.map((at) => items[at] ?? '') : items.slice(from);
  const end = endOf(wanted, 0, tokens);
  const next = end < wanted.length ? (places ? places[end] : from + end) : undefined;
  const matches = places && { matches: places.length };
  const more = { handle, total, ...matches, ...(next !== undefined && { next }) };
  const told = places
    ? `${places.length} of the items from ${from} on match.${next === undefined ? '' : ` The next one is ${next}.`}`
    : moreText({ handle, total, from, next });
  return {
    content: [
      { type: 'text', text: all.write(wanted.slice(0, end)) },
      { type: 'text', text: told },
    ],
    _meta: { [moreMember]: more },
  };
}

function failure(text: string): object {
  return { content: [{ type: 'text', text }], isError: true };
}
