import { expect, test } from 'vitest';
import type { ServerSummary } from '../../api/types.ts';
import { inOrder, isFailing, type Order } from './order.ts';

const server = (name: string, more: Partial<ServerSummary> = {}) =>
  ({ name, type: 'stdio', enabled: true, status: 'connected', error: null, ...more }) as ServerSummary;

const servers = [
  server('quiet'),
  server('busy'),
  server('failing'),
  server('away', { status: 'disconnected', error: 'it is gone' }),
  server('added'),
];
const figures = new Map([
  ['busy', { calls: 900, failed: 9, p95: 40 }],
  ['failing', { calls: 20, failed: 4, p95: 300 }],
]);

test.each<[Order, string]>([
  ['problems', 'added away failing quiet busy'],
  ['name', 'added away busy failing quiet'],
  ['calls', 'added busy failing quiet away'],
  ['failed', 'added failing busy quiet away'],
  ['slow', 'added failing busy quiet away'],
])('by %s, what was just added comes first, and what is alike stays as it is', (order, names) => {
  const sorted = inOrder(servers, order, { fresh: new Set(['added']), figures });
  expect(sorted.map(({ name }) => name).join(' ')).toBe(names);
});

test('a slip or two are no problem, and a few of very many neither', () => {
  const of = (calls: number, failed: number) => isFailing({ calls, failed, p95: 1 });
  expect([of(2, 2), of(30, 3), of(31, 3), of(1_000, 40)]).toEqual([false, true, false, false]);
  expect(isFailing(undefined)).toBe(false);
});
