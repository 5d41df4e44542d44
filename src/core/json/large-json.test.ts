import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonScan } from './json-scan.ts';
import { readLargeObject } from './large-json.ts';
import { members } from './text.ts';

const refusal = (why: string): Error => new RangeError(why);

/** Whether a text is JSON, looked at so many characters at a time. */
function scanned(text: string, step: number): boolean {
  const scan = new JsonScan(text, 1_000, refusal);
  try {
    while (!scan.advance(step));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pieces = fc.constantFrom(
  ...'{}[]:,"\\ \n\t\u0000\u000b019-+.eEtfn/ubx'.split(''),
  'true',
  'null',
  '\\u00e9',
  '""',
  '"a":',
);
const changed = fc.tuple(fc.json(), fc.nat(), pieces, fc.boolean()).map(([text, at, piece, cuts]) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + piece + text.slice(place + (cuts ? 1 : 0));
});

test('a text is JSON exactly where JSON.parse takes it, wherever it is cut into pieces', () => {
  const text = fc.oneof(
    fc.json({ noUnicodeString: false }),
    changed,
    fc.array(pieces).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (json, step) => {
      expect(scanned(json, step)).toBe(parses(json));
    }),
    { numRuns: 1_000 },
  );
});

test('what is read of an object is what JSON.parse makes of it, and its members are where they are', async () => {
  const long = fc.constantFrom('', 'x'.repeat(20_000));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), long, async (object, padding) => {
      const text = JSON.stringify({ ...object, params: { ...object, a: { b: padding } }, last: [padding] }, null, 1);
      const read = await readLargeObject(text, 1_000, refusal);
      expect(read?.value).toEqual(JSON.parse(text));
      const params = read?.member('params');
      expect(params?.members).toEqual(members(params?.text ?? ''));
    }),
  );
});

test('of members with one name the last counts, and one may be called __proto__', async () => {
  const text = '{"a":1,"__proto__":{"b":2},"a":{"c":3,"c":4}}';
  const read = await readLargeObject(text, 10, refusal);
  expect(JSON.stringify(read?.value)).toBe(JSON.stringify(JSON.parse(text)));
  expect(read?.member('a')?.text).toBe('{"c":3,"c":4}');
});

test('what is too deep or has too many members is refused, and no object is none', async () => {
  await expect(readLargeObject('['.repeat(11), 10, refusal)).rejects.toThrow('deep');
  const wide = (count: number) => `{${Array.from({ length: count }, (_, i) => `"m${i}":${i}`).join()}}`;
  await expect(readLargeObject(wide(1_001), 10, refusal)).rejects.toThrow('wide');
  const inside = await readLargeObject(`{"params":${wide(2_000)}}`, 10, refusal);
  expect(inside?.member('params')?.members).toBeUndefined();
  expect(inside?.value['params']).toMatchObject({ m0: 0, m1999: 1999 });
  expect(await readLargeObject('[1]', 10, refusal)).toBeUndefined();
});

test('of many short values only a few are parsed before they are looked at', async () => {
  const params = Object.fromEntries(Array.from({ length: 440 }, (_, i) => [`m${i}`, [`${i}`, 'x'.repeat(16_000)]]));
  const read = await readLargeObject(JSON.stringify({ params, id: 1 }), 10, refusal);
  const value = read?.value['params'] as object;
  const late = Object.values(Object.getOwnPropertyDescriptors(value)).filter((one) => one.get !== undefined);
  expect(late.length).toBeGreaterThan(430);
  expect(read?.value).toEqual({ params, id: 1 });
});
