import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import type { AuditRecord } from '../../src/core/answers/audit.ts';
import { auditActions, notAudited } from '../../src/http/frame/audit-actions.ts';
import { createChainCheck } from '../../src/logs/audit/chain.ts';
import { auditLimits } from '../../src/logs/audit/limits.ts';
import { settingsLimits } from '../../src/settings/limits.ts';
import { api, cookieLogin, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { runProgram } from '../kit/command.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { raw, rpc } from '../kit/raw.ts';
import { setUpTotp } from '../kit/second-factor.ts';
import { hubProcess, type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { zip } from '../kit/zip.ts';

// The audit log (CONTRACT §9): who did what, from where, with what before and after.

let hub: TestHub;
let admin: string;

beforeAll(async () => {
  // Folders of policies and of skills are looked at as often.
  setLimits(settingsLimits, { settingsPollMs: 100 });
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  const { config } = await hostileHttp({ tools: ['echo', 'secret'] });
  hub = await testHub({
    mcpServers: {
      alpha: { ...config, visibility: 'public' },
      own: { ...config, enabled: false, credentialTemplate: [{ target: 'headers', name: 'X-Key' }] },
    },
    folder,
    env: { DB_URL: '' },
  });
  admin = await login(hub);
});

async function records(query = '', on: TestHub = hub, token = admin): Promise<AuditRecord[]> {
  const { status, text, body } = await api(on, 'GET', `/audit?limit=1000${query}`, { token });
  expect(status, text).toBe(200);
  return body.data as AuditRecord[];
}

/** Those after the record of that id, newest first. */
async function madeSince(id: number): Promise<AuditRecord[]> {
  const limit = 10;
  const { body } = await api(hub, 'GET', `/audit?limit=${limit}`, { token: admin });
  const made = (body.data as AuditRecord[]).filter((record) => record.id > id);
  // All of them, and not only the newest.
  expect(made.length).toBeLessThan(limit);
  return made;
}

async function exported(on: TestHub = hub, token = admin): Promise<AuditRecord[]> {
  const { status, text } = await api(on, 'GET', '/audit/export', { token });
  expect(status, text).toBe(200);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditRecord);
}

function verified(all: readonly AuditRecord[]) {
  const check = createChainCheck();
  for (const record of all) check.take(record);
  return check.done();
}

interface Step {
  readonly route: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token?: string;
  /** Part of what is recorded. */
  readonly says?: object;
}

/** Requests in an order in which each of them succeeds. */
async function steps(): Promise<Step[]> {
  const ann = await userToken(hub, admin, 'ann', { servers: ['own'] });
  const [eve, bob] = [await userToken(hub, admin, 'eve'), await userToken(hub, admin, 'bob')];
  await keyToken(hub, admin, { name: 'old' });
  const keys = (await api(hub, 'GET', '/auth/keys', { token: admin })).body.data as { id: string; name: string }[];
  const key = keys.find(({ name }) => name === 'old')?.id ?? '';
  await cookieLogin(hub, 'ann', passwordOf('ann'));
  const sessions = (await api(hub, 'GET', '/auth/sessions', { token: ann })).body.data as { id: string }[];
  const session = sessions[0]?.id ?? '';
  const alpha = hub.hub.servers().find(({ name }) => name === 'alpha');
  expect(alpha?.status).toBe('connected');
  const url = 'http://127.0.0.1:9/mcp';
  const config = { type: 'streamable-http', url, headers: { 'X-Api': 'a-secret-value' }, enabled: false };
  const step = (route: string, path: string, body?: unknown, more: Partial<Step> = {}): Step => ({
    route,
    path,
    body,
    ...more,
  });
  return [
    step(
      'POST /auth/login',
      '/auth/login',
      { username: 'ann', password: passwordOf('ann') },
      {
        says: { actor: { kind: 'user', name: 'ann' }, target: 'ann', via: 'api' },
      },
    ),
    step('POST /auth/reauthenticate', '/auth/reauthenticate', { password: passwordOf('ann') }, { token: ann }),
    step('DELETE /auth/sessions/:id', `/auth/sessions/${session}`, undefined, { token: ann }),
    step('DELETE /auth/sessions', '/auth/sessions', undefined, { token: ann }),
    step(
      'PUT /credentials/:name',
      '/credentials/own',
      { values: { headers: { 'X-Key': 'their-own-secret' } } },
      {
        token: ann,
        says: { actor: { kind: 'user', name: 'ann' }, target: 'own' },
      },
    ),
    step('DELETE /credentials/:name', '/credentials/own', undefined, { token: ann }),
    step(
      'POST /servers',
      '/servers',
      { name: 'beta', config },
      {
        says: { target: 'beta', before: { mcpServers: {} }, after: { mcpServers: { beta: { url } } } },
      },
    ),
    step('POST /servers/batch', '/servers/batch', { servers: [{ name: 'gamma', config }] }),
    step('POST /servers/import', '/servers/import', { text: JSON.stringify({ mcpServers: { delta: { url } } }) }),
    step(
      'PUT /servers/:name',
      '/servers/beta',
      { config: { ...config, headers: { 'X-Api': 'another-secret' } } },
      {
        says: {
          target: 'beta',
          before: { mcpServers: { beta: { headers: { 'X-Api': '••••' } } } },
          after: { mcpServers: { beta: { headers: { 'X-Api': '•••• (changed)' } } } },
        },
      },
    ),
    step(
      'POST /servers/:name/toggle',
      '/servers/gamma/toggle',
      { enabled: true },
      {
        says: {
          before: { mcpServers: { gamma: { enabled: false } } },
          after: { mcpServers: { gamma: { enabled: true } } },
        },
      },
    ),
    step('POST /servers/:name/reload', '/servers/alpha/reload'),
    step('POST /servers/:name/payloads', '/servers/alpha/payloads', { minutes: 1 }),
    step('DELETE /servers/:name/payloads', '/servers/alpha/payloads'),
    ...['tools', 'prompts', 'resources'].flatMap((kind) => {
      const path = `/servers/:server/${kind}`;
      const at = `/servers/gamma/${kind}`;
      return [
        step(`POST ${path}/toggle`, `${at}/toggle`, { items: ['a', 'b'], enabled: false }),
        step(`POST ${path}/:item/toggle`, `${at}/a/toggle`, { enabled: true }, { says: { target: 'gamma/a' } }),
        step(`PUT ${path}/:item/description`, `${at}/a/description`, { description: 'Other words' }),
        step(`DELETE ${path}/:item/description`, `${at}/a/description`),
      ];
    }),
    step('PUT /servers/:server/tools/:item/override', '/servers/gamma/tools/a/override', { title: 'Other' }),
    step('DELETE /servers/:server/tools/:item/override', '/servers/gamma/tools/a/override'),
    step('PUT /servers/:server/tools/:item/max-result-tokens', '/servers/gamma/tools/a/max-result-tokens', {
      maxResultTokens: 500,
    }),
    ...(['prompts', 'resources'] as const).flatMap((kind) => {
      const body = kind === 'prompts' ? { name: 'p', template: 'x' } : { uri: 'docs://p', content: 'x' };
      return [
        step(`POST /${kind}`, `/${kind}`, { id: 'one', ...body }),
        step(`PUT /${kind}/:id`, `/${kind}/one`, { description: 'Other words' }),
        step(`DELETE /${kind}/:id`, `/${kind}/one`),
      ];
    }),
    step('POST /groups', '/groups', { name: 'dev' }, { says: { target: 'dev' } }),
    step('POST /groups/batch', '/groups/batch', { groups: [{ name: 'ops' }] }),
    step('PUT /groups/:id', '/groups/dev', { description: 'All that is needed' }),
    step('POST /groups/:id/servers', '/groups/dev/servers', { serverName: 'alpha' }),
    step('PUT /groups/:id/server-configs/:serverName/tools', '/groups/dev/server-configs/alpha/tools', {
      tools: ['echo'],
    }),
    ...(['PUT', 'DELETE'] as const).map((method) =>
      step(
        `${method} /groups/:id/server-configs/:serverName/tools/:tool/override`,
        '/groups/dev/server-configs/alpha/tools/echo/override',
        method === 'PUT' ? { title: 'Other' } : undefined,
      ),
    ),
    step('DELETE /groups/:id/servers/:serverName', '/groups/dev/servers/alpha'),
    step('PUT /groups/:id/servers/batch', '/groups/dev/servers/batch', { servers: ['beta'] }),
    step('DELETE /groups/:id', '/groups/ops', undefined, { says: { target: 'ops' } }),
    step('POST /auth/keys', '/auth/keys', { name: 'ci', accessType: 'all' }, { says: { target: 'ci' } }),
    step('PUT /auth/keys/:id', `/auth/keys/${key}`, { enabled: false }),
    step('POST /auth/keys/:id/rotate', `/auth/keys/${key}/rotate`, {}),
    step('DELETE /auth/keys/:id', `/auth/keys/${key}`),
    step('POST /users', '/users', { username: 'new', password: 'correct horse' }, { says: { target: 'new' } }),
    step(
      'PUT /users/:username',
      '/users/new',
      { password: 'battery staple' },
      {
        says: { after: { users: { new: { password: '•••• (changed)' } } } },
      },
    ),
    step('DELETE /users/:username/sessions', '/users/ann/sessions'),
    step('DELETE /users/:username', '/users/new'),
    step('PUT /system-config', '/system-config', { routing: { bearerAuthKey: 'mcphub-key-of-all' } }),
    step('POST /mcp-settings/import', '/mcp-settings/import', { mcpServers: { epsilon: config } }),
    step('GET /mcp-settings/export', '/mcp-settings/export?secrets=include', undefined, {
      says: { after: { secrets: 'include' } },
    }),
    step('POST /smart-routing/reindex', '/smart-routing/reindex'),
    step('DELETE /servers/:name', '/servers/delta'),
    step('DELETE /activities/cleanup', '/activities/cleanup?daysOld=0'),
    step('DELETE /logs', '/logs'),
    step(
      'POST /auth/change-password',
      '/auth/change-password',
      {
        currentPassword: passwordOf('eve'),
        newPassword: 'battery staple',
      },
      { token: eve },
    ),
    step('POST /pins/:server/approve', '/pins/alpha/approve', {}),
    step('POST /pins/:server/reject', '/pins/alpha/reject', { items: [] }),
    step('POST /auth/logout', '/auth/logout', {}, { token: bob }),
  ];
}

/** Those that need a program, an app or a provider: their own tests look at what they record. */
const elsewhere = [
  'POST /approvals/:id',
  'DELETE /approvals/:id',
  'POST /auth/oidc/:id/backchannel-logout',
  'DELETE /auth/grants/:id',
  'POST /auth/second-factor/passkeys/options',
  'POST /auth/second-factor/passkeys',
  'DELETE /auth/second-factor/passkeys/:id',
  'POST /auth/second-factor/totp',
  'POST /auth/second-factor/totp/confirm',
  'DELETE /auth/second-factor/totp',
  'POST /auth/second-factor/recovery-codes',
  'DELETE /users/:username/second-factor',
  'POST /servers/:name/oauth/authorize',
  'POST /servers/:name/oauth/disconnect',
  'POST /mcpb/upload',
];

test('every request that may change something makes one record, with who, from where and what', async () => {
  await hub.connected(1);
  const document = (await api(hub, 'GET', '/docs/openapi.json', {})).body as unknown as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  const changing = routes.filter((route) => !route.startsWith('GET ')).sort();
  // A new route has a name in the audit log, or a reason why it needs none.
  expect(changing.filter((route) => !(route in auditActions) && !(route in notAudited))).toEqual([]);
  const gone = [...Object.keys(auditActions), ...Object.keys(notAudited)].filter((route) => !routes.includes(route));
  expect(gone).toEqual([]);

  const all = await steps();
  const tried = [...all.map(({ route }) => route), ...elsewhere, ...Object.keys(notAudited)];
  // It is requested below, and its record is looked at.
  expect(changing.filter((route) => !tried.includes(route))).toEqual([]);
  for (const { route, path, body, token = admin, says } of all) {
    const head = await api(hub, 'GET', '/audit/head', { token: admin });
    const before = (head.body.data as { id: number }).id;
    const [method = ''] = route.split(' ');
    const answer = await api(hub, method, path, { token, ...(body !== undefined && { body }) });
    expect([200, 201], `${route}: ${answer.text}`).toContain(answer.status);
    const made = await madeSince(before);
    // The change of a hash by the hub itself may come between.
    const own = made.filter(({ action }) => action === auditActions[route]);
    expect(own, route).toHaveLength(1);
    expect(own[0], route).toMatchObject({ result: 'success', address: '127.0.0.1', via: 'api', count: 1, ...says });
    expect(own[0]?.actor.kind, route).toBe('user');
  }
  const text = JSON.stringify(await exported());
  for (const secret of [
    'a-secret-value',
    'another-secret',
    'their-own-secret',
    'correct horse',
    'battery staple',
    'argon2',
  ])
    expect(text).not.toContain(secret);
  expect(verified(await exported())).toHaveProperty('records');
});

test('second factors, and logins in browsers, are recorded as what they are', async () => {
  const token = await userToken(hub, admin, 'kim');
  await setUpTotp(hub, { token });
  expect((await records('&actor=kim&action=second-factor')).map(({ action }) => action)).toEqual([
    'second-factor.create',
    'second-factor.begin',
  ]);
  expect((await api(hub, 'DELETE', '/users/kim/second-factor', { token: admin })).status).toBe(200);
  expect((await records('&action=second-factor.reset'))[0]).toMatchObject({ target: 'kim', actor: { name: 'admin' } });
  const browser = await cookieLogin(hub);
  const made = await api(hub, 'POST', '/groups', { ...browser, body: { name: 'by-browser' } });
  expect(made.status, made.text).toBe(201);
  expect((await records('&target=by-browser'))[0]).toMatchObject({ via: 'dashboard', action: 'group.create' });
  expect((await records('&actor=admin&action=login')).some(({ via }) => via === 'dashboard')).toBe(true);
});

test('the word "dryRun" keeps no change out of the log where it has no effect', async () => {
  const [before] = await records();
  expect((await api(hub, 'DELETE', '/logs?dryRun=true', { token: admin })).status).toBe(200);
  const body = { text: '{"mcpServers":{"tried":{"url":"http://127.0.0.1:9/mcp"}}}' };
  expect((await api(hub, 'POST', '/servers/import?dryRun=true', { token: admin, body })).status).toBe(200);
  const made = (await records()).filter(({ id }) => id > (before?.id ?? 0));
  expect(made.map(({ action }) => action)).toEqual([auditActions['DELETE /logs']]);
});

test('an app that a user lets in or refuses, and one that is shut out, are recorded', async () => {
  const client = await handClient(hub.url, undefined, 'Some app');
  const { status } = await client.redeem(await authorize(client.address(), { reach: ['alpha'] }));
  expect(status).toBe(200);
  await authorize(client.address(), { decision: 'deny' });
  const grants = (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as { id: string }[];
  expect((await api(hub, 'DELETE', `/auth/grants/${grants[0]?.id}`, { token: admin })).status).toBe(200);
  const [ended, denied, allowed] = await records('&action=grant');
  expect(ended).toMatchObject({ action: 'grant.end', actor: { kind: 'user', name: 'admin' }, via: 'api' });
  expect(denied).toMatchObject({ action: 'grant.create', target: 'Some app', result: 'refused', via: 'oauth' });
  expect(allowed).toMatchObject({
    action: 'grant.create',
    target: 'Some app',
    result: 'success',
    after: { host: 'app.example', reach: { servers: ['alpha'] } },
  });
});

test('an app that is pushed out by others of its user is recorded', async () => {
  setLimits(authLimits, { consentsPerUser: 1 });
  const username = 'many';
  await userToken(hub, admin, username);
  for (const name of ['First app', 'Second app']) {
    const client = await handClient(hub.url, undefined, name);
    expect((await client.redeem(await authorize(client.address(), { username }))).status).toBe(200);
  }
  expect(await records('&action=grant.end&actor=many')).toMatchObject([
    { target: 'First app', via: 'oauth', after: { why: 'its user let in more than 1' } },
  ]);
});

test('a bundle is recorded with the server that it became', async () => {
  const manifest = {
    manifest_version: '0.3',
    name: 'notes',
    version: '1.0.0',
    server: { type: 'node', entry_point: 'a.cjs', mcp_config: { command: 'node', args: ['${__dirname}/a.cjs'] } },
  };
  const entries = [
    { name: 'manifest.json', data: JSON.stringify(manifest) },
    { name: 'a.cjs', data: 'process.exit(1)' },
  ];
  const body = new FormData();
  body.append('mcpbFile', new Blob([new Uint8Array(zip(entries))]), 'notes.mcpb');
  const headers = { authorization: `Bearer ${admin}` };
  const answer = await fetch(`${hub.url}/api/mcpb/upload`, { method: 'POST', headers, body });
  expect(answer.status).toBe(201);
  const [record] = await records('&action=bundle.install');
  expect(record).toMatchObject({ target: 'notes', after: { mcpServers: { notes: { command: 'node' } } } });
});

test('what was answered before a kill is in the chain afterwards, once', async () => {
  const folder = temporaryFolder();
  const env = { DB_URL: await (await sharedPostgres()).createDatabase() };
  const answered: string[] = [];
  for (let round = 0; round < 2; round++) {
    const process = await hubProcess({ ...(round === 0 && { mcpServers: {} }), folder, env });
    const token = await login(process);
    const make = async (name: string) => {
      const made = await api(process, 'POST', '/groups', { token, body: { name } }).catch(() => undefined);
      if (made?.status === 201) answered.push(name);
    };
    const from = answered.length;
    const running = Array.from({ length: 20 }, (_, i) => make(`r${round}g${i}`));
    await until('some are answered', () => answered.length > from + 5);
    await process.stop('SIGKILL');
    await Promise.all(running);
  }
  const again = await testHub({ folder, env });
  const token = await login(again);
  const all = await exported(again, token);
  const targets = all.filter(({ action }) => action === 'group.create').map(({ target }) => target);
  expect(targets).toEqual(expect.arrayContaining(answered));
  expect(new Set(targets).size).toBe(targets.length);
  expect(verified(all)).toMatchObject({ first: 1 });
});

test('a hand edit of the settings file is recorded, once, with what it changed', async () => {
  const settings = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as SettingsDocument;
  hub.write({
    ...settings,
    mcpServers: { ...settings.mcpServers, byhand: { url: 'http://127.0.0.1:9/mcp', enabled: false } },
  });
  await until('it is in force', async () => hub.hub.servers().some(({ name }) => name === 'byhand'));
  const found = await records('&target=byhand');
  expect(found).toMatchObject([{ via: 'file', actor: { kind: 'file', name: '' }, action: 'server.create' }]);
});

test('only admins read it, and nothing changes it', async () => {
  const user = await userToken(hub, admin, 'una');
  const key = await keyToken(hub, admin, { owner: 'admin' });
  for (const path of ['/audit', '/audit/head', '/audit/export']) {
    expect((await api(hub, 'GET', path, { token: user })).status).toBe(403);
    expect((await api(hub, 'GET', path, { token: key })).status).toBe(403);
    expect((await api(hub, 'GET', path)).status).toBe(401);
    for (const method of ['DELETE', 'POST', 'PUT', 'PATCH'])
      expect((await api(hub, method, path, { token: admin })).status).toBe(404);
  }
  for (const query of ['limit=0', 'limit=1001', 'before=x', 'since=yesterday', `target=${'x'.repeat(300)}`]) {
    const { status, body } = await api(hub, 'GET', `/audit?${query}`, { token: admin });
    expect([status, body.errors?.length]).toEqual([400, 1]);
  }
  // What was refused to a caller who is known is counted.
  expect(await records('&actor=una&action=read')).toMatchObject(
    ['/audit/head', '/audit'].map((target) => ({ target, result: 'refused', count: 1 })),
  );
});

test('the head is the newest record, and an export has all of them up to its own', async () => {
  const { body } = await api(hub, 'GET', '/audit/head', { token: admin });
  const [newest] = await records();
  expect(body.data).toEqual({ id: newest?.id, hash: newest?.hash, time: newest?.time });
  const all = await exported();
  expect(all.at(-1)).toMatchObject({ action: 'audit.export', actor: { name: 'admin' }, id: all.length });
  expect(verified(all)).toMatchObject({ records: all.length, first: 1 });
  const pages: number[] = [];
  for (let before = ''; ;) {
    const page = (await api(hub, 'GET', `/audit?limit=7${before}`, { token: admin })).body.data as AuditRecord[];
    if (page.length === 0) break;
    pages.push(...page.map(({ id }) => id));
    before = `&before=${page.at(-1)?.id}`;
  }
  expect(pages).toEqual(all.map(({ id }) => id).reverse());
});

test('records go to a webhook that an admin names, whose secret no answer shows', async () => {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      heard.push(...body.trim().split('\n'));
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const put = (audit: unknown, token = admin) => api(hub, 'PUT', '/system-config', { token, body: { audit } });
  const set = await put({ webhook: { url, secret: 'shared-with-the-receiver' } });
  expect(set.body.data).toMatchObject({ audit: { webhook: { url, secret: '••••' } } });
  // As a page sends back what it was shown.
  expect((await put({ webhook: { url, secret: '••••' } })).status).toBe(200);
  await until('it hears of the change', () => heard.some((line) => line.includes('"system-config.update"')));
  expect(heard.join()).not.toContain('shared-with-the-receiver');
  for (const wrong of [
    { webhook: { url: 'file:///etc/passwd' } },
    { syslog: { host: 'a b', port: 514 } },
    { mail: {} },
  ])
    expect((await put(wrong)).status).toBe(400);
  expect((await put({ webhook: null })).status).toBe(200);
});

test('what a policy refuses, and what a person decides, is recorded with the reason', async () => {
  const user = await userToken(hub, admin, 'wim');
  const call = (text: string) =>
    rpc(
      hub.mcp(),
      'tools/call',
      { name: 'alpha-echo', arguments: { text } },
      { headers: { authorization: `Bearer ${user}` } },
    );
  const forbid = (id: string, notes: string, like: string) => ({
    id,
    text: `${notes} forbid(principal, action, resource) when { context.arguments has text && context.arguments.text like "*${like}*" };`,
  });
  const policies = [
    forbid('no-drop', '@message("No tables are dropped here.")', 'DROP TABLE'),
    forbid('ask', '@approve("admin")', 'DELETE'),
  ];
  const set = await api(hub, 'PUT', '/system-config', { token: admin, body: { policies } });
  expect(set.status, set.text).toBe(200);
  expect((await records('&action=system-config'))[0]?.after).toHaveProperty([
    'systemConfig',
    'policies',
    'no-drop',
    'text',
  ]);
  expect((await call('DROP TABLE t')).error?.code).toBe(-32001);
  expect((await records('&actor=wim&action=call'))[0]).toMatchObject({
    target: 'alpha/echo',
    result: 'refused',
    via: 'mcp',
    after: { why: 'No tables are dropped here.' },
  });
  const asking = call('DELETE all');
  const waiting = async () =>
    ((await api(hub, 'GET', '/approvals', { token: admin })).body.data as { id: string; state: string }[]).find(
      ({ state }) => state === 'waiting',
    );
  await until('it waits', async () => (await waiting()) !== undefined);
  const { id = '' } = (await waiting()) ?? {};
  expect((await api(hub, 'POST', `/approvals/${id}`, { token: admin, body: { decision: 'deny' } })).status).toBe(200);
  expect((await asking).error?.code).toBe(-32001);
  expect(await records('&action=approval')).toMatchObject([
    { actor: { name: 'admin' }, target: 'alpha/echo', after: { decision: 'deny', policy: 'ask', caller: 'wim' } },
  ]);
  await api(hub, 'PUT', '/system-config', { token: admin, body: { policies: null } });
});

test('a change of a file in the folder of policies is a record, with its text and the hash of all of it', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'a.cedar');
  const text = (name: string) => `forbid(principal == User::"${name}", action, resource);`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text('none'));
  await api(hub, 'PUT', '/system-config', { token: admin, body: { policyFolder: folder } });
  const changes = () => records('&action=policy-files.update');
  // A folder that is named now changes no file.
  await until('the folder is watched', async () => {
    writeFileSync(file, text(`none ${Math.random()}`));
    return (await changes()).length > 0;
  });
  writeFileSync(file, text('mallory'));
  const sha256 = createHash('sha256').update(text('mallory')).digest('hex');
  await until('the change is recorded', async () => JSON.stringify(await changes()).includes(sha256));
  const found = (await changes()).find(({ after }) => JSON.stringify(after).includes(sha256));
  expect(found).toMatchObject({
    actor: { kind: 'file' },
    via: 'file',
    target: 'a.cedar',
    before: { 'a.cedar': { text: expect.stringContaining('none') as string } },
    after: { 'a.cedar': { sha256, text: text('mallory') } },
  });
  await api(hub, 'PUT', '/system-config', { token: admin, body: { policyFolder: null } });
});

