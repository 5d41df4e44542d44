import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { documentOf, openApi, restApi } from '../../../../test/kit/openapi.ts';
import { upstreamLimits } from '../../limits.ts';
import { openSchemas } from './schema.ts';

const origin = 'http://127.0.0.1:1';
const post = (operationId: string, schema: unknown) => ({
  post: { operationId, requestBody: { content: { 'application/json': { schema } } } },
});
const withSchemas = (schemas: unknown, paths: unknown) => documentOf(origin, paths, { components: { schemas } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('a hostile document', () => {
  test('with 5 000 operations of one name, and circles, is listed in pages without holding up others', async () => {
    const paths: Record<string, unknown> = {};
    for (let index = 0; index < 5_000; index++) paths[`/p${index}`] = post('same', ref('Node'));
    const api = openApi({
      schema: withSchemas(
        { Node: { properties: { next: ref('Node'), all: { type: 'array', items: ref('Node') } } } },
        paths,
      ),
    });
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const tools = await api.tools();
    clearInterval(ticking);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(5_000);
    expect(tools.slice(0, 3).map(({ name }) => name)).toEqual(['same', 'same1', 'same2']);
    expect(tools[4_999]?.inputSchema.$defs).toEqual({
      Node: { properties: { next: { $ref: '#/$defs/Node' }, all: { type: 'array', items: { $ref: '#/$defs/Node' } } } },
    });
    expect(turns).toBeGreaterThan(10);
  });

  test('with references that double at each level stays small, as definitions', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `L${level}`,
        {
          properties: level === 39 ? { end: { type: 'string' } } : { a: ref(`L${level + 1}`), b: ref(`L${level + 1}`) },
        },
      ]),
    );
    const [tool] = await openApi({ schema: withSchemas(schemas, { '/x': post('bomb', ref('L0')) }) }).tools();
    expect(Object.keys(tool?.inputSchema.$defs ?? {})).toHaveLength(40);
    expect(JSON.stringify(tool).length).toBeLessThan(10_000);
  });

  test('cannot make a tool, or all of them, larger than allowed', async () => {
    const text = 'x'.repeat(5_000);
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { description: text }])),
    };
    const paths = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`/p${index}`, post(`o${index}`, wide)]));
    const tools = await openApi({ schema: documentOf(origin, paths) }, { maxMessageBytes: 64 * 1024 * 1024 }).tools();
    expect(tools).toHaveLength(60);
    expect(JSON.stringify(tools.at(-1)).length).toBeLessThan(500);
    const sizes = tools.map((tool) => JSON.stringify(tool).length);
    expect(Math.max(...sizes)).toBeLessThan(upstreamLimits.openapiToolNodes * 100);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(upstreamLimits.openapiDocumentNodes * 100);
  });
});

describe('a document with foreign references', () => {
  test('never makes the hub fetch another one', async () => {
    const rest = await restApi();
    const remote = `${rest.origin}/other.yaml#/Pet`;
    const parameters = [{ $ref: `${rest.origin}/p.json` }];
    const components = { schemas: { Pet: { $anchor: 'Pet', type: 'string' } } };
    const paths = {
      '/a': post('a', {
        properties: {
          pet: { $ref: remote },
          file: { $ref: 'file:///etc/passwd' },
          near: { $ref: 'common.yaml#/X' },
          alike: { $ref: 'x/components/schemas/Pet' },
          anchor: { $ref: '#Pet' },
        },
      }),
      '/b': { get: { operationId: 'b', parameters } },
      '/c': { $ref: remote },
    };
    const api = openApi({ schema: documentOf(rest.origin, paths, { components }) });
    const tools = await api.tools();
    expect(tools.map(({ name }) => name)).toEqual(['a']);
    expect(tools[0]?.inputSchema.properties['body']).toEqual({
      properties: { pet: {}, file: {}, near: {}, alike: {}, anchor: {} },
    });
    expect(rest.received).toEqual([]);
    expect(api.logged).toContainEqual({
      level: 'warn',
      message: 'parts of the OpenAPI document were left out',
      fields: { count: 7, first: '/c is not a path of this document' },
    });
  });
});

describe('a document with operationIds', () => {
  test('that cannot be called gets names that can be called, each its own', async () => {
    const ids = [
      'a b',
      'a/b',
      'a.b',
      'ä',
      'x'.repeat(300),
      '  ',
      '__proto__',
      'constructor',
      'a\nb',
      '../../x',
      'a b',
      'a_b2',
    ];
    const paths = Object.fromEntries(ids.map((operationId, index) => [`/p${index}`, { get: { operationId } }]));
    const names = (await openApi({ schema: documentOf(origin, paths) }).tools()).map(({ name }) => name);
    expect(names).toEqual([
      'a_b',
      'a/b',
      'a.b',
      expect.stringMatching(/^operation_[0-9a-f]{8}$/),
      expect.stringMatching(/^x{119}_[0-9a-f]{8}$/),
      'get_p5',
      '__proto__',
      'constructor',
      'a_b1',
      '../../x',
      'a_b3',
      'a_b2',
    ]);
  });
});

