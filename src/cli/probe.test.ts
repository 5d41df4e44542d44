import { expect, test } from 'vitest';
import { hostileHttp, temporaryFolder } from '../../test/kit/hostile.ts';
import { server } from '../../test/kit/snapshots.ts';
import { readEnv } from '../env/env.ts';
import { openProbes } from './probe.ts';

test('a trial connection trusts a server as far as the hub does', async () => {
  const upstream = await hostileHttp({ tools: ['t'] });
  const transport = {
    type: 'streamable-http',
    url: `${upstream.url}/mcp`,
    headers: { 'x-token': '${OF_THE_OPERATOR}' },
    env: {},
  } as const;
  const env = readEnv({ DATA_DIR: temporaryFolder(), OF_THE_OPERATOR: 'value-of-the-operator' });
  const { probe, close } = openProbes(env, [
    { name: 'admins', trusted: true, allowedCidrs: [] },
    { name: 'users', trusted: false, allowedCidrs: [] },
    { name: 'allowed', trusted: false, allowedCidrs: ['127.0.0.0/8'] },
  ]);
  const sent = () => upstream.journal().flatMap(({ headers }) => headers?.['x-token'] ?? []);
  try {
    await expect(probe(server('users', { transport }))).rejects.toThrow('not on the public internet');
    await expect(probe(server('unknown', { transport }))).rejects.toThrow('not on the public internet');
    expect(await probe(server('allowed', { transport }))).toMatchObject({ tools: 1 });
    expect(sent().filter((value) => value !== '')).toEqual([]);
    expect(await probe(server('admins', { transport }))).toMatchObject({ tools: 1 });
    expect(sent()).toContain('value-of-the-operator');
  } finally {
    await close();
  }
});