test('a change of a file of a skill is a record, with its text and its hash; a folder that is named is a change of the settings', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'refunds', 'SKILL.md');
  const text = (words: string) => `---\nname: refunds\ndescription: How money goes back.\n---\n${words}\n`;
  mkdirSync(join(folder, 'refunds'), { recursive: true });
  writeFileSync(file, text('Ask first.'));
  writeFileSync(join(folder, 'refunds', 'table.csv'), 'a,b\n');
  await api(hub, 'PUT', '/system-config', { token: admin, body: { skills: { folder } } });
  const changes = () => records('&action=skill-files.update');
  const uri = 'skill://$hub/refunds/SKILL.md';
  await until('the folder is watched', async () => {
    writeFileSync(file, text(`Ask ${Math.random()} times.`));
    return (await changes()).length > 0;
  });
  writeFileSync(file, text('Never ask.'));
  const sha256 = createHash('sha256').update(text('Never ask.')).digest('hex');
  await until('the change is recorded', async () => JSON.stringify(await changes()).includes(sha256));
  const found = (await changes()).find(({ after }) => JSON.stringify(after).includes(sha256));
  expect(found).toMatchObject({ actor: { kind: 'file' }, via: 'file', target: uri });
  expect(found?.before).toMatchObject({ [uri]: { text: expect.stringContaining('times.') as string } });
  // Of the other file nothing changed.
  expect(found?.after).toEqual({ [uri]: { sha256, text: expect.stringContaining('Never ask.') as string } });
});

