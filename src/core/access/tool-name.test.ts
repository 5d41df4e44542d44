import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exposedName } from './tool-name.ts';

const allowed = /^[A-Za-z0-9_-]{1,64}$/;

test('a plain name is server, separator, tool', () => {
  expect(exposedName('github', 'create_issue', '-', ['github', 'git'])).toBe('github-create_issue');
});

test('every name a server can invent fits what clients accept', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('-', '_', '__', '.'),
      (prefix, name, separator) => {
        expect(exposedName(prefix, name, separator, [prefix])).toMatch(allowed);
      },
    ),
  );
});

test('two tools never share a name, whatever their servers are called', () => {
  const word = fc.stringMatching(/^[a-c]{1,2}(-[a-c]{1,2}){0,3}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 2, maxLength: 6 }),
      fc.uniqueArray(word, { minLength: 1, maxLength: 6 }),
      (servers, tools) => {
        const names = servers.flatMap((server) => tools.map((tool) => exposedName(server, tool, '-', servers)));
        expect(new Set(names).size).toBe(names.length);
      },
    ),
    { numRuns: 300 },
  );
});

test('the plain form goes to the longer server name when both could own it', () => {
  const servers = ['a', 'a-b'];
  expect(exposedName('a-b', 'c', '-', servers)).toBe('a-b-c');
  expect(exposedName('a', 'b-c', '-', servers)).toMatch(/^a-b-c_[0-9a-f]{8}$/);
  expect(exposedName('a', 'other', '-', servers)).toBe('a-other');
});
