import { type Context, Hono } from 'hono';
import type { Tickets } from '../../auth/oauth/tickets.ts';
import type { SecondFactors } from '../../auth/second-factor/second-factors.ts';
import { totpUri } from '../../auth/second-factor/totp.ts';
import type { LoginSessions } from '../../auth/sessions.ts';
import type { Tokens } from '../../auth/tokens.ts';
import { needsFactor } from '../../core/access/identity.ts';
import type { SecondFactor } from '../../core/answers/settings.ts';
import { HubError } from '../../core/errors.ts';
import { invalid, parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { factorCodeInput } from '../../settings/user/user-input.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, type Caller, mustBeFresh, staleLogin } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import type { SessionCookies } from '../frame/session-cookie.ts';
import { problemTable } from '../../core/problems.ts';
import { saying } from '../../core/sentences.ts';

/** What a challenge for a new passkey is for. Nothing is kept of it. */
export interface NewPasskey {
  readonly username: string;
  readonly since: string | undefined;
  readonly nonce: string;
}

type Which = Parameters<SecondFactors['remove']>[1];

export interface SecondFactorOptions {
  readonly factors: SecondFactors;
  readonly newPasskeys: Tickets<NewPasskey>;
  /** Scheme, host and port of the hub, as the browser knows it. */
  readonly origin: (c: Context) => string;
  readonly tokens: Pick<Tokens, 'issue' | 'revokeUser'>;
  readonly sessions: Pick<LoginSessions, 'open'>;
  readonly loginCookies: Pick<SessionCookies, 'give'>;
  /** The address of the hub, which apps show beside the name. */
  readonly hubUrl: (c: Context) => string;
  /** For what users do with their own accounts. */
  readonly log: Logger;
}

/**
 * `/auth/second-factor`: what users show at a login besides the password. Each change takes a login of the last
 * minutes, with the second factor that there is. With the first one everything ends that was let in without it.
 */
export function secondFactorRoutes(options: SecondFactorOptions): Hono<ApiEnv> {
  const { factors, hubUrl, log } = options;
  const routes = new Hono<ApiEnv>();

  routes.get('/auth/second-factor', async (c) => {
    const user = inPerson(c.var.caller);
    const { totpSince, passkeys, recoveryCodes } = await factors.state(user);
    const answer: SecondFactor = {
      totp: totpSince === undefined ? null : { since: timeOf(totpSince) },
      passkeys: passkeys.map(({ createdAt, lastUsedAt, ...passkey }) => ({
        ...passkey,
        createdAt: timeOf(createdAt),
        ...(lastUsedAt !== undefined && { lastUsedAt: timeOf(lastUsedAt) }),
      })),
      recoveryCodesLeft: recoveryCodes,
      required: needsFactor(c.var.caller.settings, user),
    };
    return ok(c, answer);
  });

  routes.post('/auth/second-factor/totp', async (c) => {
    const user = await changing(c, factors, 'Cannot set up an authenticator app');
    const secret = await factors.beginTotp(user);
    const account = `${user.username}@${new URL(hubUrl(c)).host}`;
    return ok(c, { secret, uri: totpUri(secret, account) });
  });

  routes.post('/auth/second-factor/totp/confirm', async (c) => {
    const attempt = 'Cannot turn on the codes of an app';
    const user = await changing(c, factors, attempt);
    const { code } = parseInput(factorCodeInput, await jsonBody(c.req.raw), attempt);
    const confirmed = await factors.confirmTotp(user, code);
    if (!confirmed) throw invalid(attempt, [{ path: 'code', message: problemTable.code_wrong }]);
    log.info('second factor set up', { user: user.username, kind: 'totp', address: c.var.caller.address });
    const { recoveryCodes } = confirmed;
    return recoveryCodes ? goOnAlone(c, user, { recoveryCodes }, options) : ok(c, {});
  });

  routes.delete('/auth/second-factor/totp', async (c) => {
    const attempt = 'Cannot turn off the codes of the app';
    const user = await changing(c, factors, attempt);
    await removeFactor(c, user, 'totp', attempt, options);
    return ok(c, undefined, { message: 'The codes of the app do not count any more.' });
  });

  routes.post('/auth/second-factor/recovery-codes', async (c) => {
    const user = await changing(c, factors, 'Cannot make recovery codes');
    const recoveryCodes = await factors.newRecoveryCodes(user);
    log.info('recovery codes made', { user: user.username, address: c.var.caller.address });
    return ok(c, { recoveryCodes }, { message: 'The recovery codes before do not count any more.' });
  });

  return routes;
}

/** `/users/<name>/second-factor`: an admin helps a user who has lost it. */
export function factorResetRoutes({
  factors,
  tokens,
  log,
}: Pick<SecondFactorOptions, 'factors' | 'log'> & { readonly tokens: Pick<Tokens, 'revokeUser'> }): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.delete('/users/:username/second-factor', adminOnly, async (c) => {
    const { audited, address, settings } = c.var.caller;
    const username = c.req.param('username');
    mustBeFresh(c.var.caller, 'Cannot reset a second factor');
    if (!settings.users.some((user) => user.username === username))
      throw saying('not_found', 'no_user', { name: username });
    if (!(await factors.reset(username))) throw saying('not_found', 'no_second_factor', { name: username });
    await tokens.revokeUser(username);
    log.warn('second factor reset', { user: username, by: audited.actor.name, via: audited.via, address });
    return ok(c, undefined, { message: 'The second factor is gone, and all logins and apps of the user have ended.' });
  });
  return routes;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Ends what was let in without the second factor, as a new password does, and goes on with a login of its own. */
export async function goOnAlone(
  c: Context<ApiEnv>,
  user: UserSettings,
  data: object,
  { tokens, sessions, loginCookies }: SecondFactorOptions,
): Promise<Response> {
  const { session, address } = c.var.caller;
  await tokens.revokeUser(user.username);
  const message = 'From now on a login takes a second factor. All other logins and apps have ended.';
  if (!session) return c.json({ success: true, message, data, token: await tokens.issue(user, true) });
  const { via, provider, loggedInAt } = session;
  const userAgent = c.req.header('user-agent') ?? '';
  const from = { via, loggedInAt, address, userAgent, ...(provider && { provider }) };
  loginCookies.give(c, await sessions.open({ user, secondFactor: true, ...from }));
  return ok(c, data, { message });
}

/** Throws HubError `not_found`, and `conflict` for the last factor where one is demanded. */
export async function removeFactor(
  c: Context<ApiEnv>,
  user: UserSettings,
  which: Which,
  attempt: string,
  { factors, log }: SecondFactorOptions,
): Promise<void> {
  const removed = await factors.remove(user, which, !needsFactor(c.var.caller.settings, user));
  if (removed === 'unknown') throw saying('not_found', 'factor_gone', { attempt });
  if (removed === 'last') throw saying('conflict', 'last_factor', { attempt });
  const kind = which === 'totp' ? which : 'passkey';
  log.warn('second factor turned off', { user: user.username, kind, address: c.var.caller.address });
}

/** The user, whose login is fresh and has shown the second factor that there is. */
export async function changing(c: Context<ApiEnv>, factors: SecondFactors, attempt: string): Promise<UserSettings> {
  const { caller } = c.var;
  const user = inPerson(caller);
  mustBeFresh(caller, attempt);
  if (user.passwordHash === '') throw saying('conflict', 'factor_of_provider', { attempt });
  const isAlone = caller.principal.kind === 'user' && caller.principal.passwordAlone === true;
  if (isAlone && (await factors.ways(user, '', undefined)).methods.length > 0)
    throw staleLogin(attempt, 'has shown no second factor');
  return user;
}

/** Throws HubError `forbidden` for an access key, and for a client that acts for its user. */
function inPerson({ principal, user }: Caller): UserSettings {
  if (principal.kind !== 'user' || principal.app !== undefined || !user)
    throw new HubError('forbidden', 'Only a user who has logged in has a second factor. Log in as a user.');
  return user;
}
