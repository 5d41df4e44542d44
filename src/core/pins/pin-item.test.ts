import { describe, expect, test } from 'vitest';
import { countingParsed } from '../../../test/kit/parsed.ts';
import { isAlike, isRenamed, type PinKind, plainText, textsWithoutNames, textWithoutName } from './pin-item.ts';

// For random values: `pin-item.property.test.ts`.

describe('what counts of a thing', () => {
  const plain = (value: unknown) => plainText({ kind: 'tool', text: JSON.stringify(value) });
  test('in one spelling', () => {
    expect(plain({ name: 'a', b: [{ d: 1, c: null }, 'x'], a: true })).toBe(
      '{"a":true,"b":[{"c":null,"d":1},"x"],"name":"a"}',
    );
    expect(plain({ title: 't', icons: [], size: 1, _meta: { other: 1 }, annotations: { title: 't' } })).toBe('{}');
    expect(plain({ annotations: { lastModified: 'x', priority: 1 } })).toBe('{}');
    expect(plain({ annotations: { title: 't', readOnlyHint: true }, _meta: { ui: { b: 1, a: 2 }, other: 1 } })).toBe(
      '{"_meta":{"ui":{"a":2,"b":1}},"annotations":{"readOnlyHint":true}}',
    );
    expect(plain({ _meta: null, annotations: 'x' })).toBe('{}');
    expect(plain(['b', 'a'])).toBe('["b","a"]');
    expect(plainText({ kind: 'instructions', text: '"Be kind."' })).toBe('"Be kind."');
  });

  test('without its name', () => {
    const text = (value: unknown, kind: 'tool' | 'prompt' = 'tool') =>
      textWithoutName({ kind, text: JSON.stringify(value) });
    expect(text({ name: 'a', uri: 'b', uriTemplate: 'c', d: 1 })).toBe('["tool",{"d":1}]');
    expect(text({ name: 'a' })).not.toBe(text({ name: 'a' }, 'prompt'));
    expect(text('Be kind.')).toBe('["tool","Be kind."]');
  });
});

describe('two texts of a thing are alike, or not', () => {
  test.each([
    ['{"title":"a","x":1}', '{"x":1,"title":"b"}', true],
    ['{"x":1,"annotations":{"title":"b"}}', '{"x":1}', true],
    ['{"x":1}', '{"x":1,"_meta":{"ui":1}}', false],
    ['{"x":"a"}', '{"x":"\\u0061"}', true],
    // A reader may take the first.
    ['{"x":"a","x":"b"}', '{"x":"b"}', false],
    ['{"x":1}', '{"x":1,"y":null}', false],
    ['{}', '{"title":"a"}', true],
    ['{"__proto__":1}', '{"__proto__":2}', false],
    ['{"x":"a","y":1}', '{"x":"b","y":1}', false],
    ['{"x":"a\\"b"}', '{"x":"a\\u0022b"}', true],
    ['{"x":"a\\"b"}', '{"x":"a\\"c"}', false],
    ['{"x":"a"}', '{"x":1}', false],
    ['{"x":"a"}', '{"x":"a","y":"b"}', false],
    ['{"x":1}', '{"x":1.0}', true],
    ['{"x":"a","x":"b"}', '{"x":"b","x":"b"}', false],
    ['{"title":"a","title":"b"}', '{"title":"c"}', true],
    ['{"icons":"a","size":"1"}', '{"icons":"b","size":"2"}', true],
    ['{"annotations":"a"}', '{"annotations":"b"}', true],
    ['{"annotations":{"priority":1}}', '{"annotations":{"readOnlyHint":true}}', false],
    ['{"_meta":"a"}', '{"_meta":"b"}', true],
    ['{"_meta":{"ui":1}}', '{"_meta":{"ui":2}}', false],
    ['[1]', '[1,2]', false],
    ['[1, 2]', '[1,2]', true],
    ['{}', '[]', false],
    ['[]', '{"title":"a"}', false],
    ['{"x":"a"}', '{"x":"a" }', true],
    ['{}', '{ }', true],
  ])('%s and %s', (a, b, isSame) => {
    expect([isAlike('tool', a, b), isAlike('tool', b, a)]).toEqual([isSame, isSame]);
  });

  test.each([
    ['{"x":[1],"y":"a"}', '{"x":[1],"y":"b"}'],
    ['{"x":[1],"y":"a"}', '{"y":"b","x":[1]}'],
    ['{"x":[1],"y":"a"}', '{"x":[1]}'],
    ['{"x":[1]}', '{"y":"b","x":[1]}'],
  ])('nothing of %s and %s is parsed to see that they differ', (a, b) => {
    expect(countingParsed(() => isAlike('tool', a, b))).toEqual({ result: false, parsed: 0 });
  });

  test('instructions that are spelt in another way', () => {
    expect(isAlike('instructions', '"a"', '"\\u0061"')).toBe(true);
    expect(isAlike('instructions', '"a"', '"b"')).toBe(false);
    // Of an object that stands in their place each member counts.
    expect(isAlike('instructions', '{"title":"a"}', '{"title":"b"}')).toBe(false);
    expect(isAlike('instructions', '{"a":1,"b":2}', '{"b":2,"a":1}')).toBe(true);
  });
});

