import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { beforeAll, describe, expect, test } from 'vitest';
import { subjects } from '../../src/http/docs/all.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { jsonHeaders, raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// /api/docs: the management API describes itself.

type Schema = Record<string, unknown>;

interface OperationObject {
  operationId: string;
  summary: string;
  security?: Schema[];
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content: Record<string, { schema: Schema }> }>;
}

interface OpenApi {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
}

let hub: TestHub;
let document: OpenApi;
let admin: string;
let user: string;

beforeAll(async () => {
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  hub = await testHub({
    folder,
    mcpServers: { alpha: { ...(await hostileHttp({ tools: ['echo'] })).config, visibility: 'public' } },
    groups: [
      { id: 'g1', name: 'dev', servers: [{ name: 'alpha', tools: ['echo'] }], owner: 'admin', visibility: 'public' },
      // The path of its document is that of ours.
      { id: 'docs', name: 'docs', servers: ['alpha'], owner: 'admin' },
    ],
    prompts: [{ id: 'p', name: 'p', template: 'x', arguments: [{ name: 'a' }] }],
    resources: [{ id: 'r', uri: 'docs://r', content: 'x' }],
    // The audit log is read from the database.
    env: { DB_URL: '', LOG_LEVEL: 'info', MCP_REGISTRY_URL: 'http://127.0.0.1:9' },
  });
  await hub.connected(1);
  admin = await login(hub);
  user = await userToken(hub, admin, 'ann', { groups: ['dev'] });
  await keyToken(hub, admin, { owner: 'ann' });
  const headers = { authorization: `Bearer ${user}` };
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-echo', arguments: {} }, { headers });
  document = await fetched(hub);
});

async function fetched(on: Pick<TestHub, 'url'>): Promise<OpenApi> {
  const { status, headers, text } = await raw(`${on.url}/api/docs/openapi.json`, { method: 'GET' });
  expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  return JSON.parse(text) as OpenApi;
}

/** Every operation as `GET /groups/{id}`. */
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
const concrete = (path: string) => path.replace(/\{\w+\}/g, 'no-such-thing');

