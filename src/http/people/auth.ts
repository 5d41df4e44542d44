import { Hono } from 'hono';
import type { Identify } from '../../auth/identify.ts';
import type { Login } from '../../auth/login.ts';
import type { Passwords } from '../../auth/passwords.ts';
import type { Tokens } from '../../auth/tokens.ts';
import { HubError, errorText } from '../../core/errors.ts';
import { parseInput } from '../../core/input/read.ts';
import type { Logger } from '../../core/logger.ts';
import type { UserSettings } from '../../core/settings/types.ts';
import { changePasswordInput, loginInput, reauthenticateInput } from '../../core/input/user.ts';
import { setPasswordHash, userAnswer } from '../../core/settings/users.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface AuthOptions {
  readonly settings: Pick<SettingsStore, 'change' | 'document'>;
  readonly login: Login;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly tokens: Pick<Tokens, 'issue' | 'revoke' | 'revokeUser'>;
  /** The access token that a request carries. */
  readonly claims: Identify['claims'];
  readonly log: Logger;
}

/** `/auth/login`, `reauthenticate`, `logout`, `user` and `change-password` (CONTRACT §2; reference: MCPHub §1.2). Answers with a token have no `data`. */
export function authRoutes({ settings, login, passwords, tokens, claims, log }: AuthOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  /** Nobody waits for it: should it fail, the old hash still fits and the next login tries again. */
  function upgrade({ username, passwordHash }: UserSettings, rehash: () => Promise<string>): void {
    rehash()
      .then((newHash) => settings.change((draft) => setPasswordHash(draft, username, newHash, passwordHash)))
      .catch((error: unknown) => log.warn('password hash not upgraded', { user: username, error: errorText(error) }));
  }

  routes.post('/auth/login', async (c) => {
    const { username, password } = parseInput(loginInput, await jsonBody(c.req.raw), 'Cannot log in');
    const { address } = c.var.caller;
    const { user, rehash } = await login({ username, password, address });
    const token = await tokens.issue(user);
    if (rehash) upgrade(user, rehash);
    log.info('login', { user: user.username, address });
    const { role, isAdmin } = userAnswer(user);
    return c.json({
      success: true,
      message: 'Login successful',
      token,
      user: { username: user.username, role, isAdmin },
    });
  });

  routes.post('/auth/reauthenticate', async (c) => {
    const { username } = userOf(c.var.caller);
    const attempt = 'Cannot confirm that it is you';
    const { password } = parseInput(reauthenticateInput, await jsonBody(c.req.raw), attempt);
    const { address } = c.var.caller;
    const { user } = await login({ username, password, address, refusal: `${attempt}: the password is wrong.` });
    log.info('password given again', { user: username, address });
    return c.json({ success: true, message: 'Welcome back', token: await tokens.issue(user) });
  });

  routes.post('/auth/logout', async (c) => {
    userOf(c.var.caller);
    const carried = await claims(c.req.header());
    if (carried) await tokens.revoke(carried);
    return ok(c, undefined, { message: 'Logged out' });
  });

  routes.get('/auth/user', (c) => {
    const { username } = userOf(c.var.caller);
    const entry = settings.document.users?.find((user) => user['username'] === username);
    const isInitial = entry?.['passwordIsInitial'] === true;
    const user = { ...userAnswer(userOf(c.var.caller)), ...(isInitial && { passwordIsInitial: true }) };
    return c.json({ success: true, user, data: user });
  });

  routes.post('/auth/change-password', async (c) => {
    const { username } = userOf(c.var.caller);
    const attempt = 'Cannot change the password';
    const { currentPassword, newPassword } = parseInput(changePasswordInput, await jsonBody(c.req.raw), attempt);
    const { address } = c.var.caller;
    const refusal = `${attempt}: the current password is wrong.`;
    const { user } = await login({ username, password: currentPassword, address, refusal });
    const newHash = await passwords.hash(newPassword);
    if (!(await settings.change((draft) => setPasswordHash(draft, username, newHash, user.passwordHash)))) {
      throw new HubError('conflict', `${attempt}: somebody else has just changed it. Log in again.`);
    }
    await tokens.revokeUser(username);
    log.info('password changed', { user: username, address });
    return c.json({ success: true, message: 'Password updated successfully', token: await tokens.issue(user) });
  });

  return routes;
}

/** Throws HubError `forbidden` for an access key, also one of a user: it can neither log out nor get at its owner's account. */
function userOf({ principal, user }: Caller): UserSettings {
  if (principal.kind !== 'user' || !user) {
    throw new HubError('forbidden', 'An access key has no account. Log in as a user.');
  }
  return user;
}
