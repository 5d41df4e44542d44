import { expect, test } from 'vitest';
import { readUserEnv } from './user-env.ts';

const tokenOf = (text: string) => readUserEnv({ TOOLHUB_TOKEN: text }).token;

test('a token that no header can carry is refused, and not shown', () => {
  expect(tokenOf(' mcphub_a1\r\n')).toBe('mcphub_a1');
  expect(tokenOf('  ')).toBeUndefined();
  for (const text of ['mcphub_\u{200b}a1', 'mcphub_a1\r\nx', 'mcphub_ a1', 'mcphub_a1\u0000']) {
    expect(() => tokenOf(text)).toThrow(/TOOLHUB_TOKEN has/);
    expect(() => tokenOf(text)).not.toThrow(/a1/);
  }
});
