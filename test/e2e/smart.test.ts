import { beforeAll, describe, expect, test } from 'vitest';
import { smartLimits } from '../../src/smart/limits.ts';
import { api, login } from '../kit/api.ts';
import { clientKinds, connect } from '../kit/clients.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { rpc } from '../kit/raw.ts';
import { searchReady } from '../kit/search-ready.ts';
import { session } from '../kit/sessions.ts';
import { type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// SPEC, Smart routing; CONTRACT §6: finding a tool by what it does, and calling it, without ever learning of what is
// out of reach.

const tool = (name: string, description: string, properties: Record<string, unknown> = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
});
const mail = await hostileHttp({
  name: 'mail',
  tools: [
    tool('send_email', 'Send an email message to a recipient', { to: { type: 'string' } }),
    tool('list_inbox', 'List the messages in the inbox'),
  ],
});
const shop = await hostileHttp({
  name: 'shop',
  tools: [tool('create_invoice', 'Create an invoice for a customer'), tool('refund', 'Refund a payment to a customer')],
});

const settings: SettingsDocument = {
  mcpServers: { mail: mail.config, shop: { ...shop.config, tools: { refund: { enabled: false } } } },
  groups: [
    { id: 'g-mail', name: 'post', servers: [{ name: 'mail', tools: ['send_email'] }] },
    { id: 'g-empty', name: 'empty', servers: [] },
  ],
};
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub(settings);
  await hub.connected(2);
});

interface Found {
  tools: { name: string; description: string; inputSchema?: unknown; serverName: string; score: number }[];
  metadata: Record<string, unknown>;
}

const call = (scope: string, name: string, args: unknown = {}) =>
  rpc(hub.mcp(scope), 'tools/call', { name, arguments: args });
const search = async (query: string, scope = '$smart', more: Record<string, unknown> = {}) => {
  const { result } = await call(scope, 'search_tools', { query, ...more });
  expect(JSON.parse(result?.content?.[0]?.text ?? '')).toEqual(result?.structuredContent);
  return result?.structuredContent as unknown as Found;
};
const names = (found: Found) => found.tools.map((one) => one.name);

describe('search_tools', () => {
  test('finds the tool that does what is asked first, with its schema, its server and a score', async () => {
    const found = await search('write a mail to somebody');
    expect(found.tools[0]).toMatchObject({
      name: 'mail-send_email',
      serverName: 'mail',
      inputSchema: { type: 'object' },
    });
    for (const { score } of found.tools) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
    expect(found.metadata).toMatchObject({
      query: 'write a mail to somebody',
      totalResults: found.tools.length,
      progressiveDisclosure: false,
    });
  });

  test('keeps to the group, and never shows more than asked for', async () => {
    expect(names(await search('invoice for a customer', '$smart/post'))).not.toContain('shop-create_invoice');
    expect(names(await search('messages in the inbox', '$smart/post'))).not.toContain('mail-list_inbox');
    expect((await search('customer email messages invoice', '$smart', { limit: 1 })).tools).toHaveLength(1);
  });

  test.each(['nobody', 'empty', 'mail'])(
    'in %s, which is no group with servers, finds nothing and fails nothing',
    async (group) => {
      expect((await search('send an email', `$smart/${group}`)).tools).toEqual([]);
    },
  );

  test('takes null for what is left out', async () => {
    const { tools } = await search('send an email', '$smart', { limit: null, context: null });
    expect(tools).toEqual((await search('send an email')).tools);
  });

  test('does not find what is switched off', async () => {
    expect(names(await search('refund a payment to a customer'))).not.toContain('shop-refund');
  });

  test.each([{}, { query: '' }, { query: 5 }, { query: 'x', limit: 'many' }, { query: 'x', context: 1 }])(
    '%j is refused with what to do',
    async (args) => {
      const { result } = await call('$smart', 'search_tools', args);
      expect(result?.isError).toBe(true);
      expect(result?.content?.[0]?.text).toMatch(/query|limit|context/);
    },
  );

  test('is not about the words of other tools: a hidden one changes no score', async () => {
    const alone = await testHub({ ...settings, mcpServers: { mail: mail.config } });
    await alone.connected(1);
    for (const one of [alone, hub]) await searchReady(one, await login(one));
    const there = await rpc(alone.mcp('$smart/post'), 'tools/call', {
      name: 'search_tools',
      arguments: { query: 'send an email' },
    });
    const here = await search('send an email', '$smart/post');
    expect(there.result?.structuredContent).toMatchObject({ tools: here.tools });
  });
});

