import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { type EmbeddingFixture, embeddingService } from '../kit/embedding-service.ts';
import { tempFolder } from '../kit/databases.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { sharedPostgres } from '../kit/shared-postgres.ts';
import { type HubOptions, type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// CONTRACT §6 with a hosted embedding service: better answers while it works, the same hub while it does not, and
// nothing embedded twice.

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const mail = await hostileHttp({
  name: 'mail',
  tools: [
    tool('send_email', 'Send an email message to a recipient'),
    tool('list_inbox', 'List the messages in the inbox'),
  ],
});
const shop = await hostileHttp({
  name: 'shop',
  tools: [tool('create_invoice', 'Create an invoice for a customer'), tool('refund', 'Refund a payment to a customer')],
});

const key = 'secret-key-of-the-tests';

function settings(smartRouting: Record<string, unknown> = {}): SettingsDocument {
  return {
    mcpServers: { mail: mail.config, shop: shop.config },
    groups: [{ id: 'g', name: 'post', servers: ['mail'] }],
    systemConfig: { smartRouting },
  };
}

const byOpenai = (service: EmbeddingFixture, more: Record<string, unknown> = {}) => ({
  openaiApiBaseUrl: service.url,
  openaiApiKey: key,
  embeddingModel: 'm',
  ...more,
});

interface Found {
  tools: { name: string; score: number }[];
  metadata: { degraded?: string; lowConfidence?: true; [member: string]: unknown };
}

async function search(hub: TestHub, query: string, scope = '$smart'): Promise<Found> {
  const { result } = await rpc(hub.mcp(scope), 'tools/call', { name: 'search_tools', arguments: { query } });
  return result?.structuredContent as unknown as Found;
}

async function started(options: HubOptions): Promise<TestHub> {
  const hub = await testHub(options);
  await hub.connected(2);
  return hub;
}

interface Performance {
  config: { provider: string; model: string | null };
  database: { connected: boolean };
  vectorStore: { place: string; totalRows: number; byModel: { model: string; toolCount: number }[] };
  coverage: { tools: number; embeddedTools: number; missingIndexServers: string[] };
  service: { state: string; problem: string | null };
  next: { model: string } | null;
  reindexing: boolean;
}

async function performance(hub: TestHub, token: string): Promise<Performance> {
  return (await api(hub, 'GET', '/smart-routing/performance', { token })).body.data as Performance;
}

let asked = 0;
/** Waits until a search, for something new, was answered by the service for every tool. */
const whole = (hub: TestHub) =>
  until('the service answers for every tool', async () => {
    const { metadata } = await search(hub, `send an email ${(asked += 1)}`);
    return metadata.degraded === undefined;
  });

test('with a key in the settings tools are found by the service, and by the built-in index again when it fails', async () => {
  const service = await embeddingService();
  service.key = key;
  const hub = await started(settings(byOpenai(service)));
  await whole(hub);
  const found = await search(hub, 'send an email message');
  expect(found.tools[0]?.name).toBe('mail-send_email');
  for (const { score } of found.tools) expect(score >= 0 && score <= 1).toBe(true);
  expect(service.texts()).toContain('send an email message');
  expect((await hub.health()) as unknown).toMatchObject({ smartRouting: { provider: 'openai', state: 'ready' } });

  service.key = 'another';
  const without = await search(hub, 'write an email to somebody');
  expect(without.tools[0]?.name).toBe('mail-send_email');
  expect(without.metadata.degraded).toMatch(/refused the key \(401\)/);
  expect(await hub.health()).toMatchObject({ status: 'degraded', smartRouting: { state: 'degraded' } });
  service.key = key;
  await whole(hub);
  expect(await hub.health()).toMatchObject({ status: 'healthy' });
});

test('the environment wins over the settings, and Azure is spoken to as it wants', async () => {
  const service = await embeddingService();
  const hub = await started({
    ...settings({ openaiApiBaseUrl: 'http://127.0.0.1:9/v1', openaiApiKey: 'x' }),
    env: {
      SMART_ROUTING_EMBEDDING_PROVIDER: 'azure_openai',
      AZURE_OPENAI_ENDPOINT: service.origin,
      AZURE_OPENAI_API_KEY: key,
      AZURE_OPENAI_EMBEDDING_DEPLOYMENT: 'emb',
    },
  });
  await whole(hub);
  expect(service.requests[0]).toMatchObject({
    path: '/openai/deployments/emb/embeddings?api-version=2024-10-21',
    apiKey: key,
    authorization: undefined,
  });
});

test('what a search may not find is not compared, and changes nothing about it', async () => {
  const service = await embeddingService();
  const hub = await started(settings(byOpenai(service)));
  await whole(hub);
  const alone = await testHub({ ...settings(byOpenai(service)), mcpServers: { mail: mail.config } });
  await alone.connected(1);
  await whole(alone);
  const query = 'invoice for a customer by email';
  expect(await search(hub, query, '$smart/post')).toEqual(await search(alone, query, '$smart/post'));
});

test('settings take effect at once: another model, another provider, none', async () => {
  const [one, two] = [await embeddingService(), await embeddingService()];
  const hub = await started(settings(byOpenai(one)));
  await whole(hub);
  const token = await login(hub);
  const put = (smartRouting: Record<string, unknown>) =>
    api(hub, 'PUT', '/system-config', { token, body: { smartRouting } });

  expect((await put({ ...byOpenai(two), embeddingModel: 'n' })).status).toBe(200);
  await until('the other model answers', async () => (await performance(hub, token)).config.model === 'n');
  const before = one.requests.length;
  expect((await search(hub, 'send an email at last')).metadata.degraded).toBeUndefined();
  expect(one.requests).toHaveLength(before);

  const asked = two.requests.length;
  await put({ enabled: false });
  expect((await search(hub, 'send an email for nobody to see')).metadata.degraded).toBeUndefined();
  expect(two.requests).toHaveLength(asked);
  expect((await performance(hub, token)).config.provider).toBe('builtin');
});

test('how near to the best one results must be is configured by model', async () => {
  const service = await embeddingService();
  const found = async (thresholds: Record<string, number>) => {
    const hub = await started(settings(byOpenai(service, { thresholds })));
    await whole(hub);
    const tools = (await search(hub, 'message for a customer')).tools.length;
    await api(hub, 'PUT', '/system-config', { token: await login(hub), body: { smartRouting: { enabled: false } } });
    return [tools, (await search(hub, 'message for a customer')).tools.length];
  };
  const [strict = 0, loose = 0] = await found({ m: 1, builtin: 0 });
  expect(strict).toBe(1);
  expect(loose).toBeGreaterThan(1);
  const [more = 0, one = 0] = await found({ m: 0, builtin: 1 });
  expect(more).toBeGreaterThan(1);
  expect(one).toBe(1);
});

describe('what cannot be used is refused, and nothing changes', () => {
  test.each([
    [{ openaiApiBaseUrl: 'file:///etc/passwd' }, 'openaiApiBaseUrl'],
    [{ openaiApiBaseUrl: 'http://user:password@host/v1' }, 'openaiApiBaseUrl'],
    [{ azureOpenaiEndpoint: 'x.openai.azure.com' }, 'azureOpenaiEndpoint'],
    [{ embeddingDimensions: 0 }, 'embeddingDimensions'],
    [{ embeddingMaxTokens: 'many' }, 'embeddingMaxTokens'],
    [{ embeddingEncodingFormat: 'int8' }, 'embeddingEncodingFormat'],
    [{ thresholds: { m: 2 } }, 'thresholds'],
  ])('%j', async (smartRouting, member) => {
    const hub = await testHub(settings());
    const token = await login(hub);
    const answer = await api(hub, 'PUT', '/system-config', { token, body: { smartRouting } });
    expect(answer.status).toBe(400);
    expect(answer.body.errors?.[0]?.path).toContain(member);
    expect((await performance(hub, token)).config.provider).toBe('builtin');
  });
});

test('no key is shown or logged, wherever it is and whatever fails', async () => {
  const service = await embeddingService();
  service.fail({ status: 401, body: JSON.stringify({ error: { message: `Incorrect API key: ${key}` } }) });
  const fromEnvironment = byOpenai(service, { openaiApiKey: '${KEY_OF_THE_SERVICE}' });
  const env = { LOG_LEVEL: 'debug', LOG_FORMAT: 'json', KEY_OF_THE_SERVICE: key };
  const hub = await started({ ...settings(fromEnvironment), env });
  const token = await login(hub);
  await until('it has failed', async () => (await performance(hub, token)).service.state === 'degraded');
  const shown = [
    JSON.stringify(await search(hub, 'send an email')),
    ...(await Promise.all(
      ['/settings', '/smart-routing/performance', '/logs', '/mcp-settings/export'].map(
        async (path) => (await api(hub, 'GET', path, { token })).text,
      ),
    )),
  ].join('\n');
  expect(service.requests[0]?.authorization).toBe(`Bearer ${key}`);
  expect(shown).toContain('The embedding service cannot be used');
  expect(shown).not.toContain(key);
});

describe('/api/smart-routing', () => {
  const routes = [
    ['GET', '/smart-routing/performance'],
    ['POST', '/smart-routing/reindex'],
  ] as const;

  test.each(routes)('%s %s is for admins alone', async (method, path) => {
    const hub = await testHub(settings());
    const admin = await login(hub);
    const callers: [token: string | undefined, status: number][] = [
      [undefined, 401],
      ['nonsense', 401],
      [await userToken(hub, admin, 'ann', { servers: ['mail'] }), 403],
      [await keyToken(hub, admin), 403],
      [admin, 200],
    ];
    for (const [token, status] of callers) {
      const answer = await api(hub, method, path, { token });
      expect(answer.status).toBe(status);
      expect(answer.body.success).toBe(status === 200);
    }
  });

  test('tells what is used and covered, and without a service that everything is', async () => {
    const hub = await started(settings());
    const token = await login(hub);
    await until('both servers are indexed', async () => (await performance(hub, token)).coverage.tools === 4);
    expect(await performance(hub, token)).toMatchObject({
      config: { provider: 'builtin', model: null },
      vectorStore: { place: 'builtin' },
      coverage: { tools: 4, embeddedTools: 4, missingIndexServers: [] },
      service: { state: 'builtin', problem: null },
      next: null,
      reindexing: false,
    });
    const { status, body } = await api(hub, 'POST', '/smart-routing/reindex', { token });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ syncedServers: 2, failedServers: 0, totalTools: 4, reindexing: false });
  });

  test('indexes again, one at a time, with progress in the log', async () => {
    const service = await embeddingService();
    const hub = await started({ ...settings(byOpenai(service)), env: { LOG_LEVEL: 'info' } });
    await whole(hub);
    const token = await login(hub);
    const embedded = () => service.texts().filter((text) => text.startsWith('refund')).length;
    expect(embedded()).toBe(1);
    const answer = await api(hub, 'POST', '/smart-routing/reindex', { token });
    expect(answer.body.data).toMatchObject({ syncedServers: 2, failedServers: 0, totalTools: 4, reindexing: false });
    expect(embedded()).toBe(2);
    service.fail('hang');
    const waiting = api(hub, 'POST', '/smart-routing/reindex', { token });
    await until('it runs', async () => (await performance(hub, token)).reindexing);
    const second = await api(hub, 'POST', '/smart-routing/reindex', { token });
    expect([second.status, second.body.message]).toEqual([409, 'A reindex pass is already running.']);
    const { text } = await api(hub, 'GET', '/logs?service=search', { token });
    expect(text).toContain('Embedded tools');
    // Who waits for the end is told when there is nothing left to wait for.
    await api(hub, 'PUT', '/system-config', { token, body: { smartRouting: { enabled: false } } });
    expect((await waiting).status).toBe(200);
  });
});

