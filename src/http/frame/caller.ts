import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { isAdmin, reaches, reachesGroup, userOf } from '../../core/access/rules.ts';
import type { Editor } from '../../core/settings/document.ts';
import { HubError } from '../../core/errors.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Settings, UserSettings } from '../../core/settings/types.ts';
import type { AskedCall } from './refused-calls.ts';

/** Who makes a management request, as of the settings of this moment. */
export interface Caller {
  readonly principal: Principal;
  /** The user who asks, or whose access key it is; undefined for anonymous and for keys of the system. */
  readonly user: UserSettings | undefined;
  /** True for an admin who logged in; an access key never manages (CONTRACT §2). */
  readonly admin: boolean;
  /** The one snapshot that this request is answered from. */
  readonly settings: Settings;
  /** The address the request came from. */
  readonly address: string;
}

/** Variables of the Hono context below `/api`. */
export interface ApiEnv {
  Variables: {
    caller: Caller;
    /** See `recordRefusedCalls`. */
    asked?: AskedCall;
    reached?: boolean;
  };
}

export interface CallerOptions {
  readonly settings: () => Settings;
  /** As `auth/identify.ts` has it. */
  readonly identify: (
    headers: Readonly<Record<string, string | undefined>>,
    queryToken?: string,
  ) => Promise<Principal | 'none' | 'bad'>;
  readonly address: (c: Context) => string;
}

/**
 * Finds out who calls; what is not open needs somebody. `open` says whether a request may be made by anybody, `anonymous` whether its credential is
 * not even looked at, `queryToken` whether `?token=` counts.
 */
export function callerOf(
  options: CallerOptions,
  rules: Record<'open' | 'anonymous' | 'queryToken', (c: Context) => boolean>,
) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const token = rules.queryToken(c) ? c.req.query('token') : undefined;
    const who = rules.anonymous(c) ? 'none' : await options.identify(c.req.header(), token);
    if (who === 'bad')
      throw new HubError('unauthenticated', 'The access token is not valid, or no longer. Log in again.');
    if (who === 'none' && !rules.open(c)) {
      throw new HubError(
        'unauthenticated',
        'Log in first: POST /api/auth/login, then send "Authorization: Bearer <token>".',
      );
    }
    const settings = options.settings();
    const principal: Principal = who === 'none' ? { kind: 'anonymous' } : who;
    const user = userOf(settings, principal);
    c.set('caller', { principal, user, admin: isAdmin(settings, principal), settings, address: options.address(c) });
    await next();
  });
}

/** Only admins pass. */
export const adminOnly = createMiddleware<ApiEnv>(async (c, next) => {
  if (!c.var.caller.admin) throw new HubError('forbidden', 'Only admins may do this.');
  await next();
});

/** The caller as the pure edits of the settings document want to know them (`core/settings/document.ts`). Throws HubError `forbidden` for a key. */
export function editorOf({ principal, user, admin, settings }: Caller): Editor {
  if (principal.kind !== 'user' || !user)
    throw new HubError('forbidden', 'An access key does not manage the hub. Log in as a user.');
  return {
    username: user.username,
    isAdmin: admin,
    seesServer(name) {
      const server = settings.servers.get(name);
      return server !== undefined && reaches(settings, principal, server);
    },
    seesGroup(id) {
      const group = settings.groups.find((group) => group.id === id || group.name === id);
      return group !== undefined && reachesGroup(settings, principal, group);
    },
  };
}