describe('call_tool', () => {
  test("gives the tool's own result", async () => {
    const answer = await call('$smart', 'call_tool', { toolName: 'mail-send_email', arguments: { to: 'ann' } });
    expect(answer.result?.structuredContent).toMatchObject({ tool: 'send_email' });
    expect(mail.received('tools/call').at(-1)?.params).toMatchObject({ name: 'send_email', arguments: { to: 'ann' } });
  });

  test('takes null for no arguments, and says that it needs the name of a tool', async () => {
    const answer = await call('$smart', 'call_tool', { toolName: 'mail-list_inbox', arguments: null });
    expect(answer.result?.structuredContent).toMatchObject({ tool: 'list_inbox' });
    expect(mail.received('tools/call').at(-1)?.params).toMatchObject({ name: 'list_inbox', arguments: {} });
    for (const toolName of [undefined, null, 5]) {
      const { result } = await call('$smart', 'call_tool', { name: 'mail-list_inbox', toolName, arguments: {} });
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { error: expect.stringContaining('"toolName"') },
      });
    }
  });

  test('says which arguments are wrong, with the schema, and does not contact the server', async () => {
    const before = mail.received('tools/call').length;
    const { result } = await call('$smart', 'call_tool', { toolName: 'mail-send_email', arguments: { to: 5 } });
    expect(result).toMatchObject({ isError: true, structuredContent: { problems: [{ path: 'to' }], inputSchema: {} } });
    expect(mail.received('tools/call')).toHaveLength(before);
  });

  test.each([
    ['$smart', 'shop-refund'],
    ['$smart', 'no-such_tool'],
    ['$smart/post', 'mail-list_inbox'],
    ['$smart/post', 'shop-create_invoice'],
    ['$smart/nobody', 'mail-send_email'],
  ])('in %s does not know %s, with the words for what does not exist', async (scope, toolName) => {
    const { result } = await call(scope, 'call_tool', { toolName, arguments: {} });
    const nothing = await call(scope, 'call_tool', { toolName: 'x', arguments: {} });
    const words = (text: string | undefined, name: string) => text?.replaceAll(name, '<name>');
    expect(result?.isError).toBe(true);
    expect(words(result?.content?.[0]?.text, toolName)).toBe(words(nothing.result?.content?.[0]?.text, 'x'));
  });

  test('is the only way: a tool is not called by its own name here', async () => {
    expect((await call('$smart', 'mail-send_email', { to: 'ann' })).error?.code).toBe(-32602);
  });
});

test.each(clientKinds)('the official client %s finds a tool and calls it', async (kind) => {
  const client = await connect(kind, hub.url, '$smart');
  expect((await client.listTools()).tools.map((one) => one.name)).toEqual(['search_tools', 'call_tool']);
  const found = (await client.callTool('search_tools', { query: 'create an invoice' })).structuredContent as Found;
  const answer = await client.callTool('call_tool', { toolName: found.tools[0]?.name, arguments: {} });
  expect(answer.structuredContent).toMatchObject({ tool: 'create_invoice' });
});

