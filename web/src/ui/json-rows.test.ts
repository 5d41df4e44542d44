import { expect, test } from 'vitest';
import { rowsIn } from './json-rows.ts';

test('a list of objects is a table of all their members, in the order they are met', () => {
  const list = [{ id: 1 }, { id: 2, name: 'b' }];
  expect(rowsIn(list)).toEqual({ at: undefined, columns: ['id', 'name'], rows: list });
  expect(rowsIn({ total: 2, items: list })).toMatchObject({ at: 'items', rows: list });
});

test('what is no list of objects is no table, and neither are two of them', () => {
  for (const value of [undefined, null, 1, 'x', [], [1, 2], [{}, 1], { a: [] }, { a: [{}], b: [{}] }, {}])
    expect(rowsIn(value)).toBeUndefined();
});
