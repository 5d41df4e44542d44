import { expect, test } from 'vitest';
import { emptyDatabase } from '../../../test/kit/databases.ts';
import { upstreamLimits } from '../limits.ts';
import { type Attempt, type Attempts, createAttempts, newSecret, sharedAttempts } from './attempts.ts';
import { sharedSealer } from '../../database/shared-sealer.ts';

const attemptOf = (server: string, by = 'ann'): Attempt => ({
  setup: 's',
  server,
  by,
  browser: 'b',
  verifier: 'v',
  client: { id: 'c', redirectUri: 'https://hub.example/oauth/callback', kind: 'configured' },
  authority: { issuer: 'https://as.example', metadata: {} as never, resource: undefined, scope: undefined },
});

async function begin(attempts: Attempts, server = 'mail', by?: string): Promise<string> {
  const state = newSecret();
  await attempts.add(state, attemptOf(server, by));
  return state;
}

test('states cannot be guessed from one another', () => {
  const states = Array.from({ length: 1_000 }, () => newSecret());
  expect(new Set(states).size).toBe(1_000);
  expect(states.every((state) => /^[\w-]{43}$/.test(state))).toBe(true);
});

test('a state works for ten minutes and not a moment longer', async () => {
  let time = 1_000_000;
  const attempts = createAttempts(() => time);
  const [early, late] = [await begin(attempts), await begin(attempts)];
  time += 10 * 60_000 - 1;
  expect(await attempts.take(early)).toBeDefined();
  time += 1;
  expect(await attempts.take(late)).toBeUndefined();
});

test('there is a bound for all of them together', async () => {
  const attempts = createAttempts();
  const states: string[] = [];
  for (let i = 0; i < upstreamLimits.signIns + 5; i++) states.push(await begin(attempts, `server ${i}`));
  const left = await Promise.all(states.map(async (state) => (await attempts.take(state)) !== undefined));
  expect(left.filter(Boolean)).toHaveLength(upstreamLimits.signIns);
});

const stores: Record<string, () => Promise<Attempts>> = {
  memory: async () => createAttempts(),
  table: async () => sharedAttempts(await emptyDatabase('postgres'), sharedSealer('secret of the hubs', 'test')),
};

test.each(Object.keys(stores))('a state works once, also for two who come at once (%s)', async (kind) => {
  const attempts = (await stores[kind]?.()) as Attempts;
  const state = await begin(attempts);
  const taken = await Promise.all([attempts.take(state), attempts.take(state), attempts.take(state)]);
  expect(taken.filter((one) => one?.server === 'mail')).toHaveLength(1);
  expect(await attempts.take(state)).toBeUndefined();
  expect(await attempts.take('unknown')).toBeUndefined();
});

test.each(Object.keys(stores))(
  'who begins again and again loses the oldest, and no other user does (%s)',
  async (kind) => {
    const attempts = (await stores[kind]?.()) as Attempts;
    const untouched = [await begin(attempts, 'mail', 'bob'), await begin(attempts, 'other', 'ann')];
    const states: string[] = [];
    for (let i = 0; i < upstreamLimits.signInsPerServer + 3; i++) states.push(await begin(attempts));
    const found: boolean[] = [];
    for (const state of states) found.push((await attempts.take(state)) !== undefined);
    expect(found).toEqual(states.map((_, i) => i >= 3));
    for (const state of untouched) expect(await attempts.take(state)).toBeDefined();
  },
);

test('a state in the database ends after ten minutes, and a row put in the place of another is none', async () => {
  const database = await emptyDatabase('postgres');
  const attempts = sharedAttempts(database, sharedSealer('secret of the hubs', 'test'));
  const open = await database.whenReady(10_000);
  const late = await begin(attempts);
  await open.query("update toolhub.sign_ins set expires_at = now() - interval '1 second'");
  expect(await attempts.take(late)).toBeUndefined();
  const [own, other] = [await begin(attempts), await begin(attempts, 'evil')];
  await open.query(
    `update toolhub.sign_ins set ciphertext = (select ciphertext from toolhub.sign_ins where server = 'evil') where server = 'mail'`,
  );
  expect(await attempts.take(own)).toBeUndefined();
  expect((await attempts.take(other))?.server).toBe('evil');
});