test.each<[string, string, boolean]>([
  ['{"name":"a","x":[1]}', '{"name":"b c","x":[1]}', true],
  ['{"uri":"a","x":[1]}', '{"uri":"b","x":[1]}', true],
  ['{"uriTemplate":"a","x":[1]}', '{"uriTemplate":"b","x":[1]}', true],
  ['{"x":1,"name":"ab"}', '{"x":1,"name":"ac"}', true],
  ['{"name":"a","x":[1]}', '{"name":"b","x":[2]}', false],
  ['{"x":"a","name":"a"}', '{"x":"b","name":"a"}', false],
  ['{"name":1}', '{"name":2}', false],
  ['{"name":"a"}', '{"name":1}', false],
  ['{"name":"a"}', '{"game":"a"}', false],
  ['{"name":"a" }', '{"name":"a"}', false],
  ['{"name":"a"}', '{"name":"a"}', false],
  ['"name"', '"game"', false],
])('%s and %s differ in nothing but a name: %s', (a, b, expected) => {
  const of = (text: string, kind: PinKind = 'tool') => ({ kind, text });
  expect([isRenamed(of(a), of(b)), isRenamed(of(b), of(a))]).toEqual([expected, expected]);
  expect(isRenamed(of(a), of(b, 'prompt'))).toBe(false);
});

describe('texts of things without their names', () => {
  const groups = (...things: (string | [PinKind, string])[]) => {
    const texts = textsWithoutNames(
      things.map((one) => (typeof one === 'string' ? { kind: 'tool', text: one } : { kind: one[0], text: one[1] })),
    );
    return texts.map((text) => texts.indexOf(text));
  };

  test.each<[string, (string | [PinKind, string])[], number[]]>([
    ['names', ['{"name":"a","x":1}', '{"name":"b","x":1}'], [0, 0]],
    ['what has no description', ['{"name":"a","x":1}', '{"name":"a","x":2}', '{"name":"c","x":1}'], [0, 1, 0]],
    ['another order', ['{"name":"a","x":1,"y":2}', '{"y":2,"x":1,"name":"b"}'], [0, 0]],
    ['spellings of a description', ['{"description":"a","x":1}', '{"x":1,"description":"\\u0061"}'], [0, 0]],
    [
      'a description that is no text',
      ['{"description":[1]}', '{"description":[ 1]}', '{"description":[2]}'],
      [0, 0, 2],
    ],
    ['a description twice', ['{"description":"b","description":"a"}', '{"description":"a"}'], [0, 0]],
    ['other descriptions', ['{"description":"a"}', '{"description":"b"}', '{"name":"x","description":"a"}'], [0, 1, 0]],
    ['kinds', ['{"name":"a"}', ['prompt', '{"name":"a"}'], ['prompt', '{"name":"b"}']], [0, 1, 1]],
    ['a third that differs', ['{"x":1}', '{"x":1,"name":"a"}', '{"x":2}', '{"x":1,"name":"b"}'], [0, 0, 2, 0]],
    ['no objects', ['[1]', '[2]', '[ 1]', '{}'], [0, 1, 0, 3]],
    ['titles', ['{"name":"a","title":"a"}', '{"name":"b","title":"b"}'], [0, 0]],
  ])('%s', (_, things, expected) => {
    expect(groups(...things)).toEqual(expected);
  });

  test.each<[string, string[], number]>([
    ['has another description', ['{"description":"a","x":1}', '{"description":"b","x":2}'], 0],
    ['differs in its name alone', ['{"name":"a","description":"a"}', '{"name":"b","description":"a"}'], 0],
    ['has no description, and differs in its name alone', ['{"name":"a"}', '{"name":"b"}'], 0],
    ['is no object', ['[1]', '[1]'], 0],
    ['differs in more', ['{"description":"a","x":1}', '{"description":"a","x":2}', '{"description":"b"}'], 2],
    ['has its description in another spelling', ['{"description":"a"}', '{"description":"\\u0061"}'], 3],
  ])('what %s is parsed no more than it must', (_, things, most) => {
    const { parsed } = countingParsed(() => textsWithoutNames(things.map((text) => ({ kind: 'tool', text }))));
    expect(parsed).toBe(most);
  });
});