test('failed logins and refused calls are counted, and a flood of them stays small', async () => {
  const bad = (username: string) => api(hub, 'POST', '/auth/login', { body: { username, password: 'wrong' } });
  // Before the limiter of logins refuses this address.
  const user = await userToken(hub, admin, 'vic');
  const before = (await records()).length;
  const tries = 30;
  for (let i = 0; i < tries; i++) await bad(`nobody${i}-${'x'.repeat(100)}\u001b[2J`);
  const failed = (await records('&action=login')).filter(({ result }) => result === 'failed');
  expect(failed).toMatchObject([{ count: tries, target: '', address: '127.0.0.1', actor: { kind: 'anonymous' } }]);
  for (let i = 0; i < 20; i++) {
    const headers = { authorization: `Bearer mcphub_${String(i).padStart(64, '0')}` };
    await api(hub, 'GET', '/servers', { headers });
    await rpc(hub.mcp(), 'tools/list', {}, { headers });
  }
  expect(await records('&action=credential.refused')).toMatchObject([{ result: 'failed', count: 40 }]);
  for (let i = 0; i < 5; i++) {
    const headers = { authorization: `Bearer ${user}` };
    await rpc(hub.mcp(), 'tools/call', { name: 'own-echo', arguments: {} }, { headers });
    await api(hub, 'POST', '/tools/call/own', { token: user, body: { toolName: 'echo', arguments: {} } });
  }
  const calls = await records('&actor=vic&action=call');
  expect(calls.reduce((sum, { count }) => sum + count, 0)).toBe(10);
  expect(calls.length).toBeLessThanOrEqual(2);
  expect((await records()).length - before).toBeLessThan(12);
  expect(verified(await exported())).toHaveProperty('records');
});

