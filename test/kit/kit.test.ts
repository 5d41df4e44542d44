import { readFileSync } from 'node:fs';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { atEnd } from './at-end.ts';
import { exact, exactAt } from './exact-json.ts';
import { hostileHttp, hostileStdio } from './hostile.ts';
import type { HostileOptions } from './hostile.ts';
import { legacySession, session } from './sessions.ts';
import { until } from './until.ts';

// Tests of the test kit: fixtures against the official clients, helpers against known texts.

async function direct(options: HostileOptions) {
  const server = hostileStdio(options);
  const client = new Client({ name: 'direct', version: '1' });
  atEnd(() => client.close());
  const [file = '', argument = ''] = server.config['args'] as string[];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [file, argument] }));
  return { server, client };
}

test('an honest scripted server satisfies the official client over stdio', async () => {
  const { server, client } = await direct({ name: 'honest', fragmentBytes: 7, prompts: [{ name: 'p' }] });
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('echo');
  const progress: number[] = [];
  const result = await client.callTool({ name: 'progress', arguments: { steps: 4, tag: 'ü€😀' } }, undefined, {
    onprogress: (step) => progress.push(step.progress),
  });
  expect(result['content']).toEqual([{ type: 'text', text: 'ü€😀 done after 4' }]);
  // The client drops its progress handlers as soon as the answer is there: it reports no step that it read together
  // with the answer.
  expect(progress).toEqual([1, 2, 3, 4].slice(0, progress.length));
  expect((await client.getPrompt({ name: 'p' })).messages).toHaveLength(1);
  expect((await client.readResource({ uri: 'x://y' })).contents).toEqual([{ uri: 'x://y', text: 'honest has x://y' }]);
  const abort = new AbortController();
  const hanging = client.callTool({ name: 'hang' }, undefined, { signal: abort.signal });
  await until('the call arrived', () => server.received('tools/call').some((call) => call.params['name'] === 'hang'));
  abort.abort();
  await expect(hanging).rejects.toThrow();
  await until('the cancellation arrived', () => server.received('notifications/cancelled').length === 1);
  expect(server.pids()).toHaveLength(1);
});

test('a scripted server lists thousands of tools over pages', async () => {
  const { client } = await direct({ tools: 1000, pageSize: 300 });
  const first = await client.listTools();
  expect([first.tools.length, first.nextCursor]).toEqual([300, 'page:300']);
  const last = await client.listTools({ cursor: 'page:900' });
  expect([last.tools.length, last.nextCursor]).toEqual([100, undefined]);
});

test.each(['json', 'sse'] as const)(
  'an honest scripted server satisfies the official client over HTTP (%s)',
  async (answers) => {
    const server = await hostileHttp({ name: 'honest', answers });
    const client = new ClientV2({ name: 'direct', version: '1' });
    atEnd(() => client.close());
    await client.connect(new HttpV2(new URL(`${server.url}/mcp`)));
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('echo');
    expect((await client.callTool({ name: 'delay', arguments: { tag: 'here' } })).content).toEqual([
      { type: 'text', text: 'here' },
    ]);
    const own = await session(`${server.url}/mcp`);
    await server.control({ loseSessions: true });
    expect((await own.request('tools/list')).status).toBe(404);
  },
);

test('an honest scripted server satisfies the official client over HTTP+SSE', async () => {
  const server = await hostileHttp({ name: 'honest', transport: 'sse' });
  const client = new Client({ name: 'direct', version: '1' });
  atEnd(() => client.close());
  await client.connect(new SSEClientTransport(new URL(`${server.url}/sse`)));
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('echo');
  const raw = await legacySession(`${server.url}/sse`);
  expect((await raw.request('ping')).result).toEqual({});
});

test('exact JSON tells apart what JSON.parse does not', () => {
  const same = (a: string, b: string) => expect(exact(a)).toBe(exact(b));
  const differ = (a: string, b: string) => expect(exact(a)).not.toBe(exact(b));
  same('{"b": [1, 2.50 ,"\\u00e9"], "a":{}}', '{"a":{},"b":[1,2.50,"é"]}');
  differ('12345678901234567890', '12345678901234567000');
  differ('{"a":1.0}', '{"a":1}');
  differ('{"__proto__":{"x":1}}', '{}');
  differ('{"a":1,"a":2}', '{"a":2}');
  differ('{"é":1}', '{"e\u0301":1}');
  expect(exactAt('{"result":{"tools":[{"n":"a,]"},{"n":"}b","x":[1.0,{}]}]}}', 'result', 'tools', 1, 'x')).toBe(
    '[1.0,{}]',
  );
  expect(() => exact('{"a":}')).toThrow('Not JSON');
  expect(() => exact('{} x')).toThrow('more follows');
  const own = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(exact(own))).toEqual(JSON.parse(own));
});
