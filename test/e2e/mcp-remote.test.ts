import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { freePort } from '../kit/processes.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// A fresh hub, and `mcp-remote` pointed at it without any key: what most clients that know programs alone are given.
// Its browser is a program that logs in and lets it in by HTTP.

const mcpRemote = fileURLToPath(new URL('../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));
const letIn = fileURLToPath(new URL('../kit/let-in.mjs', import.meta.url));
const alpha = hostileStdio({ name: 'alpha', tools: ['read', 'write'] });

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: alpha.config },
    groups: [{ id: 'g-dev', name: 'dev', servers: [{ name: 'alpha', tools: ['read'] }] }],
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  await hub.connected(1);
});

/** The computer of a person: what `mcp-remote` keeps there, and how often it opened the browser. */
function computer() {
  const folder = temporaryFolder();
  const browser = join(folder, 'browser');
  const opened = join(folder, 'opened');
  // Without its own standard output: `xdg-open` waits until that is closed.
  writeFileSync(
    browser,
    `#!/bin/sh\necho "$1" >> '${opened}'\nexec '${process.execPath}' '${letIn}' "$1" 2>> '${opened}.errors'\n`,
  );
  chmodSync(browser, 0o700);
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: folder,
    MCP_REMOTE_CONFIG_DIR: join(folder, 'mcp-auth'),
    BROWSER: browser,
    HUB_USERNAME: 'ann',
    HUB_PASSWORD: passwordOf('ann'),
  };
  // One of its own choice it only listens at when the browser has already been sent there, and it may be taken by then.
  const port = freePort();
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  return {
    opened: () => read(opened).split('\n').filter(Boolean),
    async connect(scope = ''): Promise<Client> {
      const client = new Client({ name: 'a client of programs', version: '1' });
      const args = [mcpRemote, hub.mcp(scope), String(await port), '--transport', 'http-only', '--auth-timeout', '300'];
      const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' });
      let said = '';
      transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      atEnd(() => client.close());
      try {
        await client.connect(transport, { timeout: 60_000 });
      } catch (error) {
        throw new Error(`${said}${read(`${opened}.errors`)}`, { cause: error });
      }
      return client;
    },
  };
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name).toSorted();

test('mcp-remote gets from nothing to the tools, calls one, and needs the browser once', async () => {
  const { connect, opened } = computer();
  const first = await connect();
  expect(await namesOf(first)).toEqual(['alpha-read', 'alpha-write']);
  const { content } = await first.callTool({ name: 'alpha-read', arguments: {} });
  expect(content).toHaveLength(1);
  await first.close();
  const asked = opened();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain(`${hub.url}/oauth/authorize?`);
  const second = await connect();
  expect(await namesOf(second)).toEqual(['alpha-read', 'alpha-write']);
  await second.close();
  expect(opened()).toEqual(asked);
});

test('at a group it gets the tools of the group', async () => {
  const client = await computer().connect('dev');
  expect(await namesOf(client)).toEqual(['alpha-read']);
  await client.close();
});

test('whose consent was ended it comes in again after one more login, and asks for no third', async () => {
  const { connect, opened } = computer();
  await (await connect()).close();
  const grants = (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as { id: string }[];
  for (const { id } of grants) await api(hub, 'DELETE', `/auth/grants/${id}`, { token: admin });
  for (let start = 0; start < 2; start++) {
    const client = await connect();
    expect(await namesOf(client)).toEqual(['alpha-read', 'alpha-write']);
    await client.close();
  }
  expect(opened()).toHaveLength(2);
});
