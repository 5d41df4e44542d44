import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import { exportSettings } from './export-settings.ts';

const document = {
  mcpServers: {
    github: {
      command: 'npx',
      args: ['-y', 'server-github', '--api-key', 'abc', '--log=debug', '--token=def', '-p', '8080:80', '--dsn', 'x:y'],
      env: {
        GITHUB_TOKEN: 'ghp_x',
        NODE_ENV: 'production',
        FROM: '${MY_TOKEN}',
        DEBUG: 'true',
        EMPTY: '',
        OR: '${A:-fallback}',
      },
      enabled: false,
      owner: null,
      tools: { get_token: { enabled: false, description: 'Gets a token' } },
    },
    remote: {
      type: 'sse',
      url: 'https://ada:pass@e.com/s/0a1b2c3d4e5f60718293a4b5c6d7e8f9/sse?api_key=k1&region=eu&u=${X}',
      headers: { Authorization: 'Bearer abc', 'X-Team': 'core', Cookie: '${COOKIE}' },
      oauth: {
        clientId: 'id',
        clientSecret: 's',
        accessToken: 't',
        scopes: ['a'],
        pendingAuthorization: { state: 's' },
      },
      proxy: { enabled: true, host: 'p', username: 'u', password: 'p' },
    },
    api: {
      openapi: {
        url: 'https://e.com/openapi.json',
        schema: {
          paths: {},
          components: { schemas: { Login: { properties: { password: { type: 'string', example: 'x' } } } } },
        },
        security: {
          type: 'apiKey',
          apiKey: { name: 'X-Key', in: 'header', value: 'v' },
          oauth2: { tokenUrl: 'https://e.com/token', token: 't' },
        },
      },
    },
  },
  users: [{ username: 'admin', password: '$2b$10$hash', isAdmin: true }],
  groups: [{ id: '1', name: 'dev', servers: ['github'] }],
  bearerKeys: [{ id: 'k', token: 'mcphub_x' }],
  oauthTokens: [{ accessToken: 'a' }],
  oauthClients: [{ clientId: 'c', clientSecret: 's', name: 'n' }],
  systemConfig: {
    routing: { bearerAuthKey: 'b', enableBearerAuth: true, bearerAuthHeaderName: 'X-Auth' },
    smartRouting: {
      enabled: true,
      openaiApiKey: 'sk',
      dbUrl: 'postgres://u:p@h/db',
      openaiApiBaseUrl: 'https://u:p@e.com/v1',
    },
    oauthServer: { accessTokenLifetime: 3600, requireClientSecret: false },
    toolResultCompression: { maxOutputTokens: 2000 },
  },
};

test('an export keeps everything but the secrets, which become variables where variables are expanded', () => {
  expect(exportSettings(document)).toEqual({
    mcpServers: {
      github: {
        ...document.mcpServers.github,
        owner: undefined,
        args: [
          '-y',
          'server-github',
          '--api-key',
          '${GITHUB_API_KEY}',
          '--log=debug',
          '--token=${GITHUB_TOKEN}',
          '-p',
          '8080:80',
          '--dsn',
          '${GITHUB_DSN}',
        ],
        env: {
          GITHUB_TOKEN: '${GITHUB_TOKEN_2}',
          NODE_ENV: '${GITHUB_NODE_ENV}',
          FROM: '${MY_TOKEN}',
          DEBUG: 'true',
          EMPTY: '',
          OR: '${GITHUB_OR}',
        },
      },
      remote: {
        type: 'sse',
        url: 'https://${REMOTE_URL_LOGIN}@e.com/s/${REMOTE_URL_PATH}/sse?api_key=${REMOTE_URL_API_KEY}&region=eu&u=${X}',
        headers: { Authorization: 'Bearer ${REMOTE_AUTHORIZATION}', 'X-Team': '${REMOTE_X_TEAM}', Cookie: '${COOKIE}' },
        oauth: { clientId: 'id', scopes: ['a'] },
        proxy: { enabled: true, host: 'p', username: 'u' },
      },
      api: {
        openapi: {
          ...document.mcpServers.api.openapi,
          security: {
            type: 'apiKey',
            apiKey: { name: 'X-Key', in: 'header', value: '${API_OPENAPI_VALUE}' },
            oauth2: { tokenUrl: 'https://e.com/token', token: '${API_OPENAPI_TOKEN}' },
          },
        },
      },
    },
    users: [{ username: 'admin', isAdmin: true }],
    groups: document.groups,
    oauthClients: [{ clientId: 'c', name: 'n' }],
    systemConfig: {
      routing: { enableBearerAuth: true, bearerAuthHeaderName: 'X-Auth' },
      smartRouting: { enabled: true, openaiApiBaseUrl: 'https://e.com/v1' },
      oauthServer: document.systemConfig.oauthServer,
      toolResultCompression: document.systemConfig.toolResultCompression,
    },
  });
});