test('progressive disclosure is switched while clients are connected, and they are told', async () => {
  const own = await testHub(settings);
  await own.connected(2);
  const client = await session(own.mcp('$smart'));
  const events = await client.listen();
  const listed = async () => (await client.request('tools/list')).result?.tools?.map((one) => one.name);
  expect(await listed()).toEqual(['search_tools', 'call_tool']);
  expect((await client.call('describe_tool', { toolName: 'mail-send_email' })).error?.code).toBe(-32602);
  own.write({ ...settings, systemConfig: { smartRouting: { progressiveDisclosure: true } } });
  await until('the change is announced', () =>
    events.messages.some((message) => message.method === 'notifications/tools/list_changed'),
  );
  expect(await listed()).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  const found = (await client.call('search_tools', { query: 'send an email' })).result
    ?.structuredContent as unknown as Found;
  expect(found.metadata).toMatchObject({ progressiveDisclosure: true });
  expect(found.metadata['guideline']).toContain('describe_tool');
  expect(found.tools[0]).not.toHaveProperty('inputSchema');
  const described = await client.call('describe_tool', { toolName: 'mail-send_email' });
  expect(described.result?.structuredContent).toMatchObject({
    tool: { name: 'mail-send_email', inputSchema: { required: ['to'] } },
  });
  expect((await client.call('describe_tool', { toolName: 'nope' })).result?.isError).toBe(true);
});

test('the environment decides on progressive disclosure where it speaks, and who changes the setting is told so', async () => {
  const own = await testHub({ ...settings, env: { SMART_ROUTING_PROGRESSIVE_DISCLOSURE: 'true' } });
  await own.connected(2);
  const shown = async () => (await rpc(own.mcp('$smart'), 'tools/list', {})).result?.tools?.length;
  expect(await shown()).toBe(3);
  const token = await login(own);
  const set = async (smartRouting: object) =>
    (await api(own, 'PUT', '/system-config', { token, body: { smartRouting } })).body.message;
  expect(await set({ progressiveDisclosure: false, serverDescriptionMode: 'full' })).toBe(
    'System configuration updated successfully. smartRouting.progressiveDisclosure stays true: the environment says so (SMART_ROUTING_PROGRESSIVE_DISCLOSURE).',
  );
  expect(await shown()).toBe(3);
  expect(await set({ progressiveDisclosure: true })).toBe('System configuration updated successfully.');
});

test('a search that comes while the hub starts waits until all tools are read with the word vectors', async () => {
  setLimits(smartLimits, { searchStartMs: 60_000, indexWaitMs: 60_000 });
  const tools = Array.from({ length: 2_000 }, (_, i) => tool(`record_${i}`, `Keeps what was measured at place ${i}`));
  const many = await hostileHttp({ name: 'many', tools });
  const own = await testHub({ mcpServers: { many: many.config, mail: mail.config } });
  await own.connected(2);
  const found = async () => {
    const args = { name: 'search_tools', arguments: { query: 'write to a friend' } };
    return (await rpc(own.mcp('$smart'), 'tools/call', args)).result?.structuredContent as unknown as Found;
  };
  const first = await found();
  expect(first.metadata['degraded']).toBeUndefined();
  await searchReady(own, await login(own));
  expect(await found()).toEqual(first);
});

test('words an admin gives a tool count from the next search on, and no longer once they are taken back', async () => {
  const own = await testHub(settings);
  await own.connected(2);
  const token = await login(own);
  await searchReady(own, token);
  const found = async () => {
    const args = { name: 'search_tools', arguments: { query: 'zebra husbandry' } };
    return (await rpc(own.mcp('$smart'), 'tools/call', args)).result?.structuredContent as unknown as Found;
  };
  const score = async () => Math.max(0, ...(await found()).tools.map((one) => one.score));
  const before = await score();
  for (let time = 0; time < 3; time++) {
    const path = '/servers/mail/tools/list_inbox/description';
    await api(own, 'PUT', path, { token, body: { description: `Zebra husbandry ${time}` } });
    expect(await score()).toBeGreaterThan(before * 2);
    await api(own, 'DELETE', path, { token });
    expect(await score()).toBe(before);
  }
});

test('a tool whose server is away is not offered, and is found again when it is back', async () => {
  const own = await testHub(settings);
  await own.connected(2);
  const found = async () => {
    const args = { name: 'search_tools', arguments: { query: 'create an invoice' } };
    return names((await rpc(own.mcp('$smart'), 'tools/call', args)).result?.structuredContent as unknown as Found);
  };
  expect(await found()).toContain('shop-create_invoice');
  own.write({ ...settings, mcpServers: { ...settings.mcpServers, shop: { command: 'no-such-program' } } });
  await until('it is gone', async () => !(await found()).includes('shop-create_invoice'));
  own.write(settings);
  await until('it is back', async () => (await found()).includes('shop-create_invoice'));
});

