import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, silent, tempFolder } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { deferred } from '../core/deferred.ts';
import type { Database } from '../database/database.ts';
import { authLimits } from './limits.ts';
import { endingConsents, openTokens } from './open-tokens.ts';
import { revocationFile } from './revocation-file.ts';
import { revocationTable } from './revocation-table.ts';
import { createRevocations, type RevocationStore } from './revocations.ts';

const now = () => Date.now();
const token = { username: 'ann', jti: 'one', issuedAt: Date.now() - 1_000 };
const expiresAt = Date.now() + 60_000;

async function afterRestart(store: RevocationStore) {
  const restarted = createRevocations({ store, now });
  await restarted.refresh();
  return restarted;
}

test('a token whose end cannot be written down has ended all the same, and who ended it hears why', async () => {
  const folder = join(tempFolder(), 'gone');
  const path = join(folder, 'revocations.json');
  const file = revocationFile(path, silent);
  const revocations = createRevocations({ store: file, now });
  await expect(revocations.revoke({ ...token, expiresAt })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/^Cannot write down which access tokens have ended: .*gone/) as string,
  });
  // A hub goes on, and tries again.
  const hub = await openTokens({ secret: 'a secret of the tests, long enough', path, shared: undefined, log: silent });
  await expect(hub.revokeUser('ann')).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/has ended\. That is not written down yet, and is tried again; .*gone/) as string,
  });
  await hub.close();
  expect(revocations.revoked(token)).toBe(true);

  mkdirSync(folder);
  await revocations.revoke({ ...token, jti: 'two', expiresAt });
  const restarted = await afterRestart(file);
  expect([restarted.revoked(token), restarted.revoked({ ...token, jti: 'two' })]).toEqual([true, true]);
});

test.each(['later', 'when the hub stops'])(
  'the end of a token that could not be written down is written %s',
  async (then) => {
    setLimits(authLimits, { revocationRetryMs: then === 'later' ? 1 : 3_600_000 });
    const folder = join(tempFolder(), 'gone');
    const file = revocationFile(join(folder, 'revocations.json'), silent);
    const revocations = createRevocations({ store: file, now });
    await expect(revocations.revoke({ ...token, expiresAt })).rejects.toMatchObject({ code: 'misconfigured' });
    mkdirSync(folder);
    if (then !== 'later') await revocations.close();
    const isWritten = async () => (await afterRestart(file)).revoked(token);
    if (then === 'later') await until('it is written', isWritten);
    else expect(await isWritten()).toBe(true);
    await revocations.close();
  },
);

test('what clients were let in with ends also where the end of the tokens cannot be written down', async () => {
  const path = join(tempFolder(), 'gone', 'revocations.json');
  const tokens = await openTokens({
    secret: 'a secret of the tests, long enough',
    path,
    shared: undefined,
    log: silent,
  });
  const endUser = vi.fn(async () => {});
  await expect(endingConsents(tokens, { endUser }).revokeUser('ann')).rejects.toThrow('gone');
  expect(endUser).toHaveBeenCalledExactlyOnceWith('ann');
  await tokens.close();
});

test('a database that is away and a full disk are told of once, until a write succeeds', async () => {
  setLimits(authLimits, { revocationRetryMs: 1 });
  const there = await emptyDatabase('embedded');
  const folder = join(tempFolder(), 'gone');
  let isAway = true;
  let tries = 0;
  const database = {
    attempt: async () => undefined,
    async whenReady() {
      tries += 1;
      if (isAway) throw new Error('away');
      return there.whenReady(0);
    },
  };
  const warn = vi.fn();
  const copy = revocationFile(join(folder, 'revocations.json'), silent);
  const store = revocationTable({ database, copy, log: { ...silent, warn } });
  const revocations = createRevocations({ store, now });
  const end = (jti: string) => revocations.revoke({ ...token, jti, expiresAt });
  await expect(end('one')).rejects.toMatchObject({ code: 'not_ready' });
  await until('it is tried again', () => tries > 5);
  await expect(end('two')).rejects.toMatchObject({ code: 'not_ready' });
  expect(warn).toHaveBeenCalledTimes(2);
  isAway = false;
  mkdirSync(folder);
  await end('three');
  isAway = true;
  rmSync(folder, { recursive: true });
  await expect(end('four')).rejects.toMatchObject({ code: 'not_ready' });
  expect(warn).toHaveBeenCalledTimes(4);
  isAway = false;
  await revocations.close();
});

