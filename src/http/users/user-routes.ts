import { Hono } from 'hono';
import { checkPassword } from '../../auth/password-strength.ts';
import type { Passwords } from '../../auth/passwords.ts';
import type { Consent, Consents } from '../../auth/oauth/consents.ts';
import type { SecondFactors } from '../../auth/second-factor/second-factors.ts';
import type { LoginSessions } from '../../auth/sessions.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { User } from '../../core/answers/settings.ts';
import { saying } from '../../core/sentences.ts';
import { invalid, parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { SettingsStore } from '../../settings/store.ts';
import {
  addUser,
  deleteUser,
  type NewPassword,
  updateUser,
  userAnswer,
  usersStats,
} from '../../settings/user/user-edits.ts';
import { newUserInput, userUpdateInput } from '../../settings/user/user-input.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, adminOnly, type Caller, changeAsAdmin, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface UsersOptions {
  readonly settings: Pick<SettingsStore, 'change'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly tokens: Pick<Tokens, 'revokeUser'>;
  /** Whether users can log in at a provider. */
  readonly hasProviders: () => boolean;
  readonly consents: Pick<Consents, 'endUser'>;
  readonly sessions: Pick<LoginSessions, 'end'>;
  readonly factors: Pick<SecondFactors, 'having' | 'reset'>;
  readonly log: Logger;
}

/** `/users` and `/users-stats` (SPEC, Users; CONTRACT §4), for admins only. */
export function usersRoutes(options: UsersOptions): Hono<ApiEnv> {
  const { settings, passwords, tokens, sessions, factors, hasProviders, log } = options;
  const routes = new Hono<ApiEnv>();
  routes.use('/users/*', adminOnly);
  routes.use('/users-stats', adminOnly);

  /** Looked at before it is hashed, which takes its time. */
  const newPassword = async (
    caller: Caller,
    username: string,
    password: string,
    attempt: string,
  ): Promise<NewPassword> => {
    const { passwordPolicy: policy } = caller.settings.system;
    const { weakness } = checkPassword(password, { username, policy }, { attempt, path: 'password' });
    return { passwordHash: await passwords.hash(password), isWeak: weakness !== undefined };
  };

  routes.get('/users', async (c) => ok(c, await answersOf(c.var.caller.settings.users, factors)));

  routes.get('/users-stats', (c) => ok(c, usersStats(c.var.caller.settings)));

  routes.get('/users/:username', async (c) => {
    const user = userNamed(c.var.caller, c.req.param('username'));
    return ok(c, (await answersOf([user], factors))[0]);
  });

  routes.delete('/users/:username/sessions', async (c) => {
    const by = editorOf(c.var.caller).username;
    const { username } = userNamed(c.var.caller, c.req.param('username'));
    const ended = await sessions.end(username, () => true);
    log.info('sessions of a user ended', { user: username, ended, by, address: c.var.caller.address });
    return ok(c, { ended }, { message: 'All sessions of the user have ended.' });
  });

  routes.post('/users', async (c) => {
    const by = editorOf(c.var.caller).username;
    const input = parseInput(newUserInput, await jsonBody(c.req.raw), 'Cannot create the user');
    const attempt = 'Cannot create the user';
    if (input.password === undefined && !hasProviders())
      throw invalid(attempt, [{ path: 'password', message: 'is required: there is no provider to log in at' }]);
    const password =
      input.password === undefined
        ? undefined
        : await newPassword(c.var.caller, input.username, input.password, attempt);
    const at = new Date().toISOString();
    const { user, notes } = await changeAsAdmin(settings, c.var.caller, (draft) =>
      addUser(draft, input, password ? { ...password, at } : { at }),
    );
    log.info('user created', { user: user.username, role: user.role, by });
    return ok(c, user, { message: sentences('User created successfully.', notes), status: 201 });
  });

  routes.put('/users/:username', async (c) => {
    const by = editorOf(c.var.caller).username;
    const username = c.req.param('username');
    const input = parseInput(userUpdateInput, await jsonBody(c.req.raw), 'Cannot change the user');
    const made =
      input.password === undefined
        ? undefined
        : await newPassword(c.var.caller, username, input.password, `Cannot change user "${username}"`);
    const { user, endedKeys, notes } = await changeAsAdmin(settings, c.var.caller, (draft) =>
      updateUser(draft, username, input, made),
    );
    if (made === undefined) {
      log.info('user changed', { user: username, role: user.role, by });
      return ok(c, user, { message: sentences('User updated successfully.', notes) });
    }
    // Who had the old password, or made keys with it, has no access any more (CONTRACT §8).
    const grants = (await endAccess(username, options)).map(({ id, clientName }) => ({ id, clientName }));
    const counts = { endedKeys: endedKeys.length, endedGrants: grants.length };
    log.info('password reset', { user: username, role: user.role, ...counts, by });
    const ended = { sessions: true, keys: endedKeys, grants };
    const named = (what: string, names: readonly string[]) =>
      names.length > 0 ? `, and these ${what}: ${names.join(', ')}` : '';
    const keyNames = named(
      'access keys',
      endedKeys.map(({ name }) => name),
    );
    const appNames = named(
      'apps',
      grants.map(({ clientName }) => clientName),
    );
    const endedNote = `All logins of the user ended${keyNames}${appNames}.`;
    return ok(c, { ...user, ended }, { message: sentences('User updated successfully.', [endedNote, ...notes]) });
  });

  routes.delete('/users/:username', async (c) => {
    const by = editorOf(c.var.caller).username;
    const username = c.req.param('username');
    const notes = await changeAsAdmin(settings, c.var.caller, (draft) => deleteUser(draft, username, by));
    // They end with the user anyway; this keeps them ended should there be another one of that name.
    await tokens.revokeUser(username);
    // It counts for this account alone.
    await factors.reset(username).catch(() => false);
    log.info('user deleted', { user: username, by });
    return ok(c, undefined, { message: sentences('User deleted successfully.', notes) });
  });

  return routes;
}

function userNamed({ settings }: Caller, username: string): UserSettings {
  const user = settings.users.find((user) => user.username === username);
  if (!user) throw saying('not_found', 'no_user', { name: username });
  return user;
}

/** With who has a second factor, unless that cannot be read now. */
async function answersOf(users: readonly UserSettings[], factors: Pick<SecondFactors, 'having'>): Promise<User[]> {
  const having = await factors.having(users).catch(() => undefined);
  return users.map((user) => ({
    ...userAnswer(user),
    ...(having?.has(user.username) === true && { secondFactor: true }),
  }));
}

function sentences(first: string, notes: readonly string[]): string {
  return [first, ...notes].join(' ');
}

/** Ends all logins and apps of a user, also where one of the two cannot be written down. Gives what the apps had. */
async function endAccess(
  username: string,
  { consents, tokens }: Pick<UsersOptions, 'consents' | 'tokens'>,
): Promise<readonly Consent[]> {
  let ended: readonly Consent[];
  try {
    ended = await consents.endUser(username);
  } finally {
    await tokens.revokeUser(username);
  }
  return ended;
}
