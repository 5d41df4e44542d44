import fc from 'fast-check';
import { expect, test } from 'vitest';
import { detached } from './detached.ts';

test('a text with memory of its own is the same text, whatever it has in it', () => {
  const unit = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\u00ff', '\u0100'));
  fc.assert(
    fc.property(fc.array(unit), (parts) => {
      expect(detached(parts.join(''))).toBe(parts.join(''));
    }),
  );
});
