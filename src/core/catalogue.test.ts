import fc from 'fast-check';
import { expect, test } from 'vitest';
import { knownItems } from './catalogue.ts';

test('a list read again is the new list, made of the items of before where they are the same', () => {
  const list = fc.uniqueArray(
    fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), text: fc.constantFrom('{}', '{"x":1}') }),
    { selector: ({ key }) => key },
  );
  fc.assert(
    fc.property(list, list, (items, before) => {
      const found = knownItems(items, before);
      expect(found).toEqual(items);
      for (const item of found) {
        const same = before.find(({ key, text }) => key === item.key && text === item.text);
        if (same) expect(item).toBe(same);
      }
      if (JSON.stringify(items) === JSON.stringify(before)) expect(found).toBe(before);
    }),
  );
});