describe('a document with odd parameters and values', () => {
  test('offers arguments that model services accept', async () => {
    const names = ['$filter', 'page[size]', '__proto__', 'a b', 'a_b', '日本', 'x'.repeat(80), 'body', 'id'];
    const parameters = [
      ...names.map((name) => ({ name, in: 'query' })),
      { name: 'id', in: 'header' },
      { name: 'id', in: 'path' },
    ];
    const schema = documentOf(origin, {
      '/x/{id}': { post: { operationId: 'odd', parameters, requestBody: { content: { 'application/json': {} } } } },
    });
    const [tool] = await openApi({ schema }).tools();
    const keys = Object.keys(tool?.inputSchema.properties ?? {});
    expect(keys).toEqual([
      'id',
      'filter',
      'page_size',
      'proto',
      'a_b',
      'query_a_b',
      expect.stringMatching(/^p_[0-9a-f]{8}$/),
      expect.stringMatching(/^x{55}_[0-9a-f]{8}$/),
      'query_body',
      'query_id',
      'header_id',
      'body',
    ]);
    expect(keys.every((key) => /^[A-Za-z0-9_.-]{1,64}$/.test(key))).toBe(true);
    expect(tool?.inputSchema.required).toEqual(['id']);
  });

  test('with an enum of 100 000 values says so instead of spelling them out', async () => {
    const values = Array.from({ length: 100_000 }, (_, index) => `v${index}`);
    const [tool] = await openApi({
      schema: documentOf(origin, { '/x': post('big', { type: 'string', enum: values }) }),
    }).tools();
    expect(tool?.inputSchema.properties['body']).toEqual({
      type: 'string',
      description: expect.stringMatching(/^One of 100000 values: "v0", "v1", /),
    });
  });

  test('of random shape is read or refused, and never breaks anything', async () => {
    const junk = fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.record({ $ref: fc.constantFrom('#/paths', '#/paths/~1x/get', '#', '#/components/schemas/A', '') }),
    );
    await fc.assert(
      fc.asyncProperty(junk, junk, junk, junk, async (item, parameters, body, schema) => {
        const paths = {
          '/x': { get: { parameters: [parameters], requestBody: body }, post: item, put: item },
          '/y': post('y', schema),
          '/z': item,
        };
        const api = openApi({
          schema: documentOf(origin, paths, { components: { schemas: { A: schema } }, info: item }),
        });
        expect((await api.tools()).length).toBeGreaterThan(0);
        expect(api.logged.filter(({ level }) => level === 'error')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('schemas that lead back to themselves', () => {
  const compose = (schemas: Record<string, unknown>, root: unknown) =>
    openSchemas({ components: { schemas } }, false).compose((convert) => ({ properties: { v: convert(root) } }));

  test.each([
    [{ A: ref('A') }],
    [{ A: ref('B'), B: ref('A') }],
    [{ A: { allOf: [ref('A')] } }],
    [{ A: { anyOf: [ref('B')] }, B: { oneOf: [ref('C')] }, C: { not: ref('A') } }],
    [{ A: { if: ref('B') }, B: { dependentSchemas: { x: ref('A') } } }],
    [{ A: { allOf: [ref('B')], properties: { a: ref('A') } }, B: { allOf: [ref('A')], properties: { b: ref('B') } } }],
  ])('%j can be checked to an end', (schemas) => {
    const validator = new Validator(compose(schemas, ref('A')), '2020-12');
    expect(() => validator.validate({ v: { a: { b: 1 }, x: 1 } })).not.toThrow();
  });

  test('still say what they say of the values in them', () => {
    const schemas = {
      Tree: { type: 'object', properties: { left: ref('Tree'), leaf: { allOf: [ref('Leaf')] } } },
      Leaf: { type: 'object', properties: { tree: ref('Tree'), n: { type: 'number' } } },
    };
    const validator = new Validator(compose(schemas, ref('Tree')), '2020-12');
    expect(validator.validate({ v: { left: { leaf: { tree: { leaf: { n: 1 } } } } } }).valid).toBe(true);
    expect(validator.validate({ v: { left: { leaf: { tree: { leaf: { n: 'x' } } } } } }).valid).toBe(false);
  });

  test('and 3.1 keywords beside a reference are kept', () => {
    const schemas = { Name: { type: 'string', description: 'old' } };
    expect(compose(schemas, { ...ref('Name'), description: 'new', maxLength: 5 })).toEqual({
      properties: { v: { type: 'string', description: 'new', maxLength: 5 } },
    });
  });
});
