import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// One bad server is that server's error: the others run.

const faulty: Record<string, [entry: unknown, words: string]> = {
  bracket: [{ url: 'http://[bad' }, 'mcpServers.bracket.url'],
  relative: [{ url: '/mcp' }, 'mcpServers.relative.url'],
  scheme: [{ url: 'ftp://example.com' }, 'ftp://'],
  document: [{ openapi: { url: '::::' } }, 'mcpServers.document.openapi.url'],
  text: ['npx', 'expected object'],
  list: [['npx'], 'expected object'],
  type: [{ type: 'pigeon', url: 'http://127.0.0.1:9/' }, 'pigeon'],
  nothing: [{}, 'needs a "command"'],
  args: [{ command: 'node', args: '-y' }, 'mcpServers.args.args'],
};
const entries = Object.fromEntries(Object.entries(faulty).map(([name, [entry]]) => [name, entry])) as Record<
  string,
  Record<string, unknown>
>;

interface State {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
}

async function states(hub: TestHub, token: string): Promise<Map<string, State>> {
  const { data } = (await api(hub, 'GET', '/servers', { token })).body as unknown as { data: State[] };
  return new Map(data.map((state) => [state.name, state]));
}

async function shouldTell(hub: TestHub, token: string): Promise<void> {
  for (const [name, [, words]] of Object.entries(faulty)) {
    await until(`the entry "${name}" is told`, async () =>
      (await states(hub, token)).get(name)?.error?.includes(words),
    );
  }
  await hub.connected(1);
  expect((await rpc(hub.mcp(), 'tools/list', {})).result?.tools?.map(({ name }) => name)).toContain('good-works');
}

test('at the start, and in an edit of the file: the others run, each bad entry is told, and stays as it is', async () => {
  const good = hostileStdio({ name: 'good', tools: ['works'] });
  const hub = await testHub({ mcpServers: { ...entries, good: good.config } });
  const token = await login(hub);
  await shouldTell(hub, token);
  // The hub writes the settings for another reason: nothing of the entries is lost.
  expect((await api(hub, 'POST', '/groups', { token, body: { name: 'g', servers: ['good'] } })).status).toBe(201);
  const written = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as { mcpServers: object };
  expect(written.mcpServers).toMatchObject(entries);

  hub.write({ ...written, mcpServers: { good: good.config } });
  await until('the bad ones are gone', async () => (await states(hub, token)).size === 1);
  hub.write({ ...written, mcpServers: { good: good.config, ...entries } });
  await until('they are there again', async () => (await states(hub, token)).size > 1);
  await shouldTell(hub, token);
  expect(good.pids()).toHaveLength(1);
});

test('a bad entry is corrected by PUT, switched off, deleted and exported; the API takes no new one', async () => {
  const good = hostileStdio({ name: 'good', tools: ['works'] });
  const hub = await testHub({ mcpServers: { ...entries, good: good.config } });
  const token = await login(hub);
  for (const name of Object.keys(faulty)) {
    expect((await api(hub, 'GET', `/servers/${name}`, { token })).status, name).toBe(200);
    const refused = await api(hub, 'PUT', `/servers/${name}`, { token, body: { config: { url: 'http://[worse' } } });
    expect(refused.status, name).toBe(400);
  }
  expect((await api(hub, 'GET', '/mcp-settings/export', { token })).status).toBe(200);
  const again = await api(hub, 'POST', '/servers', { token, body: { name: 'new', config: { url: 'http://[bad' } } });
  expect([again.status, again.text]).toEqual([400, expect.stringContaining('url')]);
  const off = await api(hub, 'POST', '/servers/bracket/toggle', { token, body: { enabled: false } });
  expect(off.status).toBe(200);
  expect((await states(hub, token)).get('bracket')?.status).toBe('disabled');
  for (const name of ['text', 'scheme']) {
    const config = hostileStdio({ name, tools: ['corrected'] }).config;
    expect((await api(hub, 'PUT', `/servers/${name}`, { token, body: { config } })).status, name).toBe(200);
    await until('it is connected', async () => (await states(hub, token)).get(name)?.status === 'connected');
  }
  for (const name of ['list', 'nothing', 'bracket'])
    expect((await api(hub, 'DELETE', `/servers/${name}`, { token })).status, name).toBe(200);
  expect((await states(hub, token)).size).toBe(Object.keys(faulty).length + 1 - 3);
});
