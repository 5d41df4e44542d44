import { expect, test } from 'vitest';
import { policyBeside, withFetch } from './authorization-server.ts';

// Literal addresses: no name is looked up, and nothing is sent.

const refusal = async (server: string, allowPrivateAddresses: boolean): Promise<string> => {
  const policy = await policyBeside(new URL(server), { allowPrivateAddresses, allowedCidrs: [] });
  return withFetch({ policy, userAgent: 'test' }, (fetch) => fetch('http://127.0.0.1:1/')).then(
    () => 'answered',
    (error: unknown) => String(error),
  );
};

test('what a server on the internet names in a private network is refused, and no other owner is advised', async () => {
  for (const isAdmins of [true, false]) {
    const text = await refusal('https://192.0.9.1/mcp', isAdmins);
    expect(text).toContain('not on the public internet. A server on the internet sends');
    expect(text).toContain('"systemConfig.network.allowedCidrs"');
    expect(text).not.toContain('administrator');
  }
});

test('what a server of a private network names there is reached where an admin owns it, which is the advice', async () => {
  expect(await refusal('https://10.0.0.1/mcp', true)).toContain('connection refused');
  expect(await refusal('https://10.0.0.1/mcp', false)).toContain('Let an administrator own this server');
});
