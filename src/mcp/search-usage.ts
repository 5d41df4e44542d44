import { randomUUID } from 'node:crypto';
import { principalId } from '../core/access/principal.ts';
import type { Target } from '../core/access/view.ts';
import { logLimits } from '../logs/limits.ts';
import { mcpLimits } from './limits.ts';
import { type ClientRequest, stateOwner } from './request.ts';

/** What a search found. */
export interface FoundTool {
  readonly target: Target;
  readonly score: number;
}

/** The search that led to a tool, and where the tool stood among its results, from 1. */
export interface SearchLink {
  readonly searchId: string;
  readonly query: string;
  readonly searchRank: number;
}

/**
 * Remembers for a while who found what, so that the activity log can tell which results were of use. Kept in this
 * process only.
 */
export interface SearchUsage {
  /** Returns the id of the search, a UUID. */
  note(request: ClientRequest, search: { query: string; results: readonly FoundTool[] }): string;
  /** The caller's latest search that found the tool. */
  find(request: ClientRequest, target: Target): SearchLink | undefined;
}

interface Noted {
  readonly id: string;
  readonly query: string;
  readonly at: number;
  readonly ranks: ReadonlyMap<string, number>;
}

/** `now` is in milliseconds. */
export function createSearchUsage(now: () => number = Date.now): SearchUsage {
  /**
   * By caller, newest first. Written over in place: a `Map` whose entries come and go keeps all of them until the next
   * full collection (decisions/0029).
   */
  const searches = new Map<string, { noted: readonly [Noted, ...Noted[]] }>();
  function forgetLongestSilent(): void {
    let silent: string | undefined;
    let since = Infinity;
    for (const [asker, { noted }] of searches) {
      if (noted[0].at >= since) continue;
      since = noted[0].at;
      silent = asker;
    }
    if (silent !== undefined) searches.delete(silent);
  }

  return {
    note(request, { query, results }) {
      const asker = askerOf(request);
      const id = randomUUID();
      const ranks = new Map(results.map(({ target }, index) => [keyOf(target), index + 1]));
      const last: Noted = { id, query: query.slice(0, logLimits.searchEchoChars), at: now(), ranks };
      const known = searches.get(asker);
      if (known) known.noted = [last, ...known.noted.slice(0, mcpLimits.searchesPerAsker - 1)];
      else {
        if (searches.size >= mcpLimits.searchAskers) forgetLongestSilent();
        searches.set(asker, { noted: [last] });
      }
      return id;
    },
    find(request, target) {
      const key = keyOf(target);
      const since = now() - mcpLimits.searchLinkMs;
      const found = searches.get(askerOf(request))?.noted.find(({ at, ranks }) => at >= since && ranks.has(key));
      return found && { searchId: found.id, query: found.query, searchRank: found.ranks.get(key) ?? 0 };
    },
  };
}

/** The session; where there is none, the principal, and of those without a name the address. */
function askerOf(request: ClientRequest): string {
  const { principal, address = '' } = request;
  const state = stateOwner(request);
  return JSON.stringify([principalId(principal), state, state === '' && principal.kind === 'anonymous' ? address : '']);
}

function keyOf({ server, key }: Target): string {
  return `${server}\n${key}`;
}
