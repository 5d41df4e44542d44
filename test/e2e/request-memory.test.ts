import { connect, type Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { scrape } from '../kit/prometheus.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What bodies of requests may take of the memory before anybody knows whose they are, and all together.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub();
  admin = await login(hub);
});

const metric = async (name: string): Promise<number | undefined> => {
  const headers = { authorization: `Bearer ${admin}` };
  const { text } = await raw(new URL('/metrics', hub.url).href, { method: 'GET', headers });
  return scrape(text).value(name);
};

interface Unfinished {
  readonly socket: Socket;
  heard: string;
}

/** A request that announces a body of which nothing comes, until the test sends it. */
function announced(path: string, bytes: number, headers = ''): Unfinished {
  const { hostname, port, host } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  atEnd(() => void socket.destroy());
  const own: Unfinished = { socket, heard: '' };
  socket.setEncoding('latin1').on('data', (text: string) => (own.heard += text));
  socket.on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bytes}\r\n\r\n{`,
  );
  return own;
}

test('sixty unfinished logins of 7.9 MB are refused at once, and nothing is kept of them', async () => {
  const logins = Array.from({ length: 60 }, () => announced('/api/auth/login', 7_900_000));
  await until('all are answered', () => logins.every(({ heard }) => heard.includes('\r\n\r\n')));
  expect(new Set(logins.map(({ heard }) => heard.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 413']));
  expect(logins[0]?.heard).toContain(`The body is larger than ${limits.smallBodyBytes} bytes.`);
  expect(await metric('toolhub_request_body_bytes')).toBe(0);
});

test.each<[what: string, path: string, authenticated?: boolean]>([
  ['login', '/api/auth/login'],
  ['logout', '/api/auth/logout', true],
  ['new password', '/api/auth/change-password', true],
  ['sign-in page', '/oauth/sign-in/none'],
  ['switch of a server', '/api/servers/none/toggle', true],
  ['search', '/api/smart-routing/search', true],
])('a body that is too long for a form is not read (%s)', async (_, path, authenticated = false) => {
  const body = JSON.stringify({ username: 'x'.repeat(limits.smallBodyBytes), password: 'x' });
  const headers = authenticated ? { authorization: `Bearer ${admin}` } : {};
  const answer = await raw(`${hub.url}${path}`, { body, headers });
  // A route that reads no body has nothing to refuse.
  expect(path.endsWith('logout') ? 200 : 413, answer.text).toBe(answer.status);
  admin = path.endsWith('logout') ? await login(hub) : admin;
});

test('a malformed login of megabytes is refused before it is parsed', async () => {
  const answer = await api(hub, 'POST', '/auth/login', {
    body: `[${'{"a":1},'.repeat(250_000)}}`,
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, answer.body.message]).toEqual([413, 'The body is larger than 16384 bytes.']);
});

test('nobody sends a large body before their credential was looked at', async () => {
  const without = announced('/api/servers', 7_900_000);
  const wrong = announced('/api/servers', 7_900_000, 'Authorization: Bearer nonsense\r\n');
  const wrongMcp = announced('/mcp', 7_900_000, 'Authorization: Bearer nonsense\r\n');
  await until('all are answered', () => [without, wrong, wrongMcp].every(({ heard }) => heard !== ''));
  expect([without, wrong, wrongMcp].map(({ heard }) => heard.slice(9, 12))).toEqual(['401', '401', '401']);
});

test('all bodies together take no more than their budget, small ones go on, and the memory comes back', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const each = 15;
  const senders = Array.from({ length: 12 }, () => announced('/mcp', each * megabyte.length));
  for (const { socket } of senders) for (let i = 0; i < each - 1; i++) socket.write(megabyte);
  const refused = (): Unfinished[] => senders.filter(({ heard }) => heard !== '');
  await until('some are refused', () => refused().length > 0);
  const used = await metric('toolhub_request_body_bytes');
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThanOrEqual(limits.budgetBytesMost / 2);
  expect(refused()[0]?.heard).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 2\r\n/is);
  expect(refused()[0]?.heard).toContain('Try again in a moment');
  expect(await metric('toolhub_request_bodies_refused_total')).toBeGreaterThan(0);
  // Small ones, in one piece and in several.
  expect((await rpc(hub.mcp(), 'tools/list')).status).toBe(200);
  expect((await rpc(hub.mcp(), 'tools/list', {}, { headers: { te: 'trailers' } })).status).toBe(200);
  await login(hub);
  // Nor does one with a credential wait for those without.
  const text = ' '.repeat(1024 * 1024);
  const mine = await api(hub, 'POST', '/servers/import', { token: admin, body: { text } });
  expect([mine.status, mine.body.message]).not.toContain(503);
  for (const { socket } of senders) socket.destroy();
  await until('all is given back', async () => (await metric('toolhub_request_body_bytes')) === 0);
});
