import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../../test/kit/cpu.ts';
import { coreLimits } from '../limits.ts';
import { type Checked, compileSchema } from './check.ts';
import { createToolArguments } from '../arguments/tool.ts';

const check = (schema: unknown, value: unknown) => compileSchema(schema)(value);
const problems = (schema: unknown, value: unknown) => {
  const { problems, note } = check(schema, value);
  expect(note).toBeUndefined();
  return problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('checking arguments against a schema', () => {
  test('tells each problem at its path, in words', () => {
    const schema = {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 2 },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        order: { enum: ['asc', 'desc'] },
        filters: {
          type: 'array',
          items: { type: 'object', properties: { 'a.b': { type: 'number' } }, required: ['key'] },
        },
        mode: { const: 'fast' },
        map: { type: 'object', maxProperties: 1 },
      },
      required: ['query', 'other'],
      additionalProperties: false,
    };
    const value = {
      query: 'x',
      limit: 101,
      order: 'up',
      filters: [{ key: 1 }, { 'a.b': 'x' }],
      mode: 'slow',
      map: { a: 1, b: 2 },
      stray: 1,
    };
    expect(problems(schema, value)).toEqual([
      'other: is required',
      'query: String is too short (1 < 2)',
      'limit: 101 is greater than 100',
      'order: must be one of "asc","desc"',
      'filters[1].key: is required',
      'filters[1]["a.b"]: expected number, got string',
      'mode: must be "fast"',
      'map: may have at most 1 properties',
      'stray: is not allowed here',
    ]);
    expect(problems(schema, { query: 'xy' })).toEqual(['other: is required']);
    expect(problems({ ...schema, required: ['query'] }, { query: 'xy', filters: [{ key: 1 }] })).toEqual([]);
  });

  test('alternatives: the one that was meant tells its problem, else all say what they expect', () => {
    const schema = {
      properties: {
        x: { anyOf: [{ type: 'object', properties: { n: { type: 'integer' } } }, { type: 'null' }] },
        y: { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      },
    };
    expect(problems(schema, { x: { n: 'a' } })).toEqual(['x.n: expected integer, got string']);
    expect(problems(schema, { x: 'a' })).toEqual(['x: expected object, got string, or expected null, got string']);
    expect(problems(schema, { y: 1 })).toEqual(['y: fits more than one of the alternatives']);
    expect(problems(schema, { x: null, y: 1.5 })).toEqual([]);
  });

  test('knows draft 7 and 2020-12 by $schema, and takes 2020-12 otherwise', () => {
    const tuple = { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } };
    expect(problems(tuple, [1, 'a'])).toEqual([]);
    expect(problems(tuple, ['a', 1])).toHaveLength(2);
    // In draft 7 what stands beside a $ref does not count; since then it does.
    const beside = { $ref: '#/definitions/any', type: 'integer', definitions: { any: true } };
    expect(problems({ $schema: 'http://json-schema.org/draft-07/schema#', ...beside }, 'x')).toEqual([]);
    expect(problems(beside, 'x')).toHaveLength(1);
  });

  test('follows references within the schema, cycles too', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, n: { type: 'integer' } } } },
    };
    expect(problems(tree, { next: { next: { n: 'x' } } })).toEqual(['next.next.n: expected integer, got string']);
  });
});

describe('what a schema says beyond the standard', () => {
  test('keywords and formats it does not know say nothing, and members called like them are members', () => {
    const schema = {
      type: 'object',
      'x-order': 3,
      example: { $ref: 'nowhere' },
      properties: {
        format: { type: 'string', format: 'made-up' },
        toString: { type: 'integer' },
        id: { type: 'string' },
      },
    };
    expect(problems(schema, { format: 'x', id: 'b' })).toEqual([]);
    expect(problems(schema, { toString: 'x' })).toEqual(['toString: expected integer, got string']);
    expect(problems(schema, JSON.parse('{"__proto__": 1, "constructor": 2}'))).toEqual([]);
  });

  test('what makes no sense in a schema is left out and told, the rest is checked', () => {
    const schema = {
      properties: {
        a: { type: 'any' },
        b: { type: 'string', pattern: '(' },
        c: { $ref: 'https://schemas.example/c.json' },
        d: { type: 'integer', required: true, enum: 'x' },
      },
    };
    const { problems, note } = check(schema, { a: 1, b: 'x', c: 1, d: 'x' });
    expect(problems).toEqual([{ path: 'd', message: 'expected integer, got string' }]);
    for (const part of ['type "any"', 'pattern "("', '$ref "https://schemas.example/c.json"'])
      expect(note).toContain(part);
  });

  test('a format counts where that is asked for, and one it does not know says nothing', () => {
    const schema = { properties: { a: { type: 'string', format: 'uri' }, b: { type: 'string', format: 'toString' } } };
    const value = { a: 'no address', b: 'x' };
    expect(check(schema, value).problems).toEqual([]);
    const strict = compileSchema(schema, Date.now, true);
    expect(strict(value)).toMatchObject({ problems: [{ path: 'a' }], note: undefined });
    expect(strict({ ...value, a: 'https://example.com/' }).problems).toEqual([]);
  });

  test('the schema itself is not touched', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'integer', pattern: '(' } } };
    const freeze = (value: object) => {
      for (const member of Object.values(value))
        if (typeof member === 'object' && member !== null) freeze(member as object);
      return Object.freeze(value);
    };
    expect(check(freeze(schema), 'x').problems).toHaveLength(1);
  });
});

