import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertArguments } from './convert.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const one = (schema: unknown, value: unknown) => {
  const { value: result, problems } = convertArguments(object({ x: schema }), { x: value });
  return problems.length > 0 ? problems : (result as { x: unknown }).x;
};
const refused = (message: string) => [{ path: 'x', message: expect.stringContaining(message) as string }];

describe('conversion of arguments', () => {
  test('text becomes a number only when it is exactly one', () => {
    for (const [text, number] of [
      ['5', 5],
      ['-0.5', -0.5],
      ['1e3', 1000],
      ['0', 0],
      ['-0', 0],
    ] as const) {
      expect(one({ type: 'number' }, text)).toBe(number);
    }
    expect(one({ type: 'integer' }, '42')).toBe(42);
    expect(one({ type: 'integer' }, '5.0')).toBe(5);
    for (const text of [
      '3.5',
      '',
      ' 5',
      '5 ',
      '+5',
      '05',
      '0x10',
      '1_000',
      '5px',
      'NaN',
      'Infinity',
      '1e999',
      'true',
    ]) {
      expect(one({ type: 'integer' }, text)).toEqual(refused('expected integer, got'));
    }
    expect(one({ type: 'integer' }, '9007199254740993')).toEqual(refused('expected integer'));
    expect(one({ type: 'integer' }, 3.5)).toEqual(refused('got 3.5'));
    expect(one({ type: 'integer' }, null)).toEqual(refused('got null'));
  });

  test('only the words true and false are booleans', () => {
    expect(one({ type: 'boolean' }, 'true')).toBe(true);
    expect(one({ type: 'boolean' }, 'false')).toBe(false);
    for (const value of ['True', 'TRUE', '1', '0', 'yes', 'on', '', 1, 0]) {
      expect(one({ type: 'boolean' }, value)).toEqual(refused('expected boolean'));
    }
  });

  test('JSON text becomes lists and objects, and what is in them is converted too', () => {
    expect(one({ type: 'array', items: { type: 'integer' } }, '["1", 2]')).toEqual([1, 2]);
    expect(one(object({ n: { type: 'number' } }), '{"n":"1.5","other":"2"}')).toEqual({ n: 1.5, other: '2' });
    expect(one({ type: 'array' }, 'a,b')).toEqual(refused('expected array'));
    expect(one({ type: 'array' }, '{"a":1}')).toEqual(refused('expected array'));
    expect(one({ type: 'object' }, '[1]')).toEqual(refused('expected object'));
    expect(one({ type: 'object' }, '{broken')).toEqual(refused('expected object'));
    expect(one({ prefixItems: [{ type: 'integer' }], items: { type: 'boolean' } }, ['1', 'true'])).toEqual([1, true]);
    expect(one({ items: [{ type: 'integer' }], additionalItems: { type: 'boolean' } }, ['1', 'true'])).toEqual([
      1,
      true,
    ]);
  });

  test('problems are told with their path', () => {
    const schema = object({ filters: { type: 'array', items: object({ 'a.b': { type: 'integer' } }) } });
    expect(convertArguments(schema, { filters: [{}, { 'a.b': 'x' }] }).problems).toEqual([
      { path: 'filters[1]["a.b"]', message: 'expected integer, got the string "x"' },
    ]);
    expect(convertArguments(object({}), 'text').problems).toEqual([
      { path: '', message: 'expected object, got the string "text"' },
    ]);
  });
});

