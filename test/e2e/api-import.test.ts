import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// POST /servers/import: what is said of a text that holds less than was hoped. What is read from which text:
// src/settings/import/client-config.test.ts.

let hub: TestHub;
let token: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: {} });
  token = await login(hub);
});

const paste = (text: string, query = '') => api(hub, 'POST', `/servers/import${query}`, { token, body: { text } });

test.each([
  ['', 'text is empty'],
  ['hello', 'text is nothing we know'],
  ['{"mcpServers": {}}', 'text has no server in it'],
  ['{"mcpServers"', 'text is not valid JSON'],
])('of %j, in which there is no server, the message says what it is about', async (text, why) => {
  const { status, body } = await paste(text);
  expect(status).toBe(400);
  expect(body.message).toContain(`Cannot import the servers: ${why}`);
  expect(body.errors?.[0]?.path).toBe('text');
});

test.each(['?dryRun=true', ''])(
  'servers with a mistake are named in the message beside those that can be added%s',
  async (query) => {
    const servers = { good: { command: 'x', disabled: true }, far: { url: 'ftp://x' }, none: 'text' };
    const { body } = await paste(JSON.stringify({ mcpServers: servers }), query);
    expect(body.success).toBe(true);
    expect(body.message).toMatch(/^1 of 1 servers/);
    expect(body.message).toContain('left out: mcpServers.far.url must be an address');
    expect(body.message).toContain('mcpServers.none must be an object.');
  },
);
