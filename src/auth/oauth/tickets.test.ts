import { expect, test } from 'vitest';
import { createTickets } from './tickets.ts';

const secret = new Uint8Array(32).fill(1);
const minute = 60_000;
const clock = { first: 0, second: 0 };
const at = (hub: keyof typeof clock, more = {}) =>
  createTickets<string>({
    secret,
    purpose: 'code',
    lifeMs: minute,
    toleranceMs: minute,
    now: () => clock[hub],
    ...more,
  });

test.each([-minute, 0, minute])('a code of a hub is read by one whose clock is %i ms ahead', (ahead) => {
  clock.first = 10 * minute;
  clock.second = clock.first + ahead;
  const code = at('first').make('said');
  expect(at('second').read(code)).toBe('said');
  // The person and the client take their time.
  clock.second += minute;
  expect(at('second').read(code)).toBe('said');
  clock.second = clock.first + 2 * minute + 1;
  expect(at('second').read(code)).toBeUndefined();
  expect(at('second').isOurs(code)).toBe(true);
});

test('what was made for another purpose, with another secret or by a stranger is none', () => {
  const code = at('first').make('said');
  const others = [at('first', { purpose: 'refresh' }), at('first', { secret: new Uint8Array(32).fill(2) })];
  for (const tickets of others) expect([tickets.read(code), tickets.isOurs(code)]).toEqual([undefined, false]);
  for (const text of [undefined, '', 'x', code.slice(0, -1), `${code}A`])
    expect(at('first').read(text)).toBeUndefined();
});
