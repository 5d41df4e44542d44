import { request } from 'node:http';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { storedSettings, testDatabase } from '../kit/hub-database.ts';
import { raw } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { within } from '../kit/until.ts';
import { codePoints } from '../kit/code-points.ts';

// Whatever is sent to the management API, the answer is one of its own, and the settings stay good (CONTRACT §3).

interface OperationObject {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { schema: Record<string, unknown> }> };
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly queryNames: readonly string[];
  /** Members of the body that is asked for. */
  readonly members: readonly string[];
}

let hub: TestHub;
let routes: Route[];
let credentials: (string | undefined)[];

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: { ...(await hostileHttp({ name: 'alpha', tools: ['echo'] })).config, visibility: 'public' },
      // Fuzzed changes come to this one: what it would start is nothing.
      spare: { url: 'http://127.0.0.1:9/mcp', enabled: false },
    },
    groups: [{ id: 'aaaaaaaa-1111-4111-8111-111111111111', name: 'dev', servers: ['alpha'] }],
  });
  await hub.connected(1);
  const admin = await login(hub);
  const user = await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  await userToken(hub, admin, 'carl');
  credentials = [admin, user, await keyToken(hub, user), undefined, 'not.a.token', `mcphub_${'0'.repeat(64)}`];
  const document = (await api(hub, 'GET', '/docs/openapi.json')).body as unknown as {
    paths: Record<string, Record<string, OperationObject>>;
    components: { schemas: Record<string, Record<string, unknown>> };
  };
  const membersOf = ({ requestBody }: OperationObject): string[] => {
    const schema = requestBody?.content['application/json']?.schema ?? {};
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
    return Object.keys((document.components.schemas[name ?? ''] ?? schema)['properties'] ?? {});
  };
  routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      queryNames: operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name),
      members: membersOf(operation),
    })),
  );
});

/**
 * Names of what is there, and of what must not be mistaken for it. The accounts that the test calls with are not among
 * them.
 */
const names = fc.oneof(
  fc.constantFrom('alpha', 'spare', 'dev', 'carl', 'echo', 'aaaaaaaa-1111-4111-8111-111111111111', 'fuzzed'),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '..',
    '.',
    '$smart',
    'batch',
    'call',
    '',
    ' ',
    '\0',
    '\ud800',
  ),
  fc.constantFrom(
    'é',
    '日本',
    '\u202e',
    'ﬁ',
    'x'.repeat(65),
    'y'.repeat(6_000),
    "'; drop table x; --",
    '<b>',
    'a/b',
    '%',
    '${HOME}',
  ),
  fc.string({ unit: codePoints, maxLength: 12 }),
);
const pathTexts = fc.oneof(
  { weight: 4, arbitrary: names.map((name) => encodeURIComponent(Buffer.from(name).toString())) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '%',
      '%zz',
      '%ff',
      '%00',
      '%E0%A4%A',
      '..%2f..%2f',
      '%2e%2e',
      'a%2Fb',
      '%F0%9F',
      '+',
      ';a=b',
    ),
  },
);
const scalars = fc.oneof(
  names,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER + 2,
    'all',
    'admin',
    'user',
    'private',
    'public',
    '••••',
  ),
);
const values = fc.oneof(
  { weight: 4, arbitrary: scalars },
  { weight: 2, arbitrary: fc.array(scalars, { maxLength: 4 }) },
  { weight: 2, arbitrary: fc.dictionary(names, scalars, { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
);

/** Texts that are bodies of no good kind, whatever the route. */
const oddTexts = [
  '',
  ' ',
  'null',
  '7',
  '"text"',
  '[]',
  '[[]]',
  '{',
  '{"a":',
  '{"a":1}{"b":2}',
  '\ufeff{}',
  '{"__proto__":{"polluted":true},"name":"fuzzed"}',
  '{"constructor":{"prototype":{"polluted":true}},"name":"fuzzed"}',
  '{"name":"a","name":"b"}',
  '{"name":1e999}',
  '{"name":"\\u0000"}',
  '{"name":"\\ud800","description":"\\udfff"}',
  '['.repeat(200_000),
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `{"name":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
  `{"arguments":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)},"toolName":"echo"}`,
  `{"name":"${'x'.repeat(1_000_000)}"}`,
  'name=fuzzed&servers=alpha',
];
const multipart = (rest: string) =>
  `--b\r\nContent-Disposition: form-data; name="mcpbFile"; filename="x.mcpb"\r\n${rest}`;
const oddBytes = [
  Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ...[
    multipart(''),
    multipart('\r\nPK'),
    multipart('\r\nPK\r\n--b--\r\n'),
    '--b',
    '--b--\r\n',
    `--b\r\n${'X: y\r\n'.repeat(5_000)}`,
  ].map((text) => Buffer.from(text)),
  Buffer.alloc(9 * 1024 * 1024, 'x'),
];

const bodies = (members: readonly string[]) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .dictionary(
          members.length > 0 ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...members) }, names) : names,
          values,
          { maxKeys: 6 },
        )
        .map((value) => Buffer.from(JSON.stringify(value))),
    },
    { weight: 1, arbitrary: values.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 2, arbitrary: fc.constantFrom(...oddTexts).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.constantFrom(...oddBytes) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
  );
const types = fc.oneof(
  { weight: 5, arbitrary: fc.constant<string | undefined>('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<string | undefined>(
      undefined,
      'application/json; charset=utf-16',
      'application/merge-patch+json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'multipart/form-data; boundary=b',
      'multipart/form-data; boundary=b',
      'multipart/form-data; boundary="',
      `multipart/form-data; boundary=${'b'.repeat(300)}`,
      ';;;',
      'application/jsonx',
    ),
  },
);
const headerTexts = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    'x'.repeat(3_000),
    '*',
    'null',
    '__proto__',
    'bytes=0-',
    'cross-site',
    'gzip',
    '\xe9\xff',
    '2026-11-20',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'accept-encoding',
    'accept-language',
    'content-encoding',
    'cookie',
    'forwarded',
    'if-none-match',
    'last-event-id',
    'origin',
    'range',
    'referer',
    'sec-fetch-site',
    'x-auth-token',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-session-id',
  ),
  headerTexts,
  { maxKeys: 2, noNullPrototype: true },
);
const queries = (known: readonly string[]) =>
  fc
    .array(
      fc.tuple(
        known.length > 0 ? fc.oneof(fc.constantFrom(...known), pathTexts) : pathTexts,
        fc.oneof(pathTexts, fc.integer().map(String)),
      ),
      { maxLength: 4 },
    )
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`));

