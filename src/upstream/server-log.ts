import { isTrusted } from '../core/access/rules.ts';
import type { Logger } from '../core/logger.ts';
import type { ServerSettings, Settings } from '../core/settings/types.ts';

/**
 * The log of a server for as long as it is in the settings as it was started. What one says that was removed or replaced meanwhile, and is on its way out, would stand under the
 * name of its successor, which may be somebody else's, and its secrets are no longer known as such.
 */
export function whileItIsThere(server: ServerSettings, settings: () => Settings, log: Logger): Logger {
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

/** What it is started with. Not whose it is: one that is given to somebody else runs on, if an admin vouches for it as before. */
function identityOf(settings: Settings, server: ServerSettings): string {
  return JSON.stringify([server.transport, isTrusted(settings, server)]);
}
