import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { logLines } from '../../../test/kit/channel-log.ts';
import { emptyDatabase, sharedPostgres, silent, tempFolder } from '../../../test/kit/databases.ts';
import { until } from '../../../test/kit/until.ts';
import { createSealer } from '../../core/seal.ts';
import { createDatabase, type DatabaseHandle } from '../../database/supervise.ts';
import type { Grant, Grants } from './grants.ts';
import { grantFile } from './grants-in-file.ts';
import { openSharedGrants } from './grants-in-table.ts';
import { sharedSealer } from '../../database/shared-sealer.ts';

const key = { server: 'mail' } as const;
const grant = (refresh: string): Grant => ({
  ...key,
  address: 'https://mail.example/mcp',
  tokens: { access: `for ${refresh}`, refresh },
});

/** One hub's view of the shared grants. */
async function hub(database: DatabaseHandle, secret = 'secret of all hubs') {
  const log = logLines();
  const file = grantFile(join(tempFolder(), 'oauth.sealed'), createSealer(randomBytes(32), 'oauth'), log);
  const changed = () => undefined;
  const grants = await openSharedGrants({
    database,
    sealer: sharedSealer(secret === 'none' ? undefined : secret, 'test'),
    file,
    log,
    changed,
  });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= grants.close());
  atEnd(close);
  return { grants, log, close };
}

async function stored(grants: Grants, refresh: string): Promise<Grant> {
  return until(`the other hub has ${refresh}`, () => {
    const found = grants.get(key);
    return found?.tokens?.refresh === refresh ? found : undefined;
  });
}

test('of hubs that renew the same grant at once one does, and all have what it got', async () => {
  const database = await emptyDatabase('postgres');
  const hubs = [await hub(database), await hub(database), await hub(database)];
  await hubs[0]?.grants.set(grant('old'));
  const olds = await Promise.all(hubs.map(({ grants }) => stored(grants, 'old')));
  let used = 0;
  const got = await Promise.all(
    hubs.map(async ({ grants }, i) =>
      grants.replace(olds[i] ?? grant('none'), async () => {
        used += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return grant(`new ${used}`);
      }),
    ),
  );
  expect(used).toBe(1);
  expect(got.map((one) => one?.tokens?.refresh)).toEqual(['new 1', 'new 1', 'new 1']);
});

test('a renewal that fails lets the next hub try at once; a hub that died with its claim holds no other up for ever', async () => {
  const database = await emptyDatabase('postgres');
  const [first, second] = [await hub(database), await hub(database)];
  await first.grants.set(grant('old'));
  const old = await stored(second.grants, 'old');
  const failing = first.grants.replace(old, () => Promise.reject(new Error('no answer')));
  await expect(failing).rejects.toThrow('no answer');
  expect((await second.grants.replace(old, async () => grant('new')))?.tokens?.refresh).toBe('new');

  const open = await database.whenReady(10_000);
  await open.query(
    `update toolhub.oauth_tokens set claimed_by = 'dead', claimed_until = now() + interval '300 milliseconds'`,
  );
  const again = await first.grants.replace(await stored(first.grants, 'new'), async () => grant('newer'));
  expect(again?.tokens?.refresh).toBe('newer');
});

test('signing in or out while a token is renewed wins over what is renewed', async () => {
  const database = await emptyDatabase('postgres');
  const [first, second] = [await hub(database), await hub(database)];
  for (const [meanwhile, expected] of [
    [() => second.grants.set(grant('signed in')), 'signed in'],
    [() => second.grants.delete(key), undefined],
  ] as const) {
    await first.grants.set(grant('old'));
    await stored(second.grants, 'old');
    const old = await stored(first.grants, 'old');
    const got = await first.grants.replace(old, async () => {
      await meanwhile();
      return grant('renewed');
    });
    expect(got?.tokens?.refresh).toBe(expected);
    expect(first.grants.get(key)?.tokens?.refresh).toBe(expected);
  }
});

test('what was got while the database went away is not lost: the old refresh token is used up', async () => {
  const postgres = await sharedPostgres();
  const url = await postgres.createDatabase();
  const handles = [0, 1].map(() => createDatabase({ url, dataDir: tempFolder(), log: silent }));
  for (const handle of handles) {
    handle.start();
    await handle.whenReady(20_000);
    atEnd(() => handle.close());
  }
  const [a, b] = handles as [DatabaseHandle, DatabaseHandle];
  const [first, second] = [await hub(a), await hub(b)];
  await first.grants.set(grant('old'));
  const old = await stored(second.grants, 'old');
  const got = await first.grants.replace(await stored(first.grants, 'old'), async () => {
    await postgres.kill();
    return grant('new');
  });
  expect(got?.tokens?.refresh).toBe('new');
  expect(first.grants.get(key)?.tokens?.refresh).toBe('new');
  await expect(second.grants.replace(old, async () => grant('never'))).rejects.toThrow(/database|reached/i);
  await postgres.start();
  await stored(second.grants, 'new');
});

test('with another secret a row counts as absent, and a new sign-in takes its place', async () => {
  const database = await emptyDatabase('postgres');
  const first = await hub(database);
  await first.grants.set(grant('old'));
  const stranger = await hub(database, 'another secret');
  expect(stranger.grants.get(key)).toBeUndefined();
  expect(JSON.stringify(stranger.log.lines)).toMatch(/cannot be opened with the secret/);
  await stranger.grants.set(grant('new'));
  await until('the first hub cannot open that one', () => first.grants.get(key) === undefined);
});

test('without a secret of their own hubs make one together, once', async () => {
  const database = await emptyDatabase('postgres');
  const [first, second] = await Promise.all([hub(database, 'none'), hub(database, 'none')]);
  await first?.grants.set(grant('old'));
  if (second) await stored(second.grants, 'old');
  const open = await database.whenReady(10_000);
  const rows = await open.query<{ value: Uint8Array }>('select value from toolhub.secrets');
  expect(rows.map(({ value }) => value.length)).toEqual([32]);
});
