import { beforeAll, describe, expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import { modern, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';

// What clients build on besides calls: pages of apps, completion, lists in pages. On every kind of endpoint, in both
// eras.

const panel =
  '{"contents":[{"uri":"ui://s/panel","mimeType":"text/html;profile=mcp-app","text":"<p>ü</p>","_meta":{"ui":{"csp":{"connectDomains":["https://x"]},"prefersBorder":true,"future":1.0}}}]}';
let hub: TestHub;
beforeAll(async () => {
  const s = await hostileHttp({
    name: 's',
    tools: [
      { name: 'show', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: 'ui://s/panel' } } },
      'one',
      'two',
      'three',
      'four',
    ],
    prompts: [{ name: 'write', arguments: [{ name: 'style' }] }],
    resources: [
      { uri: 'ui://s/panel', name: 'panel', mimeType: 'text/html;profile=mcp-app', icons: [{ src: 'data:,' }] },
    ],
    results: { 'ui://s/panel': panel },
  });
  const other = await hostileHttp({ name: 'other', tools: ['one'] });
  hub = await testHub({
    mcpServers: { s: s.config, other: other.config },
    groups: [{ id: 'g', name: 'g', servers: ['other', 's'] }],
  });
  await hub.connected(2);
});

describe.each(['', 'g', 's', '$smart', '$smart/g'])('at "%s"', (scope) => {
  test('the page of an app is listed and read as its server sent it', async () => {
    const own = await session(hub.mcp(scope));
    expect((await own.request('resources/read', { uri: 'ui://s/panel' })).text).toContain(`"result":${panel}`);
    const read = await modern(hub.mcp(scope), 'resources/read', { uri: 'ui://s/panel' });
    expect(read.text).toContain(panel.slice(1, -1));
    expect(read.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    const { result } = await modern(hub.mcp(scope), 'resources/list');
    expect(result?.resources?.[0]).toMatchObject({ uri: 'ui://s/panel', icons: [{ src: 'data:,' }] });
  });

  test('a resource that does not exist is named under the code of the revision', async () => {
    const own = await session(hub.mcp(scope));
    const uri = 'nobody://has/this';
    const none = await own.request('resources/read', { uri });
    const since = await modern(hub.mcp(scope), 'resources/read', { uri });
    // At the endpoint of a server, what it does not list is its own to answer.
    if (scope !== 's') {
      expect(none.error).toMatchObject({ code: -32002, data: { uri } });
      expect(since.error).toMatchObject({ code: -32602, data: { uri } });
    }
  });

  test('completion reaches the server of the prompt', async () => {
    const name = scope === 's' ? 'write' : 's-write';
    const params = { ref: { type: 'ref/prompt', name }, argument: { name: 'style', value: 'po' } };
    const own = await session(hub.mcp(scope));
    for (const { result } of [
      await own.request('completion/complete', params),
      await modern(hub.mcp(scope), 'completion/complete', params),
    ]) {
      expect(result?.['completion']).toEqual({ values: ['s:write:po'] });
    }
  });
});

test('an app’s tool says which page is its own, under its prefixed name too', async () => {
  const { result } = await modern(hub.mcp('g'), 'tools/list');
  expect(result?.tools?.find(({ name }) => name === 's-show')?.['_meta']).toEqual({
    ui: { resourceUri: 'ui://s/panel' },
  });
});

test.each(['session', 'stateless'])('pages of a list are the list, in its order, each item once: %s', async (era) => {
  const url = `${hub.mcp('g')}?pageSize=2`;
  const own = await session(hub.mcp('g'));
  const page = (params: Record<string, unknown>) =>
    era === 'session'
      ? session(url).then((paged) => paged.request('tools/list', params))
      : modern(url, 'tools/list', params);
  const names: string[] = [];
  const hints = new Set<string>();
  let cursor: string | undefined;
  do {
    const { result } = await page(cursor === undefined ? {} : { cursor });
    expect(result?.tools?.length).toBeLessThanOrEqual(2);
    names.push(...(result?.tools ?? []).map(({ name }) => name));
    hints.add(JSON.stringify([result?.['ttlMs'], result?.['cacheScope']]));
    cursor = result?.nextCursor;
  } while (cursor !== undefined);
  const whole = await own.request('tools/list');
  expect(names).toEqual(whole.result?.tools?.map(({ name }) => name));
  expect(names).toEqual(['other-one', 's-show', 's-one', 's-two', 's-three', 's-four']);
  expect(hints.size).toBe(1);
});
