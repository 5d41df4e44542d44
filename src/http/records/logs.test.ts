import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { silent } from '../../../test/kit/databases.ts';
import { until } from '../../../test/kit/until.ts';
import { createByteBudget } from '../../core/byte-budget.ts';
import { coreLimits } from '../../core/limits.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { createDatabase } from '../../database/supervise.ts';
import { logLimits } from '../../logs/limits.ts';
import { createLog } from '../../logs/log.ts';
import { openRecords } from '../../logs/records.ts';
import { parseSettings } from '../../settings/document/parse-settings.ts';
import { createApi } from '../frame/api.ts';
import { logsRoutes } from './logs.ts';

/**
 * The routes with a real log behind a real server, without a hub, so that the test decides what is said and how fast.
 */
async function start(settings: Settings) {
  const book = createLog({ level: 'info', format: 'json', write: () => {} });
  const database = createDatabase({ url: 'off', dataDir: '/nonexistent', log: silent });
  const records = openRecords({ feed: book, database, log: silent });
  const identify = async () => ({ kind: 'user', username: 'admin' }) as const;
  const api = createApi({
    mount: '',
    settings: () => settings,
    identify,
    cookieLogin: async () => undefined,
    isByProxy: () => false,
    forwarded: () => false,
    loggedInAt: () => undefined,
    isMadeHere: () => false,
    address: () => '127.0.0.1',
    outside: () => false,
    readonly: false,
    membersOf: () => undefined,
    badCredential: () => undefined,
    bodies: createByteBudget(() => 1_000_000),
    audit: { record: () => undefined, counted: () => undefined, afterKeeping: (done) => done() },
    resources: [
      logsRoutes({
        logs: records.logs,
        stream: records.logStream,
        settings: () => settings,
        since: () => 0,
        log: silent,
      }),
    ],
    log: silent,
  });
  const answer = getRequestListener(api.fetch, { overrideGlobalObjects: false });
  const server = createServer((req, res) => void answer(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    await records.close();
    server.closeAllConnections();
    server.close();
  });
  return { book, records, port: (server.address() as { port: number }).port };
}

const settings = parseSettings({
  mcpServers: {},
  users: [{ username: 'admin', password: 'x', isAdmin: true }],
}).settings;

test('a reader that takes nothing is cut off, and costs the others nothing', async () => {
  const { book, records, port } = await start(settings);
  const stuck = connect(port, '127.0.0.1');
  stuck.write('GET /logs/stream HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(stuck, 'readable');
  let ended = false;
  stuck.on('close', () => (ended = true)).on('error', () => {});

  let received = '';
  const good = request({ port, path: '/logs/stream' }, (response) =>
    response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk)),
  );
  good.end();
  atEnd(() => void good.destroy());
  await until('both read', () => records.logStream.readers() === 2);

  const entries = Math.ceil((logLimits.logReaderBytes * 12) / 4_000);
  for (let n = 0; n < entries; n++) {
    book.for('hub').info(`${n} ${'x'.repeat(coreLimits.logLineChars)}`);
    // As far as the good reader can follow.
    if (n % 50 === 0) await until('it follows', () => n === 0 || received.includes(`"message":"${n - 50} `));
  }
  await until('the stuck one is cut off', () => records.logStream.readers() === 1);
  await until('the good one has everything', () => received.includes(`"message":"${entries - 1} `));
  stuck.resume();
  await until('its connection is closed', () => ended);
});