describe('pinned tools', () => {
  const withPins = (pinnedTools: string[], tools: string[] | 'all' = 'all'): SettingsDocument => ({
    ...settings,
    groups: [{ id: 'g-mail', name: 'post', servers: [{ name: 'mail', tools, pinnedTools }] }],
  });

  test('stand beside the search and are called like any other tool; others are not', async () => {
    const own = await testHub(withPins(['send_email']));
    await own.connected(2);
    const listed = (await rpc(own.mcp('$smart/post'), 'tools/list')).result?.tools;
    expect(listed?.map((one) => one.name)).toEqual(['search_tools', 'call_tool', 'mail-send_email']);
    expect(listed?.[2]).toMatchObject({ inputSchema: { required: ['to'] } });
    const called = (name: string, scope = '$smart/post') =>
      rpc(own.mcp(scope), 'tools/call', { name, arguments: { to: 'ann' } });
    expect((await called('mail-send_email')).result?.structuredContent).toMatchObject({ tool: 'send_email' });
    expect((await called('mail-list_inbox')).error?.code).toBe(-32602);
    expect((await called('mail-send_email', '$smart')).error?.code).toBe(-32602);
    expect((await rpc(own.mcp('$smart'), 'tools/list')).result?.tools).toHaveLength(2);
  });

  test('come and go with the settings, and clients are told; a pin outside the selection is none', async () => {
    const own = await testHub(withPins([]));
    await own.connected(2);
    const client = await session(own.mcp('$smart/post'));
    const events = await client.listen();
    const told = () => events.messages.filter((one) => one.method === 'notifications/tools/list_changed').length;
    const listed = async () => (await client.request('tools/list')).result?.tools?.slice(2).map((one) => one.name);
    expect(await listed()).toEqual([]);
    own.write(withPins(['send_email', 'list_inbox']));
    await until('they are announced', () => told() === 1);
    expect(await listed()).toEqual(['mail-send_email', 'mail-list_inbox']);
    own.write(withPins(['send_email', 'list_inbox'], ['list_inbox']));
    await until('the one that is left is announced', () => told() === 2);
    expect(await listed()).toEqual(['mail-list_inbox']);
    const before = mail.received('tools/call').length;
    expect((await client.call('mail-send_email', { to: 'ann' })).error?.code).toBe(-32602);
    expect(mail.received('tools/call')).toHaveLength(before);
  });
});

test('the search says what the servers are for when that is wanted, and clients hear of a change', async () => {
  const described = (description: string): SettingsDocument => ({
    ...settings,
    mcpServers: { ...settings.mcpServers, mail: { ...mail.config, description } },
    systemConfig: { smartRouting: { serverDescriptionMode: 'full' } },
  });
  const own = await testHub(described('Letters to people.'));
  await own.connected(2);
  const client = await session(own.mcp('$smart'));
  const events = await client.listen();
  const about = async () => (await client.request('tools/list')).result?.tools?.[0]?.description;
  expect(await about()).toContain('- mail: Letters to people.');
  own.write(described('The post office.'));
  await until('the change is announced', () =>
    events.messages.some((one) => one.method === 'notifications/tools/list_changed'),
  );
  expect(await about()).toContain('- mail: The post office.');
  const plain = await testHub({ ...described('Letters.'), env: { SMART_ROUTING_SERVER_DESCRIPTION_MODE: 'names' } });
  await plain.connected(2);
  expect((await rpc(plain.mcp('$smart'), 'tools/list')).result?.tools?.[0]?.description).toContain(
    'Servers: mail, shop.',
  );
});

