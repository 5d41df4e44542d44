import { Hono } from 'hono';
import { describe, expect, test, vi } from 'vitest';
import { HubError } from '../core/errors.ts';
import type { ServerState, ServerStatus } from '../core/hub.ts';
import type { LogFields, Logger } from '../core/logger.ts';
import { type AppOptions, createApp } from './app.ts';
import type { ApiEnv } from './frame/caller.ts';
import { ok } from './frame/reply.ts';
import { assessHealth, type HealthFacts, watchHealth } from './open/health.ts';

const server = (status: ServerStatus, name = 'private-server'): ServerState => ({
  name,
  status,
  tools: 3,
  prompts: 0,
  resources: 0,
});

const none = { waiting: 0, dropped: 0, failing: false };
const builtin = { provider: 'builtin', state: 'ready', vectors: 'builtin' } as const;

function open(options: Partial<AppOptions> & Partial<HealthFacts> = {}) {
  const { servers = [], database = { state: 'off' }, logs = none, activity = none, audit = none, ...others } = options;
  const { smartRouting = builtin, hubs, diskFull = false, ...rest } = others;
  const logged: { message: string; fields: LogFields | undefined }[] = [];
  const write = (message: string, fields?: LogFields) => void logged.push({ message, fields });
  const log: Logger = { debug: write, info: write, warn: write, error: write };
  const records = { database, smartRouting, logs, activity, audit, hubs, diskFull };
  const health = () => assessHealth({ servers, ...records, version: '1.2.3', uptimeMs: 61_500, now: 62_500 });
  return {
    app: createApp({
      basePath: '',
      health,
      dashboard: undefined,
      api: new Hono(),
      log,
      ...rest,
    }),
    logged,
  };
}

describe('GET /health', () => {
  test('is healthy when every enabled server is connected', async () => {
    const { app } = open({ servers: [server('connected'), server('connected'), server('disabled')] });
    const response = await app.request('/health');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'healthy',
      message: 'All enabled MCP servers are ready',
      version: '1.2.3',
      uptime: 61,
      timestamp: '1970-01-01T00:01:02.500Z',
      servers: { total: 2, connected: 2, disconnected: 0 },
      database: { state: 'off' },
      smartRouting: builtin,
      logs: { waiting: 0, dropped: 0 },
      activity: { waiting: 0, dropped: 0 },
      audit: { waiting: 0, dropped: 0 },
    });
  });

  test('is degraded, and still 200, while the database is down, and does not say where that is', async () => {
    const database = { state: 'down', error: 'connect ECONNREFUSED db.internal:5432' } as const;
    const { app } = open({
      servers: [server('connected')],
      database,
      logs: { waiting: 7, dropped: 2, failing: false },
    });
    const response = await app.request('/health');
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      status: 'degraded',
      message: 'The database is not available; the hub serves without it',
      database: { state: 'down' },
      logs: { waiting: 7, dropped: 2 },
    });
    expect(text).not.toContain('db.internal');
  });

  test('is degraded while the database is there and takes no records', async () => {
    const { app } = open({ activity: { waiting: 5, dropped: 0, failing: true } });
    const response = await app.request('/health');
    expect([response.status, await response.json()]).toMatchObject([
      200,
      {
        status: 'degraded',
        message: expect.stringContaining('takes no records'),
        activity: { waiting: 5, dropped: 0 },
        audit: { waiting: 0, dropped: 0 },
      },
    ]);
  });

  test('is degraded, and still 200, while the embedding service fails', async () => {
    const smartRouting = { provider: 'openai', state: 'degraded', vectors: 'memory' } as const;
    const { app } = open({ smartRouting });
    const response = await app.request('/health');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'degraded',
      message: 'The embedding service is not available; the tool search goes on without it',
      smartRouting,
    });
  });

  test('says which database is there and whether it keeps embeddings', async () => {
    const { app } = open({ database: { state: 'ready', kind: 'embedded', hasVector: true, isSlow: false } });
    expect(await (await app.request('/health')).json()).toMatchObject({
      status: 'healthy',
      database: { state: 'ready', kind: 'embedded', vectors: true },
    });
  });

  test.each(['connecting', 'disconnected', 'oauth_required'] as const)(
    'is degraded, and still 200, with a server that is %s',
    async (status) => {
      const response = await open({ servers: [server('connected'), server(status)] }).app.request('/health');
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        status: 'degraded',
        servers: { total: 2, connected: 1, disconnected: 1 },
      });
    },
  );

  test('stays where it is under a base path', async () => {
    const { app } = open({ basePath: '/hub' });
    expect((await app.request('/health')).status).toBe(200);
    expect((await app.request('/hub/health')).status).toBe(404);
  });
});