interface Sent {
  readonly path: string;
  readonly who: number;
  readonly type: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

const requests = ({ method, path, queryNames, members }: Route): fc.Arbitrary<Sent> =>
  fc.record({
    path: fc
      .tuple(fc.array(pathTexts, { minLength: 3, maxLength: 3 }), queries(queryNames))
      .map(([parts, query]) => path.replace(/\{\w+\}/g, () => parts.shift() ?? 'x') + query),
    who: fc.nat(5),
    type: types,
    headers,
    body: method === 'GET' ? fc.constant(undefined) : fc.option(bodies(members), { nil: undefined, freq: 8 }),
  });

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function send(method: string, { path, who, type, headers, body }: Sent): Promise<Answer> {
  const token = credentials[who];
  const exchange = new Promise<Answer>((resolve, reject) => {
    const outgoing = request(
      `${hub.url}/api`,
      {
        method,
        path: `/api${path}`,
        agent: false,
        headers: {
          ...headers,
          ...(type !== undefined && body !== undefined && { 'content-type': type }),
          ...(body !== undefined && { 'content-length': body.length }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        const done = () =>
          resolve({
            status: incoming.statusCode ?? 0,
            type: incoming.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString('utf8'),
          });
        // The log stream ends when it is left.
        if (incoming.headers['content-type']?.startsWith('text/event-stream')) {
          incoming.destroy();
          return done();
        }
        incoming
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', done)
          .on('error', reject);
      },
    );
    // Who is told that a body is too large before it is sent whole may be cut off, also when the answer is there.
    outgoing.on('error', (error) => (body && body.length > 8_000_000 ? resolve(cut) : reject(error)));
    outgoing.end(body);
  });
  return within(`${method} ${path.slice(0, 200)}`, exchange);
}

const cut: Answer = { status: 413, type: 'application/json', text: '{"success":false,"message":"cut off"}' };

/**
 * OpenAPI-style execution and its documents, whose failures are `{error, message}`; the path as it was meant by the
 * time it arrived.
 */
const isBare = (path: string) => /\/tools\/[^/]+\/[^/]+$|\/openapi\.(?:json|yaml)$/.test(path);
/** Answers that are no envelope when they are good. */
const isDocument = (path: string) => isBare(path) || /^\/docs|\/export$|\/(?:stream|events)$/.test(path);

/** Pages of a browser that is on its way to a provider. */
const isPage = (path: string) => /^\/auth\/oidc\/[^/]+\/(?:start|callback)$/.test(path);

function judge(method: string, sent: Sent, { status, type, text }: Answer): void {
  const where = `${method} ${sent.path.slice(0, 300)}: ${status} ${text.slice(0, 400)}`;
  expect(status >= 200 && ![500, 501, 505].includes(status), where).toBe(true);
  if (type === 'application/zip') return;
  expect(text, where).not.toMatch(/\n\s+at |node_modules|file:\/\/|\.[tj]s:\d/);
  const { pathname } = new URL(`http://hub/api${sent.path}`);
  // Dots can lead out of the API; what is too long for HTTP itself does not even come in.
  if (!pathname.startsWith('/api/') || status === 431) return;
  const path = pathname.slice('/api'.length);
  if (status < 400) {
    if (!isDocument(path)) {
      const { success, message } = JSON.parse(text) as Record<string, unknown>;
      // Of a batch, a part may have failed.
      expect(status === 207 ? typeof message === 'string' : success === true, where).toBe(true);
    }
    return;
  }
  if (isPage(path) && type.startsWith('text/html')) return;
  expect(type, where).toMatch(/^application\/json/);
  expect(text.length, where).toBeLessThan(100_000);
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(typeof body['message'] === 'string' && body['message'] !== '', where).toBe(true);
  if (isBare(path) && typeof body['error'] === 'string') expect(body, where).not.toHaveProperty('success');
  else expect(body['success'], where).toBe(false);
  for (const problem of (body['errors'] ?? []) as Record<string, unknown>[]) {
    expect([typeof problem['path'], typeof problem['message']], where).toEqual(['string', 'string']);
  }
}

/**
 * On an embedded database, where the settings are in their file, only the routes that ask it, and those whose records
 * come into it, can answer otherwise than beside PostgreSQL.
 */
const isTried = ({ path }: Route) =>
  testDatabase() !== 'embedded' ||
  /^\/(?:activities|logs|tools|mcp|resources|smart-routing|auth\/log)|\/tools\//.test(path);

test('every route answers whatever it is sent in its own shape, and never with 500', { timeout: 600_000 }, async () => {
  let asked = 0;
  const statuses = new Set<number>();
  // Once for certain: among so many others the one that is too large may not come up.
  const large: Sent = { path: '/servers', who: 0, type: 'application/json', headers: {}, body: oddBytes.at(-1) };
  const refused = await send('POST', large);
  statuses.add(refused.status);
  judge('POST', large, refused);
  const tried = routes.filter(isTried);
  for (const route of tried) {
    await fc.assert(
      fc.asyncProperty(requests(route), async (sent) => {
        // It would end the tokens of the test.
        if (route.path === '/auth/logout' && sent.who < 2) return;
        const answer = await send(route.method, sent);
        asked += 1;
        statuses.add(answer.status);
        judge(route.method, sent, answer);
      }),
      // On each kind of database again.
      { numRuns: 25, endOnFailure: true },
    );
  }
  expect(routes.length).toBeGreaterThan(60);
  expect(asked).toBeGreaterThan(tried.length * 5);
  // It came past the door: good answers and all kinds of bad ones.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 413, 415]));
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('afterwards the hub serves, and starts again with the settings it has', async () => {
  const [admin] = credentials;
  expect((await raw(new URL('/health', hub.url).href, { method: 'GET' })).status).toBe(200);
  for (const path of ['/servers', '/groups', '/users', '/auth/keys', '/settings', '/mcp-settings/export']) {
    const { status, text } = await api(hub, 'GET', path, { token: admin });
    expect(status, `${path} ${text.slice(0, 300)}`).toBe(200);
  }
  const before = JSON.parse(await storedSettings(hub)) as Record<string, unknown>;
  const settingsOf = async (one: TestHub) => {
    const { status, text } = await api(one, 'GET', '/mcp-settings/export?secrets=include', { token: admin });
    expect(status, text.slice(0, 300)).toBe(200);
    return text;
  };
  const inForce = await settingsOf(hub);
  await hub.close();
  const again = await testHub({ folder: hub.folder });
  expect(JSON.parse(await storedSettings(again))).toEqual(before);
  // What the changes made of the settings in memory is what they wrote.
  expect(await settingsOf(again)).toBe(inForce);
  expect((await api(again, 'GET', '/servers', { token: admin })).status).toBe(200);
});
