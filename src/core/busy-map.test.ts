import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BusyMap } from './busy-map.ts';

const key = fc.integer({ min: 0, max: 6 });
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constant('clear' as const) }),
);

test('does what a Map does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const busy = new BusyMap<number, number>();
      const model = new Map<number, number>();
      for (const one of steps) {
        if (one.do === 'set') {
          busy.set(one.key, one.value);
          model.set(one.key, one.value);
        } else if (one.do === 'delete') expect(busy.delete(one.key)).toBe(model.delete(one.key));
        else {
          busy.clear();
          model.clear();
        }
        expect([...busy]).toEqual([...model]);
        expect([...busy.keys()]).toEqual([...model.keys()]);
        expect([...busy.values()]).toEqual([...model.values()]);
        expect(busy.size).toBe(model.size);
        for (let k = 0; k <= 6; k++) expect([busy.get(k), busy.has(k)]).toEqual([model.get(k), model.has(k)]);
      }
    }),
  );
});

test('what is deleted while it is gone through does not come any more', () => {
  const busy = new BusyMap<number, number>();
  for (const n of [1, 2, 3]) busy.set(n, n);
  const seen: unknown[] = [];
  for (const [n] of busy) {
    seen.push(n);
    busy.delete(2);
    busy.delete(n);
  }
  expect(seen).toEqual([1, 3]);
});
