import { type Context, Hono } from 'hono';
import type { Identify } from '../../auth/identify.ts';
import type { LoggedIn, Login, LoginAttempt } from '../../auth/login.ts';
import { checkPassword, judgePassword } from '../../auth/password-strength.ts';
import type { Passwords } from '../../auth/passwords.ts';
import { type PasskeyAnswer, siteOf } from '../../auth/second-factor/passkeys.ts';
import type { LoginSessions } from '../../auth/sessions.ts';
import type { Tokens } from '../../auth/tokens.ts';
import { mustSetUpFactor } from '../../core/access/identity.ts';
import type { Me } from '../../core/answers/settings.ts';
import { type AuditSink, byHub } from '../../core/audit.ts';
import { HubError, errorText } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Draft } from '../../settings/document/document.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { changePassword, keepPassword, userAnswer } from '../../settings/user/user-edits.ts';
import {
  changePasswordInput,
  loginInput,
  passwordCheckInput,
  reauthenticateInput,
} from '../../settings/user/user-input.ts';
import { jsonBody, requireEmptyBody } from '../frame/body.ts';
import { recordRequest } from '../frame/audited.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import type { SessionCookies } from '../frame/session-cookie.ts';

export interface AuthOptions {
  readonly settings: Pick<SettingsStore, 'change' | 'current' | 'document'>;
  readonly login: Login;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly tokens: Pick<Tokens, 'issue' | 'revoke' | 'revokeUser'>;
  readonly sessions: Pick<LoginSessions, 'open' | 'renew' | 'ofUser' | 'end'>;
  readonly loginCookies: Pick<SessionCookies, 'give' | 'clear'>;
  /** The access token that a request carries. */
  readonly claims: Identify['claims'];
  /** Scheme, host and port of the hub, as the browser knows it. */
  readonly origin: (c: Context) => string;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly log: Logger;
}

/**
 * `/auth/login`, `reauthenticate`, `logout`, `user` and `change-password` (CONTRACT §2; reference: MCPHub §1.2).
 * Answers with a token have no `data`.
 */
export function authRoutes(options: AuthOptions): Hono<ApiEnv> {
  const { settings, login, passwords, tokens, sessions, loginCookies, claims, origin, audit, log } = options;
  const routes = new Hono<ApiEnv>();

  async function openSession(c: Context<ApiEnv>, { user, secondFactor }: LoggedIn): Promise<void> {
    const { address } = c.var.caller;
    const userAgent = c.req.header('user-agent') ?? '';
    loginCookies.give(c, await sessions.open({ user, secondFactor, via: 'password', address, userAgent }));
  }

  const logIn = (c: Context<ApiEnv>, shown: ShownByRequest, more: Partial<LoginAttempt> = {}) =>
    login({ ...given(shown), ...more, address: c.var.caller.address, site: siteOf(origin(c)) });

  routes.post('/auth/login', async (c) => {
    const { cookie, ...shown } = parseInput(loginInput, await jsonBody(c.req.raw), 'Cannot log in');
    const { address } = c.var.caller;
    const loggedIn = await logIn(c, shown);
    const { user, secondFactor, recoveryCodesLeft } = loggedIn;
    const token = cookie === true ? undefined : await tokens.issue(user, secondFactor);
    if (token === undefined) await openSession(c, loggedIn);
    if (typeof shown.password === 'string') void keep(loggedIn, shown.password, options);
    log.info('login', { user: user.username, address, ...withFactor(loggedIn) });
    recordLogin(c, audit, loggedIn, cookie === true);
    const { role, isAdmin } = userAnswer(user);
    return c.json({
      success: true,
      message: 'Login successful',
      ...(token !== undefined && { token }),
      ...(recoveryCodesLeft !== undefined && { recoveryCodesLeft }),
      user: { username: user.username, role, isAdmin },
    });
  });

  routes.post('/auth/reauthenticate', async (c) => {
    const { username } = userOf(c.var.caller);
    const { session } = c.var.caller;
    const attempt = 'Cannot confirm that it is you';
    const shown = parseInput(reauthenticateInput, await jsonBody(c.req.raw), attempt);
    const { address } = c.var.caller;
    const refusal = { code: 'wrong_password', values: { attempt } } as const;
    const loggedIn = await logIn(c, shown, { username, refusal });
    const { user, secondFactor } = loggedIn;
    log.info('password given again', { user: username, address, ...withFactor(loggedIn) });
    if (!session)
      return c.json({ success: true, message: 'Welcome back', token: await tokens.issue(user, secondFactor) });
    const renewed = await sessions.renew(session, secondFactor);
    if (!renewed) throw new HubError('unauthenticated', `${attempt}: the session is over. Log in again.`);
    loginCookies.give(c, renewed);
    return ok(c, undefined, { message: 'Welcome back' });
  });

  routes.post('/auth/password-check', async (c) => {
    const own = userOf(c.var.caller);
    const input = parseInput(passwordCheckInput, await jsonBody(c.req.raw), 'Cannot judge the password');
    const { passwordPolicy } = settings.current.system;
    const judged = judgePassword(input.password, input.username ?? own.username, passwordPolicy);
    return ok(c, { ...judged, minLength: passwordPolicy?.minLength ?? coreLimits.passwordMinChars });
  });

  routes.post('/auth/logout', async (c) => {
    const [{ username }, { session }] = [userOf(c.var.caller), c.var.caller];
    await requireEmptyBody(c.req.raw);
    const carried = session ? undefined : await claims(c.req.header());
    if (carried) await tokens.revoke(carried);
    if (session) await sessions.end(username, ({ claims }) => claims.jti === session.claims.jti);
    loginCookies.clear(c);
    return ok(c, undefined, { message: 'Logged out' });
  });

  routes.get('/auth/user', (c) => {
    const user = meOf(c.var.caller);
    return c.json({ success: true, user, data: user });
  });

  routes.post('/auth/change-password', async (c) => {
    const { username } = userOf(c.var.caller);
    const { session } = c.var.caller;
    const attempt = 'Cannot change the password';
    const input = parseInput(changePasswordInput, await jsonBody(c.req.raw), attempt);
    const { currentPassword: password, newPassword, challenge, code, passkey } = input;
    const refusal = { code: 'wrong_current_password', values: { attempt } } as const;
    const loggedIn = await logIn(c, { password, challenge, code, passkey }, { username, refusal });
    const { user } = loggedIn;
    const { passwordPolicy: policy } = settings.current.system;
    const { weakness } = checkPassword(newPassword, { username, policy }, { attempt, path: 'newPassword' });
    const made = { passwordHash: await passwords.hash(newPassword), isWeak: weakness !== undefined };
    const change = (draft: Draft) => changePassword(draft, username, made, user.passwordHash);
    if (!(await settings.change(change, c.var.caller.audited)))
      throw saying('conflict', 'changed_meanwhile', { attempt });
    await tokens.revokeUser(username);
    log.info('password changed', { user: username, address: c.var.caller.address });
    const answer = { success: true, message: 'Password updated successfully' };
    if (!session) return c.json({ ...answer, token: await tokens.issue(user, loggedIn.secondFactor) });
    await openSession(c, loggedIn);
    return c.json(answer);
  });

  return routes;
}