describe('the activity log', () => {
  interface Record {
    kind: string;
    tool: string;
    query?: string;
    searchId?: string;
    searchRank?: number;
    input?: string;
    results?: { tool: string }[];
    uses?: { kind: string; tool: string; rank: number }[];
  }
  /** A hub of its own, a client of it, and the records, newest first. */
  async function recorded(more: SettingsDocument = {}) {
    const own = await testHub({ ...settings, ...more });
    await own.connected(2);
    const admin = await login(own);
    const headers = { authorization: `Bearer ${admin}` };
    const client = await session(own.mcp('$smart'), { headers });
    const records = async (query = '') =>
      (await api(own, 'GET', `/activities${query}`, { token: admin })).body.data as Record[];
    return { own, admin, headers, client, records };
  }
  const toolNames = (found: Record) => found.results?.map(({ tool }) => tool);

  test('keeps each search with its results, and what was then described and called of them, with query and rank', async () => {
    const { client, own, admin, records } = await recorded({
      systemConfig: { smartRouting: { progressiveDisclosure: true } },
    });
    const query = 'send an email message or list the inbox';
    await client.call('search_tools', { query, context: 'a secret plan' });
    await client.call('describe_tool', { toolName: 'mail-list_inbox' });
    await client.call('call_tool', { toolName: 'mail-list_inbox', arguments: {} });
    await client.call('call_tool', { toolName: 'shop-create_invoice', arguments: {} });
    const [other, call, describing, search] = await records();
    expect(search).toMatchObject({ kind: 'search', server: '$smart', tool: 'search_tools', query });
    expect(JSON.stringify(search)).not.toContain('secret plan');
    const rank = 1 + (toolNames(search ?? expect.fail())?.indexOf('list_inbox') ?? -1);
    expect(rank).toBeGreaterThan(0);
    const link = { tool: 'list_inbox', searchId: search?.searchId, searchRank: rank, query };
    expect([call, describing]).toMatchObject([
      { kind: 'call', ...link },
      { kind: 'describe', ...link },
    ]);
    expect(search?.uses).toMatchObject([
      { kind: 'describe', tool: 'list_inbox', rank },
      { kind: 'call', tool: 'list_inbox', rank },
    ]);
    expect(other).toMatchObject({ kind: 'call', tool: 'create_invoice' });
    expect(other).not.toHaveProperty('searchId');
    const stats = await api(own, 'GET', '/activities/stats', { token: admin });
    expect(stats.body.data).toMatchObject({
      totalCalls: 2,
      search: { searches: 1, empty: 0, used: 1, meanRank: rank },
    });
    expect(await records(`?searchId=${search?.searchId}`)).toHaveLength(3);
    expect(await records('?kind=search')).toHaveLength(1);
  });

  test('links no search of another, and no call outside smart routing', async () => {
    const { client, own, headers, records } = await recorded();
    await client.call('search_tools', { query: 'send an email' });
    const another = await session(own.mcp('$smart'), { headers });
    const args = { to: 'ann' };
    await another.call('call_tool', { toolName: 'mail-send_email', arguments: args });
    await rpc(own.mcp('$smart'), 'tools/call', {
      name: 'call_tool',
      arguments: { toolName: 'mail-send_email', arguments: args },
    });
    await rpc(own.mcp(), 'tools/call', { name: 'mail-send_email', arguments: args }, { headers });
    const found = await records();
    expect(found.map(({ kind }) => kind)).toEqual(['call', 'call', 'call', 'search']);
    for (const one of found.slice(0, 3)) expect(one).not.toHaveProperty('searchId');
    expect(found[3]?.uses).toEqual([]);
  });

  test('keeps no words of a search where that is switched off, and all of them where payloads are kept', async () => {
    const quiet = await recorded({ systemConfig: { activityLog: { storeSearchQueries: false } } });
    await quiet.client.call('search_tools', { query: 'send an email' });
    await quiet.client.call('call_tool', { toolName: 'mail-send_email', arguments: { to: 'ann' } });
    const [call, search] = await quiet.records();
    expect(JSON.stringify([call, search])).not.toContain('send an email');
    expect([call?.searchRank, search?.uses?.length]).toEqual([1, 1]);

    const open = await recorded({ systemConfig: { activityLog: { storeToolPayload: true } } });
    await open.client.call('search_tools', { query: 'send an email', context: 'a plan' });
    expect((await open.records())[0]?.input).toContain('a plan');
  });
});
