import { expect, test } from 'vitest';
import { best } from './rank.ts';

const entries = (...names: string[]) => names.map((name) => ({ name, more: '' }));
const found = (q: string, ...names: string[]) => best(entries(...names), q, 10).map(({ name }) => name);

test('the very name comes first, then beginnings, words, parts, and letters in their order', () => {
  const names = ['my_recho', 'g-e-c-h-o', 'list_echo', 'echoes', 'unlike', 'echo'];
  expect(found('echo', ...names)).toEqual(['echo', 'echoes', 'list_echo', 'my_recho', 'g-e-c-h-o']);
});

test('upper and lower case are the same, and blanks around it nothing', () => {
  expect(found(' RECONNECT github ', 'Reconnect gitlab', 'Reconnect GitHub')).toEqual(['Reconnect GitHub']);
});

test('words are found in any order, also beside the name', () => {
  const tools = [
    { name: 'echo', more: 'alpha' },
    { name: 'echo', more: 'beta' },
  ];
  expect(best(tools, 'beta echo', 10)).toEqual([tools[1]]);
});

test('of letters in order those that lie close together come first', () => {
  expect(found('gthb', 'get_the_big_one', 'github')).toEqual(['github', 'get_the_big_one']);
  expect(found('bg', 'github')).toEqual([]);
  expect(found('admin', 'API documentation')).toEqual([]);
});

test('no more than wanted are given, and nothing typed gives the first ones', () => {
  const many = entries(...Array.from({ length: 10_000 }, (_, number) => `tool_${number}`));
  expect(best(many, 'tool', 50)).toHaveLength(50);
  expect(best(many, 'tool_9999', 50)[0]?.name).toBe('tool_9999');
  expect(best(many, '', 3)).toEqual(many.slice(0, 3));
});
