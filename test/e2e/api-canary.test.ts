import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { testDatabase } from '../kit/hub-database.ts';
import { raw, stream } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A secret that was put in somewhere comes out nowhere: not in an answer, a log, an error or an export.

const canary = (where: string) => `canary-${where}-8f3kQ2xZ71`;
const canaries = [
  'env',
  'env-of-hub',
  'header',
  'bearer',
  'oauth-client',
  'oauth-token',
  'proxy',
  'openapi',
  'legacy-key',
  'openai',
  'router',
  'client',
  'access',
  'pending',
  'jwt',
  'unknown',
  'user-password',
  'bundle',
].map(canary);
const adminPassword = canary('admin-password');
const storedKey = `mcphub_${'ab12'.repeat(16)}`;

let hub: TestHub;
let principals: [who: string, token: string | undefined][];
let secrets: string[];
beforeAll(async () => {
  const alpha = hostileStdio({
    name: 'alpha',
    tools: ['one'],
    prompts: [{ name: 'ask' }],
    resources: [{ uri: 'file:///r', name: 'r' }],
  });
  const remote = { url: 'http://127.0.0.1:9/mcp', visibility: 'public' };
  const passwordHash = await hash(canary('user-password'));
  hub = await testHub({
    mcpServers: {
      alpha: { ...alpha.config, env: { TOKEN: canary('env'), OTHER: '${SECRET_OF_HUB}' }, visibility: 'public' },
      // It dies, and what it says last is its secret.
      dying: {
        command: process.execPath,
        args: ['-e', 'console.error("my token is " + process.env.TOKEN); process.exit(3)'],
        env: { TOKEN: canary('env') },
        visibility: 'public',
      },
      remote: {
        ...remote,
        headers: { 'X-Key': canary('header'), Authorization: `Bearer ${canary('bearer')}` },
        oauth: {
          clientId: 'open',
          clientSecret: canary('oauth-client'),
          accessToken: canary('oauth-token'),
          refreshToken: canary('oauth-token'),
          pendingAuthorization: { codeVerifier: canary('pending'), state: canary('pending') },
        },
        proxy: { enabled: false, host: 'proxy.example', password: canary('proxy') },
      },
      rest: {
        type: 'openapi',
        openapi: {
          url: 'http://127.0.0.1:9/openapi.json',
          security: { type: 'apiKey', apiKey: { name: 'k', in: 'header', value: canary('openapi') } },
        },
        visibility: 'public',
      },
    },
    groups: [{ id: 'id-dev', name: 'dev', servers: ['alpha', 'remote'], visibility: 'public' }],
    users: [
      { username: 'admin', password: await hash(adminPassword), isAdmin: true },
      { username: 'imported', password: passwordHash, isAdmin: false },
    ],
    bearerKeys: [{ id: 'stored', name: 'stored', token: storedKey, enabled: true, accessType: 'all' }],
    systemConfig: {
      routing: { bearerAuthKey: canary('legacy-key'), enableBearerAuth: true },
      smartRouting: { openaiApiKey: canary('openai') },
      mcpRouter: { apiKey: canary('router') },
    },
    oauthClients: [{ clientId: 'c', name: 'c', clientSecret: canary('client') }],
    oauthTokens: [
      { accessToken: canary('access'), refreshToken: canary('access'), username: 'imported', clientId: 'c' },
    ],
    userConfigs: { imported: { nested: { password: canary('unknown') } } },
    somethingElse: [{ apiKey: canary('unknown') }],
    env: {
      LOG_LEVEL: 'debug',
      ADMIN_PASSWORD: adminPassword,
      JWT_SECRET: canary('jwt').repeat(2),
      SECRET_OF_HUB: canary('env-of-hub'),
    },
  });
  const admin = await login(hub, 'admin', adminPassword);
  const ann = await userToken(hub, admin, 'ann', { servers: ['alpha', 'remote'] });
  const annsKey = await keyToken(hub, ann);
  const systemKey = await keyToken(hub, admin, { kind: 'system', accessType: 'all' });
  principals = [
    ['nobody', undefined],
    ['the admin', admin],
    ['a user', ann],
    ["a user's key", annsKey],
    ['a key of the system', systemKey],
  ];
  secrets = [
    ...canaries,
    adminPassword,
    passwordHash,
    storedKey,
    admin,
    ann,
    annsKey,
    systemKey,
    'password of ann',
    '$argon2id$',
  ];
  await hub.connected(1);
  await until('the dying server died', async () => {
    const { text } = await api(hub, 'GET', '/servers/dying', { token: admin });
    return text.includes('my token is');
  });
  await api(hub, 'POST', '/tools/call/alpha', {
    token: ann,
    body: { toolName: 'one', arguments: { password: canary('user-password') } },
  });
});

/** Fails with the place of the first secret in a text. */
function clean(where: string, text: string): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    if (at !== -1)
      throw new Error(`${where} shows ${secret.slice(0, 40)}: …${text.slice(Math.max(0, at - 80), at + 80)}…`);
  }
}

/**
 * Every GET route that a file of the http room registers below /api, with something that exists in the place of its
 * parameters.
 */
