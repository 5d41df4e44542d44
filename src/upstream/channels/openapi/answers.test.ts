import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { beforeEach, describe, expect, test } from 'vitest';

import { documentOf, type OpenedApi, openApi, type RestApi, restApi } from '../../../../test/kit/openapi.ts';
import { until } from '../../../../test/kit/until.ts';
import { redirected } from './http.ts';

let rest: RestApi;
let api: OpenedApi;

beforeEach(async () => {
  rest = await restApi();
  const body = { requestBody: { content: { 'application/json': {} } } };
  const schema = documentOf(rest.origin, {
    '/get': {
      get: {
        operationId: 'get',
        parameters: [
          { in: 'header', name: 'X-Arg' },
          { in: 'cookie', name: 'c' },
        ],
      },
      head: { operationId: 'head' },
    },
    '/post': {
      post: { operationId: 'post', ...body },
      put: { operationId: 'put', ...body },
      delete: { operationId: 'delete' },
    },
  });
  api = openApi(
    { schema, security: { type: 'apiKey', apiKey: { in: 'query', name: 'key', value: 'operators-key' } } },
    { headers: { 'X-Secret-Token': 'operators-token' }, maxMessageBytes: 100_000 },
  );
});

const answers = (
  status: number,
  type: string | undefined,
  body: string | Buffer = '',
  more: Record<string, string> = {},
) =>
  rest.on('/get', (_, res) =>
    res.writeHead(status, { ...(type !== undefined && { 'content-type': type }), ...more }).end(body),
  );
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

describe('an answer', () => {
  test('of JSON comes as it was written, and an object once more as structured content', async () => {
    answers(200, 'application/json', '{\r\n "n": 12345678901234567890,\n "x": 1.0 }');
    expect(await api.call('get')).toEqual({
      ...text('{\r\n "n": 12345678901234567890,\n "x": 1.0 }'),
      structuredContent: { n: 12345678901234567000, x: 1 },
    });
    answers(200, 'application/problem+json; charset=utf-8', '{"a":1}');
    expect((await api.call('get')).structuredContent).toEqual({ a: 1 });
    answers(200, 'application/json', '[1,2]');
    expect(await api.call('get')).toEqual(text('[1,2]'));
    answers(200, 'application/json', '{"not": json');
    expect(await api.call('get')).toEqual(text('{"not": json'));
  });

  test('of text is decoded by its character set', async () => {
    answers(200, 'text/plain; charset="iso-8859-1"', Buffer.from([0x4b, 0xe4, 0x73, 0x65]));
    expect(await api.call('get')).toEqual(text('Käse'));
    answers(200, 'text/html; charset=nonsense', '<p>Ü</p>');
    expect(await api.call('get')).toEqual(text('<p>Ü</p>'));
    answers(200, undefined, 'plain');
    expect(await api.call('get')).toEqual(text('plain'));
  });

  test('of images, sounds and other bytes comes as such', async () => {
    const bytes = Buffer.from([0, 1, 2, 255]);
    const data = bytes.toString('base64');
    answers(200, 'image/png', bytes);
    expect(await api.call('get')).toEqual({ content: [{ type: 'image', data, mimeType: 'image/png' }] });
    answers(200, 'audio/mpeg', bytes);
    expect(await api.call('get')).toEqual({ content: [{ type: 'audio', data, mimeType: 'audio/mpeg' }] });
    answers(200, 'application/pdf', bytes);
    expect(await api.call('get')).toEqual({
      content: [{ type: 'resource', resource: { uri: `${rest.origin}/get`, mimeType: 'application/pdf', blob: data } }],
    });
  });

  test('without a body, or to HEAD, is its status', async () => {
    answers(204, undefined);
    expect(await api.call('get')).toEqual(text('HTTP 204 No Content'));
    answers(200, 'text/plain', 'ignored', { 'x-count': '7', 'set-cookie': 'session=1' });
    expect((await api.call('head')).structuredContent).toMatchObject({ status: 200, headers: { 'x-count': '7' } });
    expect(JSON.stringify(await api.call('head'))).not.toContain('set-cookie');
  });

  test('of failure is an error with status and body', async () => {
    answers(404, 'application/json', '{"why":"gone"}');
    expect(await api.call('get')).toEqual({ ...text('HTTP 404 Not Found\n{"why":"gone"}'), isError: true });
    answers(503, 'image/png', Buffer.from([0, 1]));
    expect(await api.call('get')).toEqual({ ...text('HTTP 503 Service Unavailable'), isError: true });
    answers(304, undefined);
    expect((await api.call('get')).isError).toBe(true);
  });

  test('that is too long, as it comes or as a message, is refused, and the next one is not', async () => {
    answers(200, 'text/plain', 'x'.repeat(100_001));
    expect((await api.call('get')).content[0]?.text).toContain('more than the 100000 bytes');
    answers(200, 'image/png', Buffer.alloc(90_000));
    expect((await api.call('get')).content[0]?.text).toContain('a message of more than 100000 bytes');
    answers(200, 'text/plain', 'fine');
    expect(await api.call('get')).toEqual(text('fine'));
  });
});

