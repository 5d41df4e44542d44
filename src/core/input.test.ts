import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HubError } from './errors.ts';
import { parseInput } from './input.ts';

const schema = z.object({
  limit: z.number().min(1).max(100).optional(),
  names: z.array(z.string()).max(2).optional(),
  text: z.string().max(3).optional(),
  limits: z.strictObject({ calls: z.number().optional() }).optional(),
  policy: z.custom((value) => value !== '', 'has no policy.').optional(),
});

const message = (input: unknown): string => {
  try {
    parseInput(schema, input, 'Cannot do it');
    return 'done';
  } catch (error) {
    return (error as HubError).message;
  }
};

test.each([
  [{ limit: 101 }, 'Cannot do it: limit must be at most 100.'],
  [{ limit: 0 }, 'Cannot do it: limit must be at least 1.'],
  [{ names: ['a', 'b', 'c'] }, 'Cannot do it: names must have at most 2 items.'],
  [{ text: 'long' }, 'Cannot do it: text must have at most 3 characters.'],
  [{ limit: '5' }, 'Cannot do it: limit expected number, received string.'],
  [{ limits: { call: 1 } }, 'Cannot do it: limits has no such member: "call".'],
  [{ limits: { call: 1, b: 2 } }, 'Cannot do it: limits has no such member: "call", "b".'],
  [{ policy: '' }, 'Cannot do it: policy has no policy.'],
  [{ limit: 5, names: [], text: 'ok' }, 'done'],
])('%j is answered in words of people: %s', (input, words) => {
  expect(message(input)).toBe(words);
});
