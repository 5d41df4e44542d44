import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { logLines } from '../../../test/kit/channel-log.ts';
import { hostileStdio, type Hostile } from '../../../test/kit/hostile.ts';
import { several } from '../../../test/kit/several.ts';
import { key } from '../../../test/kit/snapshots.ts';
import { until } from '../../../test/kit/until.ts';
import { HubError } from '../../core/errors.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { Connection } from './connection.ts';
import { shortMemory } from './eras/era.ts';
import { createDedicatedConnections, type DedicatedConnectionsOptions } from './dedicated-connections.ts';
import { promised } from './exchange.ts';
import { openReaper } from '../channels/stdio/reaper.ts';
import { createStartSemaphore } from './start-semaphore.ts';
import { openProgram } from '../channels/stdio/program.ts';

// Bounds and ends of the connections that sessions hold; who shares one with whom is looked at from outside
// (test/e2e/api-tools.test.ts).

const alice: Principal = { kind: 'user', username: 'alice' };
const bob: Principal = { kind: 'user', username: 'bob' };
const anonymous: Principal = { kind: 'anonymous' };

function setUp(
  bounds: Partial<NonNullable<DedicatedConnectionsOptions['bounds']>> = {},
  script = several(hostileStdio({ name: 'own' })),
) {
  const server = serverOf(script);
  const state = {
    settings: {
      servers: new Map([['own', server]]),
      users: [{ username: 'alice' }, { username: 'bob' }],
      keys: [],
    } as unknown as Settings,
    shared: undefined as Connection | undefined,
  };
  const reaper = openReaper();
  atEnd(() => reaper.close());
  const log = logLines();
  const options = {
    open: ((server, events) => {
      if (server.transport.type !== 'stdio') throw new Error('stdio only');
      const inheritedEnv = { PATH: '/usr/bin:/bin' };
      const { name, maxMessageBytes } = server;
      return openProgram(
        { ...server.transport, name, maxMessageBytes, log, inheritedEnv, owner: 'o:1:1', reaper },
        events,
      );
    }) satisfies DedicatedConnectionsOptions['open'],
    version: '1',
    connectTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    eras: shortMemory(),
    log: () => log,
  };
  const shared = () => {
    const connection = new Connection({
      ...options,
      server,
      slots: createStartSemaphore(8),
      log,
      changed: () => undefined,
    });
    connection.start();
    atEnd(() => connection.stop());
    return connection;
  };
  state.shared = shared();
  const dedicated = createDedicatedConnections({
    ...options,
    startsAtOnce: 8,
    settings: () => state.settings,
    shared: () => state.shared,
    withoutCredentials: (_, value) => value,
    bounds: { total: 10, perPrincipal: 5, idleMs: 60_000, sweepMs: 5, ...bounds },
  });
  atEnd(async () => {
    await dedicated.close();
    await reaper.close();
  });
  const own = (principal: Principal, session: string) => {
    const connection = dedicated.connection('own', { principal, session });
    if (!connection) throw new Error('no connection');
    return connection;
  };
  return { dedicated, own, state, server, script, restart: () => (state.shared = shared()) };
}

function serverOf({ config }: Hostile): ServerSettings {
  const { command, args } = config as { command: string; args: string[] };
  return {
    name: 'own',
    enabled: true,
    description: undefined,
    owner: 'admin',
    visibility: undefined,
    sharedWithUsers: [],
    transport: { type: 'stdio', command, args, env: {}, cwd: undefined },
    tools: new Map(),
    prompts: new Map(),
    resources: new Map(),
    timeoutMs: undefined,
    resetTimeoutOnProgress: false,
    maxTotalTimeoutMs: undefined,
    keepAlive: undefined,
    keepAliveMs: 60_000,
    maxMessageBytes: 1_000_000,
    perSessionClient: true,
  };
}

async function call(connection: Connection, tool: string): Promise<string> {
  await connection.available(10_000);
  const { message } = await promised((exchange) =>
    connection.send(connection.takeId(), 'tools/call', `{"name":"${tool}","arguments":{}}`, exchange),
  );
  return (message.result as { content: { text: string }[] }).content[0]?.text ?? '';
}

