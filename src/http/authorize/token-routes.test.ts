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

/** The routes, and a client of ann's that redeems codes there: the status of the answer. */
async function opened(revokeConsent: () => Promise<void>) {
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
      revokeConsent,
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
  const codeOf = (id: string): string =>
    authorization.codes.make({
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
  const redeem = async (code: string, code_verifier = verifier): Promise<number> => {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'app',
      code_verifier,
      code,
    });
    return (await routes.request('/oauth/token', { method: 'POST', body }, { incoming: {} })).status;
  };
  return { codeOf, redeem, record, log };
}

test('a client gets its tokens where those of one that it pushed out cannot be ended', async () => {
  setLimits(authLimits, { consentsPerUser: 1 });
  const { codeOf, redeem, record, log } = await opened(() => Promise.reject(new Error('no space')));
  expect([await redeem(codeOf('first')), await redeem(codeOf('second'))]).toEqual([200, 200]);
  expect(record.mock.calls).toMatchObject([[{ action: 'grant.end', target: 'first' }]]);
  expect(log.error.mock.calls).toMatchObject([[expect.any(String), { client: 'first', error: 'no space' }]]);
});

test('a code that comes again with its verifier ends what it gave, which is on record once', async () => {
  const revokeConsent = vi.fn(() => Promise.resolve());
  const { codeOf, redeem, record } = await opened(revokeConsent);
  const code = codeOf('first');
  expect([await redeem(code), await redeem(code, 'x'.repeat(43))]).toEqual([200, 400]);
  expect([revokeConsent.mock.calls, record.mock.calls]).toEqual([[], []]);
  expect([await redeem(code), await redeem(code)]).toEqual([400, 400]);
  expect(revokeConsent).toHaveBeenCalledWith('ann', 'first');
  const after = { why: 'its code was used again' };
  expect(record.mock.calls).toMatchObject([[{ action: 'grant.end', target: 'first', via: 'oauth', after }]]);
});
