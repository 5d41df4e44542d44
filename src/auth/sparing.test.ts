import { expect, test } from 'vitest';
import { limits } from '../core/limits.ts';
import { logRefusedCredentials } from './sparing.ts';

const watch = () => {
  const lines: string[] = [];
  const clock = { now: 0 };
  const warn = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, clock, refused: logRefusedCredentials({ warn }, () => clock.now) };
};

test('refused credentials of one address are told once in a window, and then with how many there were', () => {
  const { lines, clock, refused } = watch();
  for (let i = 0; i < 1_000; i++) refused('203.0.113.7');
  expect(lines).toEqual(['credential refused {"address":"203.0.113.7"}']);
  clock.now += limits.loginWindowMs;
  refused('203.0.113.7');
  expect(lines[1]).toBe('credential refused {"address":"203.0.113.7","before":999}');
});

test('many addresses cannot fill the log either: what is past the bound is counted', () => {
  const { lines, clock, refused } = watch();
  for (let i = 0; i < 10_000; i++) refused(`203.0.113.${i}`);
  expect(lines).toHaveLength(limits.strangersTold);
  clock.now += limits.loginWindowMs;
  refused('198.51.100.1');
  expect(lines.at(-1)).toBe(`credential refused {"address":"198.51.100.1","others":${10_000 - limits.strangersTold}}`);
});
