import { expect, test } from 'vitest';
import { sentenceTable } from '../../../core/sentences.ts';
import { english } from './en.ts';
import { acceptedTag, pageTags, wordsOf } from './page-language.ts';

const placesIn = (text: string) => [...new Set(text.match(/\{\{\w+\}\}/g))].toSorted();

test.each(pageTags)('%s has every text of the pages, with the values of the English one', async (tag) => {
  const { texts, sentences } = await wordsOf(tag);
  expect(Object.keys(texts)).toEqual(Object.keys(english));
  for (const [key, text] of Object.entries(english))
    expect([key, placesIn(texts[key as keyof typeof english])]).toEqual([key, placesIn(text)]);
  expect(Object.values(texts).filter((text) => text.trim() === '')).toEqual([]);
  if (tag !== 'en') expect(Object.keys(sentences ?? {}).toSorted()).toEqual(Object.keys(sentenceTable).toSorted());
});

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['en;q=0.2, FR', 'fr'],
  ['nl, ja;q=0.1', 'ja'],
  ['zh-Hant-TW', 'zh'],
  ['de;q=0, es;q=0.1', 'es'],
  ['*', 'en'],
  ['de;q=x,toString,__proto__', 'en'],
])('of Accept-Language: %s the pages are in %s', (accepted, tag) => {
  expect(acceptedTag(accepted)).toBe(tag);
});
