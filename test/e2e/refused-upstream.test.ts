import { expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';

test.each([400, 401, 403, 500])(
  'a server that answers %i and repeats its credential tells it to no client of the hub',
  async (status) => {
    const secret = 'sk-very-secret-0123456789';
    const web = await hostileHttp({ name: 'web' });
    const hub = await testHub({
      mcpServers: { web: { ...web.config, headers: { authorization: `Bearer ${secret}` } } },
    });
    await hub.connected(1);
    await web.control({ set: { status, body: `Incorrect API key provided: ${secret}` } });
    const { text, error } = await rpc(hub.mcp(), 'tools/call', { name: 'web-delay', arguments: { tag: 'x' } });
    expect(error?.code).toBeLessThan(0);
    expect(text).not.toContain(secret);
    expect(JSON.stringify(hub.hub.servers())).not.toContain(secret);
  },
);
