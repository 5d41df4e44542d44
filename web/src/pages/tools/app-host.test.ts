import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../api/types.ts';
import { appLimits, appOf, createAppHost, htmlIn, isForApps } from './app-host.ts';

function host(callTool: (name: string, args: JsonObject) => Promise<JsonObject | undefined>) {
  const sent: JsonObject[] = [];
  const flooded = vi.fn();
  const heights: number[] = [];
  const { receive } = createAppHost({
    hostInfo: { name: 'Tool Hub', version: '1' },
    context: { theme: 'dark' },
    args: { q: 'red' },
    result: { content: [] },
    send: (message) => void sent.push(message),
    callTool,
    resized: (height) => void heights.push(height),
    flooded,
  });
  const ask = (id: unknown, method: string, params?: unknown) => receive({ jsonrpc: '2.0', id, method, params });
  return { sent, receive, ask, flooded, heights };
}
const never = () => Promise.reject(new Error('not to be called'));

test('an app begins, and gets arguments and result once', () => {
  const { sent, ask, receive, heights } = host(never);
  ask(1, 'ui/initialize', {});
  expect(sent[0]).toMatchObject({ id: 1, result: { protocolVersion: '2026-01-26', hostContext: { theme: 'dark' } } });
  for (let times = 0; times < 3; times++) receive({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
  expect(sent.slice(1).map(({ method }) => method)).toEqual([
    'ui/notifications/tool-input',
    'ui/notifications/tool-result',
  ]);
  receive({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 300 } });
  expect(heights).toEqual([300]);
});

test('what is no request that an app needs is refused, and what is no message is nothing', () => {
  const { sent, ask, receive } = host(never);
  for (const method of ['ui/open-link', 'ui/message', 'resources/read', 'sampling/createMessage'])
    ask('x', method, { url: 'https://evil.example' });
  expect(sent.map(({ error }) => (error as { code: number }).code)).toEqual([-32601, -32601, -32601, -32601]);
  for (const data of [
    undefined,
    null,
    7,
    'ready',
    [],
    {},
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { method: 'ping' },
  ])
    receive(data);
  ask({}, 'ping');
  ask(null, 'ping');
  expect(sent).toHaveLength(4);
});

test('a call goes to the user, one at a time, and after two refusals no more', async () => {
  const answers: ((result: JsonObject | undefined) => void)[] = [];
  const asked: string[] = [];
  const { sent, ask } = host((name) => {
    asked.push(name);
    return new Promise((resolve) => answers.push(resolve));
  });
  ask(1, 'tools/call', { name: 'a', arguments: { x: 1 } });
  ask(2, 'tools/call', { name: 'b' });
  expect(sent).toMatchObject([{ id: 2, error: { message: 'Another call waits for the user.' } }]);
  answers[0]?.({ content: [] });
  await expect.poll(() => sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  for (const id of [3, 4]) {
    ask(id, 'tools/call', { name: 'c' });
    answers.at(-1)?.(undefined);
    await expect.poll(() => sent.at(-1)).toMatchObject({ id, error: { code: -32000 } });
  }
  ask(5, 'tools/call', { name: 'd' });
  expect(asked).toEqual(['a', 'c', 'c']);
  expect(sent.at(-1)).toMatchObject({ id: 5, error: { message: 'The user does not want calls of this app.' } });
});

test('a call without a name, or with arguments that are none or too long, asks no user', () => {
  const { sent, ask } = host(never);
  ask(1, 'tools/call', {});
  ask(2, 'tools/call', { name: 'a', arguments: [] });
  ask(3, 'tools/call', { name: 'a', arguments: { x: 'x'.repeat(appLimits.argumentChars) } });
  expect(sent.map(({ error }) => (error as { code: number }).code)).toEqual([-32602, -32602, -32602]);
});

test('an app that floods is heard no more', () => {
  const { sent, ask, flooded } = host(never);
  for (let id = 1; id <= appLimits.messages + 10; id++) ask(id, 'ping');
  expect(sent).toHaveLength(appLimits.messages - 1);
  expect(flooded).toHaveBeenCalledTimes(1);
});

test('a tool says its page and whom it is for; a page is HTML', () => {
  expect(appOf({ _meta: { ui: { resourceUri: 'ui://a/b' } } })).toBe('ui://a/b');
  expect(appOf({ _meta: { 'ui/resourceUri': 'ui://a' } })).toBe('ui://a');
  for (const tool of [{}, { _meta: null }, { _meta: { ui: { resourceUri: 'https://x' } } }])
    expect(appOf(tool)).toBeUndefined();
  expect(isForApps({ _meta: { ui: { visibility: ['model'] } } })).toBe(false);
  expect(isForApps({ _meta: { ui: { visibility: ['app'] } } })).toBe(true);
  expect(isForApps({})).toBe(true);
  const contents = [
    { mimeType: 'text/plain', text: 'x' },
    { mimeType: 'text/html;profile=mcp-app', text: '<p>' },
  ];
  expect(htmlIn({ contents })).toBe('<p>');
  expect(htmlIn({ contents: [{ mimeType: 'text/html', blob: btoa('<b>') }] })).toBe('<b>');
  for (const result of [{}, { contents: [{ text: '<p>' }] }, { contents: 'x' }]) expect(() => htmlIn(result)).toThrow();
});
