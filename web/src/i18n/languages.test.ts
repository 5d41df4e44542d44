import { expect, test } from 'vitest';
import { problemTable } from '../../../src/core/problems.ts';
import { reasonTable } from '../../../src/core/reasons.ts';
import { remarkTable } from '../../../src/core/remarks.ts';
import { sentenceTable } from '../../../src/core/sentences.ts';
import { languages, tags } from './i18n.ts';

/** Every text with the path to it. */
function flat(texts: object, path = ''): Map<string, string> {
  const found = Object.entries(texts).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    if (typeof value === 'object' && value !== null) return [...flat(value, `${path}${key}.`)];
    return [[`${path}${key}`, String(value)]];
  });
  return new Map(found);
}

const placesIn = (text = '') => [...new Set(text.match(/\{\{\w+\}\}/g))].toSorted();

/** The forms by number of each text that has them are those of the language: `key_one`, `key_other`. */
function inFormsOf(tag: string, english: Map<string, string>): Map<string, string> {
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
  const texts = [...english].flatMap(([path, text]): [string, string][] => {
    const [, key = '', form] = /^(.*)_(one|other)$/.exec(path) ?? [];
    if (form === undefined) return [[path, text]];
    return form === 'one' ? [] : pluralCategories.map((category) => [`${key}_${category}`, text]);
  });
  return new Map(texts);
}

async function allOf(tag: (typeof tags)[number]) {
  const { texts, later, hub }: { texts: object; later: object; hub?: object } = await languages[tag].load();
  const parts = Object.values(later) as (() => Promise<object>)[];
  return { texts: Object.assign({}, texts, ...(await Promise.all(parts.map((load) => load())))) as object, hub };
}

/** What a language lacks, what it has for nothing, and where it does not name the same values, a line each. */
async function faultsOf(tag: (typeof tags)[number]): Promise<{ behind: string[]; wrong: string[] }> {
  const { texts: english } = await allOf('en');
  const { texts, hub } = await allOf(tag);
  const ofHub = { reasons: reasonTable, sentences: sentenceTable, problems: problemTable, remarks: remarkTable };
  const wanted = inFormsOf(tag, flat({ ...english, ...(hub && ofHub) }));
  const given = flat({ ...texts, ...hub });
  const differs = (path: string, text: string) => {
    const has = placesIn(text);
    const wants = placesIn(wanted.get(path));
    // "Its only tool" needs no number, and a sentence may leave out what the page shows anyway.
    const mayLeaveOut = /^(?:sentences|problems|remarks)\.|_one$/.test(path);
    return mayLeaveOut ? has.some((place) => !wants.includes(place)) : has.join() !== wants.join();
  };
  return {
    behind: [
      ...[...wanted.keys()].filter((path) => !given.has(path)).map((path) => `${tag} lacks ${path}`),
      ...[...given.keys()].filter((path) => !wanted.has(path)).map((path) => `${tag} has ${path} for nothing`),
    ],
    wrong: [...given]
      .filter(([path, text]) => wanted.has(path) && (text.trim() === '' || differs(path, text)))
      .map(([path, text]) => `${tag} has other values in ${path}: ${text}`),
  };
}

test.each(tags)('%s has every text, in each form by number, with the values of the English one', async (tag) => {
  expect(await faultsOf(tag)).toEqual({ behind: [], wrong: [] });
});
