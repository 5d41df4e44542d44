import { expect, test } from 'vitest';
import { server as one } from '../../../test/kit/snapshots.ts';
import { parseSettings } from './parse-settings.ts';

// Files as people bring them from MCPHub: whatever stands in them is followed, or named with a line at the start.

/** Of one person: programs, some of which run only when they are called. */
const personal = {
  mcpServers: {
    fetch: { command: 'uvx', args: ['mcp-server-fetch'], startOnDemand: true, idleTimeoutMs: 60_000 },
    playwright: { type: 'stdio', command: 'npx', args: ['-y', '@playwright/mcp'], perSessionClient: true },
    maps: { command: 'npx', args: ['-y', 'maps-mcp'], env: { MAPS_KEY: '${MAPS_KEY}' }, enabled: false },
    blocked: {
      command: 'npx',
      args: ['-y', 'search-mcp'],
      proxy: { enabled: true, type: 'socks5', host: '127.0.0.1', port: 1080, username: 'u', password: 'p@ss' },
    },
  },
  users: [{ username: 'admin', password: '$2b$10$abcdefghijklmnopqrstuv', isAdmin: true }],
  systemConfig: {
    routing: { enableGlobalRoute: true, enableGroupNameRoute: true, enableBearerAuth: false, bearerAuthKey: '' },
    install: {
      pythonIndexUrl: 'https://pypi.tuna.tsinghua.edu.cn/simple',
      npmRegistry: 'https://registry.npmmirror.com',
      baseUrl: 'http://localhost:3000',
    },
    mcpRouter: {
      apiKey: '',
      referer: 'https://www.mcphub.app',
      title: 'MCPHub',
      baseUrl: 'https://api.mcprouter.to/v1',
    },
    enableSessionRebuild: true,
  },
};

/** Of a company: many people, remote servers, logins. */
const company = {
  mcpServers: {
    github: {
      type: 'streamable-http',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
      owner: 'admin',
      visibility: 'group',
      sharedWithUsers: ['ann'],
      enableKeepAlive: true,
      keepAliveInterval: 30_000,
      options: { timeout: 120_000, resetTimeoutOnProgress: true, maxTotalTimeout: 600_000 },
      tools: { delete_repo: { enabled: false }, search: { description: 'Finds code.' } },
    },
    linear: { type: 'sse', url: 'https://mcp.linear.app/sse', oauth: { scopes: ['read'] }, startOnDemand: true },
    orders: { type: 'openapi', openapi: { url: 'https://orders.example.com/openapi.json', cookieSession: true } },
  },
  groups: [{ id: '11111111-1111-4111-8111-111111111111', name: 'dev', servers: [{ name: 'github', tools: 'all' }] }],
  users: [{ username: 'ann', password: '$2b$10$abcdefghijklmnopqrstuv', isAdmin: true }],
  bearerKeys: [
    { id: 'k', name: 'ci', token: 'mcphub_0123', enabled: true, accessType: 'groups', allowedGroups: ['dev'] },
  ],
  systemConfig: {
    routing: { enableBearerAuth: true, skipAuth: true, enableGroupNameRoute: false, jsonBodyLimit: '5mb' },
    oauthServer: {
      enabled: true,
      accessTokenLifetime: 600,
      refreshTokenLifetime: 86_400,
      requireClientSecret: true,
      allowedScopes: ['read', 'write', 'admin'],
      dynamicRegistration: { enabled: true, requiresAuthentication: true },
    },
    network: { allowedCidrs: ['10.0.0.0/8'] },
    activityLog: { storeToolPayload: true },
  },
};

/** Of a public demonstration, and what was tried out in it. */
const demonstration = {
  mcpServers: {
    time: { command: 'uvx', args: ['mcp-server-time'], proxy: { enabled: true, configPath: '/etc/proxychains.conf' } },
    remote: { url: 'https://example.com/mcp', proxy: { enabled: true, type: 'http', host: 'proxy', port: 8080 } },
    off: { url: 'https://example.com/mcp', proxy: { enabled: false, host: 'proxy', port: 8080 } },
  },
  systemConfig: {
    discovery: { enabled: true },
    mcpRouter: { apiKey: 'k', referer: 'https://example.com' },
    nameSeparator: '_',
    smartRouting: { enabled: false },
  },
};

/** Of a company whose people log in at providers, and whose clients have been registered by hand. */
const registered = {
  mcpServers: {
    crm: {
      type: 'streamable-http',
      url: 'https://crm.example.com/mcp',
      oauth: { dynamicRegistration: { enabled: true, metadata: { client_name: 'Our hub' } } },
    },
  },
  users: [
    { username: 'admin', password: '$2b$10$abcdefghijklmnopqrstuv', isAdmin: true },
    { username: 'ann', password: '$2b$10$abcdefghijklmnopqrstuv', email: 'ann@example.com', ssoUserId: 'u-1' },
  ],
  userConfigs: { ann: { routing: { enableGlobalRoute: false } } },
  oauthClients: [{ clientId: 'c', clientSecret: 's', name: 'App', redirectUris: ['https://app.example.com/callback'] }],
  oauthTokens: [{ accessToken: 't', clientId: 'c', username: 'ann' }],
  systemConfig: {
    auth: {
      betterAuth: {
        enabled: true,
        providers: {
          google: { enabled: true },
          github: { enabled: false },
          oidc: { enabled: true, discoveryUrl: 'https://id.example.com/.well-known/openid-configuration' },
        },
      },
    },
    smartRouting: { enabled: true, dbUrl: 'postgres://hub:pw@db/hub', openaiApiKey: '${OPENAI_API_KEY}' },
    toolResultCompression: { enabled: true, minTokens: 500, maxOutputTokens: 1_200, strategy: 'json' },
    oauthServer: {
      authorizationCodeLifetime: 600,
      requireState: true,
      dynamicRegistration: { enabled: true, allowedGrantTypes: ['authorization_code'] },
      clientIdMetadata: { enabled: false },
    },
  },
};

