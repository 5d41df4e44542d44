import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

const step = fc.record({
  key: fc.constantFrom('1', '2', '"1"', '"a"'),
  value: fc.option(fc.integer(), { nil: undefined }),
});

/** Their order does not matter. */
const inOrder = (values: Iterable<number>) => [...values].toSorted((a, b) => a - b);

test('holds what a Map would hold, whatever comes and goes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const inFlight = new InFlight<number>();
      const model = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          inFlight.delete(key);
          model.delete(key);
        } else {
          inFlight.set(key, value);
          model.set(key, value);
        }
        expect(inFlight.size).toBe(model.size);
        expect(inOrder(inFlight.values())).toEqual(inOrder(model.values()));
        for (const one of ['1', '2', '"1"', '"a"']) expect(inFlight.get(one)).toBe(model.get(one));
      }
    }),
  );
});

test('all can be ended while they are gone through', () => {
  const inFlight = new InFlight<string>();
  for (const key of ['1', '2', '3']) inFlight.set(key, key);
  const ended: string[] = [];
  for (const key of inFlight.values()) {
    ended.push(key);
    inFlight.delete(key);
  }
  expect(ended.toSorted()).toEqual(['1', '2', '3']);
  expect(inFlight.size).toBe(0);
});
