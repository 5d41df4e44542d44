import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase } from '../../test/kit/databases.ts';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { until } from '../../test/kit/until.ts';
import { openFileSessions } from './sessions-in-file.ts';
import { sessionsInTable } from './sessions-in-table.ts';
import { createLoginSessions } from './sessions.ts';
import type { Claims } from './tokens.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** Sessions whose claims cannot be revoked while `isAway`. */
async function opened() {
  const state = { isAway: false, count: 0 };
  const revoked: string[] = [];
  const stored = await openFileSessions(join(temporaryFolder(), 'sessions.json'), log);
  const asked: string[] = [];
  const store: typeof stored = {
    ...stored,
    find(tokenHash, isUse) {
      asked.push(tokenHash);
      return stored.find(tokenHash, isUse);
    },
  };
  const sessions = createLoginSessions({
    store,
    secret: 'a secret of the hubs',
    holds: () => true,
    tokens: {
      issue: async ({ username }) => username,
      verify: async (username) => {
        const claims: Partial<Claims> = { username, jti: `j${state.count++}`, expiresAt: Date.now() + 60_000 };
        return claims as Claims;
      },
      valid: () => true,
      async revoke({ jti }) {
        if (state.isAway) throw new Error('away');
        revoked.push(jti);
      },
    },
  });
  const open = (sid?: string, subject = 's1') =>
    sessions.open({
      secondFactor: true,
      user: { username: 'ann' },
      via: 'oidc:corp',
      provider: { subject, sid },
      address: '127.0.0.1',
      userAgent: '',
    });
  return { state, revoked, asked, sessions, open };
}

test('an end that fails half-way is made up for when it is asked for again', async () => {
  const { state, revoked, sessions, open } = await opened();
  await open('a');
  state.isAway = true;
  await expect(sessions.end('ann', () => true)).rejects.toThrow('away');
  state.isAway = false;
  expect(await sessions.end('ann', () => true)).toBe(1);
  expect(revoked).toEqual(['j0']);
});

test.each([
  [{ subject: 's1', sid: 'a' }, ['j0', 'j2']],
  [{ subject: 's1' }, ['j0', 'j1', 'j2']],
  [{ sid: 'a' }, ['j0']],
  [{ subject: 's2', sid: 'a' }, []],
  [{}, []],
])(
  'a provider that names %j ends %j: one of the person, too, of which it did not say the session',
  async (who, ids) => {
    const { revoked, sessions, open } = await opened();
    await open('a');
    await open('b');
    await open();
    await open('c', 's3');
    await sessions.endOfProvider('oidc:corp', who);
    expect(revoked.toSorted()).toEqual(ids);
  },
);

test('a cookie that no hub has made is told from a session without asking the store', async () => {
  const { sessions, open, asked } = await opened();
  const { token } = await open();
  const [random = '', mark = ''] = token.split('.');
  const other = (await (await opened()).open()).token;
  const [otherRandom = ''] = other.split('.');
  const changed = token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  for (const text of [
    random,
    'A'.repeat(43),
    `${'A'.repeat(43)}.${mark}`,
    `${otherRandom}.${mark}`,
    `${random}.${'A'.repeat(22)}`,
    `${token}A`,
    changed,
    '',
  ])
    expect([text, await sessions.find(text, true)]).toEqual([text, undefined]);
  expect(asked).toEqual([]);
  expect(await sessions.find(token, true)).toBeDefined();
  // Of another hub with the same secret: the store says that there is none.
  expect(await sessions.find(other, true)).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test('the cookie before a renewal ends at every hub that shares the database, and not only where it was renewed', async () => {
  const database = await emptyDatabase('postgres');
  const claims = { username: 'ann', jti: randomUUID(), issuedAt: Date.now(), expiresAt: Date.now() + 60_000 };
  const hub = () => {
    const tokens = {
      issue: async () => '',
      verify: async () => claims as Claims,
      valid: () => true,
      revoke: async () => undefined,
    };
    const store = sessionsInTable(database);
    const sessions = createLoginSessions({ store, secret: 'a secret of the hubs', holds: () => true, tokens });
    atEnd(() => sessions.close());
    return sessions;
  };
  const [here, there] = [hub(), hub()];
  const place = { via: 'password', address: '127.0.0.1', userAgent: '' } as const;
  const { token } = await here.open({ user: { username: 'ann' }, secondFactor: false, ...place });
  const session = await there.find(token, true);
  expect(session?.claims.jti).toBe(claims.jti);
  const renewed = session && (await here.renew(session, true));
  await until('the other hub has heard of it', async () => (await there.find(token, false)) === undefined);
  expect(await here.find(token, true)).toBeUndefined();
  for (const each of [here, there])
    expect((await each.find(renewed?.token ?? '', true))?.claims).toMatchObject({
      jti: claims.jti,
      secondFactor: true,
    });
});
