import fc from 'fast-check';
import { expect, test } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { catalogue, settings } from '../../test/kit/snapshots.ts';
import { HubError } from '../core/errors.ts';
import { anonymous, type Principal } from '../core/access/principal.ts';
import { type View, view as viewOf, type Views } from '../core/access/view.ts';
import { createSubscriptions } from './subscriptions.ts';

/** A server that counts, as `Watches` would: what is taken back more often than it was agreed to is a mistake. */
function countingServer() {
  const counts = new Map<string, number>();
  return {
    counts,
    refuses: false,
    async watch(uri: string) {
      await Promise.resolve();
      if (this.refuses) throw new HubError('invalid_input', 'refused');
      counts.set(uri, (counts.get(uri) ?? 0) + 1);
    },
    unwatch(uri: string) {
      const left = (counts.get(uri) ?? 0) - 1;
      if (left < 0) throw new Error(`${uri} is taken back once too often`);
      counts.set(uri, left);
    },
  };
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

type Step = ['add' | 'end' | 'move' | 'hide' | 'restart' | 'refuse', number];

/** What is seen where each resource leads where it is said; nothing else of a view is asked for. */
const viewWith = (resource: View['resource']): View => ({
  ...viewOf(settings({}), catalogue(), anonymous, { kind: 'all' }),
  resource,
});

/** Every resource is one of the server `s`. */
const view = viewWith((uri) => ({ server: 's', key: uri }));

test('whatever comes and goes in whatever order, a server is asked for exactly what is wanted of it', async () => {
  const kinds = fc.constantFrom<Step[0]>('add', 'end', 'move', 'hide', 'restart', 'refuse');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(kinds, fc.nat(3)), { maxLength: 40 }), fc.boolean(), async (steps, hurried) => {
      const servers = { a: countingServer(), b: countingServer() };
      const retired: ReturnType<typeof countingServer>[] = [];
      const at: ('a' | 'b' | undefined)[] = ['a', 'a', 'b', 'b'];
      const view = viewWith((uri) => {
        const server = at[Number(uri)];
        return server && { server, key: uri };
      });
      const views: Views = { get: () => view };
      const subscriptions = createSubscriptions({
        views,
        connection: (server) => ({ on: servers[server as 'a' | 'b'], owner: undefined }),
        log: logLines(),
      });
      const ends: (() => void)[] = [];
      const wanted: { uri: string; told: string[] }[] = [];
      for (const [kind, n] of steps) {
        const uri = String(n);
        if (kind === 'add') {
          const one = { uri, told: [] as string[] };
          const adding = subscriptions
            .add(
              { principal: anonymous, scope: { kind: 'all' }, session: '', tell: (text) => one.told.push(text) },
              uri,
            )
            .then(
              (end) => {
                wanted.push(one);
                ends.push(() => {
                  end();
                  wanted.splice(wanted.indexOf(one), 1);
                });
              },
              () => undefined,
            );
          if (!hurried) await adding;
        } else if (kind === 'end') {
          ends.splice(n, 1)[0]?.();
        } else if (kind === 'move') {
          at[n] = at[n] === 'a' ? 'b' : 'a';
          subscriptions.reconcile();
        } else if (kind === 'hide') {
          at[n] = undefined;
          subscriptions.reconcile();
        } else if (kind === 'restart') {
          retired.push(servers.a);
          servers.a = countingServer();
          subscriptions.reconcile();
        } else {
          servers.b.refuses = !servers.b.refuses;
        }
      }
      await settled();
      for (const name of ['a', 'b'] as const) {
        for (const uri of ['0', '1', '2', '3']) {
          const here = at[Number(uri)] === name ? wanted.filter((one) => one.uri === uri).length : 0;
          const asked = servers[name].counts.get(uri) ?? 0;
          // What a server refused it is not asked for.
          if (name === 'a') expect(asked, `${uri} at ${name}`).toBe(here);
          else expect(asked, `${uri} at ${name}`).toBeLessThanOrEqual(here);
        }
      }
      for (const server of retired) expect([...server.counts.values()].every((count) => count === 0)).toBe(true);
      for (const end of ends.splice(0)) end();
      await settled();
      expect([...servers.a.counts.values(), ...servers.b.counts.values()].every((count) => count === 0)).toBe(true);
      expect(subscriptions.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('news of a connection of one’s own are for its owner alone', async () => {
  const users: Principal[] = [
    { kind: 'user', username: 'ann' },
    { kind: 'user', username: 'bob' },
  ];
  const subscriptions = createSubscriptions({
    views: { get: () => view },
    connection: (_, { principal, session }) => ({ on: countingServer(), owner: { principal, session } }),
    log: logLines(),
  });
  const told: string[] = [];
  const connectionOwners = users.flatMap((principal) => ['mcp 1', 'mcp 2'].map((session) => ({ principal, session })));
  for (const [i, connectionOwner] of connectionOwners.entries()) {
    await subscriptions.add(
      { ...connectionOwner, scope: { kind: 'all' }, tell: (text) => told.push(`${i}: ${text}`) },
      'x://1',
    );
  }
  subscriptions.updated('s', connectionOwners[1], 'x://1', 'news');
  subscriptions.updated('s', undefined, 'x://1', 'of the connection for all');
  subscriptions.updated('t', connectionOwners[2], 'x://1', 'of another server');
  expect(told).toEqual(['1: news']);
});

test('news of a user’s connection are for all that this user comes in by, and for no other user', async () => {
  const connectionOwner = (username: string) => ({ principal: { kind: 'user', username } as const, session: '' });
  const subscriptions = createSubscriptions({
    views: { get: () => view },
    connection: (_, { session }) => ({
      on: countingServer(),
      owner: connectionOwner(session.includes('ann') ? 'ann' : 'bob'),
    }),
    log: logLines(),
  });
  const told: string[] = [];
  const scope = { kind: 'all' } as const;
  for (const session of ['mcp ann', 'key of ann', 'mcp bob']) {
    const principal: Principal = session.startsWith('key') ? { kind: 'key', id: session } : anonymous;
    const tell = (text: string): void => void told.push(`${session}: ${text}`);
    await subscriptions.add({ principal, session, scope, tell }, 'x://1');
  }
  subscriptions.updated('s', connectionOwner('ann'), 'x://1', 'news');
  subscriptions.updated('s', undefined, 'x://1', 'of the connection for all');
  expect(told).toEqual(['mcp ann: news', 'key of ann: news']);
});

test('who is refused at a connection by now hears nothing more from it; who finds no room for a new one stays', async () => {
  const on = countingServer();
  const refusals: HubError[] = [];
  const subscriptions = createSubscriptions({
    views: { get: () => view },
    connection() {
      const [refusal] = refusals;
      if (refusal) throw refusal;
      return { on, owner: undefined };
    },
    log: logLines(),
  });
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  await subscriptions.add({ principal: anonymous, scope: { kind: 'all' }, session: '', tell }, 'x://1');
  for (const code of ['too_many', 'oauth_required', undefined] as const) {
    refusals.splice(0, 1, ...(code ? [new HubError(code, 'refused')] : []));
    subscriptions.reconcile();
    subscriptions.updated('s', undefined, 'x://1', code ?? 'allowed again');
    await settled();
    expect(on.counts.get('x://1')).toBe(code === 'oauth_required' ? 0 : 1);
  }
  expect(told).toEqual(['too_many', 'allowed again']);
});

test('what may not be seen is not told of, not even between a change and its consequences, nor as a part of what may', async () => {
  const hidden = new Set(['x://dir/secret']);
  const views: Views = {
    get: ({ kind }) =>
      viewWith((uri) => (kind === 'anonymous' && hidden.has(uri) ? undefined : { server: 's', key: uri })),
  };
  const on = countingServer();
  const subscriptions = createSubscriptions({ views, connection: () => ({ on, owner: undefined }), log: logLines() });
  const told: string[] = [];
  for (const principal of [anonymous, { kind: 'user', username: 'ann' } as const]) {
    const tell = (text: string): void => void told.push(`${principal.kind}: ${text}`);
    await subscriptions.add({ principal, scope: { kind: 'all' }, session: '', tell }, 'x://dir');
  }
  for (const part of ['', '/secret', '/open', '?query', 'ectory', '2']) {
    subscriptions.updated('s', undefined, `x://dir${part}`, part);
  }
  expect(told.splice(0)).toEqual([
    'anonymous: ',
    'user: ',
    'user: /secret',
    'anonymous: /open',
    'user: /open',
    'anonymous: ?query',
    'user: ?query',
  ]);
  hidden.add('x://dir');
  subscriptions.updated('s', undefined, 'x://dir', 'hidden since');
  expect(told).toEqual(['user: hidden since']);
});

test('what a policy forbids to read is not told of either, from the moment on in which it does', async () => {
  const forbidden = new Set(['x://dir/secret']);
  const subscriptions = createSubscriptions({
    views: { get: () => view },
    mayHear: (_, { key }) => !forbidden.has(key),
    connection: () => ({ on: countingServer(), owner: undefined }),
    log: logLines(),
  });
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  await subscriptions.add({ principal: anonymous, scope: { kind: 'all' }, session: '', tell }, 'x://dir');
  for (const part of ['', '/secret', '/open']) subscriptions.updated('s', undefined, `x://dir${part}`, part);
  expect(told).toEqual(['', '/open']);
  forbidden.add('x://dir');
  for (const part of ['', '/open']) subscriptions.updated('s', undefined, `x://dir${part}`, part);
  expect(told).toEqual(['', '/open']);
});
