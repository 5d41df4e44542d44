import { beforeAll, expect, test } from 'vitest';
import { authorize, clientWithId, type HandClient } from '../kit/authorizing.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { httpsServer } from '../kit/https.ts';
import { raw } from '../kit/raw.ts';
import { modern } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// From nothing to the tools, with the requests that these clients send. Where each is from stands beside it; what they
// have in common is the way of the official library, which all but VS Code and Codex are made with.

interface RecordedClient {
  readonly name: string;
  /** How it says who it is: the body of its registration, or the document at its id. */
  readonly registration?: Record<string, unknown>;
  readonly document?: Record<string, unknown>;
  readonly redirectUri: string;
  /** Parameters beside the usual of the authorization request, by the address of the endpoint; null takes one away. */
  readonly authorize: (endpoint: string) => Record<string, string | null>;
  readonly redeem: (endpoint: string) => Record<string, string | null>;
  readonly refresh: (endpoint: string) => Record<string, string | null>;
  /** The members of its `initialize`, and the headers of all it sends to the endpoint. */
  readonly initialize: Record<string, unknown>;
  readonly headers: Record<string, string>;
  /** Whether it brings the id of its session back. */
  readonly keepsSession: boolean;
}

const codeGrants = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const withResource = (resource: string) => ({ resource });
const nothing = () => ({});

/**
 * https://claude.com/docs/connectors/building/authentication; the first request as
 * https://github.com/anthropics/claude-ai-mcp/issues/76 logged it, the agent as issue 37 there.
 */
const claudeAi = {
  redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'Anthropic', version: '1.0.0' },
  },
  headers: { accept: '*/*', 'user-agent': 'Claude-User' },
  keepsSession: true,
};

/** https://github.com/anthropics/claude-code/issues/42301 and 69746; that it refreshes without a scope: 89862. */
const claudeCode = {
  redirectUri: 'http://localhost:54212/callback',
  refresh: withResource,
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { roots: {}, elicitation: {} },
    clientInfo: { name: 'claude-code', title: 'Claude Code', version: '2.1.233' },
  },
  headers: { 'user-agent': 'claude-code/2.1.233 (cli)' },
  keepsSession: true,
};

/**
 * https://developers.openai.com/plugins/build/auth; the requests for a code as
 * https://community.openai.com/t/oauth-missing-scopes-after-reconnect/1366784 logged them.
 */
const chatGpt = {
  redeem: withResource,
  refresh: withResource,
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'openai-mcp', version: '1.0.0' },
  },
  headers: { 'user-agent': 'openai-mcp/1.0.0', 'x-openai-session': 'v1/abc', 'x-openai-subject': 'v1/def' },
  keepsSession: false,
};

/** https://github.com/microsoft/vscode/blob/main/src/vs/base/common/oauth.ts; its `initialize` from issue 308766 there. */
const vsCode = {
  redirectUri: 'http://127.0.0.1:33418/',
  authorize: (resource: string) => ({ resource, scope: 'mcp', state: 'gXVXo0/iMD8WMolDHKxSTg==' }),
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
    },
    clientInfo: { name: 'Visual Studio Code', version: '1.115.0' },
  },
  headers: { 'user-agent': 'node' },
  keepsSession: true,
};

