import { describe, expect, test } from 'vitest';

import type { HubError } from '../../../core/errors.ts';
import { documentOf, openApi, restApi } from '../../../../test/kit/openapi.ts';
import { parseDocument } from './document.ts';
import { baseUrl, type ServerChoice } from './servers.ts';

const withParameter = (parameter: string) =>
  `openapi: 3.0.0\nservers: [{url: http://127.0.0.1:1}]\npaths: {/a: {get: {parameters: [${parameter}]}}}`;

const get = (more = {}) => ({ get: { operationId: 'one', responses: {}, ...more } });
const minimal = (more = {}) => documentOf('http://127.0.0.1:1', { '/one': get() }, more);

/** Why an API with these settings cannot be opened. */
const refusal = async (openapi: Record<string, unknown>, options = {}) =>
  (await openApi(openapi, options).closed).message;

test.each([
  ['openapi: 3.0.0\n\tpaths: {}', 'api_unreadable', /at line 2, column 1$/],
  ['<!doctype html><p>Swagger UI</p>', 'api_no_document', /openapi.schema/],
  ['swagger: "2.0"', 'api_swagger', /openapi.schema/],
  ['openapi: 4.0.0', 'api_version', /openapi.schema/],
  [withParameter('{$ref: "#/no"}'), 'api_without_operations', /GET \/a .* could not be read: "#\/no" leads to none$/],
  [withParameter('5'), 'api_without_operations', /it is no object$/],
  [withParameter('{in: query}'), 'api_without_operations', /it has no "name"$/],
  [withParameter('{name: x, in: body}'), 'api_without_operations', /"x" has no "in" of path, query, header, cookie$/],
])('a document %j says why by name: %s', async (schema, code, value) => {
  const error = await openApi({ schema })
    .tools()
    .then(
      () => undefined,
      (thrown: unknown) => thrown as HubError,
    );
  expect(error?.reason?.code).toBe(code);
  expect(Object.values(error?.reason?.values ?? {}).join()).toMatch(value);
});

