import { limits } from '../../core/limits.ts';
import { isPerUser } from '../../core/per-user.ts';
import type { ServerSettings, TransportSettings } from '../../core/settings.ts';
import { addressOf } from './accounts.ts';
import type { Grant, GrantKey } from './grant.ts';
import type { SignInsOptions } from './sign-ins.ts';

/** What is kept of sign-ins that no longer fit the settings. */
export interface LeftOvers {
  /** The server is there, at this address, and where users sign in alone this one still may. */
  isGood(grant: Grant): boolean;
  /** Forgets all that are not; `forgotten` is called first. */
  forget(forgotten: (key: GrantKey) => void): void;
  close(): void;
}

export function createLeftOvers(options: SignInsOptions): LeftOvers {
  const { grants, log } = options;
  let settleTimer: NodeJS.Timeout | undefined;

  function isGood({ server: name, holder, holderSince, address }: Grant): boolean {
    const server = options.server(name);
    if (!server) return false;
    const now = currentAddress(server, options.expand);
    if (now !== address && now !== 'unknown') return false;
    if (holder === undefined) return true;
    return isPerUser(server) && options.maySignIn(holder, server) && options.userSince(holder) === holderSince;
  }

  /** Where one sign-in was everybody's and users sign in alone now, nobody has a use for it. */
  function isLeftOver({ server: name, holder, tokens }: Grant): boolean {
    const server = options.server(name);
    return server !== undefined && isPerUser(server) && holder === undefined && tokens !== undefined;
  }

  /** Looked at again when the settings must have come. */
  function settleLater(): void {
    settleTimer ??= setTimeout(() => {
      settleTimer = undefined;
      options.changed();
    }, limits.signInSettleMs).unref();
  }

  return {
    isGood,
    forget(forgotten) {
      for (const grant of grants.all()) {
        if (isGood(grant) && !isLeftOver(grant)) continue;
        const { server, holder, since = 0 } = grant;
        if (options.isShared && Date.now() - since < limits.signInSettleMs) {
          settleLater();
          continue;
        }
        log(`server:${server}`).info(
          'a sign-in is forgotten: nobody may use it any more, or the server is gone or elsewhere',
          {
            ...(holder !== undefined && { user: holder }),
          },
        );
        forgotten(grant);
        void grants.delete(grant);
      }
    },
    close: () => clearTimeout(settleTimer),
  };
}

/** `unknown` while the settings of the server cannot be used. */
function currentAddress(server: ServerSettings, expand: SignInsOptions['expand']): string | undefined {
  let transport: TransportSettings;
  try {
    transport = expand(server);
  } catch {
    return 'unknown';
  }
  return 'url' in transport ? addressOf(transport.url) : undefined;
}
