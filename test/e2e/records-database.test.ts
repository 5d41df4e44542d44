import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import { authLimits } from '../../src/auth/limits.ts';
import { coreLimits } from '../../src/core/limits.ts';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { databaseLimits } from '../../src/database/limits.ts';
import type { Health } from '../../src/http/open/health.ts';
import { api, cookieLogin, cookiesOf, login, passwordOf, userToken } from '../kit/api.ts';
import { databaseWaitMs } from '../kit/databases.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { sharedPostgres } from '../kit/shared-postgres.ts';
import { raw, rpc } from '../kit/raw.ts';
import { hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// What is kept in a database, while that is killed under the hub, and between hubs that share one.

type Reach = Pick<TestHub, 'url' | 'mcp'>;

const secret = { JWT_SECRET: 'one secret that both hubs sign their access tokens with' };

async function postgres() {
  const server = await sharedPostgres();
  return { ...server, url: await server.createDatabase() };
}

const health = async (hub: Reach) =>
  JSON.parse((await raw(new URL('/health', hub.url).href, { method: 'GET' })).text) as Health;

/** Waits until the database is there and has everything. */
const written = (hub: Reach) =>
  until(
    'everything is written',
    async () => {
      const { database, logs, activity } = await health(hub);
      return database.state === 'ready' && logs.waiting + activity.waiting === 0;
    },
    databaseWaitMs,
  );

/** One call that must succeed. */
async function call(hub: Reach): Promise<void> {
  const { status, result } = await rpc(hub.mcp(), 'tools/call', { name: 'alpha-echo', arguments: {} });
  expect([status, result?.isError ?? false]).toEqual([200, false]);
}

async function activities(hub: Reach, token: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { body, text } = await api(hub, 'GET', `/activities?limit=100&page=${page}`, { token });
    const data = body.data as Activity[] | undefined;
    expect(data, text).toBeDefined();
    if (data === undefined || data.length === 0) return ids;
    ids.push(...data.map(({ id }) => id));
  }
}

async function logs(hub: Reach, token: string): Promise<LogEntry[]> {
  const { body } = await api(hub, 'GET', '/logs?limit=10000', { token });
  return body.data as LogEntry[];
}

