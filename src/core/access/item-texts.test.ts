import { expect, test } from 'vitest';
import type { ToolOverride } from '../settings/server.ts';
import { ItemTexts, type ShownForm } from './item-texts.ts';

/** A list of one tool, as a view makes it: how pages are called is another function in each. */
function listed(text: string, pages: string, more: Partial<ShownForm> = {}): ItemTexts {
  return new ItemTexts([
    { item: { key: 't', text }, server: { pageUri: (uri) => uri.replace('ui://', `ui://${pages}/`) }, ...more },
  ]);
}

test('a text is made for a comparison only where it may name a page', () => {
  let made = 0;
  const override: ToolOverride = {
    get description() {
      made++;
      return 'said otherwise';
    },
  };
  const plain = '{"name":"t","description":"said"}';
  expect(listed(plain, 'a', { override }).equals(listed(plain, 'b', { override }))).toBe(true);
  expect(made).toBe(0);
  const page = '{"name":"t","_meta":{"ui":{"resourceUri":"ui://view"}}}';
  expect(listed(page, 'a', { override }).equals(listed(page, 'a', { override }))).toBe(true);
  expect(made).toBeGreaterThan(0);
});

test('lists differ in the names of pages, in names and in texts', () => {
  const page = '{"name":"t","_meta":{"ui":{"resourceUri":"ui:\\/\\/view"}}}';
  expect(listed(page, 'a').equals(listed(page, 'b'))).toBe(false);
  expect(listed(page, 'a').equals(listed(page, 'a', { server: undefined }))).toBe(false);
  const plain = '{"name":"t"}';
  expect(listed(plain, 'a').equals(listed(plain, 'b', { name: 'u' }))).toBe(false);
  expect(listed(plain, 'a').equals(listed('{"name":"u"}', 'b'))).toBe(false);
  expect(listed(plain, 'a').equals(new ItemTexts())).toBe(false);
  // Made in another way, with the same outcome.
  expect(listed(plain, 'a', { name: 't' }).equals(listed(plain, 'b'))).toBe(true);
});
