import { beforeAll, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// SECURITY.md, "What a tool server can see": the calls to it, and not who makes them, with which credential, from
// where, or what others call.

let hub: TestHub;
let servers: Record<'stdio' | 'streamable' | 'sse' | 'stateful', Hostile>;
let admin: string;
let key: string;
let ann: string;
beforeAll(async () => {
  servers = {
    stdio: hostileStdio({ name: 'stdio' }),
    streamable: await hostileHttp({ name: 'streamable' }),
    sse: await hostileHttp({ name: 'sse', transport: 'sse' }),
    stateful: hostileStdio({ name: 'stateful' }),
  };
  const { stateful } = servers;
  hub = await testHub({
    mcpServers: {
      ...Object.fromEntries(Object.entries(servers).map(([name, { config }]) => [name, config])),
      stateful: { ...stateful.config, perSessionClient: true },
    },
  });
  admin = await login(hub);
  key = await keyToken(hub, admin, { name: 'name-of-the-key', accessType: 'all' });
  ann = await userToken(hub, admin, 'ann-the-caller', { servers: Object.keys(servers) });
  await hub.connected(4);
});

test('a server hears the call and what the client wrote for it, and nothing of who calls, or of other servers', async () => {
  const clients: [who: string, headers: Record<string, string>][] = [
    ['a key', { authorization: `Bearer ${key}` }],
    ['a user', { authorization: `Bearer ${ann}`, 'x-session-id': 'session-of-the-caller' }],
    ['anonymous', {}],
  ];
  const about = {
    cookie: 'cookie=of-the-caller',
    'user-agent': 'agent-of-the-caller',
    'x-own-header': 'header-of-the-caller',
    'accept-language': 'tlh',
  };
  const names = Object.keys(servers);
  const sessions: string[] = [];
  for (const [who, credential] of clients) {
    const headers = { ...about, ...credential };
    const own = await session(hub.mcp(), { headers });
    const legacy = await legacySession(hub.sse(), { headers });
    sessions.push(own.id, new URL(legacy.endpoint).searchParams.get('sessionId') ?? '?');
    for (const name of names) {
      const args = (how: string) => ({ name: `${name}-echo`, arguments: { tag: `${who} to ${name} by ${how}` } });
      const meta = { 'example.com/note': `note for ${name}` };
      expect((await own.call(`${name}-echo`, args('session').arguments, { meta })).result).toBeDefined();
      await legacy.request('tools/call', args('sse'));
      expect((await rpc(hub.mcp(), 'tools/call', args('rpc'), { headers })).result).toBeDefined();
      expect(
        (
          await modern(
            hub.mcp('$smart'),
            'tools/call',
            {
              name: 'call_tool',
              arguments: { toolName: `${name}-echo`, arguments: { tag: `${who} to ${name} by smart` } },
            },
            { headers },
          )
        ).result,
      ).toBeDefined();
      const body = { tag: `${who} to ${name} by http` };
      expect((await api(hub, 'POST', `/tools/${name}/echo`, { headers, body })).status).toBe(200);
    }
  }
  const hidden = [
    ...Object.values(about),
    key,
    ann,
    admin,
    ...sessions,
    'name-of-the-key',
    'ann-the-caller',
    'session-of-the-caller',
    // What the kit says of its clients.
    '"raw"',
  ];
  for (const [name, server] of Object.entries(servers)) {
    const seen = JSON.stringify(server.journal());
    for (const text of hidden) expect(seen, name).not.toContain(text);
    for (const other of names) {
      const tags = clients.map(([who]) => `${who} to ${other} by`);
      for (const tag of tags) expect(seen.includes(tag), `${name}: ${tag}`).toBe(other === name);
      expect(seen.includes(`note for ${other}`), `${name}: note for ${other}`).toBe(other === name);
    }
    expect(server.received('tools/call')).toHaveLength(5 * clients.length);
  }
});
