import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heirOf, hubOf, idAt, newHubId } from './hub-id.ts';

test('an id says which hub gave it out, and no other text does', () => {
  const hub = newHubId();
  expect(hubOf(idAt(hub, 'anything.at all'))).toBe(hub);
  for (const other of [undefined, 5, {}, '', 'x', hub, '12345678', 'a b c d .x', 'long-name.x', '../../..x.'])
    expect(hubOf(other)).toBeUndefined();
});

test('all hubs choose the same heir, and a hub that comes takes from the others alone', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[\w-]{8}$/), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(ids, fc.string(), fc.stringMatching(/^[\w-]{8}$/), (hubs, key, more) => {
      const heir = heirOf(key, hubs);
      expect(heirOf(key, hubs.toReversed())).toBe(heir);
      expect([heir, more]).toContain(heirOf(key, [...hubs, more]));
    }),
  );
});

test('what is inherited is spread over all', () => {
  const hubs = Array.from({ length: 3 }, newHubId);
  const counts = new Map<string, number>();
  for (let i = 0; i < 3_000; i++) {
    const heir = heirOf(`session ${i}`, hubs) ?? '';
    counts.set(heir, (counts.get(heir) ?? 0) + 1);
  }
  for (const hub of hubs) expect(counts.get(hub)).toBeGreaterThan(700);
});
