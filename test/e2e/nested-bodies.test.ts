import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { coreLimits } from '../../src/core/limits.ts';
import { api, login } from '../kit/api.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { raw } from '../kit/raw.ts';
import { modernRequest, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// A million levels of JSON are nothing to send, and more than most programs can take.

const arrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const bombs = [arrays(1_000_000), objects(1_000_000)];
const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s-do","arguments":{"x":${args}}}}`;
const told = `nested more than ${coreLimits.nesting} levels deep`;

let server: Hostile;
let hub: TestHub;
let admin: string;
beforeAll(async () => {
  const schema = { type: 'object', properties: { x: {}, list: { type: 'array' } } };
  server = await hostileHttp({
    name: 's',
    tools: [{ name: 'do', inputSchema: schema }],
    results: { do: '{"content":[{"type":"text","text":"done"}]}' },
  });
  hub = await testHub({ mcpServers: { s: server.config } });
  admin = await login(hub);
  await hub.connected(1);
});

let before: number;
beforeEach(() => {
  before = server.received('tools/call').length;
});
const reached = (): number => server.received('tools/call').length - before;

describe.each(bombs)('a million levels', (bomb) => {
  test('in a call of a session, of none, or in a batch are refused before a server hears of it', async () => {
    const own = await session(hub.mcp(), { protocolVersion: '2025-03-26' });
    const headers = { 'mcp-session-id': own.id };
    const { headers: modern } = modernRequest('tools/call', { name: 's-do' }, {});
    const answers = [
      await raw(hub.mcp(), { body: call(bomb) }),
      await raw(hub.mcp(), { body: call(bomb), headers }),
      await raw(hub.mcp(), { body: call(bomb), ...(modern && { headers: modern }) }),
      await raw(hub.mcp(), { body: `[${call(bomb)}]`, headers }),
      await raw(hub.mcp(), { body: bomb }),
    ];
    for (const { status, error } of answers) {
      expect([status, error?.code, error?.message]).toEqual([400, -32600, expect.stringContaining(told)]);
    }
    expect(reached()).toBe(0);
  });

  test('in a body of the API are refused as bad input', async () => {
    const asked = [
      ['/tools/call/s', `{"toolName":"do","arguments":{"x":${bomb}}}`],
      ['/tools/s/do', `{"x":${bomb}}`],
      ['/servers', `{"name":"new","config":{"command":"x","unknown":${bomb}}}`],
      ['/groups', `{"name":"new","servers":${bomb}}`],
      // Pasted texts are shorter.
      ['/servers/import', JSON.stringify({ text: `{"mcpServers":${arrays(500_000)}}` })],
    ] as const;
    for (const [path, body] of asked) {
      const headers = { 'content-type': 'application/json' };
      const answer = await api(hub, 'POST', path, { token: admin, body, headers });
      expect([path, answer.status, answer.body.message]).toEqual([path, 400, expect.stringContaining(told)]);
    }
    expect(reached()).toBe(0);
  });

  test('in a text that stands for a list are left the text that they are', async () => {
    const query = { toolName: 'do', arguments: { list: bomb } };
    const answer = await api(hub, 'POST', '/tools/call/s', { token: admin, body: query });
    expect(answer.status).toBeLessThan(500);
    expect((await hub.health()).status).toBe('healthy');
  });
});

test('what clients really send goes on to the server as it is', async () => {
  // The message, its parameters and the arguments are levels too.
  const args = arrays(coreLimits.nesting - 3);
  const answer = await raw(hub.mcp(), { body: call(args) });
  expect(answer.result?.content?.[0]?.text).toBe('done');
  expect(reached()).toBe(1);
  const over = await raw(hub.mcp(), { body: call(arrays(coreLimits.nesting - 2)) });
  expect(over.error?.message).toContain(told);
  expect(reached()).toBe(1);
});