describe('conversion by the rest of a schema', () => {
  test('a string stays a string wherever the schema takes strings', () => {
    for (const schema of [
      { type: 'string' },
      { type: ['integer', 'string'] },
      { type: ['string', 'null'] },
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      { oneOf: [{ type: 'object' }, { type: 'string' }] },
      { enum: ['5', 'true', 'null', '[1]', '{}'] },
      {},
      true,
      { type: 'unheard of' },
    ]) {
      for (const text of ['5', 'true', 'null', '[1]', '{}']) expect(one(schema, text)).toBe(text);
    }
  });

  test('alternatives: what fits comes first, then what can be converted, and what tells them apart is heeded', () => {
    const nullable = { anyOf: [{ type: 'integer' }, { type: 'null' }] };
    expect(one(nullable, '7')).toBe(7);
    expect(one(nullable, 'null')).toBe(null);
    expect(one(nullable, 'x')).toEqual(refused('expected integer or null, got the string "x"'));
    expect(one({ type: ['integer', 'null'] }, '7')).toBe(7);
    const kinds = {
      oneOf: [
        object({ kind: { const: 'a' }, n: { type: 'integer' } }, { required: ['kind'] }),
        object({ kind: { const: 'b' }, n: { type: 'string' } }, { required: ['kind'] }),
      ],
    };
    expect(one(kinds, { kind: 'a', n: '5' })).toEqual({ kind: 'a', n: 5 });
    expect(one(kinds, { kind: 'b', n: '5' })).toEqual({ kind: 'b', n: '5' });
    expect(one(kinds, '{"kind":"a","n":"5"}')).toEqual({ kind: 'a', n: 5 });
    const either = { anyOf: [object({ n: { type: 'integer' } }, { required: ['n'] }), { type: 'null' }] };
    expect(one(either, { n: 'x' })).toEqual([{ path: 'x.n', message: 'expected integer, got the string "x"' }]);
  });
  test('listed values without a type: text becomes the value it is the JSON of', () => {
    expect(one({ enum: [1, 2, null, false] }, '2')).toBe(2);
    expect(one({ enum: [1, 2, null, false] }, 'null')).toBe(null);
    expect(one({ enum: [1, '1'] }, '1')).toBe('1');
    expect(one({ const: true }, 'true')).toBe(true);
    expect(one({ enum: [1, 2] }, '3')).toBe('3');
  });

  test('references are followed inside the document, cycles and all, and never out of it', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: object({ n: { type: 'integer' }, next: { $ref: '#/$defs/node' } }), 'a/b': { type: 'boolean' } },
    };
    expect(convertArguments(tree, { n: '1', next: { n: '2', next: { n: '3' } } }).value).toEqual({
      n: 1,
      next: { n: 2, next: { n: 3 } },
    });
    expect(convertArguments({ ...tree, $ref: '#/$defs/a~1b' }, 'true').value).toBe(true);
    for (const $ref of ['#', '#/$defs/self', 'https://example.com/x', '#/toString', '#/%', '#anchor']) {
      expect(convertArguments({ $ref, $defs: { self: { $ref: '#/$defs/self' } } }, 'text').problems).toEqual([]);
    }
    const multiplying = { anyOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] };
    // Followed everywhere, three references to itself would never end.
    expect(convertArguments(multiplying, { a: 'x' }).value).toEqual({ a: 'x' });
  });

  test('a single value of a query becomes a list where the caller says so, and only there', () => {
    const schema = object({ ids: { type: 'array', items: { type: 'integer' } } });
    expect(convertArguments(schema, { ids: '5' }, { wrapSingles: true })).toEqual({
      value: { ids: [5] },
      problems: [],
    });
    expect(convertArguments(schema, { ids: '[5]' }, { wrapSingles: true }).value).toEqual({ ids: [5] });
    expect(convertArguments(schema, { ids: '5' }).problems).toHaveLength(1);
  });

  test('members called like parts of every object are ordinary members', () => {
    const value = JSON.parse('{"__proto__":{"polluted":"1"},"constructor":"2","toString":"3","n":"4"}') as object;
    const schema = JSON.parse(
      '{"type":"object","properties":{"n":{"type":"integer"},"__proto__":{"properties":{"polluted":{"type":"integer"}}}}}',
    ) as object;
    const result = convertArguments(schema, value).value as object;
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"constructor":"2","toString":"3","n":4}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

const scalarSchema = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object') }),
  fc.record({
    type: fc.uniqueArray(fc.constantFrom('string', 'integer', 'null', 'boolean', 'array'), { maxLength: 3 }),
  }),
  fc.record({ enum: fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.boolean()), { maxLength: 4 }) }),
  fc.record({ $ref: fc.constantFrom('#', '#/$defs/a', '#/nowhere', 'https://example.com') }),
  fc.jsonValue({ maxDepth: 2 }),
);
const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    scalarSchema,
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ prefixItems: fc.array(tie('schema'), { maxLength: 2 }), items: tie('schema') }, { requiredKeys: [] }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { maxLength: 2 }) }),
    fc.record(
      {
        type: fc.constantFrom('object', ['object', 'null']),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'c'), tie('schema'), { maxKeys: 3 }),
        required: fc.subarray(['a', 'b']),
        additionalProperties: tie('schema'),
        $defs: fc.record({ a: tie('schema') }),
      },
      { requiredKeys: ['properties'] },
    ),
  ),
}));
const textual = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('true', 'false', 'null', '', '[]', '["1"]', '{"a":"1"}', '{"a":{"b":"true"}}', 'text'),
);
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  textual,
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(textual, fc.array(textual, { maxLength: 3 }))),
);

describe('conversion, for all schemas and values', () => {
  test('never throws, never changes its input, and a converted value converts to itself', () => {
    fc.assert(
      fc.property(anySchema, anyValue, (schema, value) => {
        const before = JSON.stringify([schema, value]);
        const first = convertArguments(schema, value);
        expect(JSON.stringify([schema, value])).toBe(before);
        if (first.problems.length > 0) return;
        const second = convertArguments(schema, first.value);
        expect(JSON.stringify(second.value)).toBe(JSON.stringify(first.value));
      }),
      { numRuns: 2_000 },
    );
  });

  test('numbers and booleans written as text come back as they were', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger()), (number) => {
        if (Number.isInteger(number) && !Number.isSafeInteger(number)) return;
        expect(one({ type: 'number' }, String(number))).toBe(number === 0 ? 0 : number);
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const kept = JSON.parse(JSON.stringify(value)) as unknown;
        expect(one({ type: ['array', 'object', 'boolean', 'null'] }, JSON.stringify({ kept }))).toEqual({ kept });
      }),
    );
  });

  test('never guesses: text becomes another type only when it is the JSON of the result', () => {
    const types = fc.constantFrom('integer', 'number', 'boolean', 'array', 'object', 'null');
    fc.assert(
      fc.property(types, fc.oneof(textual, fc.string(), fc.json()), (type, text) => {
        const { value, problems } = convertArguments({ type }, text);
        if (problems.length > 0) expect(value).toBe(text);
        // As JSON, which has one zero.
        else expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500, examples: [['integer', '-0']] },
    );
  });
});
