import { SignJWT, UnsecuredJWT, decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { authLimits } from './limits.ts';
import { type RevocationState, createRevocations } from './revocations.ts';
import { createTokens, type Tokens } from './tokens.ts';

const secret = 'a secret of the tests, long enough';
const ann = { username: 'ann' };

function memoryStore() {
  const saved: RevocationState[] = [];
  return {
    saved,
    load: async () => JSON.parse(JSON.stringify(saved.at(-1) ?? null)) as unknown,
    save: async (state: RevocationState) => void saved.push(state),
  };
}

/** One that replicas share: what one saves is added to what the others saved, as the table does. */
function sharedStore() {
  const saved: RevocationState[number][] = [];
  return {
    load: async () => JSON.parse(JSON.stringify(saved)) as unknown,
    save: async (state: RevocationState) => void saved.push(...state),
  };
}

describe('access tokens', () => {
  test('carry exactly sub, iat, exp and jti and hold for 24 hours and the tolerance', async () => {
    let at = Date.now();
    const tokens = await createTokens({ secret, now: () => at });
    const token = await tokens.issue(ann);
    const payload = decodeJwt(token);
    expect(Object.keys(payload).sort()).toEqual(['exp', 'iat', 'jti', 'sub']);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_400);
    const claims = await tokens.verify(token);
    expect(claims).toMatchObject({ username: 'ann' });
    at += authLimits.accessTokenMs - 1_000;
    expect(await tokens.verify(token)).toEqual(claims);
    at += 1_000 + authLimits.clockToleranceMs;
    expect(await tokens.verify(token)).toBeUndefined();
    expect(claims && tokens.valid(claims, ann)).toBe(false);
  });

  test('of another secret, another algorithm, none at all, or with a missing claim are refused', async () => {
    const tokens = await createTokens({ secret });
    const good = await tokens.issue(ann);
    const { sub = '', iat = 0, exp = 0, jti = '' } = decodeJwt(good);
    const key = new TextEncoder().encode(secret);
    const sign = (claims: object, alg = 'HS256', by = key) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(by);
    const all = { sub, iat, exp, jti };
    // The control: made in the same way, and right.
    expect(await tokens.verify(await sign(all))).toMatchObject({ username: 'ann' });
    const bad = [
      await (await createTokens({ secret: `${secret}!` })).issue(ann),
      await sign(all, 'HS512', new Uint8Array(64).fill(7)),
      await sign(all, 'HS512', key).catch(() => 'too short a key'),
      new UnsecuredJWT(all).encode(),
      await sign({ iat, exp, jti }),
      await sign({ sub, exp, jti }),
      await sign({ sub, iat, jti }),
      await sign({ sub, iat, exp }),
      await sign({ ...all, jti: 'not ours' }),
      await sign({ ...all, iat: iat + 5 }),
      `${good.slice(0, -2)}xx`,
      `${good}.x`,
      'eyJ.eyJ.x',
      '',
    ];
    for (const token of bad) expect(await tokens.verify(token)).toBeUndefined();
  });

  test('one older than its user was an earlier user’s of that name', async () => {
    const at = Date.now();
    const tokens = await createTokens({ secret, now: () => at });
    const claims = await tokens.verify(await tokens.issue(ann));
    const valid = (createdAt: number) =>
      claims && tokens.valid(claims, { ...ann, createdAt: new Date(createdAt).toISOString() });
    expect([valid(at - 1), valid(at), valid(at + 1)]).toEqual([true, true, false]);
  });

  test('a revoked token is gone, others of the same user are not, also after a restart', async () => {
    const store = memoryStore();
    const tokens = await createTokens({ secret, store });
    const [first, second] = [await tokens.issue(ann), await tokens.issue(ann)];
    const claims = await tokens.verify(first);
    if (!claims) throw new Error('the token should verify');
    await tokens.revoke(claims);
    for (const hub of [tokens, await createTokens({ secret, store })]) {
      expect(await hub.verify(first)).toBeUndefined();
      expect(await hub.verify(second)).toMatchObject({ username: 'ann' });
    }
    expect(tokens.valid(claims, ann)).toBe(false);
  });

  test('ending all tokens of a user spares those issued a moment later, and all other users', async () => {
    // Time stands still: the hardest case.
    const tokens = await createTokens({ secret, now: () => 1_800_000_000_123 });
    const [old, others] = [await tokens.issue(ann), await tokens.issue({ username: 'bob' })];
    await tokens.revokeUser('ann');
    const fresh = await tokens.issue(ann);
    expect(await tokens.verify(old)).toBeUndefined();
    expect(await tokens.verify(fresh)).toMatchObject({ username: 'ann' });
    expect(await tokens.verify(others)).toMatchObject({ username: 'bob' });
  });

  test('a replica learns of revocations of another by refreshing', async () => {
    const store = memoryStore();
    const [here, there] = [await createTokens({ secret, store }), await createTokens({ secret, store })];
    const token = await here.issue(ann);
    expect(await there.verify(token)).toBeDefined();
    await here.revokeUser('ann');
    await there.refresh();
    expect(await there.verify(token)).toBeUndefined();
  });

  test('a secret that could be guessed stops the start', async () => {
    await expect(createTokens({ secret: 'short' })).rejects.toMatchObject({ code: 'misconfigured' });
  });
});