describe('PostgreSQL killed under calls', () => {
  test('calls go on, what was recorded comes in afterwards, and nothing that was shown is lost', async () => {
    setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
    const server = await postgres();
    const hub = await testHub({
      mcpServers: { alpha: (await hostileHttp({ name: 'alpha', tools: ['echo'] })).config },
      env: { DB_URL: server.url, LOG_LEVEL: 'info' },
    });
    await hub.connected(1);
    await written(hub);
    const [admin, ending] = [await login(hub), await login(hub)];
    for (let n = 0; n < 20; n++) await call(hub);
    const shown = { activities: await activities(hub, admin), logs: await logs(hub, admin) };
    expect(shown.activities).toHaveLength(20);

    await server.kill();
    for (let n = 0; n < 40; n++) await call(hub);
    await until('the loss is noticed', async () => (await health(hub)).database.state === 'down');
    for (let n = 0; n < 10; n++) await call(hub);
    const during = await health(hub);
    expect(during).toMatchObject({ status: 'degraded', database: { state: 'down' }, activity: { dropped: 0 } });
    expect(during.activity.waiting).toBeGreaterThanOrEqual(10);
    expect(JSON.stringify(during)).not.toMatch(/127\.0\.0\.1|postgres:/);
    // Memory answers.
    expect(await activities(hub, admin)).toHaveLength(70);
    const refused = await Promise.all([
      api(hub, 'DELETE', '/logs', { token: admin }),
      api(hub, 'DELETE', '/activities/cleanup?daysOld=0', { token: admin }),
      api(hub, 'POST', '/groups', { token: admin, body: { name: 'lost' } }),
      api(hub, 'POST', '/auth/logout', { token: ending }),
    ]);
    for (const { status, headers, text, body } of refused) {
      expect([status, body.success], text).toEqual([503, false]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(text).not.toMatch(/ECONN|127\.0\.0\.1|postgres:/);
    }
    expect((await api(hub, 'GET', '/groups/lost', { token: admin })).status).toBe(404);

    await server.start();
    await written(hub);
    const all = await activities(hub, admin);
    expect(all).toHaveLength(70);
    expect(new Set(all).size).toBe(70);
    expect(all).toEqual(expect.arrayContaining(shown.activities));
    expect(await logs(hub, admin)).toEqual(expect.arrayContaining(shown.logs));
    const after = await health(hub);
    expect([after.status, after.logs.dropped, after.activity.dropped]).toEqual(['healthy', 0, 0]);

    // And it is really the database that has them.
    await hub.close();
    const next = await testHub({ folder: hub.folder, env: { DB_URL: server.url } });
    await written(next);
    expect((await activities(next, await login(next))).sort()).toEqual(all.sort());
  });
});

describe('the embedded database in a hub that is killed', () => {
  test('serves calls before it is open, and has everything that was shown when the hub is started again', async () => {
    const options = {
      mcpServers: { alpha: (await hostileHttp({ name: 'alpha', tools: ['echo'] })).config },
      folder: temporaryFolder(),
      env: { DB_URL: '' },
    };
    await copyOfEmbedded(join(options.folder, 'data'));
    const hub = await hubProcess(options);
    await hub.connected(1);
    await call(hub);
    await written(hub);
    const admin = await login(hub);
    for (let n = 0; n < 30; n++) await call(hub);
    const shown = { activities: await activities(hub, admin), logs: await logs(hub, admin) };
    expect(shown.activities).toHaveLength(31);
    expect(shown.logs.map(({ message }) => message).join()).toContain('login');
    // Calls are under way when it dies.
    const underWay = Promise.allSettled(Array.from({ length: 20 }, () => call(hub)));
    await hub.stop('SIGKILL');
    await underWay;

    const again = await hubProcess({ folder: options.folder, env: options.env });
    await again.connected(1);
    await call(again);
    await written(again);
    // The token holds: the secret is in the data folder.
    expect(await activities(again, admin)).toEqual(expect.arrayContaining(shown.activities));
    expect(await logs(again, admin)).toEqual(expect.arrayContaining(shown.logs));
  });
});

describe('two hubs on one PostgreSQL', () => {
  async function two() {
    // Only notifications tell of changes in time, no look at the database.
    setLimits(coreLimits, { settingsVersionMs: 600_000 });
    setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
    const server = await postgres();
    const env = { DB_URL: server.url, ...secret };
    const a = await testHub({ mcpServers: {}, env });
    const b = await testHub({ env });
    await written(a);
    await written(b);
    return { server, env, a, b, admin: await login(a) };
  }
  const who = async (hub: Reach, token: string) => (await api(hub, 'GET', '/auth/user', { token })).status;

  test('are told of each other’s settings', async () => {
    const { a, b, admin } = await two();
    expect((await api(a, 'POST', '/groups', { token: admin, body: { name: 'shared' } })).status).toBe(201);
    await until(
      'the group is there',
      async () => (await api(b, 'GET', '/groups/shared', { token: admin })).status === 200,
    );
    expect((await api(b, 'DELETE', '/groups/shared', { token: admin })).status).toBe(200);
    await until(
      'the group is gone',
      async () => (await api(a, 'GET', '/groups/shared', { token: admin })).status === 404,
    );
    const made = await Promise.all(
      [a, b].flatMap((hub, i) =>
        [0, 1, 2].map((n) => api(hub, 'POST', '/groups', { token: admin, body: { name: `g${i}${n}` } })),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(Array(6).fill(201));
    for (const hub of [a, b]) {
      await until(
        'all are there',
        async () => ((await api(hub, 'GET', '/groups', { token: admin })).body.data as unknown[]).length === 6,
      );
    }
  });

  test('clear the log of both, and tell those who watch it at either', async () => {
    const { a, b, admin } = await two();
    const stream = await fetch(`${b.url}/api/logs/stream`, { headers: { authorization: `Bearer ${admin}` } });
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const heardOf = async (what: string): Promise<void> => {
      while (!heard.includes(what)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The stream ended without ${what}: ${heard}`);
        heard += value;
      }
    };
    await within('the history comes', heardOf('"initial"'));
    expect((await api(a, 'DELETE', '/logs', { token: admin })).status).toBe(200);
    await within('the stream at the other hub is told', heardOf('{"type":"clear"}'));
    await reader.cancel();
  });

  test('are told of each other’s ended tokens', async () => {
    const { a, b, admin } = await two();
    const ann = await userToken(a, admin, 'ann');
    await until('ann is known', async () => (await who(b, ann)) === 200);
    expect((await api(a, 'POST', '/auth/logout', { token: ann })).status).toBe(200);
    await until('the token has ended', async () => (await who(b, ann)) === 401);

    const second = await login(b, 'ann', passwordOf('ann'));
    const third = await login(a, 'ann', passwordOf('ann'));
    expect(await who(a, second)).toBe(200);
    const body = { currentPassword: passwordOf('ann'), newPassword: 'another one' };
    const changed = await api(b, 'POST', '/auth/change-password', { token: second, body });
    expect(changed.status, changed.text).toBe(200);
    for (const token of [second, third]) {
      await until('the old tokens have ended', async () => (await who(a, token)) === 401);
      expect(await who(b, token)).toBe(401);
    }
    for (const hub of [a, b]) expect(await who(hub, changed.body['token'] as string)).toBe(200);
  });

  test('know each other’s logins in browsers, and are told of their ends', async () => {
    const { a, b, admin } = await two();
    await userToken(a, admin, 'ann');
    await until('ann is known', async () => (await api(b, 'GET', '/users/ann', { token: admin })).status === 200);
    const enter = () => cookieLogin(a, 'ann', passwordOf('ann'));
    const known = async (hub: Reach, { headers }: { headers: Record<string, string> }) =>
      (await api(hub, 'GET', '/auth/user', { headers })).status;
    const [first, second] = [await enter(), await enter()];
    expect([await known(b, first), await known(b, second)]).toEqual([200, 200]);
    const given = { headers: first.headers, body: { password: passwordOf('ann') } };
    const renewed = cookiesOf(await api(b, 'POST', '/auth/reauthenticate', given));
    expect(await known(a, renewed)).toBe(200);
    expect((await api(b, 'POST', '/auth/logout', { headers: renewed.headers })).status).toBe(200);
    await until('the session has ended', async () => (await known(a, renewed)) === 401);
    expect([await known(a, first), await known(a, second)]).toEqual([401, 200]);
    setLimits(authLimits, { sessionsPerUser: 1 });
    const third = await enter();
    expect([await known(a, second), await known(a, third)]).toEqual([401, 200]);
    await until('the oldest has ended here too', async () => (await known(b, second)) === 401);
  });

  test('end running calls of a user whom the other one deletes, at the server too', async () => {
    const { a, b, admin } = await two();
    const server = await hostileHttp({ tools: ['hang'] });
    const added = await api(a, 'POST', '/servers', { token: admin, body: { name: 's', config: server.config } });
    expect(added.status, added.text).toBe(201);
    const ann = await userToken(a, admin, 'ann', { servers: ['s'] });
    await until('ann is known', async () => (await who(b, ann)) === 200);
    await b.connected(1);
    const headers = { authorization: `Bearer ${ann}` };
    const answer = rpc(b.mcp('s'), 'tools/call', { name: 'hang' }, { headers });
    await until('the server has the call', () => server.received('tools/call').length === 1);
    expect((await api(a, 'DELETE', '/users/ann', { token: admin })).status).toBe(200);
    expect((await answer).error).toBeDefined();
    await until('the server is told', () => server.received('notifications/cancelled').length === 1);
  });

  test('learn of tokens that ended while the database was away when it is back', async () => {
    const { server, a, b, admin } = await two();
    const ann = await userToken(a, admin, 'ann');
    await until('ann is known', async () => (await who(b, ann)) === 200);
    await server.kill();
    for (const hub of [a, b])
      await until('the loss is noticed', async () => (await health(hub)).database.state === 'down');
    const answer = await api(a, 'POST', '/auth/logout', { token: ann });
    expect([answer.status, answer.body.success]).toEqual([503, false]);
    expect(await who(a, ann)).toBe(401);
    expect(await who(b, ann)).toBe(200);
    await server.start();
    await until('the other one knows', async () => (await who(b, ann)) === 401, databaseWaitMs);
  });

  test('a hub that starts while the database is away still refuses what had ended, also at the other hub', async () => {
    const { server, env, a, b, admin } = await two();
    const ann = await userToken(a, admin, 'ann');
    const bob = await userToken(a, admin, 'bob');
    await until('both are known', async () => (await who(b, ann)) + (await who(b, bob)) === 400);
    expect((await api(b, 'POST', '/auth/logout', { token: ann })).status).toBe(200);
    await until('the token has ended', async () => (await who(a, ann)) === 401);
    await server.kill();
    await until('the loss is noticed', async () => (await health(a)).database.state === 'down');
    expect((await api(a, 'POST', '/auth/logout', { token: bob })).status).toBe(503);
    await a.close();
    const again = await testHub({ folder: a.folder, env });
    expect([await who(again, ann), await who(again, bob), await who(again, admin)]).toEqual([401, 401, 200]);
    await server.start();
    await until('the other one knows', async () => (await who(b, bob)) === 401, databaseWaitMs);
  });
});
