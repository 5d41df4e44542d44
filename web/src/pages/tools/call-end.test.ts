import { expect, test } from 'vitest';
import { endOf } from './call-end.ts';

test('a call that a server answered with an error was not refused', () => {
  const ends = [0, 400, 403, 404, 429, 500, 502, 503, 504].map((status) => endOf(status));
  expect(ends).toEqual([
    'hubAway',
    'refused',
    'refused',
    'refused',
    'refused',
    'hubFailed',
    'serverFailed',
    'away',
    'late',
  ]);
});