describe('access tokens with times that the hub does not give', () => {
  test('would live longer than those of the hub, also by a second: refused', async () => {
    const at = 1_800_000_000_000;
    const tokens = await createTokens({ secret, now: () => at });
    const lasting = (seconds: number) =>
      new SignJWT({ sub: 'ann', iat: at / 1000, exp: at / 1000 + seconds, jti: `${at.toString(36)}.x` })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(secret));
    expect(await tokens.verify(await lasting(86_400))).toMatchObject({ username: 'ann' });
    for (const seconds of [86_401, 10 * 365 * 86_400, 1e15]) {
      expect(await tokens.verify(await lasting(seconds))).toBeUndefined();
    }
  });

  test('were issued in the future: refused, unless all earlier ones have ended or the user is as young', async () => {
    let at = 1_800_000_000_000;
    const tokens = await createTokens({ secret, now: () => at });
    const claimsOf = async (token: string) => (await tokens.verify(token)) ?? expect.unreachable();
    const early = await claimsOf(await tokens.issue(ann));
    expect(tokens.valid(early, ann)).toBe(true);
    // The clock was set back, or another hub's is ahead.
    const back = authLimits.clockToleranceMs + 1_000;
    at -= back;
    expect(tokens.valid(early, ann)).toBe(false);
    const young = { username: 'bob', createdAt: new Date(at + back).toISOString() };
    const youngs = await claimsOf(await tokens.issue(young));
    expect(tokens.valid(youngs, young)).toBe(true);
    expect(tokens.valid(youngs, { username: 'bob' })).toBe(false);
    await tokens.revokeUser('ann');
    const fresh = await claimsOf(await tokens.issue(ann));
    expect(fresh.issuedAt).toBeGreaterThan(early.issuedAt);
    expect([tokens.valid(fresh, ann), tokens.valid(early, ann)]).toEqual([true, false]);
  });
});

describe('access tokens of replicas whose clocks differ by a minute', () => {
  test('work at the other one, in both directions', async () => {
    const at = 1_800_000_000_000;
    const [behind, ahead] = await Promise.all(
      [at, at + 60_000].map((time) => createTokens({ secret, now: () => time })),
    );
    if (!behind || !ahead) throw new Error('two are made');
    for (const [issuer, other] of [
      [behind, ahead],
      [ahead, behind],
    ] as const) {
      const claims = await other.verify(await issuer.issue(ann));
      expect(claims && other.valid(claims, ann)).toBe(true);
    }
  });
});

describe('ending all tokens of a user at a replica', () => {
  const at = 1_800_000_000_000;
  /** Replicas whose clocks stand still at `at` and these milliseconds. */
  async function replicas(...offsets: number[]) {
    const store = sharedStore();
    const made = offsets.map((offset) => createTokens({ secret, store, now: () => at + offset }));
    const all = await Promise.all(made);
    return { all, sync: () => Promise.all(all.map((one) => one.refresh())) };
  }
  const isAccepted = async (tokens: Tokens, token: string): Promise<boolean> => {
    const claims = await tokens.verify(token);
    return claims !== undefined && tokens.valid(claims, ann);
  };

  test('ends those of one whose clock is ahead, and none that are issued afterwards, at either', async () => {
    const { all, sync } = await replicas(0, authLimits.clockToleranceMs);
    const [here, ahead] = all as [Tokens, Tokens];
    const before = [await here.issue(ann), await ahead.issue(ann)];
    await here.revokeUser('ann');
    const here2 = await here.issue(ann);
    expect(await isAccepted(here, here2)).toBe(true);
    await sync();
    const after = [here2, await ahead.issue(ann)];
    for (const tokens of all) {
      for (const token of before) expect(await isAccepted(tokens, token)).toBe(false);
      for (const token of after) expect(await isAccepted(tokens, token)).toBe(true);
    }
  });

  test('ends also those that others issued just after the last end', async () => {
    const { all, sync } = await replicas(authLimits.clockToleranceMs, 0, 0);
    const [ahead, issuer, here] = all as [Tokens, Tokens, Tokens];
    await ahead.revokeUser('ann');
    await sync();
    const token = await issuer.issue(ann);
    await here.revokeUser('ann');
    await sync();
    for (const tokens of all) expect(await isAccepted(tokens, token)).toBe(false);
  });
});

