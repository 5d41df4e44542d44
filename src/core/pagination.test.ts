import { expect, test } from 'vitest';
import { paginationOf } from './pagination.ts';

const around = (page: number, limit: number, total: number) => {
  const { totalPages, hasPrevPage, hasNextPage } = paginationOf(page, limit, total);
  return [totalPages, hasPrevPage, hasNextPage];
};

test('the first page, one between and the last say what is beside them', () => {
  expect(around(1, 10, 25)).toEqual([3, false, true]);
  expect(around(2, 10, 25)).toEqual([3, true, true]);
  expect(around(3, 10, 25)).toEqual([3, true, false]);
  expect(around(1, 10, 10)).toEqual([1, false, false]);
});

test('of an empty list, and behind the end of any, there is a way back and none on', () => {
  expect(around(1, 10, 0)).toEqual([0, false, false]);
  expect(around(2, 10, 0)).toEqual([0, true, false]);
  expect(around(9, 10, 25)).toEqual([3, true, false]);
});