function getRoutes(): string[] {
  const folder = fileURLToPath(new URL('../../src/http/', import.meta.url));
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const found = files.flatMap((file) =>
    [...readFileSync(`${folder}${file}`, 'utf8').matchAll(/routes\.get\(\s*'(\/[^']*)'/g)].map(([, path = '']) => path),
  );
  const filled = [...new Set(found)].flatMap((path) => {
    if (['/logs/stream', '/events', '/registry/servers'].includes(path)) return [];
    const each = (name: string): string[] => {
      if (name === 'username') return ['admin', 'imported', 'ann'];
      if (path.startsWith('/groups/') && name === 'id') return ['dev'];
      if (name === 'id') return ['stored', '1'];
      if (name === 'toolName' || name === 'tool') return ['one'];
      return ['alpha', 'dying', 'remote', 'rest'];
    };
    return path
      .split('/')
      .reduce<string[]>(
        (begun, part) =>
          begun.flatMap((before) =>
            (part.startsWith(':') ? each(part.slice(1)) : [part]).map((now) => `${before}/${now}`),
          ),
        [''],
      )
      .map((one) => one.replace('//', '/'));
  });
  return [
    ...filled,
    '/openapi.json',
    '/openapi.yaml',
    '/alpha/openapi.json',
    '/tools/alpha/one',
    '/mcp-settings/export?serverName=remote',
    '/servers?page=1&limit=100',
    '/logs?level=debug',
  ];
}

describe('no secret is in', () => {
  test('any answer to a GET, of any caller', async () => {
    const routes = getRoutes();
    for (const known of [
      '/settings',
      '/servers',
      '/servers/remote',
      '/groups/dev',
      '/users/imported',
      '/auth/keys',
      '/mcp-settings/export',
      '/logs',
      '/activities',
    ]) {
      expect(routes).toContain(known);
    }
    for (const [who, token] of principals) {
      for (const path of routes) {
        const answer = await api(hub, 'GET', path, { token });
        // The audit log is in the database alone.
        const most = path.startsWith('/audit') && testDatabase() === 'off' ? 504 : 500;
        expect(answer.status, `${path} for ${who}: ${answer.text}`).toBeLessThan(most);
        clean(`GET ${path} for ${who}`, answer.text + JSON.stringify(answer.headers));
      }
      for (const path of ['/health', '/config', '/public-config', '/', '/mcp', '/metrics']) {
        const answer = await raw(`${hub.url}${path}`, {
          method: 'GET',
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        });
        clean(`GET ${path} for ${who}`, answer.text);
      }
    }
  });

  test('the answer to a change, or to one that fails', async () => {
    const [, [, admin = ''] = []] = principals;
    const secret = canary('unknown');
    const calls: [method: string, path: string, body: unknown][] = [
      ['POST', '/auth/login', { username: 'admin', password: secret }],
      ['POST', '/auth/login', { username: secret, password: 7 }],
      ['POST', '/auth/change-password', { currentPassword: secret, newPassword: secret }],
      ['POST', '/users', { username: 'ann', password: secret }],
      ['PUT', '/users/imported', { password: secret, role: 'king' }],
      [
        'POST',
        '/servers',
        { name: 'new', config: { url: 'https://x.example/mcp', enabled: false, headers: { A: secret } } },
      ],
      ['POST', '/servers', { name: 'bad', config: { url: 'https://x.example/mcp', headers: secret } }],
      ['POST', '/servers', { name: 'bad', config: { command: 'x', env: [secret] } }],
      ['POST', '/servers', { name: 'bad', config: { type: 'openapi', openapi: { security: secret } } }],
      [
        'POST',
        '/servers/batch',
        { servers: [{ name: 'b', config: { url: 'https://x.example', oauth: { clientSecret: [secret] } } }] },
      ],
      ['PUT', '/servers/remote', { config: { description: 'new' } }],
      ['PUT', '/servers/remote', { config: { headers: { A: [secret] } } }],
      ['POST', '/servers/remote/toggle', { enabled: secret }],
      [
        'POST',
        '/servers/import?dryRun=true',
        { mcpServers: { i: { command: 'x', env: { A: secret } }, j: { url: 7, headers: { A: secret } } } },
      ],
      ['POST', '/servers/import', { text: `{"mcpServers": {"k": {"command": "x", "env": {"A": "${secret}"}}` }],
      ['PUT', '/system-config', { smartRouting: { openaiApiKey: secret } }],
      ['PUT', '/system-config', { routing: { bearerAuthKey: [secret] } }],
      ['PUT', '/auth/keys/stored', { name: 'renamed' }],
      ['PUT', '/auth/keys/stored', { accessType: secret }],
      ['POST', '/servers', `{"name": "x", "config": {"headers": {"A": "${secret}"`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await api(hub, method, path, { token: path === '/auth/login' ? undefined : admin, body });
      expect(answer.status, answer.text).not.toBe(500);
      clean(`${method} ${path} ${JSON.stringify(body)}`, answer.text);
    }
    for (const bad of [`Bearer ${secret}`, `Basic ${secret}`, `mcphub_${secret}`]) {
      const answer = await api(hub, 'GET', '/servers', { headers: { authorization: bad } });
      expect(answer.status).toBe(401);
      clean('a bad credential', answer.text);
    }
  });

  test('the log, once all that has happened', async () => {
    const [, [, admin = ''] = []] = principals;
    const listed = await api(hub, 'GET', '/logs?limit=1000', { token: admin });
    expect(listed.text).toContain('my token is');
    clean('the log', listed.text);
    const live = await stream(`${hub.url}/api/logs/stream?token=${admin}`);
    const first = await until('the first event', () => live.events[0] ?? JSON.stringify(live.messages));
    clean('the log stream', JSON.stringify(first));
    live.close();
  });
});

test('the canaries are really there, and an export that includes secrets has them', async () => {
  const [, [, admin = ''] = []] = principals;
  const answer = await api(hub, 'GET', '/mcp-settings/export?secrets=include', { token: admin });
  for (const name of ['env', 'header', 'oauth-client', 'openapi', 'client', 'access', 'router', 'pending', 'proxy']) {
    expect(answer.text).toContain(canary(name));
  }
});