describe('revocations', () => {
  test('a flood of one user never brings a revoked token back to life, and takes bounded room', async () => {
    const revocations = createRevocations({ now: () => 10_000 });
    const token = (n: number) => ({ username: 'ann', jti: `t${n}`, issuedAt: 5_000, expiresAt: 1e9 });
    for (let n = 0; n <= authLimits.revokedTokensPerUser; n++) await revocations.revoke(token(n));
    for (let n = 0; n <= authLimits.revokedTokensPerUser; n++) expect(revocations.revoked(token(n))).toBe(true);
    expect(revocations.cutoff('ann')).toBe(10_000 + authLimits.clockToleranceMs);
    expect(revocations.revoked({ username: 'bob', jti: 't1', issuedAt: 5_000 })).toBe(false);
  });

  test('a flood that is stored ends the tokens of its user once, and not at each reading', async () => {
    let now = 1_800_000_000_000;
    const expiresAt = now + authLimits.accessTokenMs;
    const ids = Array.from({ length: authLimits.revokedTokensPerUser + 1 }, (_, n) => [`t${n}`, expiresAt] as const);
    const store = { load: async () => [{ username: 'ann', before: 0, ids }], save: async () => {} };
    const revocations = createRevocations({ store, now: () => now });
    await revocations.refresh();
    const ended = revocations.cutoff('ann');
    expect(ended).toBeGreaterThan(now);
    now += 60_000;
    await revocations.refresh();
    expect(revocations.cutoff('ann')).toBe(ended);
  });

  test('what has expired is forgotten', async () => {
    let at = 1;
    const store = memoryStore();
    const revocations = createRevocations({ store, now: () => at });
    await revocations.revoke({ username: 'ann', jti: 'a', expiresAt: 1_000 });
    await revocations.revokeUser('bob');
    expect(store.saved.at(-1)?.map(({ username }) => username)).toEqual(['ann', 'bob']);
    at = authLimits.accessTokenMs * 2;
    await revocations.revoke({ username: 'eve', jti: 'b', expiresAt: at + 1_000 });
    expect(store.saved.at(-1)).toEqual([{ username: 'eve', before: 0, ids: [['b', at + 1_000]] }]);
  });

  test('writes never overlap, what comes meanwhile is in the next one, and a failed one is reported', async () => {
    let running = 0;
    let broken = false;
    const saved: RevocationState[] = [];
    const store = {
      load: async () => undefined,
      async save(state: RevocationState) {
        expect(++running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (broken) throw new Error('disk full');
        saved.push(state);
      },
    };
    const revocations = createRevocations({ store, now: () => 0 });
    const revoke = (jti: string) => revocations.revoke({ username: 'ann', jti, expiresAt: 1e9 });
    const first = revoke('a');
    // The first write has begun when the others come.
    await Promise.resolve();
    expect(running).toBe(1);
    await Promise.all([first, revoke('b'), revoke('c')]);
    expect(saved.map((state) => state[0]?.ids.map(([jti]) => jti))).toEqual([['a'], ['a', 'b', 'c']]);
    broken = true;
    await expect(revoke('d')).rejects.toThrow('disk full');
    broken = false;
    await revoke('e');
    expect(saved.at(-1)?.[0]?.ids).toHaveLength(5);
  });

  test('nonsense in the store is passed over', async () => {
    for (const stored of [
      null,
      7,
      'x',
      {},
      [null, 7, { username: 3 }, { username: 'ann', before: 'x', ids: [1, [2]] }],
    ]) {
      const revocations = createRevocations({
        store: { load: async () => stored, save: async () => undefined },
        now: () => 0,
      });
      await revocations.refresh();
      expect(revocations.revoked({ username: 'ann', jti: 'x', issuedAt: 0 })).toBe(false);
    }
  });
});

test('ending all tokens of a user ends those too that were issued before the clock was set back', async () => {
  let at = Date.now() + 3_600_000;
  const [here, replica] = await Promise.all([1, 2].map(() => createTokens({ secret, now: () => at })));
  if (!here || !replica) throw new Error('two are made');
  const early = [await here.issue(ann), await replica.issue(ann)];
  for (const token of early) expect(await here.verify(token)).toBeDefined();
  at -= 3_600_000;
  await here.revokeUser('ann');
  for (const token of early) expect(await here.verify(token)).toBeUndefined();
  const fresh = await here.issue(ann);
  expect(await here.verify(fresh)).toMatchObject({ username: 'ann' });
  await here.revokeUser('ann');
  expect(await here.verify(fresh)).toBeUndefined();
});
