import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { LoginSession } from '../../auth/session-store.ts';
import { managementApi, toolExecution } from '../../core/access/endpoint.ts';
import { anonymous, anonymousOutside, type Principal, principalId } from '../../core/access/principal.ts';
import { isAdmin, mustSetUpFactor, userOf } from '../../core/access/identity.ts';
import { reaches, reachesGroup } from '../../core/access/rules.ts';
import type { Scope } from '../../core/access/scope.ts';
import { actorOf, byMachine, type AuditedRequest } from '../../core/audit.ts';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Draft, Editor } from '../../settings/document/document.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { credentialSettings, entrySettings } from '../../settings/system/system-config.ts';
import { adminAccounts } from '../../settings/user/user-edits.ts';
import { httpLimits } from '../limits.ts';
import { type CookieLogin, harmless, type SessionCookies } from './session-cookie.ts';

/**
 * Who makes a management request, and what they may now: what is taken away while a request waits for its body, or for
 * its turn, it has no more.
 */
export interface Caller {
  /** Without a credential it depends on where the request came from (CONTRACT §7). */
  readonly principal: Principal;
  /** The user who asks, or whose access key it is; undefined for anonymous and for keys of the system. */
  readonly user: UserSettings | undefined;
  /** True for an admin who logged in; an access key never manages (CONTRACT §2). */
  readonly admin: boolean;
  /** Those in force now. */
  readonly settings: Settings;
  /** The address the request came from. */
  readonly address: string;
  /**
   * When the caller gave a password, in milliseconds since the epoch; undefined for a caller who sent neither one of
   * the hub's access tokens nor the cookie of a session.
   */
  readonly loggedInAt: number | undefined;
  /** The session whose cookie the caller sent; undefined for any other credential. */
  readonly session: LoginSession | undefined;
  /** The request as its record in the audit log will have it. */
  readonly audited: AuditedRequest;
}

/** A call that a route has been asked for: what is known of it before it goes to a server. */
export interface AskedCall {
  readonly server: string;
  readonly tool: string;
  readonly scope: Scope;
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
    address: string | undefined,
    queryToken?: string,
    endpoint?: string,
    forwarded?: boolean,
  ) => Promise<Principal | 'none' | 'bad'>;
  /** As `auth/identify.ts` has it. */
  readonly isByProxy: (headers: Readonly<Record<string, string | undefined>>, queryToken?: string) => boolean;
  /** Whether what a proxy says of the sender counts. */
  readonly forwarded: (c: Context) => boolean;
  readonly loggedInAt: (headers: Readonly<Record<string, string | undefined>>) => number | undefined;
  readonly isMadeHere: (headers: Readonly<Record<string, string | undefined>>) => boolean;
  /** The session whose cookie a request carries. */
  readonly cookieLogin: SessionCookies['login'];
  readonly address: (c: Context) => string;
  /** Whether a request may come from others than this machine. */
  readonly outside: (c: Context) => boolean;
  /** A request came with a credential that is not accepted. */
  readonly badCredential: (address: string) => void;
}

/** What a request is, for the audit log. */
type RequestForAudit = Pick<AuditedRequest, 'action' | 'target'> & {
  readonly isCommand?: boolean;
  readonly isMadeHere?: () => boolean;
};

/**
 * Finds out who calls; a route that is not open needs a caller. `open` says whether a request may be made without a
 * credential, `anonymous` whether its credential is not even looked at, `queryToken` whether `?token=` counts, `cookie`
 * whether the cookie of a session does where no other credential was sent, `endpoint` what the token of a client has to
 * be for; without it none will do.
 */