describe('vectors are kept', () => {
  const toolTexts = (service: EmbeddingFixture) =>
    service.texts().filter((text) => text.includes('(mail)') || text.includes('(shop)'));

  test.each(['embedded', 'postgres'] as const)('in %s: a restart embeds nothing', async (kind) => {
    const service = await embeddingService();
    const env = { DB_URL: kind === 'embedded' ? '' : await (await sharedPostgres()).createDatabase() };
    const folder = tempFolder();
    if (kind === 'embedded') await copyOfEmbedded(join(folder, 'data'));
    const first = await started({ ...settings(byOpenai(service)), env, folder });
    await until('the database is ready', async () => (await first.health()).database.state === 'ready');
    await whole(first);
    expect(toolTexts(service)).toHaveLength(4);
    await first.close();
    const second = await started({ ...settings(byOpenai(service)), env, folder });
    await whole(second);
    const token = await login(second);
    expect(await performance(second, token)).toMatchObject({
      vectorStore: { place: kind === 'embedded' ? 'database' : 'memory', totalRows: 4 },
      coverage: { embeddedTools: 4 },
    });
    expect(toolTexts(service)).toHaveLength(4);
    expect((await second.health()) as unknown).toMatchObject({
      smartRouting: { vectors: kind === 'embedded' ? 'database' : 'memory' },
    });
  });

  test('two hubs on one PostgreSQL embed each tool once between them', async () => {
    const service = await embeddingService();
    const env = { DB_URL: await (await sharedPostgres()).createDatabase() };
    const options = { ...settings(byOpenai(service)), env };
    const hubs = await Promise.all([started(options), started(options)]);
    for (const hub of hubs) await whole(hub);
    expect(toolTexts(service).sort()).toHaveLength(4);
    expect(new Set(toolTexts(service)).size).toBe(4);
  });
});
