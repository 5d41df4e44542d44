import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, stream } from '../kit/raw.ts';
import { legacySession, modernRequest, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Whoever is not let in any more hears nothing more either, on no stream that is still open (CONTRACT §2).

const token = `mcphub_${'c'.repeat(64)}`;
const key = {
  id: 'c',
  name: 'c',
  enabled: true,
  token,
  tokenHash: createHash('sha256').update(token).digest('hex'),
  accessType: 'all',
  allowedGroups: [],
  allowedServers: [],
};

test.each([
  ['a key that is switched off', [{ ...key, enabled: false }]],
  ['a key that is deleted', []],
  ['a key that is accepted from other addresses only', [{ ...key, allowedAddresses: ['203.0.113.0/24'] }]],
])('%s ends its streams of all kinds, and nobody else’s', async (_, bearerKeys) => {
  const server = await hostileHttp({ name: 's' });
  const settings = { mcpServers: { s: server.config }, systemConfig: { routing: { enableBearerAuth: false } } };
  const hub = await testHub({ ...settings, bearerKeys: [key] });
  await hub.connected(1);
  const headers = { authorization: `Bearer ${token}` };
  const [own, other] = await Promise.all([session(hub.mcp(), { headers }), session(hub.mcp())]);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers });
  const [open, legacy, listening, others] = await Promise.all([
    own.listen(),
    legacySession(hub.sse(), { headers }),
    stream(hub.mcp(), { method: 'POST', ...listen }),
    other.listen(),
  ]);
  hub.write({ ...settings, bearerKeys });
  await until('its streams are ended', () => [open, legacy.stream, listening].every((one) => one.ended()));
  expect((await own.request('tools/list')).status).toBe(401);
  await other.call('s-grow');
  await until('the others hear', () => others.messages.length > 0);
  expect(open.messages).toEqual([]);
});

test('anonymous streams end when a credential is asked for', async () => {
  const server = await hostileHttp({ name: 's' });
  const settings = (enableBearerAuth: boolean) => ({
    mcpServers: { s: server.config },
    systemConfig: { routing: { enableBearerAuth } },
  });
  const hub = await testHub(settings(false));
  await hub.connected(1);
  const own = await session(hub.mcp());
  const open = await own.listen();
  hub.write(settings(true));
  await until('the stream is ended', () => open.ended());
  expect((await raw(hub.mcp(), { method: 'GET', headers: own.headers })).status).toBe(401);
});

test('streams of all servers end when that endpoint is switched off, those of one server do not', async () => {
  const server = await hostileHttp({ name: 's' });
  const settings = (enableGlobalRoute: boolean) => ({
    mcpServers: { s: server.config },
    systemConfig: { routing: { enableBearerAuth: false, enableGlobalRoute } },
  });
  const hub = await testHub(settings(true));
  await hub.connected(1);
  const [all, one] = await Promise.all([session(hub.mcp()), session(hub.mcp('s'))]);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, {});
  const [open, legacy, listening, others] = await Promise.all([
    all.listen(),
    legacySession(hub.sse()),
    stream(hub.mcp(), { method: 'POST', ...listen }),
    one.listen(),
  ]);
  hub.write(settings(false));
  await until('its streams are ended', () => [open, legacy.stream, listening].every((stream) => stream.ended()));
  expect((await all.request('tools/list')).status).toBe(403);
  await one.call('grow');
  await until('those of one server hear', () => others.messages.length > 0);
});
