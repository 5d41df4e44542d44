import { setTimeout as after } from 'node:timers/promises';
import { z } from 'zod';
import { HubError } from '../../core/errors.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { cliLimits } from '../limits.ts';
import { bearerFor, wantsLogin } from '../remote/access.ts';
import { type HubConnection, refusalText } from '../remote/hub-connection.ts';
import { oneLine, say } from '../terminal.ts';

const seenShape = z.object({ data: z.array(z.object({ id: z.string(), name: z.string(), at: z.string() })) });
const keyShape = z.object({ data: z.object({ id: z.string(), token: z.string().regex(/^[\x21-\x7e]+$/) }) });
const meShape = z.object({ data: z.object({ isAdmin: z.boolean() }) });

/**
 * Looks which clients the hub has seen, and returns what waits for another one. Undefined, with a word to the user,
 * where this login may not see them.
 */
export async function arrivals(
  hub: HubConnection,
  env: UserEnv,
): Promise<((title: string) => Promise<void>) | undefined> {
  const token = await bearerFor(hub, env);
  const look = async () => {
    const answer = await hub.api('/clients', { token });
    const seen = seenShape.safeParse(answer.body).data?.data;
    if (answer.status === 200 && seen !== undefined)
      return new Map(seen.map(({ id, name, at }) => [`${id} ${at}`, name]));
    return undefined;
  };
  const before = token === undefined ? undefined : await look();
  if (before === undefined) {
    say('Whether the client connects can be seen here after "toolhub login" (with the box for managing ticked).');
    return undefined;
  }
  return async (title) => {
    say(`Waiting for ${title}… (Ctrl-C ends the wait; the change stays)`);
    const until = performance.now() + cliLimits.connectWaitMs;
    while (performance.now() < until) {
      const seen = (await look()) ?? new Map<string, string>();
      const [arrived] = [...seen].filter(([id, name]) => !before.has(id) && name !== 'toolhub');
      if (arrived !== undefined) return say(`Connected: it calls itself "${oneLine(arrived[1], 100)}".`);
      await after(cliLimits.connectPollMs);
    }
    say(`${title} has not connected yet. The page "Connect a client" of the dashboard shows when it does.`);
  };
}

export interface MadeKey {
  readonly id: string;
  readonly token: string;
  remove(): Promise<void>;
}

/** Makes a key that opens no more than the client is to reach; that of a user opens what its user reaches. */
export async function madeKey(
  hub: HubConnection,
  env: UserEnv,
  { name, path }: { readonly name: string; readonly path: readonly string[] },
): Promise<MadeKey> {
  const token = await bearerFor(hub, env);
  const me = await hub.api('/auth/user', { token });
  if (me.status === 401) throw wantsLogin(hub, env, token);
  const isAdmin = meShape.safeParse(me.body).data?.data.isAdmin === true;
  const opening = isAdmin
    ? await openingOf(hub, token, path.filter((part) => part !== '$smart' && part !== '$code')[0])
    : {};
  const answer = await hub.api('/auth/keys', { method: 'POST', token, body: { name: name.slice(0, 100), ...opening } });
  const key = keyShape.safeParse(answer.body).data?.data;
  if (answer.status === 201 && key !== undefined) {
    const remove = async () =>
      void (await hub.api(`/auth/keys/${encodeURIComponent(key.id)}`, { method: 'DELETE', token }));
    return { ...key, remove };
  }
  throw new HubError(
    'forbidden',
    `Cannot make an access key: ${refusalText(answer)} Keys are made with a login by password (toolhub login ${hub.url} --username …); without --key the client signs in by itself.`,
  );
}

/** Deletes a key that this command made. What fails is said: the user can do it in the dashboard. */
export async function endedKey(hub: HubConnection, env: UserEnv, id: string): Promise<void> {
  try {
    const token = await bearerFor(hub, env);
    const answer = await hub.api(`/auth/keys/${encodeURIComponent(id)}`, { method: 'DELETE', token });
    if (answer.status !== 200 && answer.status !== 404) throw new HubError('forbidden', refusalText(answer));
    say('Its access key is deleted.');
  } catch (error) {
    const why = error instanceof HubError ? error.message : 'the hub did not answer.';
    say(`toolhub: its access key could not be deleted: ${why} Delete it on the page "Access keys".`);
  }
}

async function openingOf(hub: HubConnection, token: string | undefined, name: string | undefined) {
  if (name === undefined) return { accessType: 'all' };
  const server = await hub.api(`/servers/${encodeURIComponent(name)}`, { token });
  return server.status === 200
    ? { accessType: 'servers', allowedServers: [name] }
    : { accessType: 'groups', allowedGroups: [name] };
}
