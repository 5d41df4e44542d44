import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAlike, isRenamed, plainText, textsWithoutNames, textWithoutName } from './pin-item.ts';

describe('two texts of a thing are alike', () => {
  const members = fc.constantFrom(
    'name',
    'description',
    'title',
    'annotations',
    '_meta',
    'icons',
    'size',
    '__proto__',
    'x',
  );
  const strings = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\""', '""');
  const values = fc.oneof(
    strings,
    fc.constantFrom('1', '1.0', '-0', '0', 'null', 'true', '[]', '[1,"a"]', '[1, "a"]', '["a",1]', '{}', '{ }'),
    fc.constantFrom(
      '{"title":"a"}',
      '{"title":"b"}',
      '{"readOnlyHint":true,"title":"a"}',
      '{"readOnlyHint":true}',
      '{"readOnlyHint":false}',
      '{"ui":{"a":1,"b":2}}',
      '{"ui":{"b":2,"a":1},"other":1}',
      '{"__proto__":1}',
    ),
  );
  const member = fc.tuple(members, values, fc.constantFrom(':', ' : '));
  const written = (list: readonly [string, string, string][]) =>
    `{${list.map(([key, value, colon]) => `"${key}"${colon}${value}`).join(',')}}`;
  const object = fc.array(member, { maxLength: 5 }).map(written);
  const texts = fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: values });
  const once = fc.uniqueArray(member, { maxLength: 5, selector: ([key]) => key }).map(written);
  const kinds = fc.constantFrom('tool' as const, 'instructions' as const);

  test('exactly where their plain texts are the same; with a name twice perhaps not even then', () => {
    const isSame = (kind: 'tool' | 'instructions', a: string, b: string) =>
      plainText({ kind, text: a }) === plainText({ kind, text: b });
    fc.assert(
      fc.property(once, once, kinds, (a, b, kind) => isAlike(kind, a, b) === isSame(kind, a, b)),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(texts, texts, kinds, (a, b, kind) => !isAlike(kind, a, b) || isSame(kind, a, b)),
      { numRuns: 2_000 },
    );
  });

  test('but for a name, only where their texts without names are the same', () => {
    const things = fc.record({ kind: fc.constantFrom('tool' as const, 'prompt' as const), text: texts });
    fc.assert(
      fc.property(things, things, (a, b) => !isRenamed(a, b) || textWithoutName(a) === textWithoutName(b)),
      { numRuns: 2_000 },
    );
  });

  test('without their names, exactly where their texts without names are the same', () => {
    const things = fc.array(fc.record({ kind: fc.constantFrom('tool' as const, 'prompt' as const), text: texts }));
    fc.assert(
      fc.property(things, (list) => {
        const exact = list.map(textWithoutName);
        const found = textsWithoutNames(list);
        // The same partition: where each was met first.
        expect(found.map((text) => found.indexOf(text))).toEqual(exact.map((text) => exact.indexOf(text)));
      }),
      { numRuns: 2_000 },
    );
  });
});
