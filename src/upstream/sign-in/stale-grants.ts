import type { LoggerFor } from '../../core/logger.ts';
import { isPerUser } from '../../core/access/per-user.ts';
import type { ServerSettings, TransportSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import { addressOf } from './accounts.ts';
import { type Grant, grantId, type GrantKey, type Grants } from './grants.ts';

export interface StaleGrantsOptions {
  readonly grants: Grants;
  /**
   * When other hubs have the same sign-ins: whether our settings can be as new as theirs, give or take a moment.
   * Absent: there are no others.
   */
  readonly isCurrent?: () => boolean;
  /** The server's transport with its placeholders filled in. Throws HubError when it cannot be used. */
  readonly expand: (server: ServerSettings) => TransportSettings;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /**
   * True while this user may sign in to the server: for all users, or, where each user signs in alone, for this user.
   */
  readonly maySignIn: (username: string, server: ServerSettings) => boolean;
  /** When this user was made, as the settings say it. */
  readonly userSince: (username: string) => string | undefined;
  /** Grants that do not fit now are to be looked at again. Raise a flag and return. */
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/** What is kept of sign-ins that no longer fit the settings. */
export interface StaleGrants {
  /** The server is there, at this address, and where users sign in alone this one still may. */
  isGood(grant: Grant): boolean;
  /** Forgets all that are not; `forgotten` is called first. */
  forget(forgotten: (key: GrantKey) => void): void;
  close(): void;
}

export function createStaleGrants(options: StaleGrantsOptions): StaleGrants {
  const { grants, log } = options;
  let settleTimer: NodeJS.Timeout | undefined;
  /** Since when each has not fitted the settings, milliseconds since the epoch. */
  const suspects = new Map<string, number>();

  function isGood({ server: name, holder, holderSince, address }: Grant): boolean {
    const server = options.server(name);
    if (!server) return false;
    const now = currentAddress(server, options.expand);
    if (now !== address && now !== 'unknown') return false;
    if (holder === undefined) return true;
    return isPerUser(server) && options.maySignIn(holder, server) && options.userSince(holder) === holderSince;
  }

  /** Where all users shared one sign-in before and each user signs in alone now, the shared one is of no use. */
  function isStale({ server: name, holder, tokens }: Grant): boolean {
    const server = options.server(name);
    return server !== undefined && isPerUser(server) && holder === undefined && tokens !== undefined;
  }

  /** Looked at again when the settings must have come. */
  function settleLater(): void {
    settleTimer ??= setTimeout(() => {
      settleTimer = undefined;
      options.changed();
    }, upstreamLimits.signInSettleMs + 1_000).unref();
  }

  /**
   * Another hub may have newer settings, with that server and that user in them: what is forgotten here is forgotten
   * for all.
   */
  function isCertain(id: string): boolean {
    if (!options.isCurrent) return true;
    if (!options.isCurrent()) {
      suspects.clear();
      return false;
    }
    const since = suspects.get(id) ?? Date.now();
    suspects.set(id, since);
    return Date.now() - since >= upstreamLimits.signInSettleMs;
  }

  function remove(grant: Grant, forgotten: (key: GrantKey) => void): void {
    const { server, holder } = grant;
    const why = 'a sign-in is forgotten: no user may use it any more, or the server is gone or elsewhere';
    log(`server:${server}`).info(why, { ...(holder !== undefined && { user: holder }) });
    suspects.delete(grantId(grant));
    forgotten(grant);
    void grants.delete(grant);
  }

  return {
    isGood,
    forget(forgotten) {
      for (const grant of grants.all()) {
        if (isGood(grant) && !isStale(grant)) suspects.delete(grantId(grant));
        else if (isCertain(grantId(grant))) remove(grant, forgotten);
        else settleLater();
      }
    },
    close: () => clearTimeout(settleTimer),
  };
}

/** `unknown` while the settings of the server cannot be used. */
function currentAddress(server: ServerSettings, expand: StaleGrantsOptions['expand']): string | undefined {
  let transport: TransportSettings;
  try {
    transport = expand(server);
  } catch {
    return 'unknown';
  }
  return 'url' in transport ? addressOf(transport.url) : undefined;
}