describe('an export', () => {
  test('of one server has that server only', () => {
    expect(exportSettings(document, { serverName: 'api', secrets: 'include' })).toEqual({
      mcpServers: { api: document.mcpServers.api },
    });
    for (const serverName of ['absent', '__proto__', 'constructor', '']) {
      expect(() => exportSettings(document, { serverName })).toThrow(
        new HubError('not_found', `Cannot export server "${serverName}": no such server.`),
      );
    }
  });

  test('with secrets is the document, and never the same object', () => {
    const full = exportSettings(document, { secrets: 'include' });
    expect(full).toEqual(document);
    (full['mcpServers'] as Record<string, unknown>)['github'] = 'changed';
    expect(document.mcpServers.github.command).toBe('npx');
  });

  test('hides a secret in the other places where it stands', () => {
    const secret = 'correct-horse-7';
    const entry = {
      command: 'sh',
      args: ['-c', `echo ${secret}`],
      env: { PLAIN: secret },
      description: `Uses ${secret}`,
    };
    const found = exportSettings({
      mcpServers: { a: entry, b: { command: 'x', args: ['s-key-12345'] } },
      systemConfig: { smartRouting: { openaiApiKey: 's-key-12345' }, note: 's-key-12345' },
    });
    expect(JSON.stringify(found)).not.toMatch(/correct-horse-7|s-key-12345/);
  });

  test('does not take a group along whose name is a user’s password', () => {
    const found = exportSettings({
      mcpServers: { postgres: { command: 'x', env: { PASSWORD: 'postgres' } } },
      groups: [{ name: 'postgres', servers: ['postgres'] }],
    });
    expect(found['groups']).toEqual([{ name: 'postgres', servers: ['postgres'] }]);
  });

  test('never makes a variable that the hub itself uses, nor one for two secrets', () => {
    const found = exportSettings({
      mcpServers: {
        db: { command: 'x', env: { URL: 'a' } },
        'a-b': { command: 'x', env: { C: '1' } },
        a: { command: 'x', env: { B_C: '2' } },
      },
    });
    expect(JSON.stringify(found)).toContain('"URL":"${SERVER_DB_URL}"');
    expect(JSON.stringify(found)).toContain('"C":"${A_B_C}"');
    expect(JSON.stringify(found)).toContain('"B_C":"${A_B_C_2}"');
  });
});

