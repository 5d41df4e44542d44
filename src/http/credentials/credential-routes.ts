import { Hono } from 'hono';
import { z } from 'zod';
import { slotsOf } from '../../core/access/per-user.ts';
import type { UserCredential } from '../../core/answers/settings.ts';
import { HubError } from '../../core/errors.ts';
import { invalid, parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { slotValueProblem } from '../../settings/server/credential-template.ts';
import { slotKey, type UserCredentials } from '../../upstream/user-credentials/user-credentials.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, editorOf } from '../frame/caller.ts';
import { serverOf, visibleServers } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { problemTable } from '../../core/problems.ts';
import { saying } from '../../core/sentences.ts';

export interface CredentialRoutes {
  readonly credentials: Pick<UserCredentials, 'state' | 'values' | 'set' | 'remove'>;
  readonly settings: () => Settings;
  readonly log: Logger;
}

const group = z.record(z.string(), z.string({ error: 'must be a text' }));

/** By key (`env.TOKEN`), or in groups (`{env: {TOKEN}}`), of which what is left out stays as it is. */
export const credentialsInput = z.object({
  values: z.record(z.string(), z.union([z.string(), group], { error: 'must be a text' }), {
    error: 'must be an object: a text for each slot',
  }),
});

/**
 * `/credentials` (CONTRACT §8, Per-user credentials; reference: MCPHub §1.11): what users set for themselves at servers
 * with a `credentialTemplate`. No route takes another user's name, and none answers a value.
 */
export function credentialRoutes({ credentials, settings, log }: CredentialRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  /** Who asks, as an account. Throws HubError for everyone who may not manage what is theirs. */
  function account(caller: Caller): UserSettings {
    const { username } = editorOf(caller);
    const user = settings().users.find((one) => one.username === username);
    if (!user) throw new HubError('unauthenticated', 'Log in again.');
    return user;
  }

  function templated(caller: Caller, name: string): ServerSettings {
    const server = serverOf(caller, name);
    if (slotsOf(server).length > 0) return server;
    throw saying('not_found', 'no_credentials', { name });
  }

  function answerOf(server: ServerSettings, user: UserSettings): UserCredential {
    const { configured, configuredSlots, updatedAt } = credentials.state(server, user);
    const slots = slotsOf(server).map((slot) => {
      const key = slotKey(slot);
      const { target, name, label } = slot;
      return { key, target, name, ...(label !== undefined && { label }), configured: configuredSlots.includes(key) };
    });
    const { name, description } = server;
    return {
      name,
      serverName: name,
      ...(description !== undefined && { description }),
      slots,
      configured,
      configuredSlots,
      updatedAt: updatedAt === undefined ? null : new Date(updatedAt).toISOString(),
    };
  }

  routes.get('/credentials', (c) => {
    const { caller } = c.var;
    const user = account(caller);
    const servers = visibleServers(caller).filter((server) => slotsOf(server).length > 0);
    return ok(
      c,
      servers.map((server) => answerOf(server, user)),
    );
  });

  routes.put('/credentials/:name', async (c) => {
    const { caller } = c.var;
    const name = c.req.param('name');
    account(caller);
    serverOf(caller, name);
    const attempt = `Cannot set credentials for server "${name}"`;
    const { values } = parseInput(credentialsInput, await jsonBody(c.req.raw), attempt);
    // What was taken away while the body came is not there any more.
    const [server, user] = [templated(caller, name), account(caller)];
    await credentials.set(server, user, checked(server, values, credentials.values(server, user), attempt));
    log.info('credentials set', { server: name, user: user.username });
    return ok(c, answerOf(templated(caller, name), user), { message: `Your credentials for server ${name} are set.` });
  });

  routes.delete('/credentials/:name', async (c) => {
    const { caller } = c.var;
    const name = c.req.param('name');
    const [server, user] = [templated(caller, name), account(caller)];
    if (await credentials.remove(server, user)) log.info('credentials removed', { server: name, user: user.username });
    return ok(c, undefined, { message: `Your credentials for server ${name} are gone.` });
  });

  return routes;
}

/** One value for each slot. Throws HubError `invalid_input` with the path of each that is missing, wrong or unknown. */
function checked(
  server: ServerSettings,
  given: z.infer<typeof credentialsInput>['values'],
  before: Readonly<Record<string, string>>,
  attempt: string,
): Record<string, string> {
  const flat = new Map<string, { value: string; path: string }>();
  let isGrouped = false;
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') flat.set(key, { value, path: `values[${JSON.stringify(key)}]` });
    else {
      isGrouped = true;
      for (const [name, text] of Object.entries(value))
        flat.set(`${key}.${name}`, { value: text, path: `values.${key}[${JSON.stringify(name)}]` });
    }
  }
  const problems = [];
  const values: Record<string, string> = {};
  for (const slot of slotsOf(server)) {
    const key = slotKey(slot);
    const found = flat.get(key);
    flat.delete(key);
    const kept = isGrouped && Object.hasOwn(before, key) ? before[key] : undefined;
    const value = found?.value ?? kept;
    const path = found?.path ?? `values[${JSON.stringify(key)}]`;
    const message = value === undefined ? problemTable.slot_missing : slotValueProblem(slot, value);
    if (message !== undefined) problems.push({ path, message });
    else if (value !== undefined) values[key] = slot.target === 'headers' ? value.trim() : value;
  }
  for (const { path } of flat.values()) problems.push({ path, message: 'is no slot of this server' });
  if (problems.length > 0) throw invalid(attempt, problems);
  return values;
}