describe('a document', () => {
  test.each<[string, string | Buffer, Record<string, string>]>([
    ['JSON as text/plain', JSON.stringify(minimal()), { 'content-type': 'text/plain' }],
    ['JSON with a byte order mark', `\uFEFF${JSON.stringify(minimal())}`, {}],
    [
      'YAML as application/json',
      'openapi: 3.0.1\nservers: [{url: http://127.0.0.1:1}]\npaths: {/one: {get: {operationId: one}}}',
      { 'content-type': 'application/json' },
    ],
    [
      'YAML with merge keys',
      'openapi: 3.0.1\nx: &x {operationId: one}\nservers: [{url: http://127.0.0.1:1}]\npaths: {/one: {get: {<<: *x}}}',
      {},
    ],
    [
      'YAML with a cyclic alias',
      'openapi: 3.0.1\nservers: [{url: http://127.0.0.1:1}]\npaths: {/one: {get: {operationId: one, requestBody: {content: {application/json: {schema: &s {properties: {a: *s, b: *s}}}}}}}}',
      {},
    ],
  ])('is read as %s', async (_, body, headers) => {
    const rest = await restApi();
    rest.on('/openapi', (_got, res) => res.writeHead(200, headers).end(body));
    expect((await openApi({ url: `${rest.origin}/openapi` }).tools()).map(({ name }) => name)).toEqual(['one']);
  });

  test('is taken inline, as an object or as text', async () => {
    expect(await openApi({ schema: minimal() }).tools()).toHaveLength(1);
    expect(await openApi({ schema: JSON.stringify(minimal()) }).tools()).toHaveLength(1);
  });

  test.each([
    [
      'openapi: 3.0.0\npaths:\n  /a: [1,\n  /b: }',
      'Cannot read "openapi.schema" of server "api" as an OpenAPI document: deficient indentation at line 4, column 3.',
    ],
    ['openapi: 3.0.0\n\tpaths: {}', 'at line 2, column 1'],
    ['{"openapi": "3.0.0"\n "paths": {}}', 'at line 2, column 2'],
    ['<!doctype html><p>Swagger UI</p>', 'it is not an object. Is this the address of the documentation page'],
    ['swagger: "2.0"', 'it is Swagger 2.0. Convert it to OpenAPI 3'],
    ['openapi: 4.0.0', 'Its member "openapi" must say "3.0.x" or "3.1.x"'],
    ['[1]', 'it is not an object'],
    [`a: ${'['.repeat(5_000)}`, 'nesting exceeded'],
  ])('%j is refused with what is wrong, and where', async (schema, why) => {
    expect(await refusal({ schema })).toContain(why);
  });

  test('that is larger than allowed, late, or not there is refused by its address without the query', async () => {
    const rest = await restApi();
    const shown = `${rest.origin}/openapi`;
    const url = `${shown}?key=secret`;
    rest.on('/openapi', (_, res) => res.writeHead(200).end(Buffer.alloc(17 * 1024 * 1024, ' ')));
    expect(await refusal({ url })).toContain('more than the 16777216 bytes');
    rest.on('/openapi', (_, res) => res.writeHead(401).end());
    expect(await refusal({ url })).toBe(
      `Cannot fetch the OpenAPI document of server "api" from ${shown}: HTTP 401. Give it credentials with "openapi.specSecurity".`,
    );
    rest.on('/openapi', () => {});
    expect(await refusal({ url }, { timeoutMs: 50 })).toBe(
      `Fetching the OpenAPI document of server "api" from ${shown} took longer than 50 ms.`,
    );
    expect(await refusal({ url: 'http://127.0.0.1:1/openapi?key=secret' })).toBe(
      'Cannot reach http://127.0.0.1:1: connection refused. Is the server running?',
    );
  });

  test('keeps __proto__ as a name like any other', () => {
    const parsed = parseDocument('openapi: 3.1.0\n__proto__: {polluted: 1}', 'x');
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('when refused fails the requests that wait for it, and no later one is taken', async () => {
    const api = openApi({ schema: 'openapi: 9' });
    await expect(api.tools()).rejects.toMatchObject({ code: 'misconfigured' });
    expect(() => api.channel.send('{"jsonrpc":"2.0","id":9,"method":"ping"}', 9)).toThrow(
      expect.objectContaining({ code: 'upstream_unavailable' }),
    );
  });
});

describe('settings', () => {
  test.each([
    [{}, 'openapi.url: give the "url" of the document, or the document as "schema"'],
    [{ url: 'ftp://x/y' }, 'openapi.url: must be an http or https URL'],
    [
      { url: 'http://x', security: { type: 'apiKey', apiKey: { name: 'k', in: 'body', value: 'v' } } },
      'openapi.security.apiKey.in: ',
    ],
    [
      { url: 'http://x', security: { type: 'apiKey', apiKey: { name: 'k', in: 'query', value: '' } } },
      'openapi.security.apiKey.value: must not be empty',
    ],
    [
      { url: 'http://x', security: { type: 'http', http: { scheme: 'digest', credentials: 'x' } } },
      'openapi.security.http.scheme: ',
    ],
    [
      { url: 'http://x', security: { type: 'oauth2', oauth2: { clientId: 'x' } } },
      'openapi.security.oauth2: give tokenUrl and clientId, or a token',
    ],
    [
      { url: 'http://x', security: { type: 'oauth2', oauth2: { clientId: 'x', tokenUrl: 'file:///x' } } },
      'openapi.security.oauth2.tokenUrl: must be an http or https URL',
    ],
    [
      { url: 'http://x', specSecurity: { type: 'openIdConnect', openIdConnect: { url: 'x' } } },
      'openapi.specSecurity.openIdConnect.token: give a token',
    ],
    [{ url: 'http://x', security: { type: 'magic' } }, 'openapi.security.type: '],
    [{ url: 'http://x', baseUrl: '/v1' }, 'openapi.baseUrl: must be an http or https URL'],
    [{ url: 'http://x', baseUrl: 'http://x/?key=1' }, 'openapi.baseUrl: must have no query and no login'],
    [{ url: 'http://x', baseUrl: 'http://me:pw@x' }, 'openapi.baseUrl: must have no query and no login'],
    [{ url: 'http://x', mediaTypes: { one: 7 } }, 'openapi.mediaTypes.one: '],
  ])('%j are refused by path', (openapi, why) => {
    expect(() => openApi(openapi)).toThrow(
      expect.objectContaining({ code: 'misconfigured', message: expect.stringContaining(why) }),
    );
  });

  test('with a header that cannot be sent are refused', () => {
    expect(() => openApi({ schema: minimal() }, { headers: { 'X-A': 'a\r\nX-B: b' } })).toThrow(
      expect.objectContaining({ code: 'misconfigured' }),
    );
  });
});

describe('the server address', () => {
  const asWritten = { baseUrl: undefined, variables: {} };
  const base = (servers: unknown, url?: string, choice: ServerChoice = asWritten) =>
    baseUrl(servers, url, choice)?.href;
  test.each([
    [[{ url: 'https://a.example/v1/' }], undefined, 'https://a.example/v1'],
    [[{ url: '/v2' }], 'https://h.example/docs/openapi.json', 'https://h.example/v2'],
    [[{ url: '../v3' }], 'https://h.example/docs/a/openapi.json', 'https://h.example/docs/v3'],
    [undefined, 'https://h.example/docs/openapi.json', 'https://h.example/'],
    [[], 'https://h.example/docs/openapi.json', 'https://h.example/'],
    [
      [{ url: '{s}/api/v1', variables: { s: { default: 'http://localhost:5055' } } }],
      'https://raw.example/x',
      'http://localhost:5055/api/v1',
    ],
    [
      [{ url: 'https://{a}.example:{p}', variables: { a: { default: 'x' }, p: { default: 8443 } } }],
      undefined,
      'https://x.example:8443/',
    ],
    [[{ url: 'https://{region}.example' }, { url: 'https://b.example' }], undefined, 'https://b.example/'],
    [[{ url: 'ftp://a.example' }, { url: 'https://b.example' }], undefined, 'https://b.example/'],
    [[{ url: 'https://user:pw@a.example/x?y#z' }], undefined, 'https://a.example/x'],
    [[{ url: '/v2' }], undefined, undefined],
  ])('%j from %s is %s', (servers, url, expected) => expect(base(servers, url)).toBe(expected));

  test('is what the operator says, whatever the document says, and variables have the operator’s values before their defaults', async () => {
    const variables = { region: 'eu', port: '8443' };
    const template = [{ url: 'https://{region}.example:{port}/v1', variables: { region: { default: 'us' } } }];
    expect(base(template, undefined, { baseUrl: undefined, variables })).toBe('https://eu.example:8443/v1');
    const mine = 'https://mine.example/api/';
    for (const servers of [template, [{ url: '/v2' }], undefined])
      expect(base(servers, undefined, { baseUrl: mine, variables })).toBe('https://mine.example/api');

    const rest = await restApi();
    const relative = minimal({ servers: [{ url: '/v1' }] });
    const moved = openApi({ schema: relative, baseUrl: `${rest.origin}/moved` });
    expect((await moved.sent('one', {})).path).toBe('/moved/one');
    const filled = minimal({ servers: [{ url: 'http://{host}/of-host' }] });
    const host = { host: new URL(rest.origin).host };
    expect((await openApi({ schema: filled, serverVariables: host }).sent('one', {})).path).toBe('/of-host/one');
    expect(await refusal({ schema: filled })).toContain('openapi.serverVariables');
  });

  test('of an operation, or a path, goes before the document’s', async () => {
    const [rest, other] = [await restApi(), await restApi()];
    const there = { servers: [{ url: `${other.origin}/there` }] };
    const schema = documentOf(rest.origin, {
      '/a': get(there),
      '/b': { ...there, get: { operationId: 'two' } },
      '/c': { get: { operationId: 'three' } },
    });
    const api = openApi({ schema });
    expect((await api.sent('one', {})).path).toBe('/there/a');
    expect((await api.sent('two', {})).path).toBe('/there/b');
    expect((await api.sent('three', {})).path).toBe('/c');
    expect([other.received.length, rest.received.length]).toEqual([2, 1]);
  });

  test('is missed in an inline document with relative servers', async () => {
    expect(await refusal({ schema: minimal({ servers: [{ url: '/v1' }] }) })).toContain(
      'GET /one has no server address',
    );
  });
});