export function callerOf(
  options: CallerOptions,
  rules: Record<'open' | 'anonymous' | 'queryToken' | 'cookie', (c: Context) => boolean> & {
    readonly endpoint?: (c: Context) => string;
    readonly audited?: (c: Context) => Pick<AuditedRequest, 'action' | 'target'>;
  },
) {
  const identified = async (c: Context): Promise<Identity> => {
    const token = rules.queryToken(c) ? c.req.query('token') : undefined;
    const endpoint = rules.endpoint?.(c);
    const forwarded = options.forwarded(c);
    const who = rules.anonymous(c)
      ? 'none'
      : await options.identify(c.req.header(), options.address(c), token, endpoint, forwarded);
    const byProxy = forwarded && who !== 'none' && options.isByProxy(c.req.header(), token);
    if (who === 'bad') {
      if (endpoint === toolExecution) await mustHaveFactorFor(c, token, forwarded);
      options.badCredential(options.address(c));
      throw byProxy ? proxyRefused() : credentialOver();
    }
    if (byProxy) return byProxyOf(c, who);
    if (who !== 'none') return { principal: who };
    const login = rules.cookie(c) ? await options.cookieLogin(c) : undefined;
    if (login) return login;
    if (!rules.open(c)) {
      throw new HubError(
        'unauthenticated',
        'Log in first: POST /api/auth/login, then send "Authorization: Bearer <token>".',
      );
    }
    return { principal: options.outside(c) ? anonymousOutside : anonymous };
  };
  /** Where tools are called, who has to set up a second factor is not known: as what they are below `/api` they are. */
  const mustHaveFactorFor = async (c: Context, token: string | undefined, forwarded: boolean) => {
    const there = await options.identify(c.req.header(), options.address(c), token, managementApi, forwarded);
    if (there !== 'bad' && there !== 'none') mustHaveFactor({ principal: there, settings: options.settings() });
  };
  /**
   * A browser sends what its proxy says along with each request, as it does a cookie: what a link or a form of another
   * page could cause needs a header that neither can send. A session of the same user says when they logged in.
   */
  const byProxyOf = async (c: Context, principal: Principal): Promise<Identity> => {
    const isHarmless = harmless.has(c.req.method) && rules.cookie(c);
    if (!isHarmless && !c.req.header('x-csrf-token'))
      throw new HubError(
        'forbidden',
        'This came with the token of a proxy and without the header x-csrf-token. Send that header too, with any value.',
      );
    const login = rules.cookie(c) ? await options.cookieLogin(c) : undefined;
    const isSame = login && principalId(login.principal) === principalId(principal);
    return isSame && !mustSetUpFactor(options.settings(), login.principal) ? login : { principal };
  };
  return createMiddleware<ApiEnv>(async (c, next) => {
    let who: Identity = { principal: anonymousOutside };
    await requires(c, async () => {
      who = await identified(c);
    });
    const caller = callerNow(
      () => who,
      options.settings,
      options.address(c),
      () => options.loggedInAt(c.req.header()),
      {
        ...rules.audited?.(c),
        isCommand: c.req.header('user-agent')?.startsWith('toolhub/') === true,
        isMadeHere: () => options.isMadeHere(c.req.header()),
      },
    );
    c.set('caller', caller);
    await next();
  });
}

/** Whom a credential stands for. */
type Identity = Pick<CookieLogin, 'principal'> & Partial<CookieLogin>;

/** The caller of a request whose credential was checked. */
export function callerNow(
  identity: () => Identity,
  settings: () => Settings,
  address: string,
  loggedInAt: () => number | undefined = () => undefined,
  { action, target, isCommand = false, isMadeHere = () => false }: RequestForAudit = {},
): Caller {
  return {
    address,
    audited: {
      get actor() {
        return isMadeHere() ? byMachine.actor : actorOf(settings(), identity().principal);
      },
      get via() {
        if (isMadeHere()) return byMachine.via;
        return identity().session ? 'dashboard' : isCommand ? 'cli' : 'api';
      },
      address,
      action,
      target,
      isRecorded: false,
    },
    get loggedInAt() {
      const { principal, session } = identity();
      return session ? session.loggedInAt : principal.kind === 'user' ? loggedInAt() : undefined;
    },
    get session() {
      return identity().session;
    },
    get principal() {
      return identity().principal;
    },
    get settings() {
      return settings();
    },
    get user() {
      return userOf(settings(), identity().principal);
    },
    get admin() {
      return isAdmin(settings(), identity().principal);
    },
  };
}

const conditions = new WeakMap<Request, (() => void | Promise<void>)[]>();

/** Checks a condition of a request now, and again when its body is there (`stillAllowed`). */
export async function requires(c: Context, condition: () => void | Promise<void>): Promise<void> {
  await condition();
  conditions.set(c.req.raw, [...(conditions.get(c.req.raw) ?? []), condition]);
}