/** Who logged in, and what they are asked to do first. */
function meOf(caller: Caller): Me {
  const own = userOf(caller);
  const marks = (['passwordIsInitial', 'passwordIsWeak'] as const).filter((mark) => own[mark] === true);
  const setUp = mustSetUpFactor(caller.settings, caller.principal) ? { mustSetUpSecondFactor: true } : {};
  return { ...userAnswer(own), ...Object.fromEntries(marks.map((mark) => [mark, true])), ...setUp };
}

type ShownByRequest = { [Name in 'username' | 'password' | 'challenge' | 'code']?: string | null | undefined } & {
  passkey?: PasskeyAnswer | null | undefined;
};

/** What a request shows, as `Login` takes it: of what is left out nothing is said. */
function given({ username, password, challenge, code, passkey }: ShownByRequest) {
  return {
    username: username ?? undefined,
    password: password ?? undefined,
    challenge: challenge ?? undefined,
    // Fields of forms come empty.
    code: code?.trim() || undefined,
    passkey: passkey ?? undefined,
  };
}

function recordLogin(c: Context<ApiEnv>, audit: AuthOptions['audit'], loggedIn: LoggedIn, isCookie: boolean): void {
  const { username: target } = loggedIn.user;
  const actor = { kind: 'user', name: target } as const;
  const via = isCookie ? { via: 'dashboard' as const } : {};
  recordRequest(c, audit.record, { actor, ...via, target, after: withFactor(loggedIn) });
}

/** For the log: who uses up recovery codes may have lost something. */
function withFactor({ secondFactor, recoveryCodesLeft }: LoggedIn) {
  return { ...(secondFactor && { secondFactor }), ...(recoveryCodesLeft !== undefined && { recoveryCodesLeft }) };
}

/**
 * What a login has shown of a password: a hash that should be newer, and whether it is weak. No login waits for it:
 * should it fail, the next one tries again.
 */
async function keep(
  { user, rehash }: LoggedIn,
  password: string,
  { settings, log }: Pick<AuthOptions, 'settings' | 'log'>,
): Promise<void> {
  const { username, passwordHash: old } = user;
  const isWeak = judgePassword(password, username, settings.current.system.passwordPolicy).weakness !== undefined;
  if (!rehash && isWeak === (user.passwordIsWeak === true)) return;
  try {
    const shown = { passwordHash: rehash ? await rehash() : old, isWeak };
    const by = { ...byHub, action: 'password.rehash', target: username, isRecorded: false };
    await settings.change((draft) => keepPassword(draft, username, shown, old), by);
    if (isWeak) log.warn('weak password', { user: username });
  } catch (error) {
    log.warn('what a login showed of a password was not kept', { user: username, error: errorText(error) });
  }
}

/**
 * Throws HubError `forbidden` for an access key, also one of a user: it can neither log out nor get at its owner's
 * account.
 */
function userOf({ principal, user }: Caller): UserSettings {
  if (principal.kind !== 'user' || !user) {
    throw new HubError('forbidden', 'An access key has no account. Log in as a user.');
  }
  return user;
}
