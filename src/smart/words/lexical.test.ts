import { expect, test } from 'vitest';
import type { ToolDocument } from '../document.ts';
import { createLexical, type Lexical, type Visible } from './lexical.ts';
import { toolTerms } from './tool-terms.ts';

const empty: ToolDocument = { key: '', server: '', name: '', description: '', parameterNames: '', parameterTexts: '' };

function lexicalOf(...tools: Partial<ToolDocument>[]): Lexical {
  const lexical = createLexical();
  for (const [slot, tool] of tools.entries())
    lexical.add(slot, { ...empty, ...tool }, toolTerms({ ...empty, ...tool }));
  return lexical;
}

function all(count: number): Visible {
  return { mask: new Uint8Array(count).fill(1), count };
}

function words(lexical: Lexical, query: string, visible: Visible): number[] {
  const out = new Float32Array(visible.mask.length);
  lexical.scoreWords(query, visible, out);
  return Array.from(out);
}

function grams(lexical: Lexical, query: string, visible: Visible): number[] {
  const out = new Float32Array(visible.mask.length);
  lexical.scoreGrams(query, visible, out);
  return Array.from(out);
}

test('a word counts most in the name, then of the server, then in a description of the usual length', () => {
  const about = (word: string): string => `${word} ${'lorem ipsum dolor sit amet '.repeat(4)}`;
  const lexical = lexicalOf(
    { name: 'invoice' },
    { server: 'invoice' },
    { description: about('invoice') },
    { parameterTexts: about('invoice') },
    { name: 'other' },
  );
  const [name = 0, server = 0, description = 0, parameter = 0, none] = words(lexical, 'invoice', all(5));
  expect(name).toBeGreaterThan(server);
  expect(server).toBeGreaterThan(description);
  expect(description).toBeGreaterThan(0);
  expect(parameter).toBeGreaterThan(0);
  expect(none).toBe(0);
});

test('a word that few tools have counts more than one that many have', () => {
  const lexical = lexicalOf({ name: 'get' }, { name: 'get' }, { name: 'get' }, { name: 'zebra' });
  const [get = 0, , , zebra = 0] = words(lexical, 'get zebra', all(4));
  expect(zebra).toBeGreaterThan(2 * get);
});

test('nothing exceeds what a tool named like the query would have', () => {
  const lexical = lexicalOf(
    { name: 'send mail', description: 'send mail '.repeat(50), server: 'mail send' },
    { name: 'x' },
  );
  const out = new Float32Array(2);
  const { reachable, terms } = lexical.scoreWords('send a mail', all(2), out);
  expect(terms).toBe(2);
  expect(out[0]).toBeGreaterThan(0.7 * reachable);
  expect(out[0]).toBeLessThanOrEqual(reachable);
});

test('a misspelled word is found by its parts', () => {
  const names = ['calendar', 'repository', 'database', 'weather', 'invoice', 'calculator'];
  const scores = grams(lexicalOf(...names.map((name) => ({ name }))), 'calender', all(names.length));
  expect(scores.indexOf(Math.max(...scores))).toBe(0);
  expect(words(lexicalOf(...names.map((name) => ({ name }))), 'calender', all(names.length))).toEqual(
    names.map(() => 0),
  );
});

test('hidden and purged tools have no score, and rarity is counted without them', () => {
  const tools = [{ name: 'get mail' }, { name: 'get file' }, { name: 'list file' }];
  const few = words(lexicalOf(...tools), 'get file', all(3));
  const lexical = lexicalOf(...tools, ...Array.from({ length: 200 }, () => ({ name: 'get file' })));
  const mask = new Uint8Array(203).fill(1, 0, 3);
  expect(words(lexical, 'get file', { mask, count: 3 })).toEqual([...few, ...Array(200).fill(0)]);
  const size = lexical.bytes();
  lexical.purge(mask);
  expect(words(lexical, 'get file', all(203)).slice(3)).toEqual(Array(200).fill(0));
  expect(lexical.bytes()).toBeLessThanOrEqual(size);
});

test.each([
  ['Straßenverzeichnis', 'Verzeichnis'],
  ['køreplan', 'plan'],
  ['æbleliste', 'liste'],
  ['plikówłódź', 'plikow'],
])('parts of words in ASCII letters are found in words with others: %s by %s, and the other way round', (a, b) => {
  for (const [name, query] of [
    [a, b],
    [b, a],
  ] as const) {
    const lexical = lexicalOf({ name }, { name: 'zebra' });
    const [found = 0, other = 0] = grams(lexical, query, all(2));
    expect(found).toBeGreaterThan(0);
    expect(other).toBe(0);
  }
});
