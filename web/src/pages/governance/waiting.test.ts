import { expect, test } from 'vitest';
import type { Pin } from '../../api/types.ts';
import { waiting } from './waiting.ts';

const pin = (server: string, name: string, state: Pin['state'], risk: Pin['risk']): Pin => ({
  server,
  kind: 'tool',
  name,
  state,
  risk,
  reasons: [],
  said: [],
  since: '2026-01-01T00:00:00.000Z',
});

test('what waits is shown, the grave ones first', () => {
  const pins = [
    pin('b', 'one', 'new', 'none'),
    pin('a', 'two', 'changed', 'low'),
    pin('a', 'one', 'changed', 'low'),
    pin('z', 'one', 'rejected', 'high'),
    pin('a', 'three', 'approved', 'none'),
  ];
  expect(waiting(pins).map(({ server, name }) => `${server} ${name}`)).toEqual(['z one', 'a one', 'a two', 'b one']);
});
