import { expect, test } from 'vitest';
import { offsetOf, problemsOf } from './problems.ts';

test('a problem of the text has its place, and one of the name is apart from it', () => {
  const errors = [
    { path: 'systemConfig.policies[3].text', message: 'line 2, column 5: unexpected token `)`' },
    { path: 'systemConfig.policies[3].id', message: 'the ids of policies must differ' },
    { path: 'systemConfig.limits', message: 'is another matter' },
  ];
  expect(problemsOf(errors)).toEqual({
    inText: [{ line: 2, column: 5, message: 'unexpected token `)`' }],
    ofId: 'the ids of policies must differ',
    paths: ['systemConfig.policies[3].text', 'systemConfig.policies[3].id'],
  });
  expect(problemsOf([]).inText).toEqual([]);
});

test('a place is found in the text, and at its end where it is past it', () => {
  expect(offsetOf('ab\ncde', { line: 2, column: 3 })).toBe(5);
  expect(offsetOf('ab\ncde', { line: 9, column: 9 })).toBe(6);
});
