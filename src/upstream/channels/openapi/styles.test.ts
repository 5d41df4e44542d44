import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inCookie, inHeader, inPath, inQuery, type Manner, type Style } from './styles.ts';

const manner = (style: Style, explode: boolean, name = 'color'): Manner => ({
  name,
  style,
  explode,
  allowReserved: false,
});
const list = '["blue","black","brown"]';
const object = '{"R":100,"G":200,"B":150}';

describe('the table of OpenAPI 3.1, Style Examples', () => {
  test.each<[Style, boolean, string, string]>([
    ['matrix', false, '"blue"', ';color=blue'],
    ['matrix', false, list, ';color=blue,black,brown'],
    ['matrix', true, list, ';color=blue;color=black;color=brown'],
    ['matrix', false, object, ';color=R,100,G,200,B,150'],
    ['matrix', true, object, ';R=100;G=200;B=150'],
    ['label', false, '"blue"', '.blue'],
    ['label', false, list, '.blue,black,brown'],
    ['label', true, list, '.blue.black.brown'],
    ['label', false, object, '.R,100,G,200,B,150'],
    ['label', true, object, '.R=100.G=200.B=150'],
    ['simple', false, list, 'blue,black,brown'],
    ['simple', true, list, 'blue,black,brown'],
    ['simple', false, object, 'R,100,G,200,B,150'],
    ['simple', true, object, 'R=100,G=200,B=150'],
  ])('path %s, explode %s: %s is %s', (style, explode, json, expected) => {
    expect(inPath(manner(style, explode), json)).toBe(expected);
  });

  test.each<[Style, boolean, string, string]>([
    ['form', false, '""', 'color='],
    ['form', false, '"blue"', 'color=blue'],
    ['form', false, list, 'color=blue,black,brown'],
    ['form', true, list, 'color=blue&color=black&color=brown'],
    ['form', false, object, 'color=R,100,G,200,B,150'],
    ['form', true, object, 'R=100&G=200&B=150'],
    ['spaceDelimited', false, list, 'color=blue%20black%20brown'],
    ['spaceDelimited', false, object, 'color=R%20100%20G%20200%20B%20150'],
    ['pipeDelimited', false, list, 'color=blue%7Cblack%7Cbrown'],
    ['pipeDelimited', false, object, 'color=R%7C100%7CG%7C200%7CB%7C150'],
    ['deepObject', true, object, 'color[R]=100&color[G]=200&color[B]=150'],
    [
      'deepObject',
      true,
      '{"a":{"b":[1,2]},"c":[{"d":1}],"e":null}',
      'color[a][b][]=1&color[a][b][]=2&color[c][0][d]=1',
    ],
  ])('query %s, explode %s: %s is %s', (style, explode, json, expected) => {
    expect(inQuery(manner(style, explode), json).join('&')).toBe(expected);
  });

  test('header and cookie', () => {
    expect(inHeader(manner('simple', false), object)).toBe('R,100,G,200,B,150');
    expect(inHeader(manner('simple', true), object)).toBe('R=100,G=200,B=150');
    expect(inHeader(manner('simple', false), list)).toBe('blue,black,brown');
    expect(inCookie(manner('form', true), list)).toEqual(['color=blue', 'color=black', 'color=brown']);
    expect(inCookie(manner('form', false), object)).toEqual(['color=R,100,G,200,B,150']);
  });

  test('nothing is written for null, nor within a list or object', () => {
    expect(inPath(manner('simple', false), 'null')).toBeUndefined();
    expect(inQuery(manner('form', true), '[null,1,{"a":null}]')).toEqual(['color=1', 'color=%7B%22a%22%3Anull%7D']);
    expect(inQuery(manner('form', true), '{"a":null,"b":1}')).toEqual(['b=1']);
    expect(inQuery(manner('form', false), '[]')).toEqual([]);
  });

  test('reserved characters stay where that is allowed, but for those that end a value', () => {
    const reserved: Manner = { ...manner('form', true), allowReserved: true };
    expect(inQuery(reserved, JSON.stringify(":/?#[]@!$&'()*+,;= %"))).toEqual([
      "color=:/?%23%5B%5D@!$%26'()*%2B,;%3D%20%25",
    ]);
  });
});

