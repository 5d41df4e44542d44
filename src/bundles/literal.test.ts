import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literal, variableName } from '../settings/server/variables.ts';
import { expandText } from '../settings/server/placeholders.ts';
import { codePoints } from '../../test/kit/code-points.ts';

/** Nothing that is taken as it stands may ask for a file. */
const noFile = (path: string): never => {
  throw new Error(`asked for ${path}`);
};

const tricky = fc.array(fc.constantFrom('$', '{', '}', 'HOME', ':-', '${HOME}', '${A:-', '$${', ' '), {
  maxLength: 12,
});

test('text made literal comes out of the settings as it went in, and asks for nothing', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        tricky.map((parts) => parts.join('')),
        fc.string(),
      ),
      (text) => {
        const missing = new Set<string>();
        expect(expandText(literal(text), [{ HOME: 'FILLED IN', A: 'FILLED IN' }], missing, noFile)).toBe(text);
        expect([...missing]).toEqual([]);
      },
    ),
  );
});

test('any words make the name of a variable', () => {
  expect(variableName('github', 'api-key')).toBe('GITHUB_API_KEY');
  fc.assert(
    fc.property(fc.array(fc.string({ unit: codePoints }), { maxLength: 3 }), (words) => {
      expect(expandText(`\${${variableName(...words)}}`, [], new Set(), noFile)).toBe('');
    }),
  );
});
