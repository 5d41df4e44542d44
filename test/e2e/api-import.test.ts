import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { ImportAnswer } from '../../src/core/answers/imports.ts';
import { api, login } from '../kit/api.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// POST /servers/import: what is said of a text that holds less than was hoped. What is read from which text:
// src/settings/import/client-config.test.ts.

let hub: TestHub;
let token: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: {}, env: { SET_HERE: 'x' } });
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

test('what a text lacks is asked for, and given with other names where they are taken', async () => {
  const servers = {
    one: {
      command: 'x',
      args: ['--key', '<YOUR_KEY>', '${SET_HERE}'],
      env: { TOKEN: '${NOT_SET_HERE}', EMPTY: '' },
      enabled: false,
    },
  };
  const text = JSON.stringify({ mcpServers: servers });
  const looked = await paste(text, '?dryRun=true');
  const [found] = (looked.body.data as ImportAnswer).servers;
  expect(found?.requiredConfig.map(({ key }) => key).toSorted()).toEqual(['<YOUR_KEY>', 'EMPTY', 'NOT_SET_HERE']);
  const body = { text, rename: { one: 'two' }, values: { one: { '<YOUR_KEY>': 'k', NOT_SET_HERE: '${SET_HERE}' } } };
  const added = await api(hub, 'POST', '/servers/import', { token, body });
  expect(added.status).toBe(201);
  const [made] = (added.body.data as ImportAnswer).servers;
  expect([made?.name, made?.requiredConfig.map(({ key }) => key)]).toEqual(['two', ['EMPTY']]);
  const { mcpServers } = JSON.parse(readFileSync(hub.settingsPath, 'utf8'));
  // A value is what was typed, and no variable.
  expect(mcpServers.two).toMatchObject({
    args: ['--key', 'k', '${SET_HERE}'],
    env: { TOKEN: '${DOLLAR:-$}{SET_HERE}', EMPTY: '' },
  });
  for (const wrong of [
    { rename: [] },
    { rename: { one: 7 } },
    { values: { one: 'x' } },
    { values: { one: { a: 1 } } },
  ]) {
    const { status } = await api(hub, 'POST', '/servers/import', { token, body: { text, ...wrong } });
    expect(status).toBe(400);
  }
  for (const name of ['../x', '__proto__', 'a b', '$smart']) {
    const { status, body } = await api(hub, 'POST', '/servers/import', {
      token,
      body: { text, rename: { one: name } },
    });
    expect([status, body.errors?.[0]?.path]).toEqual([400, 'rename.one']);
  }
  const odd = { text, rename: { constructor: 'x' }, values: { ['__proto__']: { a: 'b' }, constructor: { a: 'b' } } };
  expect((await api(hub, 'POST', '/servers/import', { token, body: odd })).status).toBe(201);
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

test('notes and problems have names for pages in other languages, and invalid servers theirs', async () => {
  const text = JSON.stringify({
    mcpServers: { split: { command: 'node a.js' }, far: { url: 'ftp://a.example' }, wrong: { command: ['x'] } },
  });
  const ask = async (language: string) => {
    const headers = { 'accept-language': language };
    const { body } = await api(hub, 'POST', '/servers/import?dryRun=true', { token, body: { text }, headers });
    const { servers, notes, problems } = body.data as ImportAnswer;
    return [...notes, ...problems, ...servers.flatMap(({ errors = [] }) => errors)];
  };
  const inGerman = await ask('de');
  expect(inGerman.map(({ said }) => said?.code)).toEqual(expect.arrayContaining(['pasted_split', 'http_address']));
  expect((await ask('en')).some((one) => 'said' in one)).toBe(false);
});
