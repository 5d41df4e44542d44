import { isTrusted } from '../../core/access/rules.ts';
import type { ServerSettings, Settings } from '../../core/settings/types.ts';

/**
 * Since when the servers of users are there. Whoever may add servers chooses their names, and under a name that another server had before they must not
 * find what that one left.
 */
export interface Newcomers {
  /** Milliseconds since 1970, the start of the hub at the least; 0 for a server that an admin vouches for. */
  since(server: ServerSettings): number;
  /** To be called with each new snapshot of the settings. */
  update(settings: Settings): void;
}

export function createNewcomers(first: Settings): Newcomers {
  let known = seen(first, new Map());
  return {
    since: (server) => known.get(keyOf(server)) ?? 0,
    update(settings) {
      known = seen(settings, known);
    },
  };
}

/** One that was gone for a moment is another one. */
function seen(settings: Settings, before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const now = Date.now();
  const ofUsers = [...settings.servers.values()].filter((server) => !isTrusted(settings, server));
  return new Map(ofUsers.map((server) => [keyOf(server), before.get(keyOf(server)) ?? now]));
}

function keyOf({ name, owner }: ServerSettings): string {
  return JSON.stringify([name, owner]);
}