/** A call of the user that waits for the yes of a person; its id. */
async function waitingCall(): Promise<string> {
  const text = '@approve("admin") forbid(principal, action, resource);';
  await api(hub, 'PUT', '/system-config', { token: admin, body: { policies: [{ id: 'ask', text }] } });
  const left = new AbortController();
  const params = { name: 'alpha-echo', arguments: {} };
  const gone = fetch(hub.mcp(), {
    method: 'POST',
    signal: left.signal,
    headers: { ...jsonHeaders, authorization: `Bearer ${user}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }).catch(() => undefined);
  const waiting = async () => (await api(hub, 'GET', '/approvals', { token: user })).body.data as { id: string }[];
  await until('it waits', async () => (await waiting()).length > 0);
  left.abort();
  await gone;
  await api(hub, 'PUT', '/system-config', { token: admin, body: { policies: null } });
  return (await waiting())[0]?.id ?? '';
}

describe('the document', () => {
  test('has every mounted route, and nothing but mounted routes', () => {
    // One that no table describes has no summary.
    const undescribed = operations().filter(({ operation }) => operation.summary === '');
    expect(undescribed.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    const served = operations().map(({ method, path }) => `${method} ${path}`);
    const described = subjects.flatMap(({ operations }) =>
      Object.keys(operations).map((key) => key.replace(/:(\w+)/g, '{$1}')),
    );
    expect(served.sort()).toEqual(described.sort());
  });

  test('is OpenAPI 3.1 whose references, parameters and ids hold', () => {
    expect(document.openapi).toBe('3.1.1');
    expect(document.servers).toEqual([{ url: '/api' }]);
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations()) {
      expect(operation.operationId).toMatch(/^[a-z]\w+$/);
      const inPath = operation.parameters.filter(({ in: where }) => where === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
    }
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name);
    // Nothing of a schema was lost on the way.
    expect(JSON.stringify(document)).not.toMatch(/undefined|\[object|"\$schema"/);
  });

  test('says who may call what: without a credential', async () => {
    for (const { method, path, operation } of operations()) {
      const { status } = await api(hub, method, concrete(path));
      if (operation.security === undefined) expect(status, `${method} ${path}`).toBe(401);
      else expect(operation.security[0], path).toEqual({});
      if (operation.security !== undefined && !path.endsWith('login'))
        expect(status, `${method} ${path}`).not.toBe(401);
    }
  });

  test('says who may call what: admins only', async () => {
    for (const { method, path, operation } of operations()) {
      // The one would end the token, the others never end.
      if (['/auth/logout', '/logs/stream', '/events'].includes(path)) continue;
      const { status, body } = await api(hub, method, concrete(path), { token: user });
      const refused = status === 403 && body.message === 'Only admins may do this.';
      expect(refused, `${method} ${path}`).toBe(operation.responses['403'] !== undefined);
    }
  });

  test('describes what the hub answers, to the last member', async () => {
    const examples: Record<string, string> = {
      '/groups/{id}': '/groups/dev',
      '/groups/{id}/servers': '/groups/dev/servers',
      '/groups/{id}/server-configs': '/groups/dev/server-configs',
      '/groups/{id}/server-configs/{serverName}': '/groups/dev/server-configs/alpha',
      '/groups/{id}/share-candidates': '/groups/dev/share-candidates',
      '/groups/{id}/server-configs/{serverName}/tools/{tool}/override':
        '/groups/dev/server-configs/alpha/tools/echo/override',
      '/servers/{server}/tools/{item}/override': '/servers/alpha/tools/echo/override',
      '/servers/{name}': '/servers/alpha',
      '/prompts/{id}': '/prompts/p',
      '/resources/{id}': '/resources/r',
      '/servers/{name}/share-candidates': '/servers/alpha/share-candidates',
      '/users/{username}': '/users/ann',
      '/why': '/why?tool=alpha-echo',
      '/tools/{serverName}/{toolName}': '/tools/alpha/echo',
      '/{name}/tools/{serverName}/{toolName}': '/dev/tools/alpha/echo',
      '/{name}/openapi.json': '/dev/openapi.json',
    };
    const [called] = (await api(hub, 'GET', '/activities', { token: admin })).body.data as { id: string }[];
    examples['/activities/{id}'] = `/activities/${called?.id}`;
    examples['/approvals/{id}'] = `/approvals/${await waitingCall()}`;
    let compared = 0;
    for (const { path, operation } of operations().filter(({ method }) => method === 'GET')) {
      const schema = operation.responses['200']?.content['application/json']?.schema;
      // The registry is not ours to ask in tests.
      if (!schema || path.endsWith('.yaml') || path === '/registry/servers') continue;
      for (const token of [admin, user]) {
        // For admins, or for the owner of the thing.
        if (token === user && (operation.responses['403'] || /\/(share-candidates|override)$/.test(path))) continue;
        const { status, text } = await api(hub, 'GET', examples[path] ?? path, { token });
        expect(status, `${path} ${text}`).toBe(200);
        expect(problems(schema, JSON.parse(text)), `${path} ${text.slice(0, 500)}`).toEqual([]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(30);
  });

  test('describes failures', async () => {
    const failures = [
      await api(hub, 'GET', '/groups'),
      await api(hub, 'GET', '/groups/nobody', { token: user }),
      await api(hub, 'POST', '/users', { token: admin, body: { username: 1 } }),
    ];
    for (const { text } of failures) {
      expect(problems({ $ref: '#/components/schemas/Failure' }, JSON.parse(text)), text).toEqual([]);
    }
    const bare = await api(hub, 'GET', '/tools/nobody/nothing');
    expect(problems({ $ref: '#/components/schemas/BareFailure' }, JSON.parse(bare.text)), bare.text).toEqual([]);
  });

  test('has the bounds that are enforced', async () => {
    const bodyOf = (path: string, method: string) =>
      document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema ?? {};
    const short = { username: 'x', password: '12345' };
    expect(problems(bodyOf('/users', 'post'), short)).not.toEqual([]);
    expect((await api(hub, 'POST', '/users', { token: admin, body: short })).status).toBe(400);
    const good = { username: 'documented', password: '123456' };
    expect(problems(bodyOf('/users', 'post'), good)).toEqual([]);
    expect((await api(hub, 'POST', '/users', { token: admin, body: good })).status).toBe(201);
    for (const { path, method, operation } of operations()) {
      const schema = operation.requestBody?.content['application/json']?.schema;
      // What an empty body is, before anything else is looked at; a table that names no members says nothing here.
      if (!schema || !Array.isArray(schema['required'])) continue;
      const { status } = await api(hub, method, concrete(path), { token: admin, body: {} });
      expect([400, 404], `${method} ${path}`).toContain(status);
    }
  });

  test('is ours also where a group or server is called docs, and knows nothing of this hub', async () => {
    expect(document.info.title).toBe('Tool Hub management API');
    const other = await testHub({ mcpServers: {}, env: { BASE_PATH: '/hub' } });
    const there = await fetched(other);
    expect(there).toEqual({ ...document, servers: [{ url: '/hub/api' }] });
  });
});

describe('the page', () => {
  test('shows every operation without a script, and nothing from elsewhere', async () => {
    const { status, headers, text } = await raw(`${hub.url}/api/docs`, { method: 'GET' });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=UTF-8']);
    const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? '';
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text).not.toMatch(/<script|<link|<img|<iframe|javascript:|\son\w+=|style="|src=|url\(|@import/);
    expect([...text.matchAll(/href="([^"]*)"/g)].map(([, to]) => to)).toEqual(['/api/docs/openapi.json']);
    for (const { path, operation } of operations()) {
      expect(text).toContain(`<code>${path}</code>`);
      expect(text).toContain(escaped(operation.summary));
    }
  });

  test('is not there with DISABLE_WEB, while the document is', async () => {
    const bare = await testHub({ mcpServers: {}, env: { DISABLE_WEB: 'true' } });
    expect((await api(bare, 'GET', '/docs')).status).toBe(404);
    expect((await fetched(bare)).paths).not.toHaveProperty('/docs');
  });
});

/** What is wrong with a value by a schema of the document, taken strictly: members it does not name are wrong too. */
function problems(schema: Schema, value: unknown): string[] {
  const strict = closed({ ...schema, components: { schemas: document.components.schemas } }) as Schema;
  return new Validator(strict, '2020-12').validate(value).errors.map((one) => `${one.instanceLocation} ${one.error}`);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const names = members['type'] === 'object' && members['properties'] !== undefined;
  return names && members['additionalProperties'] === undefined ? { ...members, additionalProperties: false } : members;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