test('names of a megabyte and control characters make small records, or none', async () => {
  const before = (await records()).length;
  const huge = 'x'.repeat(2 ** 20);
  await api(hub, 'POST', '/auth/login', { body: { username: huge, password: 'wrong' } });
  await api(hub, 'DELETE', `/groups/${'y'.repeat(8_000)}`, { token: admin });
  await raw(`${hub.url}/api/servers/%00%1b%5b2J%ff/toggle`, {
    method: 'POST',
    body: { enabled: true },
    headers: { authorization: `Bearer ${admin}` },
  });
  const description = `${'z'.repeat(50_000)}\u0000\u001b[2J\ud800`;
  await api(hub, 'PUT', '/groups/dev', { token: admin, body: { description } });
  const all = await exported();
  expect(all.length - before).toBeLessThan(4);
  for (const record of all) expect(JSON.stringify(record).length).toBeLessThan(3 * auditLimits.auditValueChars);
  expect(JSON.stringify(all)).not.toMatch(/\\u00[01]/);
  expect(verified(all)).toHaveProperty('records');
});

test('a change that was answered is in the chain after the hub was started again', async () => {
  expect((await api(hub, 'POST', '/groups', { token: admin, body: { name: 'last' } })).status).toBe(201);
  await hub.close();
  const again = await testHub({ folder: hub.folder, env: { DB_URL: '' } });
  await until('the database is open', async () => (await again.health()).database.state === 'ready');
  const token = await login(again);
  expect(await records('&target=last', again, token)).toMatchObject([{ action: 'group.create' }]);
  expect(verified(await exported(again, token))).toMatchObject({ first: 1 });
});