describe('an answer with an encoding', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('that is compressed (%s) is unpacked, within bounds', async (encoding, pack) => {
    answers(200, 'text/plain', pack(Buffer.from('packed')), { 'content-encoding': encoding });
    expect(await api.call('get')).toEqual(text('packed'));
    answers(200, 'text/plain', pack(Buffer.alloc(300_000)), { 'content-encoding': encoding });
    expect(await api.call('get')).toEqual({
      ...text('The answer has more than the 100000 bytes that are taken. Ask for less.'),
      isError: true,
    });
    answers(200, 'text/plain', 'not packed at all', { 'content-encoding': encoding });
    await expect(api.call('get')).rejects.toMatchObject({ code: 'upstream_failed' });
  });

  test.each(['gzip', 'br', 'deflate'])(
    'that is empty is its status, though it names an encoding (%s)',
    async (encoding) => {
      const named = { 'content-encoding': encoding };
      answers(204, undefined, '', named);
      expect(await api.call('get')).toEqual(text('HTTP 204 No Content'));
      answers(200, 'application/json', '', { ...named, 'content-length': '0' });
      expect(await api.call('get')).toEqual(text('HTTP 200 OK'));
      answers(200, 'application/json', '', { ...named, 'transfer-encoding': 'chunked' });
      expect(await api.call('get')).toEqual(text('HTTP 200 OK'));
      answers(302, undefined, '', { ...named, location: '/there' });
      rest.on('/there', (_, res) => res.end('there'));
      expect(await api.call('get')).toEqual(text('there'));
    },
  );

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('that is cut off, in the middle or before its first byte, is not an empty one (%s)', async (encoding, pack) => {
    const packed = pack(randomBytes(100));
    for (const length of [1, 4, packed.length - 1]) {
      answers(200, 'text/plain', packed.subarray(0, length), { 'content-encoding': encoding });
      await expect(api.call('get')).rejects.toMatchObject({ code: 'upstream_failed' });
    }
    rest.on('/get', (_, res) => {
      res.writeHead(200, { 'content-encoding': encoding, 'content-length': '10' }).flushHeaders();
      res.destroy();
    });
    await expect(api.call('get')).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('an exchange', () => {
  test('that takes too long fails with timeout, and is ended', async () => {
    // None at all where the machine was too busy to send the request in that time.
    let open = 0;
    rest.on('/get', (_, res) => {
      open++;
      res.writeHead(200).write('beginning');
      res.on('close', () => open--);
    });
    const slow = openApi(
      { schema: documentOf(rest.origin, { '/get': { get: { operationId: 'get' } } }) },
      { timeoutMs: 100 },
    );
    await expect(slow.call('get')).rejects.toMatchObject({
      code: 'timeout',
      message: 'Server "api" did not answer within 100 ms.',
    });
    await until('the connection is ended', () => open === 0);
  });

  test.each(['abandon', 'cancelled', 'close'])('is ended by %s, and nothing is heard of it', async (how) => {
    let begun = false;
    let ended = false;
    rest.on('/get', (_, res) => {
      begun = true;
      res.on('close', () => (ended = true));
    });
    let settled = false;
    void api.call('get').then(
      () => (settled = true),
      () => (settled = true),
    );
    await until('the call arrived', () => begun);
    if (how === 'abandon') api.channel.abandon(1);
    if (how === 'cancelled')
      api.channel.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    if (how === 'close') await api.channel.close();
    await until('the exchange is ended', () => ended);
    if (how !== 'close') await api.call('post', { body: 1 });
    expect(settled).toBe(false);
  });

  test('that breaks off, or cannot begin, says so', async () => {
    rest.on('/get', (_, res) => res.destroy());
    const broken = { code: 'upstream_failed', message: expect.stringContaining('broke off') as string };
    await expect(api.call('get')).rejects.toMatchObject({ ...broken, isLost: false });
    // It may have been carried out.
    rest.on('/post', (_, res) => res.writeHead(200, { 'content-length': '9' }).write('{', () => res.destroy()));
    await expect(api.call('post', { body: 1 })).rejects.toMatchObject({ ...broken, isLost: true });
    const nowhere = openApi({ schema: documentOf('http://127.0.0.1:1', { '/get': { get: { operationId: 'get' } } }) });
    await expect(nowhere.call('get')).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: 'Cannot reach http://127.0.0.1:1: connection refused. Is the server running?',
    });
  });
});

describe('a redirect', () => {
  const redirect = (path: string, status: number, location: string) =>
    rest.on(path, (_, res) => res.writeHead(status, { location }).end());

  test('within the API is followed, with its credentials', async () => {
    redirect('/get', 302, '/there?page=2');
    const got = await api.sent('get', { 'X-Arg': 'a', c: 'b' });
    expect(rest.received.at(-1)).toMatchObject({
      method: 'GET',
      query: [
        ['page', '2'],
        ['key', 'operators-key'],
      ],
      cookies: [['c', 'b']],
    });
    expect(rest.received.at(-1)?.headers).toMatchObject({ 'x-secret-token': 'operators-token', 'x-arg': 'a' });
    expect(got.path).toBe('/there');
  });

  test('to another server is followed without credentials, and stays without them on the way back', async () => {
    const other = await restApi();
    redirect('/get', 302, `${other.origin}/elsewhere`);
    await api.sent('get', { 'X-Arg': 'private', c: 'private' });
    const got = other.received[0];
    expect(got).toMatchObject({ path: '/elsewhere', query: [], cookies: [] });
    expect(Object.keys(got?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    // Neither there nor back home does a further step regain them.
    other.on('/elsewhere', (_, res) => res.writeHead(302, { location: '/further' }).end());
    other.on('/further', (_, res) => res.writeHead(302, { location: `${rest.origin}/home` }).end());
    redirect('/home', 302, '/back');
    await api.sent('get', {});
    expect(other.received.at(-1)).toMatchObject({ path: '/further', query: [] });
    expect(other.received.at(-1)?.headers).not.toHaveProperty('x-secret-token');
    expect(rest.received.at(-1)).toMatchObject({ path: '/back', query: [] });
    expect(rest.received.at(-1)?.headers).not.toHaveProperty('x-secret-token');
  });

  test.each([
    [303, 'post', 'GET', ''],
    [302, 'post', 'GET', ''],
    [301, 'put', 'PUT', '1'],
    [307, 'post', 'POST', '1'],
    [308, 'put', 'PUT', '1'],
  ])('%s of a %s is repeated as %s', async (status, name, method, body) => {
    redirect('/post', status, '/there');
    expect(await api.sent(name, { body: 1 })).toMatchObject({ method, body });
  });

  test('of anything but a question is not repeated at another server', async () => {
    const other = await restApi();
    redirect('/post', 307, `${other.origin}/there`);
    for (const [name, args] of [
      ['post', { body: 1 }],
      ['delete', {}],
    ] as const) {
      await expect(api.call(name, args)).rejects.toMatchObject({
        code: 'upstream_failed',
        message: expect.stringContaining('was not repeated there'),
      });
    }
    expect(other.received).toEqual([]);
  });

  test('that goes round, or to another scheme, ends', async () => {
    redirect('/get', 302, '/get');
    expect((await api.call('get')).content[0]?.text).toBe('HTTP 302 Found');
    expect(rest.received).toHaveLength(6);
    redirect('/get', 302, 'file:///etc/passwd');
    await expect(api.call('get')).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('a step of a redirect', () => {
  const step = (from: string, location: string) =>
    redirected(
      { method: 'GET', url: new URL(from), body: undefined, trusted: true },
      { status: 302, headers: { location } },
    );

  test('never goes from https back to http', () => {
    expect(() => step('https://a.example/x', 'http://a.example/x')).toThrow(
      expect.objectContaining({ code: 'upstream_failed' }),
    );
    expect(step('http://a.example/x', 'https://a.example/x')?.trusted).toBe(false);
    expect(step('https://a.example/x', '//b.example/y')?.trusted).toBe(false);
    expect(step('https://a.example/x', '/y')).toMatchObject({ trusted: true, url: new URL('https://a.example/y') });
  });
});

describe('the private network', () => {
  const stranger = { allowPrivateAddresses: false };
  const publicName = 'http://localhost';

  test('is closed to servers of users: the document, the API and the token endpoint', async () => {
    const document = documentOf(rest.origin, { '/get': { get: { operationId: 'get' } } });
    expect(await openApi({ url: `${rest.origin}/openapi.json` }, stranger).closed).toMatchObject({ code: 'forbidden' });
    const opened = openApi({ schema: document }, stranger);
    const result = await opened.call('get');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('may not connect to') }],
    });
    // Any caller reads the result; the address is for those who read the log of the server.
    expect(JSON.stringify(result)).not.toMatch(/127\.0\.0|localhost/);
    expect(JSON.stringify(opened.logged)).toContain('not on the public internet');
    const oauth2 = { tokenUrl: `${publicName}:${new URL(rest.origin).port}/token`, clientId: 'x', clientSecret: 'y' };
    expect(
      (await openApi({ schema: document, security: { type: 'oauth2', oauth2 } }, stranger).call('get')).isError,
    ).toBe(true);
    expect(rest.received).toEqual([]);
  });

  test('is closed at every hop of a redirect', async () => {
    // 127.0.0.1 stands for a public server: it is in the allowed range, 127.0.0.2 is not.
    const allowed = { ...stranger, allowedCidrs: ['127.0.0.1/32'] };
    const inside = rest.origin.replace('127.0.0.1', '127.0.0.2');
    rest.on('/get', (_, res) => res.writeHead(302, { location: `${inside}/admin` }).end());
    rest.on('/doc', (_, res) => res.writeHead(302, { location: `http://169.254.169.254/latest/meta-data/` }).end());
    const document = documentOf(rest.origin, { '/get': { get: { operationId: 'get' } } });
    const opened = openApi({ schema: document }, allowed);
    expect((await opened.call('get')).content[0]?.text).not.toContain('127.0.0.2');
    expect(JSON.stringify(opened.logged)).toContain('Cannot connect to 127.0.0.2');
    expect((await openApi({ url: `${rest.origin}/doc` }, allowed).closed).message).toContain(
      'Cannot connect to 169.254.169.254',
    );
  });
});
