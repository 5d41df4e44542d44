import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { raw, stream } from '../../test/kit/raw.ts';
import { clientParts, connectionsBy } from '../../test/kit/client-parts.ts';
import { until } from '../../test/kit/until.ts';
import { emptyCatalogue } from '../core/catalogue.ts';
import { anonymous } from '../core/access/principal.ts';
import { createEventLogs } from './event-log.ts';
import { createByteBudget } from '../core/byte-budget.ts';
import { createSealer } from '../core/seal.ts';
import type { Settings } from '../core/settings/settings.ts';
import { createViews } from '../core/access/view.ts';
import { createServerRequests } from './server-requests/server-requests.ts';
import { createAnnouncer } from './announcer.ts';
import { createMcpEntry, type McpEntryOptions } from './mcp-entry.ts';
import { createSessions } from './sessions.ts';
import { createStreams } from './stream.ts';

// The HTTP entry alone, for moments that a test from outside cannot produce.

const settings = {
  servers: new Map(),
  groups: [],
  users: [],
  keys: [],
  system: { nameSeparator: '-', routing: { enableGlobalRoute: true } },
} as unknown as Settings;

async function httpEntry(options: Partial<McpEntryOptions> = {}) {
  const streams = createStreams();
  const sessions = createSessions(createSealer(randomBytes(32), 'session'));
  const views = createViews(() => ({ settings, catalogue: emptyCatalogue }));
  const announcer = createAnnouncer(views);
  const log = logLines();
  const mcp = createMcpEntry({
    basePath: '',
    outside: { reaches: () => false },
    settings: () => settings,
    identify: () => 'none',
    sessions,
    announcer,
    streams,
    eventLogs: createEventLogs(),
    ...clientParts(views),
    pageSize: () => 0,
    connections: connectionsBy(undefined),
    serverRequests: createServerRequests(createSealer(randomBytes(32), 'test')),
    address: () => undefined,
    taken: new Set(),
    badCredential: () => undefined,
    bodies: createByteBudget(() => 1_000_000),
    metadataUrl: () => '',
    version: '1',
    log,
    ...options,
  });
  const server = createServer((req, res) => void mcp.handle(req, res, {})).listen(0, '127.0.0.1');
  atEnd(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
  });
  await until('it listens', () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, sessions, log, server };
}

test('a client that leaves while its credential is looked at leaves nothing behind', async () => {
  const waiting: ((who: 'none') => void)[] = [];
  let slow = false;
  const { url, sessions, server } = await httpEntry({
    identify: () => (slow ? new Promise((resolve) => waiting.push(resolve)) : 'none'),
  });
  const id = sessions.begin(anonymous, { kind: 'all' }, '2025-11-25');
  const headers = { 'mcp-session-id': id };
  slow = true;
  const responses: ServerResponse[] = [];
  server.on('request', (_, res) => void responses.push(res));
  const opening = stream(url, { headers }).catch((error: unknown) => error);
  await until('the request', () => waiting[0]);
  server.closeAllConnections();
  expect(await opening).toMatchObject({ code: 'ECONNRESET' });
  await until('the response is closed', () => responses.every((res) => res.destroyed));
  slow = false;
  for (const go of waiting) go('none');
  await raw(url, { body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  expect(sessions.liveCount).toBe(0);
});
