import { beforeAll, describe, expect, test } from 'vitest';
import type { SearchReport } from '../../src/mcp/search-report.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { searchReady } from '../kit/search-ready.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// POST /api/smart-routing/search: what smart routing finds, and why, for those who set it up.

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
let hub: TestHub;
let admin: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      mail: (
        await hostileHttp({
          name: 'mail',
          tools: [
            tool('send_email', 'Send an email message to a recipient'),
            tool('send_fax', 'Send a fax message to a recipient'),
            tool('empty_trash', 'Forget what was thrown away'),
          ],
        })
      ).config,
      post: {
        ...(await hostileHttp({ name: 'post', tools: [tool('send_letter', 'Send a letter to a recipient')] })).config,
        tools: { send_letter: { enabled: false } },
      },
    },
    groups: [{ id: 'g1', name: 'mails', servers: [{ name: 'mail', tools: ['send_email', 'empty_trash'] }] }],
  });
  await hub.connected(2);
  admin = await login(hub);
  await searchReady(hub, admin);
});

const ask = (body: unknown, token: string | undefined = admin) =>
  api(hub, 'POST', '/smart-routing/search', { token, body });
async function report(body: unknown): Promise<SearchReport> {
  const { status, body: answer, text } = await ask(body);
  expect(status, text).toBe(200);
  return answer.data as SearchReport;
}

test('answers as the endpoint does, and nothing more unless asked', async () => {
  const found = await report({ query: 'send an email message to somebody' });
  expect(found).toMatchObject({
    query: 'send an email message to somebody',
    searched: 3,
    confident: true,
    dropped: [],
  });
  expect(found.results[0]).toMatchObject({ name: 'mail-send_email', serverName: 'mail', toolName: 'send_email' });
  expect(found.results[0]).not.toHaveProperty('channels');
  expect((await report({ query: 'send a message', limit: 1 })).results).toHaveLength(1);
});

test('explains: the score of each channel, and what was left out by which rule', async () => {
  const found = await report({ query: 'send a message to a recipient', group: 'mails', explain: true });
  expect(found.searched).toBe(2);
  expect(found.results.map(({ name }) => name)).toEqual(['mail-send_email']);
  for (const { channels } of found.results)
    for (const value of Object.values(channels ?? expect.fail())) expect(value).toBeGreaterThan(0);
  const reasons = Object.fromEntries(found.dropped.map(({ toolName, reason }) => [toolName, reason]));
  expect(reasons).toMatchObject({ send_fax: 'not_in_group', send_letter: 'switched_off' });
  for (const { reason, score } of found.dropped) {
    if (reason === 'threshold') expect(score).toBeLessThan(found.threshold);
    else expect(score).toBeUndefined();
  }
  expect(await report({ query: 'send a message', group: 'g1' })).toMatchObject({ searched: 2 });
});

test.each(['nobody', 'mail', 'post'])('in %s, which is no group, finds nothing and fails nothing', async (group) => {
  expect(await report({ query: 'send an email', group })).toMatchObject({ searched: 0, results: [], confident: false });
});

test('leaves no record: it is no use of the search', async () => {
  await report({ query: 'send an email' });
  expect((await api(hub, 'GET', '/activities?kind=search', { token: admin })).body.data).toEqual([]);
});

test.each([
  [{}, 'query'],
  [{ query: ' ' }, 'query'],
  [{ query: 5 }, 'query'],
  [{ query: 'x'.repeat(10_000) }, 'query'],
  [{ query: 'x', limit: 0 }, 'limit'],
  [{ query: 'x', limit: 101 }, 'limit'],
  [{ query: 'x', limit: '5' }, 'limit'],
  [{ query: 'x', group: '' }, 'group'],
  [{ query: 'x', explain: 'yes' }, 'explain'],
  [{ query: 'x', context: 1 }, 'context'],
])('%j is refused by name', async (body, path) => {
  const { status, body: answer } = await ask(body);
  expect([status, answer['errors']]).toEqual([400, [expect.objectContaining({ path })]]);
});

describe('is for admins', () => {
  test('users and keys are refused, whatever they ask', async () => {
    const user = await userToken(hub, admin, 'ann', { servers: ['mail'] });
    for (const token of [user, await keyToken(hub, user), await keyToken(hub, admin, { name: 'CI' })]) {
      expect((await ask({ query: 'send an email' }, token)).status).toBe(403);
      expect((await ask({}, token)).status).toBe(403);
    }
  });

  test('no caller is asked to log in', async () => {
    const { status } = await api(hub, 'POST', '/smart-routing/search', { body: { query: 'x' } });
    expect(status).toBe(401);
    expect((await ask({ query: 'x' }, 'nonsense')).status).toBe(401);
  });

  test('and works where nothing may be changed', async () => {
    const own = await testHub({ mcpServers: {}, env: { READONLY: 'true' } });
    const answer = await api(own, 'POST', '/smart-routing/search', { token: await login(own), body: { query: 'x' } });
    expect([answer.status, answer.body.data]).toEqual([200, expect.objectContaining({ searched: 0 })]);
  });
});
