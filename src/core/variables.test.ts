import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandVariables, literal, variableName, variablesIn } from './variables.ts';

const tricky = fc.array(fc.constantFrom('$', '{', '}', 'HOME', 'x', '${HOME}', '$${', ' '), { maxLength: 12 });

describe('a variable in settings', () => {
  test('is filled in, once, and what comes out of it is not looked at again', () => {
    const environment: Record<string, string> = { A: '${B}', B: 'b' };
    expect(expandVariables('x-${A}-${B}-${C}-$A', (name) => environment[name])).toBe('x-${B}-b--$A');
  });

  test('is plain text when its dollar is doubled', () => {
    expect(expandVariables('$${HOME} ${HOME}', () => '/root')).toBe('${HOME} /root');
  });

  test('never comes out of text that was made literal', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          tricky.map((parts) => parts.join('')),
          fc.string(),
        ),
        (text) => {
          expect(expandVariables(literal(text), () => 'FILLED IN')).toBe(text);
          expect(variablesIn(literal(text))).toEqual([]);
        },
      ),
    );
  });

  test('can be named after anything', () => {
    expect(variableName('github', 'api-key')).toBe('GITHUB_API_KEY');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        const name = variableName(...words);
        expect(variablesIn(`\${${name}}`)).toEqual([name]);
      }),
    );
  });
});