test('time in which the process computes nothing, as on a busy machine, does not count', () => {
  const run = compileSchema({ properties: { a: { type: 'string', pattern: '^(a|aa)+$' } } });
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let waits = 3;
  const value = {
    get a() {
      if (waits-- > 0) Atomics.wait(clock, 0, 0, 60_000);
      return 'b';
    },
  };
  expect(run(value)).toMatchObject({ problems: [{ path: 'a' }], note: undefined });
});

/** Of CPU time: far beyond what a bounded check takes, far below what an unbounded one takes. */
const hangMs = 20_000;

describe('schemas of a hostile server', () => {
  const bounded = (schema: unknown, value: unknown) => {
    const run = compileSchema(schema);
    let checked: Checked = { problems: [], note: undefined };
    expect(cpuMsOf(() => (checked = run(value)))).toBeLessThan(hangMs);
    return { run, checked };
  };

  test('a pattern that takes for ever is stopped, and not tried again for a while', () => {
    let at = 0;
    const run = compileSchema({ type: 'string', pattern: '^(a|aa)+$' }, () => at);
    const evil = `${'a'.repeat(80)}b`;
    expect(run('aaa')).toEqual({ problems: [], note: undefined });
    expect(run('b').problems).toEqual([{ path: '', message: 'String does not match pattern' }]);
    expect(run(evil).note).toContain('over 50 ms');
    const thousand = () => {
      for (let i = 0; i < 1_000; i++) expect(run(evil).problems).toEqual([]);
    };
    // Tried each time, a thousand would take a thousand times the limit.
    expect(cpuMsOf(thousand)).toBeLessThan(500 * coreLimits.schemaCheckMs);
    at += coreLimits.schemaRestMs;
    expect(run('b').problems).toHaveLength(1);
  });

  test('references that multiply or lead to themselves, and deep or huge schemas, check nothing and do no harm', () => {
    const doubling: Record<string, unknown> = { l30: true };
    for (let i = 0; i < 30; i++)
      doubling[`l${i}`] = { allOf: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] };
    let deep: object = {};
    for (let i = 0; i < 50_000; i++) deep = { not: deep };
    const wide = { properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, {}])) };
    for (const schema of [{ $ref: '#/$defs/l0', $defs: doubling }, { $ref: '#' }, deep, wide]) {
      const { checked } = bounded(schema, { a: 1 });
      expect(checked.problems).toEqual([]);
      expect(checked.note).toContain('not checked');
    }
  });

  test('a list of a hundred thousand wrong or equal elements is answered in bounded time and words', () => {
    const wrong = bounded({ type: 'array', items: { type: 'integer' } }, Array<string>(150_000).fill('x')).checked;
    expect(wrong.problems.length).toBeGreaterThan(0);
    expect(wrong.problems.length).toBeLessThanOrEqual(coreLimits.problems);
    const equal = Array.from({ length: 100_000 }, (_, i) => ({ i }));
    expect(bounded({ uniqueItems: true }, equal).checked.note).toContain('not checked');
  });

  test('no schema and no value, however odd, makes it throw', () => {
    const keywords = [
      'type',
      'properties',
      'items',
      'required',
      'enum',
      '$ref',
      '$id',
      'pattern',
      'allOf',
      'anyOf',
      'minimum',
      'dependencies',
      'const',
      'uniqueItems',
      'multipleOf',
      '$schema',
      'not',
    ];
    const { odd } = fc.letrec<{ odd: unknown }>((tie) => ({
      odd: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.jsonValue({ maxDepth: 1 }),
        fc.constantFrom('#', '#/a', 'string', '[', 'https://x/y', '/%zz'),
        fc.dictionary(fc.constantFrom(...keywords), tie('odd'), { maxKeys: 4 }),
        fc.array(tie('odd'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(odd, fc.jsonValue({ maxDepth: 2 }), (schema, value) => {
        const before = JSON.stringify(schema);
        const { problems } = check(schema, value);
        expect(Array.isArray(problems)).toBe(true);
        expect(JSON.stringify(schema)).toBe(before);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('arguments of a tool', () => {
  const tool = JSON.stringify({
    name: 'search',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer', maximum: 10 } },
      required: ['query'],
    },
  });

  test('are converted, then checked, and each path is told once', () => {
    const tools = createToolArguments();
    const prepare = (text: string, value: unknown) => tools.prepare(text, value);
    expect(prepare(tool, { query: 'x', limit: '5' })).toEqual({
      value: { query: 'x', limit: 5 },
      problems: [],
      note: undefined,
    });
    expect(prepare(tool, { limit: '11' }).problems).toEqual([
      { path: 'query', message: 'is required' },
      { path: 'limit', message: '11 is greater than 10' },
    ]);
    expect(prepare(tool, { query: 'x', limit: 'many' }).problems).toEqual([
      { path: 'limit', message: 'expected integer, got the string "many"' },
    ]);
  });

  test('a tool without a schema, or with one that is none, takes everything', () => {
    const tools = createToolArguments();
    for (const text of ['{"name":"x"}', '{"inputSchema":null}', '{"inputSchema":7}', '[]', 'broken']) {
      expect(tools.prepare(text, { a: '1' })).toEqual({ value: { a: '1' }, problems: [], note: undefined });
    }
  });

  test('more tools than are kept are answered all the same', () => {
    const tools = createToolArguments({ schemas: 2 });
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 5; n++) {
        const text = JSON.stringify({ inputSchema: { properties: { n: { const: n } } } });
        expect(tools.prepare(text, { n: `${n}` }).value).toEqual({ n });
        expect(tools.prepare(text, { n: n + 1 }).problems).toHaveLength(1);
      }
    }
  });
});
