import { isTrusted } from '../../core/access/grants.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';

/**
 * The log of a server, for as long as the settings have it as it was started. A server that was removed or replaced,
 * and is still ending, no longer writes: its lines would stand under the name of its successor, which may belong to
 * another user, and its secrets are no longer known as secrets.
 */
export function logWhileInSettings(server: ServerSettings, settings: () => Settings, log: Logger): Logger {
  let same: ServerSettings | undefined = server;
  const identity = identityOf(settings(), server);
  const isThere = (): boolean => {
    const now = settings().servers.get(server.name);
    if (now !== same && now && identityOf(settings(), now) === identity) same = now;
    return now !== undefined && now === same;
  };
  const at =
    (level: keyof Logger): Logger[keyof Logger] =>
    (message, fields) => {
      if (isThere()) log[level](message, fields);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/**
 * The settings it is started with. Not its owner: a server that is given to another user runs on, if an admin vouches
 * for it as before.
 */
function identityOf(settings: Settings, server: ServerSettings): string {
  return JSON.stringify([server.transport, isTrusted(settings, server)]);
}
