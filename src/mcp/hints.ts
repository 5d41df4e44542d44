import type { CacheHints, ItemKind } from '../core/catalogue.ts';
import type { Principal } from '../core/access/principal.ts';
import { showsMoreToSome } from '../core/access/rules.ts';
import type { Scope } from '../core/access/scope.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { View } from '../core/access/view.ts';
import { mcpLimits } from './limits.ts';

/**
 * What clients and caches on the way may do with what the hub lists (2026-07-28, Caching), as the two members of the
 * result. The hub allows caching for no longer than every server of the list does, and marks as public only what is the
 * same for all callers.
 */
export interface Hints {
  of(kind: ItemKind, view: View, principal: Principal, scope: Scope): string;
  /** For the hub's own answers. */
  ofHub(principal: Principal, scope: Scope): string;
}

export interface HintOptions {
  readonly settings: () => Settings;
  /** What a server said of its lists; undefined when it said nothing. */
  readonly hints: (server: string) => CacheHints | undefined;
  /** True when every request needs a credential. */
  readonly needsCredential: () => boolean;
}

interface Vouched {
  readonly ttlMs: number;
  readonly isPublic: boolean;
}

export function createHints({ settings, hints, needsCredential }: HintOptions): Hints {
  const kept = new WeakMap<View, Map<ItemKind, Vouched>>();

  /** The caching that all servers of the list allow. A server that says nothing allows no caching. */
  function vouched(kind: ItemKind, view: View): Vouched {
    const known = kept.get(view) ?? new Map<ItemKind, Vouched>();
    kept.set(view, known);
    const before = known.get(kind);
    if (before) return before;
    const said = view.smart && kind === 'tools' ? [undefined] : view.servers.map((server) => hints(server)?.[kind]);
    const all = said.length === 0 ? [undefined] : said;
    const now = {
      ttlMs: Math.min(mcpLimits.listTtlMs, ...all.map((hint) => hint?.ttlMs ?? 0)),
      isPublic: all.every((hint) => hint?.scope === 'public'),
    };
    known.set(kind, now);
    return now;
  }

  function isForAll(principal: Principal, scope: Scope): boolean {
    return principal.kind === 'anonymous' && !needsCredential() && !showsMoreToSome(settings(), scope);
  }

  return {
    of(kind, view, principal, scope) {
      const { ttlMs, isPublic } = vouched(kind, view);
      return membersText(ttlMs, isPublic && isForAll(principal, scope));
    },
    ofHub: (principal, scope) => membersText(0, isForAll(principal, scope)),
  };
}

function membersText(ttlMs: number, isPublic: boolean): string {
  return `"ttlMs":${ttlMs},"cacheScope":"${isPublic ? 'public' : 'private'}"`;
}
