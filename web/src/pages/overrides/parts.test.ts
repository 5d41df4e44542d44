import { expect, test } from 'vitest';
import { partsOf, withParts } from './parts.ts';

const config = { command: 'crm', tools: { find: { enabled: false, maxResultTokens: 500 }, all: { name: 'list' } } };

test('the limit of one tool is set beside what is said of it and of all others', () => {
  expect(withParts(config, 'all', 2000)).toEqual({
    find: { enabled: false, maxResultTokens: 500 },
    all: { name: 'list', maxResultTokens: 2000 },
  });
  expect(withParts({}, 'find', 0)).toEqual({ find: { maxResultTokens: 0 } });
});

test('the limit is taken away, and the rest stays', () => {
  expect(withParts(config, 'find', undefined)).toEqual({ find: { enabled: false }, all: { name: 'list' } });
  expect(partsOf(config, 'find')).toBe(500);
  expect(partsOf(config, 'toString')).toBeUndefined();
});