/** What is followed: members by their path, `*` for any name. What stands below one is followed with it. */
const followed = [
  'mcpServers.*.(command|args|env|enabled|type|url|headers|owner|visibility|sharedWithUsers|oauth|options|tools)',
  'mcpServers.*.(enableKeepAlive|keepAliveInterval|perSessionClient|startOnDemand|idleTimeoutMs)',
  'mcpServers.*.openapi.(url|cookieSession)',
  'mcpServers.off.proxy',
  'groups|users|bearerKeys',
  'systemConfig.(nameSeparator|network|activityLog|install)',
  'systemConfig.smartRouting.(enabled|openaiApiKey)',
  'systemConfig.toolResultCompression.(enabled|maxOutputTokens)',
  'systemConfig.auth.betterAuth.enabled',
  'systemConfig.auth.betterAuth.providers.oidc',
  'systemConfig.routing.(enableGlobalRoute|enableGroupNameRoute|enableBearerAuth|bearerAuthKey|jsonBodyLimit)',
  'systemConfig.oauthServer.enabled',
  'systemConfig.oauthServer.dynamicRegistration.enabled',
  // Sessions outlive a restart in any case.
  'systemConfig.enableSessionRebuild',
];

/** What is empty, or as it is here anyway. */
const saysNothing = ['systemConfig.mcpRouter=', 'systemConfig.auth.betterAuth.providers.github.enabled=false'];

function leaves(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path}=${String(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`));
}

const patterns = followed.map(
  (path) => new RegExp(`^(?:${path.replaceAll('.', '\\.').replaceAll('*', '[^.]+')})(?:[.=]|$)`),
);

test.each<[string, object, string[]]>([
  ['a person', personal, ['mcpServers.blocked.proxy']],
  [
    'a company',
    company,
    [
      'mcpServers.linear.startOnDemand',
      'systemConfig.oauthServer.accessTokenLifetime',
      'systemConfig.oauthServer.allowedScopes',
      'systemConfig.oauthServer.dynamicRegistration.requiresAuthentication',
      'systemConfig.oauthServer.refreshTokenLifetime',
      'systemConfig.oauthServer.requireClientSecret',
      'systemConfig.routing.skipAuth',
    ],
  ],
  [
    'a demonstration',
    demonstration,
    ['mcpServers.remote.proxy', 'mcpServers.time.proxy', 'systemConfig.discovery', 'systemConfig.mcpRouter'],
  ],
  [
    'a company with logins at providers',
    registered,
    [
      'mcpServers.crm.oauth.dynamicRegistration.metadata',
      'oauthClients',
      'oauthTokens',
      'userConfigs',
      'users',
      'systemConfig.auth.betterAuth.providers.google',
      'systemConfig.oauthServer.authorizationCodeLifetime',
      'systemConfig.oauthServer.clientIdMetadata.enabled',
      'systemConfig.oauthServer.dynamicRegistration.allowedGrantTypes',
      'systemConfig.oauthServer.requireState',
      'systemConfig.smartRouting.dbUrl',
      'systemConfig.toolResultCompression.minTokens',
      'systemConfig.toolResultCompression.strategy',
    ],
  ],
])('the file of %s starts, and no member of it is lost in silence', (_who, document, named) => {
  const { settings, warnings } = parseSettings(document);
  const unusable = [...settings.servers.values()].filter(({ transport }) => transport.type === 'invalid');
  expect(unusable).toEqual([]);
  const told = warnings.map(({ path }) => path);
  for (const path of named) expect(told).toContain(path);
  const lost = leaves(document, '').filter(
    (leaf) =>
      !patterns.some((pattern) => pattern.test(leaf)) &&
      !told.some((path) => leaf.startsWith(path)) &&
      !(leaf.startsWith('systemConfig.mcpRouter.') && document === personal) &&
      !saysNothing.includes(leaf),
  );
  expect(lost).toEqual([]);
});

test('programs get the package indexes and their proxy, below their own variables', () => {
  const mcpServers = {
    ...personal.mcpServers,
    own: { command: 'npx', env: { npm_config_registry: 'https://own.example' } },
  };
  const { settings } = parseSettings({ ...personal, mcpServers });
  const envOf = (name: string) => {
    const { transport } = settings.servers.get(name) ?? one(name);
    return transport.type === 'stdio' ? transport.env : {};
  };
  expect(envOf('fetch')).toEqual({
    npm_config_registry: 'https://registry.npmmirror.com',
    UV_DEFAULT_INDEX: 'https://pypi.tuna.tsinghua.edu.cn/simple',
    PIP_INDEX_URL: 'https://pypi.tuna.tsinghua.edu.cn/simple',
  });
  expect(envOf('own')['npm_config_registry']).toBe('https://own.example');
  expect(envOf('blocked')).toMatchObject({
    ALL_PROXY: 'socks5h://u:p%40ss@127.0.0.1:1080',
    all_proxy: 'socks5h://u:p%40ss@127.0.0.1:1080',
  });
  const { warnings } = parseSettings(personal);
  expect(JSON.stringify(warnings), 'no warning quotes the password').not.toContain('p@ss');
  expect(JSON.stringify(parseSettings(registered).warnings)).not.toMatch(/hub:pw|u-1/);
});
