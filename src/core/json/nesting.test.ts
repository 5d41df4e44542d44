import { expect, test } from 'vitest';
import { isNestedDeeperThan } from './nesting.ts';

const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

test.each([arrays, objects])('the depth of a text is counted exactly', (nested) => {
  for (const most of [1, 8, 512]) {
    expect(isNestedDeeperThan(nested(most), most)).toBe(false);
    expect(isNestedDeeperThan(nested(most + 1), most)).toBe(true);
  }
});

test('what is side by side, or in a string, is no depth', () => {
  expect(isNestedDeeperThan(`[${'[],{},'.repeat(1_000)}0]`, 2)).toBe(false);
  expect(isNestedDeeperThan(JSON.stringify([arrays(1_000), `\\"${arrays(1_000)}`]), 1)).toBe(false);
});

test('a million levels, and strings that do not end, are looked at without recursion', () => {
  expect(isNestedDeeperThan('['.repeat(1_000_000), 512)).toBe(true);
  expect(isNestedDeeperThan(`[${'"'.repeat(100_001)}`, 512)).toBe(false);
  expect(isNestedDeeperThan(`["${'\\'.repeat(1_000_000)}`, 512)).toBe(false);
});
