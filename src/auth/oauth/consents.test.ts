import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDatabase, silent, tempFolder } from '../../../test/kit/databases.ts';
import { setLimits } from '../../../test/kit/limits.ts';
import { until } from '../../../test/kit/until.ts';
import { authLimits } from '../limits.ts';
import { openFileConsents } from './consents-in-file.ts';
import { consentsInTable } from './consents-in-table.ts';
import { type Consent, type Consents, tellingOfEnds } from './consents.ts';

const consent = (id: string, at: number): Consent => ({
  id,
  username: 'ann',
  client: 'client',
  clientName: 'Client',
  clientHost: 'client.example',
  endpoint: '',
  resource: 'https://hub.example/mcp',
  loginAt: at,
  createdAt: at,
  usedAt: at,
  generation: 1,
  rotatedAt: at,
});

const stores: Record<string, () => Promise<Consents>> = {
  file: () => openFileConsents(join(tempFolder(), 'consents.json'), silent),
  table: async () => consentsInTable(await emptyDatabase('embedded')),
};

test.each(Object.keys(stores))(
  'in the %s each end of a consent is told, also of one that is pushed out',
  async (kind) => {
    const store = await stores[kind]?.();
    if (!store) throw new Error('no store');
    setLimits(authLimits, { consentsPerUser: 2 });
    const consents = tellingOfEnds(store);
    const [told, toldUntilThen]: string[][] = [[], []];
    consents.onEnd((ids) => void told?.push(...ids));
    const stop = consents.onEnd((ids) => void toldUntilThen?.push(...ids));
    const at = Date.now() - 1_000;
    for (const [i, id] of ['a', 'b', 'c'].entries()) await consents.add(consent(id, at + i));
    expect(told).toEqual(['a']);
    stop();
    // One that is there already is no new one; one that has ended is told once.
    await consents.add(consent('c', at + 3));
    await consents.end('b');
    await consents.add(consent('d', at + 4));
    await consents.endUser('ann');
    expect([told?.slice(0, 2), told?.slice(2).toSorted()]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(toldUntilThen).toEqual(['a']);
  },
);

test('a consent that cannot be written down pushes none out', async () => {
  setLimits(authLimits, { consentsPerUser: 1 });
  const folder = tempFolder();
  const consents = await openFileConsents(join(folder, 'consents.json'), silent);
  const at = Date.now() - 1_000;
  await consents.add(consent('a', at));
  rmSync(folder, { recursive: true });
  await expect(consents.add(consent('b', at + 1))).rejects.toThrow();
  expect((await consents.all()).map(({ id }) => id)).toEqual(['a']);
});

test.each(['by hand', 'with all of its user', 'later', 'when the hub stops'])(
  'a consent whose end cannot be written down has ended, is there until that is written, and is written %s',
  async (then) => {
    setLimits(authLimits, { revocationRetryMs: then === 'later' ? 1 : 3_600_000 });
    const folder = tempFolder();
    const open = async () => tellingOfEnds(await openFileConsents(join(folder, 'consents.json'), silent));
    const consents = await open();
    const ids = async (of: Consents) => (await of.all()).map(({ id }) => id);
    await consents.add(consent('a', Date.now() - 1_000));
    const told: string[] = [];
    consents.onEnd((ended) => void told.push(...ended));
    rmSync(folder, { recursive: true });
    const refusal = { code: 'misconfigured', message: expect.stringContaining('no access any more') as string };
    const end = () => (then === 'with all of its user' ? consents.endUser('ann') : consents.end('a'));
    await expect(end()).rejects.toMatchObject(refusal);
    expect([told, await consents.rotate('a', 1)]).toEqual([['a'], { kind: 'unknown' }]);
    await expect(end()).rejects.toMatchObject(refusal);
    expect(await ids(consents)).toEqual(['a']);

    mkdirSync(folder);
    if (then === 'by hand') expect(await end()).toMatchObject({ id: 'a' });
    if (then === 'with all of its user') expect(await end()).toMatchObject([{ id: 'a' }]);
    if (then === 'later') await until('it is written', async () => (await ids(consents)).length === 0);
    await consents.close();
    expect([await ids(consents), await consents.end('a')]).toEqual([[], undefined]);
    const restarted = await open();
    expect([await ids(restarted), await restarted.knows('client')]).toEqual([[], true]);
  },
);
