import { expect, test } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { testHub } from '../kit/test-hub.ts';

test('a call over REST is recorded with the trace it belongs to; what is no trace is not', async () => {
  const hub = await testHub({ mcpServers: { alpha: (await hostileHttp({ name: 'alpha', tools: ['echo'] })).config } });
  await hub.connected(1);
  const token = await login(hub);
  const id = (digit: string) => digit.repeat(32);
  const headers = (traceparent: string) => ({ headers: { traceparent } });
  const direct = { token, body: { toolName: 'echo' } };
  const answers = [
    await api(hub, 'POST', '/tools/call/alpha', { ...direct, ...headers(`00-${id('a')}-b7ad6b7169203331-01`) }),
    await api(hub, 'GET', '/tools/alpha/echo', headers(`00-${id('b')}-b7ad6b7169203331-01`)),
    await api(hub, 'POST', '/tools/call/alpha', { ...direct, ...headers('","x":"') }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { body } = await api(hub, 'GET', '/activities', { token });
  expect((body.data as Activity[]).map(({ traceId }) => traceId)).toEqual([undefined, id('b'), id('a')]);
});
