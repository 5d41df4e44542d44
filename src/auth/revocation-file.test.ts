import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, silent, tempFolder } from '../../test/kit/databases.ts';
import { deferred } from '../core/deferred.ts';
import type { Database } from '../database/database.ts';
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
  const file = revocationFile(join(folder, 'revocations.json'), silent);
  const revocations = createRevocations({ store: file, now });
  await expect(revocations.revoke({ ...token, expiresAt })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/has ended, but only until the hub restarts: .*gone/) as string,
  });
  expect(revocations.revoked(token)).toBe(true);

  mkdirSync(folder);
  await revocations.revoke({ ...token, jti: 'two', expiresAt });
  const restarted = await afterRestart(file);
  expect([restarted.revoked(token), restarted.revoked({ ...token, jti: 'two' })]).toEqual([true, true]);
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
