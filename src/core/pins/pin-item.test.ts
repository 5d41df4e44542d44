import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAlike, plainText, textsWithoutNames, textWithoutName } from './pin-item.ts';

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
  const object = fc
    .array(fc.tuple(members, values, fc.constantFrom(':', ' : ')), { maxLength: 5 })
    .map((list) => `{${list.map(([key, value, colon]) => `"${key}"${colon}${value}`).join(',')}}`);
  const texts = fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: values });

  test('exactly where their plain texts are the same', () => {
    fc.assert(
      fc.property(texts, texts, fc.constantFrom('tool' as const, 'instructions' as const), (a, b, kind) => {
        const isSame = plainText({ kind, text: a }) === plainText({ kind, text: b });
        expect(isAlike(kind, a, b)).toBe(isSame);
      }),
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

  test.each([
    ['{"title":"a","x":1}', '{"x":1,"title":"b"}', true],
    ['{"x":1,"annotations":{"title":"b"}}', '{"x":1}', true],
    ['{"x":1}', '{"x":1,"_meta":{"ui":1}}', false],
    ['{"x":"a"}', '{"x":"\\u0061"}', true],
    ['{"x":"a","x":"b"}', '{"x":"b"}', true],
    ['{"x":1}', '{"x":1,"y":null}', false],
    ['{}', '{"title":"a"}', true],
    ['{"__proto__":1}', '{"__proto__":2}', false],
  ])('%s and %s', (a, b, isSame) => {
    expect([isAlike('tool', a, b), isAlike('tool', b, a)]).toEqual([isSame, isSame]);
  });
});
