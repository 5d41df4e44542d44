import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { databaseWaitMs } from '../kit/databases.ts';
import { freePort } from '../kit/processes.ts';
import { raw } from '../kit/raw.ts';
import { sharedPostgres } from '../kit/shared-postgres.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A hub whose data folder is empty, and whose settings are in a PostgreSQL that is not there when the hub starts.

/** A hub that is being started on this database; what its failing start throws is for `starting`. */
async function freshHub(databaseUrl: string, env: Record<string, string> = {}) {
  const port = await freePort();
  const starting = testHub({ mcpServers: {}, env: { DB_URL: databaseUrl, PORT: String(port), ...env } });
  starting.catch(() => {});
  return { starting, url: `http://127.0.0.1:${port}` };
}

const get = (url: string) => raw(url, { method: 'GET' });

/** Waits until the hub listens, which a hub that has not begun to does not. */
const listens = (url: string) => until('it listens', () => get(`${url}/health`));

test.each(['', '/hub'])(
  'it listens and says why it cannot serve, and serves when the database is there (base path "%s")',
  async (base) => {
    const server = await sharedPostgres();
    const databaseUrl = await server.createDatabase();
    await server.kill();

    const { starting, url } = await freshHub(databaseUrl, { BASE_PATH: base });
    const health = await listens(url);
    expect([health.status, JSON.parse(health.text)]).toEqual([
      503,
      {
        status: 'unhealthy',
        message: expect.stringContaining('DB_URL') as string,
        version: expect.any(String) as string,
        uptime: expect.any(Number) as number,
        timestamp: expect.any(String) as string,
        servers: { total: 0, connected: 0, disconnected: 0 },
        database: { state: 'down' },
      },
    ]);
    const probe = async (path: string) => {
      const { status, message } = await get(`${url}/health/${path}`);
      return [status, (message as { status?: string }).status];
    };
    expect(await probe('live')).toEqual([200, 'alive']);
    expect(await probe('ready')).toEqual([503, 'starting']);
    for (const path of ['/mcp', '/mcp/dev', '/sse', '/ann/mcp']) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
      const { status, headers, error } = await raw(`${url}${base}${path}`, { body });
      expect([status, headers['retry-after'], error?.code, error?.message], path).toEqual([
        503,
        '10',
        -32000,
        expect.stringContaining('DB_URL'),
      ]);
    }
    for (const [path, failure] of [
      ['/api/servers', { success: false }],
      ['/api/tools/memory/read_graph', { error: 'not_ready' }],
      ['/', { success: false }],
    ] as const) {
      const { status, headers, text } = await get(`${url}${base}${path}`);
      expect([status, headers['retry-after'], JSON.parse(text)], path).toEqual([
        503,
        '10',
        { ...failure, message: expect.stringContaining('DB_URL') as string },
      ]);
    }

    for (const path of ['token', 'register', 'revoke']) {
      const { status, headers, text } = await raw(`${url}/oauth/${path}`, { body: 'grant_type=refresh_token' });
      expect([status, headers['retry-after'], JSON.parse(text)], path).toEqual([
        503,
        '10',
        { error: 'temporarily_unavailable', error_description: expect.stringContaining('DB_URL') as string },
      ]);
    }

    await server.start();
    const hub = await starting;
    expect(hub.url).toBe(`${url}${base}`);
    await until('it is healthy', async () => (await hub.health()).status === 'healthy', databaseWaitMs);
    expect((await api(hub, 'GET', '/servers', { token: await login(hub) })).status).toBe(200);
    expect(await probe('ready')).toEqual([200, 'ready']);
    await server.kill();
    await until('others are to serve', async () => (await probe('ready'))[1] === 'waiting', databaseWaitMs);
    expect(await probe('live')).toEqual([200, 'alive']);
    await server.start();
    await until('it is ready again', async () => (await probe('ready'))[0] === 200, databaseWaitMs);
  },
);

test('it listens as well when the server takes connections and says nothing', async () => {
  const mute = createServer(() => {}).listen(0, '127.0.0.1');
  atEnd(() => void mute.close());
  await once(mute, 'listening');
  const { url } = await freshHub(`postgres://test@127.0.0.1:${(mute.address() as AddressInfo).port}/x`);
  const { status, text } = await listens(url);
  expect([status, JSON.parse(text)]).toMatchObject([503, { database: { state: 'opening' } }]);
});

test('a port that is taken ends the start all the same', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  atEnd(() => void taken.close());
  await once(taken, 'listening');
  const { starting } = await freshHub('postgres://test@127.0.0.1:9/x', {
    PORT: String((taken.address() as AddressInfo).port),
  });
  await expect(starting).rejects.toMatchObject({ code: 'conflict' });
});

describe('an address that can never work ends the start, and the reason says what to change', () => {
  test.each([
    ['an unknown user', (url: URL) => (url.username = 'ann'), /role "ann" does not exist\. Correct the user in DB_URL/],
    [
      'an unknown database',
      (url: URL) => (url.pathname = '/none'),
      /database "none" does not exist\. Create that database, or correct its name in DB_URL/,
    ],
  ])('%s', async (_, change, message) => {
    const server = await sharedPostgres();
    const url = new URL(await server.createDatabase());
    change(url);
    const { starting } = await freshHub(url.href);
    await expect(starting).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(message) as string,
    });
  });
});