test('the command checks an export, and the database of a hub that does not run', async () => {
  // Of this test alone: the one of all tests has ended.
  const own = await testHub({ folder: hub.folder, env: { DB_URL: '' } });
  const token = await login(own);
  const { text } = await api(own, 'GET', '/audit/export', { token });
  const lines = text.trim().split('\n');
  const { hash: head } = JSON.parse(lines[4] ?? '') as AuditRecord;
  const verify = async (content: string, ...args: string[]) => {
    const file = join(hub.folder, 'audit.jsonl');
    writeFileSync(file, content);
    return command(['audit', 'verify', '--file', file, ...args]);
  };
  const whole = await verify(text, '--head', head);
  expect(whole).toMatchObject({ code: 0, said: expect.stringContaining(`${lines.length} records, 1 to`) as string });
  const without = (n: number) => lines.filter((_, i) => i !== n).join('\n');
  expect(await verify(without(2))).toMatchObject({
    code: 1,
    said: expect.stringContaining('record 4 (line 3)') as string,
  });
  const changed = lines.map((line, i) => (i === 3 ? line.replace('127.0.0.1', '127.0.0.2') : line)).join('\n');
  expect(await verify(changed)).toMatchObject({ code: 1, said: expect.stringContaining('record 4') as string });
  expect(await verify(lines.slice(0, 4).join('\n'), '--head', head)).toMatchObject({ code: 1 });
  expect(await verify(text.slice(0, -20))).toMatchObject({ code: 1 });
  expect(await verify('x'.repeat(3 * 2 ** 20))).toMatchObject({ code: 2 });
  expect(await verify('')).toMatchObject({ code: 1, said: 'There is no record.\n' });
  const stored = ['audit', 'verify', '--data-dir', join(hub.folder, 'data')];
  expect(await command(stored)).toMatchObject({ code: 1, said: expect.stringContaining('--file') as string });
  expect(await command(['audit', 'verify', '--data-dir', join(hub.folder, 'none')])).toMatchObject({ code: 2 });
  const said = 'toolhub: Cannot read /nonexistent: there is no such file.\n';
  expect(await command(['audit', 'verify', '--file', '/nonexistent'])).toMatchObject({ code: 2, said });
  expect(await command(['audit', 'erase'])).toMatchObject({ code: 2 });
  const at = { TOOLHUB_URL: own.url, TOOLHUB_TOKEN: token };
  const listed = await command(['audit', '--action', 'group.create', '-n', '1', '--actor', 'admin'], at);
  expect(listed).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^\S+Z admin \(api, 127\.0\.0\.1\) group\.create \S+\n$/) as string,
  });
  const all = await command(['audit', 'export'], at);
  expect(await verify(all.said)).toMatchObject({ code: 0 });
  expect(await command(['audit'], { TOOLHUB_URL: own.url })).toMatchObject({
    code: 2,
    said: expect.stringContaining('toolhub login') as string,
  });
  await own.close();
  expect(await command(stored)).toMatchObject({
    code: 0,
    said: expect.stringContaining('The chain is whole') as string,
  });
});

