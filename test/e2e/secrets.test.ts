import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { freePort } from '../kit/processes.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { modern } from '../kit/sessions.ts';
import { hubProcess, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What the operator configured for a server is not for its clients to read, whatever goes wrong.

const secret = 'sk-very-secret-0123456789';

test.each([
  ['a web page', { fixedBody: '<html>', fixedType: 'text/html' }],
  ['nothing', { cutStreamOn: 'tools/call' }],
  ['202', { acceptsOnly: 'tools/call' }],
  ['another id', { mistakesIdOf: 'tools/call' }],
] as const)('the secrets of a server that answers %s reach no client', async (_, options) => {
  const web = await hostileHttp({ name: 'web' });
  const url = `${web.url.replace('http://', `http://user:${secret}@`)}/mcp?api_key=${secret}`;
  const hub = await testHub({
    mcpServers: {
      web: { type: 'streamable-http', url, headers: { 'x-key': secret, authorization: `Bearer ${secret}` } },
    },
  });
  await until('it is connected, or never will be', () => hub.hub.servers()[0]?.status !== 'connecting');
  await web.control({ set: { ...options } });
  const texts = [
    (await rpc(hub.mcp(), 'tools/call', { name: 'web-delay', arguments: { tag: 'x' } })).text,
    (await rpc(hub.mcp('web'), 'tools/call', { name: 'delay', arguments: { tag: 'x' } })).text,
    (await rpc(hub.mcp(), 'resources/read', { uri: 'x://y' })).text,
    (await raw(new URL('/health', hub.url).href, { method: 'GET' })).text,
    JSON.stringify(hub.hub.servers()),
  ];
  for (const text of texts) expect(text).not.toContain('very-secret');
});

test('a server that cannot be reached or started keeps its secrets in errors and in the log', async () => {
  const port = await freePort();
  const hub = await hubProcess({
    mcpServers: {
      web: {
        type: 'streamable-http',
        url: `http://127.0.0.1:${port}/mcp?key=${secret}`,
        headers: { authorization: secret },
      },
      missing: { command: 'no-such-command', args: [`--token=${secret}`], env: { API_TOKEN: secret } },
      dies: {
        ...hostileStdio({ exitAt: 'start', lastWords: `bad token ${secret}` }).config,
        env: { API_TOKEN: secret },
      },
      fine: { ...hostileStdio({ name: 'fine' }).config, env: { API_TOKEN: secret } },
    },
    env: { LOG_LEVEL: 'debug' },
  });
  await hub.connected(1);
  await until('the failures are told', () => ['web', 'missing', 'dies'].every((name) => hub.output().includes(name)));
  for (const name of ['web-x', 'missing-x', 'dies-x', 'fine-rpc_error']) {
    expect((await rpc(hub.mcp(), 'tools/call', { name, arguments: { password: secret } })).text).not.toContain(
      'very-secret',
    );
  }
  expect((await hub.stop('SIGTERM')).code).toBe(0);
  expect(hub.output()).not.toContain('very-secret');
});

test('arguments and results of calls are in no record, log or file, but for how an error begins', async () => {
  const [given, answered] = ['given-canary-4711', 'answered-canary-4712'];
  const began = 'No such ticket, says very-secret-token. ';
  const text = (isError: boolean) => {
    const said = isError ? began.padEnd(320, '.') + answered : answered;
    return `{"content":[{"type":"text","text":"${said}"}],"isError":${isError}}`;
  };
  const number = { type: 'object', properties: { n: { type: 'integer' } } };
  const server = hostileStdio({
    name: 's',
    tools: ['fine', 'fails', { name: 'counts', inputSchema: number }],
    results: { fine: text(false), fails: text(true) },
  });
  const hub = await testHub({
    mcpServers: { s: { ...server.config, env: { TOKEN: 'very-secret-token' } } },
    env: { LOG_LEVEL: 'debug' },
  });
  await hub.connected(1);
  const token = await login(hub);
  for (const tool of ['fine', 'fails', 'counts', 'nothing']) {
    const args = { n: given, [given]: given };
    await rpc(hub.mcp(), 'tools/call', { name: `s-${tool}`, arguments: args });
    await modern(hub.mcp('$smart'), 'tools/call', {
      name: 'call_tool',
      arguments: { toolName: `s-${tool}`, arguments: args },
    });
    await api(hub, 'POST', '/tools/call/s', { token, body: { toolName: tool, arguments: args } });
    await api(hub, 'POST', `/tools/s/${tool}`, { body: args });
    await api(hub, 'GET', `/tools/s/${tool}?n=${given}&${given}=${given}`);
  }
  expect(server.received('tools/call').length).toBeGreaterThan(8);
  const records = await api(hub, 'GET', '/activities?limit=100', { token });
  const kept = [
    records.text,
    (await api(hub, 'GET', '/logs?level=debug', { token })).text,
    ...readdirSync(join(hub.folder, 'data'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')),
  ];
  expect((records.body.data as unknown[]).length).toBeGreaterThan(15);
  expect(records.text).toContain('arguments.n does not fit');
  const failed = (records.body.data as { status: string; errorMessage?: string }[]).filter(
    ({ status }) => status === 'error',
  );
  expect(failed.length).toBeGreaterThan(3);
  for (const { errorMessage } of failed) {
    expect(errorMessage).toMatch(/^No such ticket, says •+\. \.+…$/);
    expect(errorMessage).toHaveLength(300);
  }
  for (const one of kept) {
    expect(one).not.toContain(answered);
    expect(one).not.toContain(given);
    expect(one).not.toContain('very-secret');
  }
});
