import { expect, test } from 'vitest';
import { matchesTemplate } from './uri-template.ts';

test.each([
  ['test://template/{id}/data', 'test://template/42/data', true],
  ['test://template/{id}/data', 'test://template//data', false],
  ['test://template/{id}/data', 'test://template/a/b/data', false],
  ['test://template/{id}/data', 'test://template/42/data/more', false],
  ['file:///{+path}', 'file:///a/b/c.txt', true],
  ['file:///{path*}', 'file:///a/b', true],
  ['file:///{path}', 'file:///a/b', false],
  ['db://t{?limit,offset}', 'db://t', true],
  ['db://t{?limit,offset}', 'db://t?limit=3', true],
  ['{scheme}://x', 'y://x', true],
  ['file:///{name}.json', 'file:///a.json.json', true],
  ['file:///{name}.json', 'file:///.json', false],
  ['file:///{+path}/data', 'file:///a/data/b/data', true],
  ['plain://x', 'plain://x', true],
  ['plain://x', 'plain://y', false],
  ['broken://{x', 'broken://{x', true],
])('%s and %s: %s', (template, uri, expected) => {
  expect(matchesTemplate(template, uri)).toBe(expected);
});

test('hostile templates cost one pass', () => {
  expect(matchesTemplate('{+a}-'.repeat(1_000), '-a'.repeat(4_000))).toBe(false);
});