async function command(args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runProgram({ args, env, cwd: temporaryFolder() });
  return { code, said: stdout + stderr };
}

test('two hubs on one PostgreSQL write one chain; each change is in it once, by who made it', async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const env = { DB_URL: url, JWT_SECRET: 'a secret of all hubs that share this database' };
  const hubs = [await testHub({ mcpServers: {}, env }), await testHub({ mcpServers: {}, env })] as const;
  const [one, two] = hubs;
  const tokens = [await login(one), await login(two)];
  const names = Array.from({ length: 20 }, (_, i) => `group${i}`);
  const make = (name: string, i: number) =>
    api(hubs[i % 2] ?? one, 'POST', '/groups', { token: tokens[i % 2], body: { name } });
  const made = await Promise.all(names.map(make));
  expect(made.map(({ status }) => status)).toEqual(names.map(() => 201));
  await Promise.all(hubs.map((on, i) => api(on, 'GET', '/audit/head', { token: tokens[i] })));
  const all = await exported(two, tokens[1]);
  expect(verified(all)).toMatchObject({ records: all.length, first: 1 });
  const groups = all.filter(({ action }) => action === 'group.create');
  expect(groups.map(({ target }) => target).sort()).toEqual(names.sort());
  expect(new Set(groups.map(({ actor, via }) => `${actor.name} ${via}`))).toEqual(new Set(['admin api']));
  expect(all.every(({ via }) => via !== 'file')).toBe(true);
});