/**
 * To be called by code that has waited for the body of a request, which its sender may hold back for minutes. Throws
 * what a condition throws that is no longer true.
 */
export async function stillAllowed(request: Request): Promise<void> {
  for (const condition of conditions.get(request) ?? []) await condition();
}

/** Only admins pass. */
export const adminOnly = createMiddleware<ApiEnv>(async (c, next) => {
  await requires(c, () => mustBeAdmin(c.var.caller.admin));
  await next();
});

function mustBeAdmin(admin: boolean): void {
  if (!admin) throw saying('forbidden', 'admins_only');
}

/** Throws HubError `forbidden` for a client that acts for its user. */
export function mustBeInPerson(principal: Principal): void {
  if (principal.kind === 'user' && principal.app !== undefined)
    throw new HubError('forbidden', 'No app does this for its user. Log in to the hub yourself.');
}

/** Throws HubError `reauthenticate` when the caller gave the password too long ago for what is attempted. */
export function mustBeFresh({ loggedInAt }: Caller, attempt: string): void {
  if (loggedInAt !== undefined && Date.now() - loggedInAt < httpLimits.freshLoginMs) return;
  throw staleLogin(attempt, `is older than ${httpLimits.freshLoginMs / 60_000} minutes`);
}

/** HubError `reauthenticate`: `why` says what is wrong with the login. */
export function staleLogin(attempt: string, why: string): HubError {
  return new HubError(
    'reauthenticate',
    `${attempt}: your login ${why}. Give your password again: POST /api/auth/reauthenticate.`,
  );
}

/**
 * Throws HubError `second_factor_setup_required` for a user who has to set up a second factor, or to show it, before
 * anything else.
 */
export function mustHaveFactor({ principal, settings }: Pick<Caller, 'principal' | 'settings'>): void {
  if (mustSetUpFactor(settings, principal)) throw saying('second_factor_setup_required', 'factor_demanded');
}

function proxyRefused(): HubError {
  return new HubError(
    'unauthenticated',
    'The token that the proxy sent with this request is not valid here, or its person has no account. Log in at the proxy again; the log of the hub says what is wrong.',
  );
}

function credentialOver(): HubError {
  return saying('unauthenticated', 'login_over');
}

/**
 * Changes the settings on behalf of the caller, as what they are when it is the turn of this change: others may come
 * before it. Throws HubError `unauthenticated` for a user who is gone by then, `reauthenticate` where the accounts of
 * admins, or which logins and keys the hub accepts, would change after a login that is not fresh (whichever route does
 * it), `forbidden` for an app that would change how callers come in, and what `settings.change` throws.
 */
export function changeAs<T>(
  settings: Pick<SettingsStore, 'change'>,
  caller: Caller,
  edit: (draft: Draft, by: Editor) => T,
): Promise<T> {
  return settings.change((draft) => {
    const before = adminAccounts(draft);
    const credentials = credentialSettings(draft);
    const entry = entrySettings(draft);
    const result = edit(draft, editorOf(caller));
    if (entrySettings(draft) !== entry) mustBeInPerson(caller.principal);
    if (adminAccounts(draft) !== before) mustBeFresh(caller, 'Cannot change the account of an admin');
    if (credentialSettings(draft) !== credentials)
      mustBeFresh(caller, 'Cannot change which logins and keys the hub accepts');
    return result;
  }, caller.audited);
}

/** The same for what only admins change. */
export function changeAsAdmin<T>(
  settings: Pick<SettingsStore, 'change'>,
  caller: Caller,
  edit: (draft: Draft, by: Editor) => T,
): Promise<T> {
  return changeAs(settings, caller, (draft, by) => {
    mustBeAdmin(by.isAdmin);
    return edit(draft, by);
  });
}

/**
 * The caller as the pure edits of the settings document want to know them (`settings/document/document.ts`), at this
 * moment. Throws HubError `forbidden` for a key, and `unauthenticated` for a user who is gone.
 */
export function editorOf({ principal, user, admin, settings }: Caller): Editor {
  if (principal.kind !== 'user')
    throw new HubError('forbidden', 'An access key does not manage the hub. Log in as a user.');
  if (!user) throw credentialOver();
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
