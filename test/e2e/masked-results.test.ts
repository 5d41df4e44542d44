import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { clientKinds, connect } from '../kit/clients.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { scriptedHttp, json } from '../kit/scripted-http.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Results with masked secrets, of tools with an output schema: official clients hold the one against the other.

const secret = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
const withSchema = (name: string, token: object) => ({
  name,
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { token: { type: 'string', ...token } }, required: ['token'] },
});
const text = (said: string) => ({ type: 'text', text: said });
const result = (token: string, more: object = {}) =>
  JSON.stringify({ content: [text(token)], structuredContent: { token }, ...more });
const password = 'S3cr3t';
const address = `https://app:${password}@db.example.com/`;
const values: Record<string, [schema: object, value: string]> = {
  pattern: [{ pattern: '^ghp_' }, secret],
  enum: [{ enum: [secret] }, secret],
  length: [{ minLength: 20 }, secret],
  format: [{ format: 'uri' }, address],
};
const unfit = Object.keys(values);
const told = text(
  'Secrets in this result were masked. With them masked, its structured content does not fit the output schema of the tool any more, and was left out. The tool has run: do not make the call again to get it.',
);

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  const tools = Object.entries(values).map(([name, [schema]]) => withSchema(name, schema));
  const server = await hostileHttp({
    tools: [
      ...tools,
      withSchema('fits', { maxLength: 100 }),
      withSchema('beside', { pattern: '^ghp_' }),
      withSchema('failed', { pattern: '^ghp_' }),
      { name: 'untyped', inputSchema: { type: 'object' } },
    ],
    results: {
      ...Object.fromEntries(Object.entries(values).map(([name, [, value]]) => [name, result(value)])),
      fits: result(secret),
      untyped: result(secret),
      failed: result(secret, { isError: true }),
      beside: JSON.stringify({ content: [text(secret)], structuredContent: { token: 'ghp_short' } }),
    },
  });
  hub = await testHub({
    mcpServers: { db: server.config },
    systemConfig: { secretsInCalls: { results: 'mask' } },
  });
  await hub.connected(1);
  admin = await login(hub);
});

const masked = (name: string) => text(name === 'format' ? 'https://app:••••@db.example.com/' : '••••');

test.each(clientKinds)(
  '%s: a masked result that breaks its schema is an error with what else there is',
  async (kind) => {
    const client = await connect(kind, hub.url);
    await client.listTools();
    for (const name of unfit) {
      const { content, isError, structuredContent } = await client.callTool(`db-${name}`);
      expect([content, isError, structuredContent], name).toEqual([[told, masked(name)], true, undefined]);
    }
    const failed = await client.callTool('db-failed');
    expect([failed.content, failed.structuredContent]).toEqual([[told, text('••••')], undefined]);
    // What fits stays, and so does what was not masked.
    const fits = await client.callTool('db-fits');
    expect([fits.content, fits.structuredContent, fits.isError]).toEqual([
      [text('••••')],
      { token: '••••' },
      undefined,
    ]);
    const beside = await client.callTool('db-beside');
    expect([beside.content, beside.structuredContent]).toEqual([[text('••••')], { token: 'ghp_short' }]);
  },
);

test('it is the same over REST, the smart endpoint and in code', async () => {
  const error = { content: [told, text('••••')], isError: true };
  const rest = await api(hub, 'POST', '/tools/call/db', { token: admin, body: { toolName: 'pattern' } });
  expect([rest.status, rest.body.data]).toEqual([200, { ...error, toolName: 'pattern', arguments: {} }]);
  const open = await api(hub, 'POST', '/tools/db/pattern', { token: admin, body: {} });
  expect([open.status, open.body]).toEqual([200, error]);
  const smart = await rpc(hub.mcp('$smart'), 'tools/call', {
    name: 'call_tool',
    arguments: { toolName: 'db-pattern', arguments: {} },
  });
  expect(smart.result).toEqual(error);
  const code = await rpc(hub.mcp('$code'), 'tools/call', {
    name: 'run_code',
    arguments: { code: 'try { await tools.db.pattern({}) } catch (e) { return e.message }' },
  });
  expect((code.result as { structuredContent?: { result?: string } }).structuredContent?.result).toBe(
    `${told.text}\n••••`,
  );
  const untyped = await rpc(hub.mcp(), 'tools/call', { name: 'db-untyped', arguments: {} });
  expect(untyped.result).toEqual({ content: [text('••••')], structuredContent: { token: '••••' } });
});

test('a guard is shown what the caller would get', async () => {
  const guard = await scriptedHttp((_, response) => json(response, { decision: 'allow' }));
  const guards = [{ url: guard.origin, on: ['result'] }];
  await api(hub, 'PUT', '/system-config', { token: admin, body: { guards } });
  await rpc(hub.mcp(), 'tools/call', { name: 'db-pattern', arguments: {} });
  expect(guard.seen.map(({ message }) => message)).toMatchObject([
    { on: 'result', result: { content: [told, text('••••')], isError: true } },
  ]);
  await api(hub, 'PUT', '/system-config', { token: admin, body: { guards: null } });
});