const clients: readonly RecordedClient[] = [
  {
    ...claudeAi,
    name: 'claude.ai by its document',
    document: {
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      redirect_uris: [claudeAi.redirectUri],
      grant_types: [...codeGrants.grant_types, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    authorize: (resource) => ({ resource, scope: 'mcp' }),
    redeem: withResource,
    refresh: withResource,
  },
  {
    // It wants a secret, takes the answer that there is none, asks for a scope of its own, and names no endpoint later.
    ...claudeAi,
    name: 'claude.ai by registration',
    registration: {
      client_name: 'claudeai',
      ...codeGrants,
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'claudeai',
      redirect_uris: [claudeAi.redirectUri],
    },
    authorize: (resource) => ({ resource: `${resource}/`, scope: 'claudeai' }),
    redeem: nothing,
    refresh: nothing,
  },
  {
    ...claudeCode,
    name: 'Claude Code by its document',
    document: {
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      ...codeGrants,
      token_endpoint_auth_method: 'none',
    },
    authorize: (resource) => ({ resource, scope: 'mcp' }),
    redeem: withResource,
  },
  {
    // The address of the endpoint was given to it with a query.
    ...claudeCode,
    name: 'Claude Code by registration',
    registration: {
      client_name: 'Claude Code (tool hub)',
      redirect_uris: ['http://localhost:54212/callback'],
      ...codeGrants,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    authorize: (resource) => ({ resource: `${resource}?pageSize=50`, scope: 'mcp offline_access', prompt: 'consent' }),
    redeem: (resource) => ({ resource: `${resource}?pageSize=50` }),
  },
  {
    ...chatGpt,
    name: 'ChatGPT by its document',
    document: {
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
      ...codeGrants,
      client_name: 'ChatGPT',
      logo_uri: 'https://persistent.oaistatic.com/sonic/misc/openai-logo.png',
    },
    redirectUri: 'https://chatgpt.com/connector_platform_oauth_redirect',
    authorize: (resource) => ({ resource, scope: 'mcp', state: 'oauth_s_691b55f5b11481919ddp59nge4998443f' }),
  },
  {
    // When it is connected again it asks for no scope.
    ...chatGpt,
    name: 'ChatGPT by registration, connected again',
    registration: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/abc_DEF-123'],
      ...codeGrants,
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/abc_DEF-123',
    authorize: (resource) => ({ resource, state: 'oauth_s_691b57560b648191a5a85lt8e30e0894' }),
  },
  {
    ...vsCode,
    name: 'VS Code by its document',
    document: {
      client_name: 'Visual Studio Code',
      logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
      grant_types: [...codeGrants.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      client_uri: 'https://vscode.dev/product',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    },
    redeem: withResource,
    refresh: withResource,
  },
  {
    // Before 1.104 it named the endpoint in the first request alone (issue 261364).
    ...vsCode,
    name: 'VS Code by registration, an older one',
    registration: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      ...codeGrants,
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'mcp',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redeem: nothing,
    refresh: nothing,
  },
  {
    // Its registration is quoted in https://github.com/erp-mafia/accounted/pull/2225.
    name: 'Cursor',
    registration: {
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      token_endpoint_auth_method: 'none',
      ...codeGrants,
      client_name: 'Cursor',
    },
    redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
    authorize: (resource) => ({ resource, scope: 'mcp' }),
    redeem: withResource,
    refresh: withResource,
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { roots: { listChanged: false }, elicitation: {} },
      clientInfo: { name: 'cursor-vscode', version: '1.0.0' },
    },
    headers: { 'user-agent': 'Cursor/1.0.0' },
    keepsSession: true,
  },
  {
    // https://github.com/openai/codex/issues/24890 (no endpoint in the first request) and 33403 (nor in a refresh).
    name: 'Codex',
    registration: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:37819/callback/Ab3dE'],
      ...codeGrants,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:37819/callback/Ab3dE',
    authorize: () => ({ resource: null, scope: 'mcp' }),
    redeem: nothing,
    refresh: nothing,
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'codex-mcp-client', title: 'Codex', version: '0.147.0' },
    },
    headers: {},
    keepsSession: true,
  },
];

const alpha = hostileStdio({ name: 'alpha', tools: ['read', 'write'] });
let hub: TestHub;
let origin: string;
beforeAll(async () => {
  origin = await httpsServer((req, res) => {
    const { document } = clients[Number(/\d+/.exec(req.url ?? '')?.[0])] ?? {};
    const body = JSON.stringify({ client_id: `${origin}${req.url}`, ...document });
    res.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(body);
  });
  hub = await testHub({
    mcpServers: { alpha: alpha.config },
    groups: [{ id: 'g-dev', name: 'dev', servers: [{ name: 'alpha', tools: ['read'] }] }],
    systemConfig: { routing: { enableBearerAuth: true }, network: { allowedCidrs: ['127.0.0.1'] } },
  });
  await hub.connected(1);
});

const get = async (url: string) => {
  const { status, text } = await raw(url, { method: 'GET', headers: { accept: 'application/json' } });
  expect(status, url).toBe(200);
  return JSON.parse(text) as Record<string, unknown>;
};

/** The client as the hub then knows it. */
async function known({ registration, document, redirectUri }: RecordedClient, at: string): Promise<HandClient> {
  if (document) return clientWithId(hub.url, `${origin}/${at}.json`, redirectUri);
  const { status, text } = await raw(`${hub.url}/oauth/register`, {
    headers: { 'x-forwarded-for': `10.2.0.${at}`, accept: 'application/json' },
    body: registration,
  });
  expect(status, text).toBe(201);
  const answer = JSON.parse(text) as { client_id: string } & Record<string, unknown>;
  expect(answer).toMatchObject({ redirect_uris: registration?.['redirect_uris'], token_endpoint_auth_method: 'none' });
  expect(answer).not.toHaveProperty('client_secret');
  return clientWithId(hub.url, answer.client_id, redirectUri);
}

const everywhere = clients.flatMap((client, at) =>
  ['', 'dev'].map((scope) => [client.name, scope, client, String(at)] as const),
);
test.each(everywhere)('%s gets from nothing to the tools of /mcp/%s', async (_, scope, client, at) => {
  const endpoint = hub.mcp(scope);
  const ask = (method: string, params: unknown, headers: Record<string, string> = {}) =>
    raw(endpoint, {
      headers: { ...client.headers, ...headers },
      body: { method, params, jsonrpc: '2.0', ...(!method.startsWith('notifications/') && { id: 1 }) },
    });

  const turnedAway = await ask('initialize', client.initialize);
  expect(turnedAway.status).toBe(401);
  const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(turnedAway.headers['www-authenticate'] ?? '') ?? [];
  // VS Code takes no other resource than the very address that it was given.
  expect(await get(metadata)).toMatchObject({ resource: endpoint, authorization_servers: [hub.url] });
  expect(await get(`${hub.url}/.well-known/oauth-authorization-server`)).toMatchObject({
    issuer: hub.url,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  });

  const hand = await known(client, at);
  const parameters = client.authorize(endpoint);
  const back = await authorize(hand.address(parameters));
  expect(back.href.startsWith(`${client.redirectUri}?`)).toBe(true);
  expect(back.searchParams.get('state')).toBe(parameters['state'] ?? 'some state');
  expect(back.searchParams.get('iss')).toBe(hub.url);
  const given = await hand.redeem(back, client.redeem(endpoint));
  expect(given.status, JSON.stringify(given.body)).toBe(200);
  expect(given.body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'mcp' });

  const tools = scope === '' ? ['alpha-read', 'alpha-write'] : ['alpha-read'];
  let session: Record<string, string> = {};
  const listed = async (token: string) => {
    const answer = await ask('tools/list', {}, { ...session, authorization: `Bearer ${token}` });
    expect(answer.status, answer.text).toBe(200);
    return answer.result?.tools?.map(({ name }) => name).toSorted();
  };
  const authorization = `Bearer ${given.body.access_token}`;
  const begun = await ask('initialize', client.initialize, { authorization });
  expect(begun.result?.protocolVersion, begun.text).toBe(client.initialize['protocolVersion']);
  if (client.keepsSession)
    session = {
      'mcp-session-id': String(begun.headers['mcp-session-id']),
      'mcp-protocol-version': String(client.initialize['protocolVersion']),
    };
  expect((await ask('notifications/initialized', {}, { ...session, authorization })).status).toBe(202);
  expect(await listed(given.body.access_token)).toEqual(tools);

  const again = await hand.refresh(given.body.refresh_token, client.refresh(endpoint));
  expect(again.status, JSON.stringify(again.body)).toBe(200);
  expect(again.body.access_token).not.toBe(given.body.access_token);
  // Its session goes on with the new token.
  expect(await listed(again.body.access_token)).toEqual(tools);
});

test('ChatGPT asks in the stateless revision first, and gets the tools', async () => {
  const hand = await known({ ...chatGpt, ...clients[5] } as RecordedClient, '5');
  const { body } = await hand.redeem(await authorize(hand.address()));
  const headers = { ...chatGpt.headers, authorization: `Bearer ${body.access_token}` };
  const discovered = await modern(hub.mcp(), 'server/discover', {}, { headers });
  expect(discovered.status, discovered.text).toBe(200);
  const { result } = await modern(hub.mcp(), 'tools/list', {}, { headers });
  expect(result?.tools?.map(({ name }) => name)).toEqual(['alpha-read', 'alpha-write']);
});
