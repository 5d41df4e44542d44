import { expect, test } from 'vitest';
import { settings as snapshotOf } from '../../test/kit/snapshots.ts';
import { authLimits } from './limits.ts';
import { withoutOwnCredentials } from './own-credentials.ts';

test('a header of more words than can be looked at in a moment goes to no server', () => {
  let looked = 0;
  const without = withoutOwnCredentials({
    settings: () => snapshotOf({}),
    tokens: { isSigned: () => false },
    isTicket: () => {
      looked++;
      return false;
    },
  });
  const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');
  expect(without('x-list', words(100), {})).toBe(words(100));
  looked = 0;
  expect(without('x-list', words(authLimits.headerPieces + 1), {})).toBeUndefined();
  expect(without('cookie', words(authLimits.headerPieces + 1), {})).toBeUndefined();
  expect(looked).toBe(0);
});
