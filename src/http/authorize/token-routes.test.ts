import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { setLimits } from '../../../test/kit/limits.ts';
import { settings } from '../../../test/kit/snapshots.ts';
import { authLimits } from '../../auth/limits.ts';
import { openAuthorization } from '../../auth/oauth/open-authorization.ts';
import { hashOf } from '../../auth/oauth/tickets.ts';
import { createByteBudget } from '../../core/byte-budget.ts';
import { tokenRoutes, type TokenOptions } from './token-routes.ts';

const verifier = 'v'.repeat(43);

test('a client gets its tokens where those of one that it pushed out cannot be ended', async () => {
  setLimits(authLimits, { consentsPerUser: 1 });
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const authorization = await openAuthorization({
    secret: 's'.repeat(32),
    path: join(temporaryFolder(), 'consents.json'),
    shared: undefined,
    fetchDocument: () => Promise.reject(new Error('no document')),
    log,
  });
  const record = vi.fn();
  const ann = { username: 'ann' };
  const routes = tokenRoutes({
    authorization,
    tokens: {
      issueApp: () => Promise.resolve('access'),
      valid: () => true,
      revokeConsent: () => Promise.reject(new Error('no space')),
    },
    settings: () => ({ ...settings({}), users: [ann] }),
    publicUrl: { origin: () => 'http://hub.example' },
    basePath: '',
    bodies: createByteBudget(() => 1_000_000),
    audit: { record },
    addressOf: () => '127.0.0.1',
    log,
    security: log,
  } as unknown as TokenOptions);
  const redeem = async (id: string): Promise<number> => {
    const code = authorization.codes.make({
      consent: {
        id,
        username: 'ann',
        client: hashOf('app'),
        clientName: id,
        clientHost: 'app.example',
        endpoint: '',
        resource: '',
        loginAt: 1,
      },
      redirectUri: 'http://localhost/',
      namedRedirect: false,
      challenge: hashOf(verifier),
      login: { username: 'ann', jti: id, issuedAt: 1, expiresAt: Number.POSITIVE_INFINITY },
    });
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'app',
      code_verifier: verifier,
      code,
    });
    return (await routes.request('/oauth/token', { method: 'POST', body }, { incoming: {} })).status;
  };
  expect([await redeem('first'), await redeem('second')]).toEqual([200, 200]);
  expect(record.mock.calls).toMatchObject([[{ action: 'grant.end', target: 'first' }]]);
  expect(log.error.mock.calls).toMatchObject([[expect.any(String), { client: 'first', error: 'no space' }]]);
});