/**
 * Any text that is Unicode at all; the ends of other values and of requests among it more often than chance has them.
 */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(
      '/',
      '.',
      '..',
      '?',
      '#',
      '&',
      '=',
      ';',
      ',',
      '%2e',
      '%',
      '\\',
      '\r\n',
      '|',
      ' ',
      '[',
      ']',
      '+',
      'a',
    ),
  }),
);

/** A query decoded in the usual way. */
const pairs = (written: string[]): [string, string][] => [...new URL(`http://h/?${written.join('&')}`).searchParams];

describe('whatever the values', () => {
  test('a list in a query is read back, item by item', () => {
    fc.assert(
      fc.property(text, fc.array(text), (name, items) => {
        const json = JSON.stringify(items);
        expect(pairs(inQuery(manner('form', true, name), json))).toEqual(items.map((item) => [name, item]));
        const joined = inQuery(manner('form', false, name), json).map((pair) => pair.slice(pair.indexOf('=') + 1));
        expect(joined.flatMap((value) => value.split(',').map(decodeURIComponent))).toEqual(items);
      }),
    );
  });

  test('delimited lists are read back when no item has the delimiter', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<[Style, string]>(['spaceDelimited', ' '], ['pipeDelimited', '|']),
        fc.array(text, { minLength: 1 }),
        ([style, delimiter], raw) => {
          const items = raw.map((item) => item.replaceAll(delimiter, '_'));
          expect(pairs(inQuery(manner(style, false, 'n'), JSON.stringify(items)))).toEqual([
            ['n', items.join(delimiter)],
          ]);
        },
      ),
    );
  });

  test('an object in a query is read back, key by key', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (object) => {
        const json = JSON.stringify(object);
        const entries = Object.entries(object);
        expect(pairs(inQuery(manner('form', true), json))).toEqual(entries);
        expect(pairs(inQuery(manner('deepObject', true), json))).toEqual(
          entries.map(([key, value]) => [`color[${key}]`, value]),
        );
      }),
    );
  });

  test('a value in a path stays within its segment, and is read back', () => {
    fc.assert(
      fc.property(text, fc.constantFrom<Style>('simple', 'label', 'matrix'), (value, style) => {
        const written = inPath(manner(style, false), JSON.stringify(value)) ?? '';
        expect(written).toMatch(/^[A-Za-z0-9._~%;=-]*$/);
        const prefix = { simple: '', label: '.', matrix: ';color=' }[style as 'simple'];
        expect(decodeURIComponent(written.slice(prefix.length))).toBe(value);
      }),
    );
  });

  test('exploded lists and objects in a path are read back', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), fc.dictionary(text, text, { minKeys: 1 }), (items, object) => {
        const matrix = inPath(manner('matrix', true), JSON.stringify(items)) ?? '';
        expect(
          matrix
            .split(';')
            .slice(1)
            .map((part) => decodeURIComponent(part.slice('color='.length))),
        ).toEqual(items);
        const simple = inPath(manner('simple', true), JSON.stringify(object)) ?? '';
        expect(simple.split(',').map((part) => part.split('=').map(decodeURIComponent))).toEqual(
          Object.entries(object),
        );
      }),
    );
  });

  test('a cookie holds one value and no second one', () => {
    fc.assert(
      fc.property(text, (value) => {
        const [pair = '', ...rest] = inCookie(manner('form', true), JSON.stringify(value));
        expect(rest).toEqual([]);
        expect(pair).toMatch(/^color=[^\s;,"\\]*$/);
        expect(decodeURIComponent(pair.slice('color='.length))).toBe(value);
      }),
    );
  });

  test('a header is the text itself, or is refused', () => {
    fc.assert(
      fc.property(text, (value) => {
        const holds = /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value);
        const write = () => inHeader(manner('simple', false), JSON.stringify(value));
        if (holds) expect(write()).toBe(value);
        else expect(write).toThrow(expect.objectContaining({ code: 'invalid_input' }));
      }),
    );
  });

  test('half a character is refused', () => {
    expect(() => inQuery(manner('form', true), String.raw`"\ud800"`)).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });
});
