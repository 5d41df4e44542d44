import { connect, type Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { httpLimits } from '../../src/http/limits.ts';
import { hubLimits } from '../../src/hub/limits.ts';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { scrape } from '../kit/prometheus.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What bodies of requests may take of the memory before it is known whose they are, and all together.

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
const announced = (path: string, bytes: number, headers = ''): Unfinished =>
  begun(path, `${headers}Content-Length: ${bytes}\r\n`, '{');

/** A request of which `rest` is what comes of the body. */
function begun(path: string, headers: string, rest: string): Unfinished {
  const { hostname, port, host } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  atEnd(() => void socket.destroy());
  const own: Unfinished = { socket, heard: '' };
  socket.setEncoding('latin1').on('data', (text: string) => (own.heard += text));
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${headers}\r\n${rest}`);
  return own;
}

test('sixty unfinished logins of 7.9 MB are refused at once, and nothing is kept of them', async () => {
  const logins = Array.from({ length: 60 }, () => announced('/api/auth/login', 7_900_000));
  await until('all are answered', () => logins.every(({ heard }) => heard.includes('\r\n\r\n')));
  expect(new Set(logins.map(({ heard }) => heard.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 413']));
  expect(logins[0]?.heard).toContain(`The body is larger than ${httpLimits.smallBodyBytes} bytes.`);
  expect(await metric('toolhub_request_body_bytes')).toBe(0);
});

const chunk = `8000\r\n${' '.repeat(0x80_00)}\r\n`;

test.each<[how: string, headers: string, rest: string, status: number]>([
  ['in chunks, with no length announced', 'Transfer-Encoding: chunked\r\n', chunk, 413],
  ['in chunks with extensions', 'Transfer-Encoding: chunked\r\n', `1;${'x'.repeat(20_000)}\r\n{\r\n`, 413],
  ['after asking whether to go on', 'Expect: 100-continue\r\nContent-Length: 7900000\r\n', '', 413],
  ['in chunks after asking whether to go on', 'Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n', chunk, 413],
  ['expecting something unknown', 'Expect: the-unexpected\r\nContent-Length: 7900000\r\n', '{', 417],
  ['packed', 'Content-Encoding: gzip\r\nContent-Length: 7900000\r\n', '\x1f\x8b', 415],
  ['packed twice, in chunks', 'Content-Encoding: gzip, br\r\nTransfer-Encoding: chunked\r\n', chunk, 415],
])('sixty logins sent %s are refused at once, and nothing is kept of them', async (_, headers, rest, status) => {
  const logins = Array.from({ length: 60 }, () => begun('/api/auth/login', headers, rest));
  const statuses = () =>
    logins.map(({ heard }) => /^HTTP\/1\.1 (\d+)/.exec(heard.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, ''))?.[1]);
  await until('all are answered', () => statuses().every((one) => one !== undefined));
  expect(new Set(statuses())).toEqual(new Set([String(status)]));
  expect(await metric('toolhub_request_body_bytes')).toBe(0);
});

test('hundreds of logins and calls that send a byte now and then hold up no other', async () => {
  const paths = ['/api/auth/login', '/mcp', '/oauth/sign-in/none', '/api/tools/none/none'];
  const slow = Array.from({ length: 400 }, (_, i) => {
    const path = paths[i % paths.length] ?? '';
    return i % 3 === 0
      ? begun(path, 'Transfer-Encoding: chunked\r\n', '1\r\n{\r\n')
      : announced(path, httpLimits.smallBodyBytes);
  });
  await until('all have begun', async () => (await metric('toolhub_request_body_bytes')) !== 0);
  for (const { socket } of slow) socket.write('1\r\n \r\n');
  await login(hub);
  expect((await rpc(hub.mcp(), 'tools/list')).status).toBe(200);
  expect((await api(hub, 'GET', '/servers', { token: admin })).status).toBe(200);
  expect(await metric('toolhub_request_body_bytes')).toBeLessThan(400 * 1024);
  for (const { socket } of slow) socket.destroy();
  await until('all is given back', async () => (await metric('toolhub_request_body_bytes')) === 0);
});

test.each<[what: string, path: string, authenticated?: boolean]>([
  ['login', '/api/auth/login'],
  ['logout', '/api/auth/logout', true],
  ['new password', '/api/auth/change-password', true],
  ['sign-in page', '/oauth/sign-in/none'],
  ['switch of a server', '/api/servers/none/toggle', true],
  ['search', '/api/smart-routing/search', true],
])('a body that is too long for a form is not read (%s)', async (_, path, authenticated = false) => {
  const body = JSON.stringify({ username: 'x'.repeat(httpLimits.smallBodyBytes), password: 'x' });
  const headers = authenticated ? { authorization: `Bearer ${admin}` } : {};
  const answer = await raw(`${hub.url}${path}`, { body, headers });
  expect(answer.status, answer.text).toBe(413);
});

test('a malformed login of megabytes is refused before it is parsed', async () => {
  const answer = await api(hub, 'POST', '/auth/login', {
    body: `[${'{"a":1},'.repeat(250_000)}}`,
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, answer.body.message]).toEqual([413, 'The body is larger than 16384 bytes.']);
});

test('no caller sends a large body before their credential was looked at', async () => {
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
  expect(used).toBeLessThanOrEqual(hubLimits.budgetBytesMost / 2);
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