/** Secrets that can be told from everything else in a document. */
const canary = fc.stringMatching(/^[a-z0-9]{4,20}$/).map((text) => `CANARY7${text}`);
const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,9}$/);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const secretArgs = fc.oneof(
  fc
    .tuple(fc.constantFrom('--token', '--api-key', '--password', '-H', '--auth'), canary)
    .map(([flag, secret]) => (flag === '-H' ? [flag, `X-Any: ${secret}`] : [flag, secret])),
  fc
    .tuple(fc.constantFrom('--access-token=', '--secret=', 'API_KEY=', '--env=ANY='), canary)
    .map(([flag, secret]) => [flag + secret]),
  canary.map((secret) => ['-e', `ANY=${secret}`]),
  canary.map((secret) => [`postgres://user:${secret}@host/db`]),
  canary.map((secret) => [`--url=https://e.com/?token=${secret}&x=1`]),
  canary.map((secret) => ['-c', `GITHUB_TOKEN=${secret} serve --port 80 --api-key "${secret}"`]),
  word.map((text) => [text]),
);
const headerValue = fc.oneof(
  canary,
  canary.map((secret) => `Bearer ${secret}`),
  canary.map((secret) => `\${A:-${secret}}`),
  fc.constant('${A}'),
);
const server = fc.record(
  {
    command: word,
    args: fc.array(secretArgs, { maxLength: 4 }).map((args) => args.flat()),
    env: fc.dictionary(word, fc.oneof(headerValue, fc.integer())),
    url: fc.tuple(canary, canary, word).map(([a, b, path]) => `https://${a}:${b}@e.com/${path}?key=${b}`),
    headers: fc.dictionary(word, headerValue),
    description: word,
    oauth: fc.record({
      clientId: word,
      clientSecret: canary,
      accessToken: canary,
      refreshToken: canary,
      dynamicRegistration: fc.record({ initialAccessToken: canary }),
    }),
    proxy: fc.record({ host: word, password: canary }),
    openapi: fc.record({
      url: canary.map((secret) => `https://e.com/api?access_token=${secret}`),
      security: fc.record({
        type: word,
        apiKey: fc.record({ name: word, value: canary }),
        http: fc.record({ scheme: word, credentials: canary }),
        oauth2: fc.record({ token: canary, clientSecret: canary, anythingElse: canary }),
      }),
      headers: fc.dictionary(word, canary),
    }),
  },
  { requiredKeys: ['command'] },
);
const randomSettings = fc.record(
  {
    mcpServers: fc.dictionary(word, server, { maxKeys: 4, noNullPrototype: true }),
    users: fc.array(fc.record({ username: word, password: canary, email: word })),
    bearerKeys: fc.array(fc.record({ id: word, name: canary, token: canary, tokenHash: canary })),
    oauthClients: fc.array(fc.record({ clientId: word, clientSecret: canary, redirectUris: fc.array(word) })),
    oauthTokens: fc.array(fc.record({ accessToken: canary, refreshToken: canary, user: canary })),
    userConfigs: fc.dictionary(word, fc.record({ apiKey: canary, theme: word })),
    systemConfig: fc.record({
      routing: fc.record({ bearerAuthKey: canary }),
      smartRouting: fc.record({
        openaiApiKey: canary,
        azureOpenaiApiKey: canary,
        dbUrl: canary.map((secret) => `postgres://u:${secret}@h/d`),
      }),
      mcpRouter: fc.record({ apiKey: canary, baseUrl: canary.map((secret) => `https://x:${secret}@e.com`) }),
      auth: fc.record({ betterAuth: fc.record({ googleClientSecret: canary, secret: canary }) }),
    }),
    strangers: fc.array(
      fc.record({ session_token: optional(canary), privateKey: canary, env: fc.dictionary(word, canary) }),
    ),
  },
  { requiredKeys: [] },
);

describe('whatever the settings are', () => {
  test('no secret in them is in the export, and every one in the full export', () => {
    fc.assert(
      fc.property(randomSettings, (settings) => {
        expect(JSON.stringify(exportSettings(settings))).not.toMatch(/CANARY7/i);
        expect(exportSettings(settings, { secrets: 'include' })).toEqual(settings);
        for (const serverName of Object.keys(settings.mcpServers ?? {})) {
          expect(JSON.stringify(exportSettings(settings, { serverName }))).not.toMatch(/CANARY7/i);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('an export has nothing more to hide', () => {
    fc.assert(
      fc.property(randomSettings, (settings) => {
        const once = exportSettings(settings);
        expect(exportSettings(once)).toEqual(once);
      }),
    );
  });

  test('servers, groups and users are all still there', () => {
    fc.assert(
      fc.property(randomSettings, (settings) => {
        const found = exportSettings(settings) as typeof settings;
        expect(Object.keys(found.mcpServers ?? {})).toEqual(Object.keys(settings.mcpServers ?? {}));
        expect(found.users?.map(({ username }) => username)).toEqual(settings.users?.map(({ username }) => username));
        for (const [name, { args, command }] of Object.entries(settings.mcpServers ?? {})) {
          expect([found.mcpServers?.[name]?.command, found.mcpServers?.[name]?.args?.length]).toEqual([
            command,
            args?.length,
          ]);
        }
      }),
    );
  });
});
