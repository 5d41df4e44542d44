import fc from 'fast-check';
import { expect, test } from 'vitest';
import { detached } from './detached.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

test('a text that is copied into memory of its own equals the one it was copied from, with any characters', () => {
  const unit = fc.oneof(fc.string(), fc.string({ unit: codePoints }), fc.constantFrom('\ud800', '\u00ff', '\u0100'));
  fc.assert(
    fc.property(fc.array(unit), (parts) => {
      expect(detached(parts.join(''))).toBe(parts.join(''));
    }),
  );
});