test('GET /health is degraded, and still 200, while the database is slow', async () => {
  const { app } = open({ database: { state: 'ready', kind: 'postgres', hasVector: true, isSlow: true } });
  const response = await app.request('/health');
  expect([response.status, await response.json()]).toMatchObject([
    200,
    {
      status: 'degraded',
      message: 'The database is slow; changes and listings wait for it',
      database: { state: 'ready' },
    },
  ]);
});

test('an address with a slash at its end is the same address', async () => {
  const api = new Hono<ApiEnv>().get('/groups/:id', (c) => c.text(c.req.param('id')));
  const { app } = open({ basePath: '/hub', api });
  expect((await app.request('/health/')).status).toBe(200);
  expect(await (await app.request('/hub/api/groups/dev/')).text()).toBe('dev');
  expect(await (await app.request('/hub/api/groups/dev%2F/')).text()).toBe('dev/');
  expect((await app.request('/hub/api/groups/')).status).toBe(404);
  expect((await app.request('/hub/api/groups/dev//')).status).toBe(404);
});

describe('answers', () => {
  test('to unknown paths are JSON', async () => {
    const response = await open().app.request('/nope');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ success: false, message: 'There is nothing at GET /nope.' });
  });

  test('to expected failures say what is wrong, where, and when to try again', async () => {
    const { app, logged } = open();
    app.get('/busy', () => {
      throw new HubError('upstream_unavailable', 'Server "x" is away.', {
        retryAfterMs: 1_200,
        cause: new Error('hush'),
      });
    });
    app.get('/bad', () => {
      throw new HubError('invalid_input', 'Cannot do that.', { problems: [{ path: 'name', message: 'is empty' }] });
    });
    const busy = await app.request('/busy');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await busy.json()).toEqual({ success: false, message: 'Server "x" is away.' });
    const bad = await app.request('/bad');
    expect(bad.status).toBe(400);
    expect(await bad.json()).toEqual({
      success: false,
      message: 'Cannot do that.',
      errors: [{ path: 'name', message: 'is empty' }],
    });
    expect(logged).toEqual([]);
  });

  test('to our own faults tell the log everything and the caller nothing', async () => {
    const { app, logged } = open();
    app.get('/bug', () => {
      throw new TypeError('secret detail');
    });
    const response = await app.request('/bug');
    expect(response.status).toBe(500);
    const body = (await response.json()) as { requestId: string };
    expect(JSON.stringify(body)).not.toContain('secret detail');
    expect(logged[0]?.fields).toMatchObject({ requestId: body.requestId, method: 'GET', path: '/bug' });
    expect(logged[0]?.fields?.['stack']).toContain('secret detail');
  });

  test('that are good carry data and message only when there are any', async () => {
    const { app } = open();
    app.get('/plain', (c) => ok(c));
    app.get('/made', (c) => ok(c, { id: 1 }, { message: 'Made.', status: 201 }));
    expect(await (await app.request('/plain')).json()).toEqual({ success: true });
    const made = await app.request('/made');
    expect(made.status).toBe(201);
    expect(await made.json()).toEqual({ success: true, data: { id: 1 }, message: 'Made.' });
  });
});

test('/health says for how long the hub runs, also when the clock of the machine is set', () => {
  const uptime = watchHealth({
    servers: () => [],
    database: { state: () => ({ state: 'off' }) },
    embeddings: { brief: () => builtin },
    records: {
      logs: { counts: () => ({ ...none, written: 0, skipped: 0 }) },
      activity: { counts: () => ({ ...none, written: 0, skipped: 0 }) },
    },
    audit: { counts: () => ({ ...none, written: 0, skipped: 0 }) },
    replicas: undefined,
    room: { isFull: false },
    version: '1.2.3',
  });
  const clock = vi.spyOn(Date, 'now');
  try {
    for (const days of [8, -8]) {
      clock.mockReturnValue(Math.floor(performance.timeOrigin) + days * 24 * 60 * 60_000);
      const { uptime: seconds, timestamp } = uptime();
      expect(seconds).toBeGreaterThanOrEqual(0);
      expect(seconds).toBeLessThan(60);
      expect(Date.parse(timestamp)).toBe(Date.now());
    }
  } finally {
    clock.mockRestore();
  }
});