test('a connection of its own lists nothing: the shared one knows what there is', async () => {
  const { own, script, state } = setUp();
  await state.shared?.available(10_000);
  const pid = await call(own(alice, 's'), 'pid');
  const asked = script.journal().filter((entry) => String(entry.pid) === pid && entry.event === 'message');
  expect(asked.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
});

test('what is not used for a while ends, process and all; what is in use does not', async () => {
  const { dedicated, own } = setUp({ idleMs: 300 });
  const [idle, busy] = [own(alice, 'idle'), own(alice, 'busy')];
  await Promise.all([call(idle, 'pid'), call(busy, 'pid')]);
  const hanging = call(busy, 'hang').catch((error: unknown) => error);
  await until('the idle one is gone', () => dedicated.size === 1 && idle.status.kind === 'stopped');
  expect(own(alice, 'busy')).toBe(busy);
  expect(busy.status.kind).toBe('connected');
  await dedicated.close();
  expect(await hanging).toBeInstanceOf(HubError);
});

test('past the bound of a principal its own session longest unused makes room, and no session of another', async () => {
  const { dedicated, own } = setUp({ perPrincipal: 2 });
  const other = own(bob, 'x');
  const [first, second] = [own(alice, '1'), own(alice, '2')];
  await Promise.all([other, first, second].map((connection) => call(connection, 'pid')));
  expect(own(alice, '1')).toBe(first);
  own(alice, '3');
  expect([second, first, other].map(({ status }) => status.kind)).toEqual(['stopped', 'connected', 'connected']);
  expect(dedicated.size).toBe(3);
});

test('when all are busy there is no room, which is said with a time to come back', async () => {
  const { own } = setUp({ total: 1 });
  const connection = own(alice, '1');
  await call(connection, 'pid');
  void call(connection, 'hang').catch(() => undefined);
  await until('the call is on its way', () => connection.inFlight === 1);
  expect(() => own(bob, '1')).toThrow(expect.objectContaining({ code: 'too_many', retryAfterMs: 5_000 }) as Error);
  expect(own(alice, '1')).toBe(connection);
});

test('sessions end with their server’s settings, their user, and when the client says so', async () => {
  const { dedicated, own, state, server, restart } = setUp();
  const [a, b, c] = [own(alice, 'a'), own(bob, 'b'), own(anonymous, 'c')];
  dedicated.reconcile();
  expect(dedicated.size).toBe(3);
  dedicated.endSession('c');
  expect(c.status.kind).toBe('stopped');
  state.settings = { ...state.settings, users: state.settings.users.filter(({ username }) => username !== 'bob') };
  dedicated.reconcile();
  expect([a, b].map(({ status }) => status.kind === 'stopped')).toEqual([false, true]);
  restart();
  expect(own(alice, 'a'), 'the server was restarted').not.toBe(a);
  expect(a.status.kind).toBe('stopped');
  state.settings = { ...state.settings, servers: new Map([['own', { ...server, perSessionClient: false }]]) };
  expect(own(alice, 'a')).toBe(state.shared);
  dedicated.reconcile();
  expect(dedicated.size).toBe(0);
  state.shared = undefined;
  expect(dedicated.connection('own', { principal: alice, session: 'a' })).toBeUndefined();
});

test('the session of a user’s key ends with its owner, that of a key without an owner does not', async () => {
  const { dedicated, own, state } = setUp();
  const keys = [key('alices', { kind: 'user', owner: 'alice' }), key('nobodys')];
  state.settings = { ...state.settings, keys };
  const [alices, nobodys] = keys.map(({ id }) => own({ kind: 'key', id }, id));
  dedicated.reconcile();
  expect(dedicated.size).toBe(2);
  state.settings = { ...state.settings, users: [] };
  dedicated.reconcile();
  expect([alices, nobodys].map((connection) => connection?.status.kind === 'stopped')).toEqual([true, false]);
});

test('a server that dies fails the calls of that session only, and is there again for the next one', async () => {
  const { own } = setUp();
  const [mine, yours] = [own(alice, 'mine'), own(alice, 'yours')];
  const pids = await Promise.all([call(mine, 'pid'), call(yours, 'pid')]);
  expect(new Set(pids).size).toBe(2);
  await expect(call(mine, 'die')).rejects.toThrow(HubError);
  expect(await call(yours, 'pid')).toBe(pids[1]);
  own(alice, 'mine').retryNow();
  expect(await call(own(alice, 'mine'), 'pid')).not.toBe(pids[0]);
});
