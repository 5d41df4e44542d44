import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact, editObject, elements, members, memberText } from './text.ts';

/** JSON values printed with arbitrary spacing, as other programs print them. */
const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2, '\t', '\r\n '))
  .map(([value, space]) => ({ value, text: JSON.stringify(value, null, space as string) }));

describe('members and elements', () => {
  test('cut any object into the same values that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 3), (object, space) => {
        const text = JSON.stringify(object, null, space);
        const cut = members(text).map((m) => [m.key, JSON.parse(text.slice(m.start, m.end))]);
        expect(cut).toEqual(Object.entries(JSON.parse(text)));
      }),
    );
  });

  test('cut any array into its elements', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 3), (array, space) => {
        const text = JSON.stringify(array, null, space);
        expect(elements(text).map((e) => JSON.parse(e))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('read an escaped key as JSON means it', () => {
    expect(memberText(String.raw`{"na\u006de":"x\"y\\"}`, 'name')).toBe(String.raw`"x\"y\\"`);
  });

  test('take the last of duplicates, as JSON.parse does', () => {
    expect(memberText('{"a":1,"b":0,"a":2}', 'a')).toBe('2');
  });
});

describe('editObject', () => {
  test('changes what it is told to and leaves every other member byte for byte', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), spaced, fc.string(), (object, edit, key) => {
        const text = JSON.stringify(object, null, 1);
        const edited = editObject(text, { [key]: edit.text });
        const entries = new Map(Object.entries(JSON.parse(edited)));
        expect(entries.get(key)).toEqual(JSON.parse(edit.text));
        for (const m of members(text)) if (m.key !== key) expect(edited).toContain(text.slice(m.from, m.end));
        expect(entries.size).toBe(new Set([...Object.keys(object), key]).size);
      }),
    );
  });

  test('keeps 64-bit numbers, number spelling, duplicates and __proto__ of what it does not touch', () => {
    const text = '{ "name": "x", "n": 9007199254740993, "f": 1.0, "__proto__": {"a":1}, "d":1, "d":2 }';
    expect(editObject(text, { name: '"y"' })).toBe(
      '{"name": "y","n": 9007199254740993,"f": 1.0,"__proto__": {"a":1},"d":1,"d":2}',
    );
  });

  test('edits every duplicate, so that no reader can find the old value', () => {
    expect(editObject(String.raw`{"name":"allowed","n\u0061me":"forbidden"}`, { name: '"z"' })).toBe(
      String.raw`{"name":"z","n\u0061me":"z"}`,
    );
  });

  test('takes members out', () => {
    expect(editObject('{"a":1,"b":2,"c":3}', { a: null, c: null, x: null })).toBe('{"b":2}');
    expect(editObject('{"a":1}', { a: null })).toBe('{}');
  });

  test('scans a value nested a million deep without recursion', () => {
    const deep = `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)},"b":1}`;
    expect(memberText(deep, 'b')).toBe('1');
  });
});

test('compact leaves nothing of the layout, and everything else', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(1, '\t', '\r\n '), (value, space) => {
      expect(compact(JSON.stringify(value, undefined, space))).toBe(JSON.stringify(value));
    }),
  );
});
