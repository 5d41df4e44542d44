import { expect, test } from 'vitest';
import { hitsOf } from './hits.ts';

const call = (tool: string, caller: string | undefined, second: number) => ({
  activity: '1',
  tool,
  policy: 'p',
  timestamp: `2026-01-01T00:00:0${second}.000Z`,
  ...(caller !== undefined && { caller }),
});

test('calls are counted by tool and caller, the most hit first', () => {
  const refused = [call('db/drop', 'ann', 1), call('db/drop', 'ann', 3), call('db/drop', undefined, 2)];
  const asked = [call('db/drop', 'ann', 2), call('a/pay', 'bob', 4)];
  expect(hitsOf({ refused, asked })).toEqual([
    { tool: 'db/drop', caller: 'ann', refused: 2, asked: 1, last: '2026-01-01T00:00:03.000Z' },
    { tool: 'a/pay', caller: 'bob', refused: 0, asked: 1, last: '2026-01-01T00:00:04.000Z' },
    { tool: 'db/drop', caller: undefined, refused: 1, asked: 0, last: '2026-01-01T00:00:02.000Z' },
  ]);
});