test('a disk that takes no copy keeps no end of a token from the database that hubs share', async () => {
  const database = await emptyDatabase('embedded');
  const copy = revocationFile(join(tempFolder(), 'gone', 'revocations.json'), silent);
  const table = () => revocationTable({ database, copy, log: silent });
  await createRevocations({ store: table(), now }).revoke({ ...token, expiresAt });
  expect((await afterRestart(table())).revoked(token)).toBe(true);
});

test.each(['keeps refusing it', 'takes it'])(
  'a hub that reads what others ended still has the end it could not tell them on its disk, when the database then %s',
  async (then) => {
    const database = await emptyDatabase('embedded');
    const open = await database.whenReady(0);
    const file = revocationFile(join(tempFolder(), 'revocations.json'), silent);
    const ofBob = { ...token, username: 'bob' };

    await createRevocations({ store: file, now }).revoke({ ...token, expiresAt });
    const other = revocationFile(join(tempFolder(), 'revocations.json'), silent);
    const elsewhere = createRevocations({ store: revocationTable({ database, copy: other, log: silent }), now });
    await elsewhere.revoke({ ...ofBob, expiresAt });
    if (then === 'keeps refusing it') await refuseAnn(open);
    const hub = await afterRestart(revocationTable({ database, copy: file, log: silent }));
    const withoutDatabase = await afterRestart(file);
    for (const known of [hub, withoutDatabase])
      expect([known.revoked(token), known.revoked(ofBob)]).toEqual([true, true]);
  },
);

test('an end that stands in the table with an earlier time is one row of what is written', async () => {
  const database = await emptyDatabase('embedded');
  const file = revocationFile(join(tempFolder(), 'revocations.json'), silent);
  const earlier = Date.now() - 500;
  const open = await database.whenReady(0);
  await open.query('insert into toolhub.revocations (username, jti, until_ms) values ($1, $2, $3)', [
    'ann',
    '',
    String(earlier),
  ]);
  await file.save([{ username: 'ann', before: earlier + 100, ids: [] }]);
  const allowAnn = await refuseAnn(open);
  await afterRestart(revocationTable({ database, copy: file, log: silent }));
  await allowAnn();
  await open.query('delete from toolhub.revocations');
  await afterRestart(revocationTable({ database, copy: file, log: silent }));
  expect(await open.query('select username, jti, until_ms from toolhub.revocations')).toEqual([
    { username: 'ann', jti: '', until_ms: String(earlier + 100) },
  ]);
});

/** Has the table refuse what is written for this user. Returns how to end it. */
async function refuseAnn(open: Database): Promise<() => Promise<void>> {
  await open.query(`alter table toolhub.revocations add constraint no_ann check (username <> 'ann') not valid`);
  const allow = async (): Promise<void> => {
    await open.query('alter table toolhub.revocations drop constraint if exists no_ann');
  };
  atEnd(allow);
  return allow;
}

test('a hub has an end at another hub on its disk before it refuses tokens for it: commands make theirs by that', async () => {
  const database = await emptyDatabase('embedded');
  const file = revocationFile(join(tempFolder(), 'revocations.json'), silent);
  const [begun, goesOn] = [deferred<void>(), deferred<void>()];
  const copy: RevocationStore = {
    load: () => file.load(),
    async save(state) {
      begun.resolve();
      await goesOn.promise;
      await file.save(state);
    },
  };
  const hub = createRevocations({ store: revocationTable({ database, copy, log: silent }), now });
  await hub.refresh();
  const other = revocationFile(join(tempFolder(), 'revocations.json'), silent);
  const elsewhere = createRevocations({ store: revocationTable({ database, copy: other, log: silent }), now });
  await elsewhere.revokeUser('ann');
  const reads = hub.refresh();
  await begun.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(hub.revoked(token)).toBe(false);
  goesOn.resolve();
  await reads;
  expect(hub.revoked(token)).toBe(true);
  expect((await afterRestart(file)).cutoff('ann')).toBe(hub.cutoff('ann'));
});
