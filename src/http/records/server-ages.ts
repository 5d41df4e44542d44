import { isTrusted } from '../../core/access/grants.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';

/**
 * Since when the servers of users are there. A user who may add servers chooses their names. Under a name that another
 * server had before, the user must not find what that server left.
 */
export interface ServerAges {
  /** Milliseconds since 1970, never before the start of the hub; 0 for a server that an admin vouches for. */
  since(server: ServerSettings): number;
  /** To be called with each new snapshot of the settings. */
  update(settings: Settings): void;
}

export function createServerAges(first: Settings): ServerAges {
  let known = seen(first, new Map());
  return {
    since: (server) => known.get(keyOf(server)) ?? 0,
    update(settings) {
      known = seen(settings, known);
    },
  };
}

/** A server that was gone for a moment counts as a new one. */
function seen(settings: Settings, before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const now = Date.now();
  const ofUsers = [...settings.servers.values()].filter((server) => !isTrusted(settings, server));
  return new Map(ofUsers.map((server) => [keyOf(server), before.get(keyOf(server)) ?? now]));
}

function keyOf({ name, owner }: ServerSettings): string {
  return JSON.stringify([name, owner]);
}
