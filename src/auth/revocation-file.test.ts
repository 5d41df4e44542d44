import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDatabase, silent, tempFolder } from '../../test/kit/databases.ts';
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

test('a token whose end cannot be written down has ended all the same, and whoever ended it hears why', async () => {
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
