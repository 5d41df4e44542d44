import { beforeAll, describe, expect, test } from 'vitest';

import { documentOf, openApi, type RestApi, restApi } from '../../../../test/kit/openapi.ts';

let rest: RestApi;

beforeAll(async () => {
  rest = await restApi();
});

const anything = { type: 'object' };
const json = 'application/json';
const merge = 'application/merge-patch+json';
const patch = 'application/json-patch+json';
const form = 'application/x-www-form-urlencoded';

/** An API with a PATCH that takes these media types, in this order. */
const patching = (types: readonly string[], more: Record<string, unknown> = {}, schema: object = anything) => {
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  const operation = { operationId: 'change', requestBody: { content } };
  return openApi({ schema: documentOf(rest.origin, { '/thing': { patch: operation } }), ...more });
};

describe('of several media types', () => {
  test.each([
    [[patch, merge, json], json],
    [[patch, 'application/strategic-merge-patch+json', merge], merge],
    [[patch, 'application/vnd.api+json'], 'application/vnd.api+json'],
    [[patch, form], form],
    [['text/plain', patch], patch],
    [['application/json; charset=utf-8', merge], 'application/json; charset=utf-8'],
  ])('%j: %s is sent', async (types, expected) => {
    const body = expected === patch ? [] : { a: '1' };
    const got = await patching(types).sent('change', { body });
    expect(got.headers['content-type']).toBe(expected);
    expect(got.body).toBe(expected === form ? 'a=1' : JSON.stringify(body));
  });

  test('the settings choose another, for one tool or for all', async () => {
    const types = [json, merge, patch];
    const sent = async (more: Record<string, unknown>, body: unknown = {}) =>
      (await patching(types, more).sent('change', { body })).headers['content-type'];
    expect(await sent({ mediaType: merge })).toBe(merge);
    expect(await sent({ mediaType: 'Application/Merge-Patch+JSON; x=y' })).toBe(merge);
    expect(await sent({ mediaType: merge, mediaTypes: { change: patch } }, [])).toBe(patch);
    expect(await sent({ mediaTypes: { change: patch } }, [])).toBe(patch);
    // Of operations that do not take it nothing changes.
    expect(await sent({ mediaType: 'application/xml' })).toBe(json);
  });

  test('what the settings want and the document does not have is told', async () => {
    const api = patching([json], { mediaTypes: { change: merge, chnage: json } });
    await api.tools();
    expect(api.logged.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: '"openapi.mediaTypes" does not fit the OpenAPI document',
        fields: { count: 2, first: `change does not take ${merge}` },
      },
    ]);
  });
});

describe('a JSON Patch', () => {
  test.each([anything, {}, { $ref: '#/components/schemas/Thing' }])(
    'is a list of operations, also where the document calls it %j',
    async (schema) => {
      const api = patching([patch], {}, schema);
      const [tool] = await api.tools();
      expect(tool?.inputSchema.properties['body']).toMatchObject({
        type: 'array',
        items: {
          required: ['op', 'path'],
          properties: { op: { enum: expect.arrayContaining(['replace']) as unknown } },
        },
      });
      const body = [{ op: 'replace', path: '/name', value: { deep: [1] } }];
      expect(JSON.parse((await api.sent('change', { body })).body)).toEqual(body);
      expect(await api.call('change', { body: { name: 'x' } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('body expected array') as string }],
      });
    },
  );

  test('that the document describes as a list is described as the document does', async () => {
    const [tool] = await patching([patch], {}, { type: 'array', maxItems: 3 }).tools();
    expect(tool?.inputSchema.properties['body']).toEqual({ type: 'array', maxItems: 3 });
  });
});

describe('arguments that the schema of the tool does not allow', () => {
  const parameters = [
    { in: 'query', name: 'limit', schema: { type: 'integer', maximum: 100 } },
    { in: 'query', name: 'since', schema: { type: 'string' } },
    { in: 'query', name: 'tags', schema: { type: 'array', items: { enum: ['a', 'b'] } } },
  ];
  const thing = {
    type: 'object',
    properties: { items: { type: 'array', items: { properties: { n: { type: 'integer' } } } } },
  };
  const requestBody = { content: { [json]: { schema: thing } } };
  const open = () =>
    openApi({
      schema: documentOf(rest.origin, { '/list': { post: { operationId: 'list', parameters, requestBody } } }),
    });

  test.each([
    [{ limit: 'three' }, 'limit expected integer, got the string "three"'],
    [{ limit: 101 }, 'limit '],
    [{ tags: ['a', 'c'] }, 'tags[1] '],
    [{ since: {} }, 'since expected string'],
    [{ body: { items: [{}, { n: 'x' }] } }, 'body.items[1].n expected integer'],
  ])('%j: the path is named and nothing is sent', async (args, why) => {
    const before = rest.received.length;
    const { isError, content } = await open().call('list', args);
    expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining(`Cannot call tool "list": ${why}`)]);
    expect(rest.received).toHaveLength(before);
  });

  test('what is plainly meant is sent: numbers as text and text as numbers, null for what is left out, and every digit', async () => {
    const api = open();
    expect((await api.sent('list', { limit: '3', since: 2024, tags: null })).target).toBe('/list?limit=3&since=2024');
    const digits = '{"since":12345678901234567890,"body":{"items":[{"n":"7"}],"big":12345678901234567890}}';
    const got = await api.sent('list', digits);
    expect(got.target).toBe('/list?since=12345678901234567890');
    expect(got.body).toBe('{"items":[{"n":7}],"big":12345678901234567890}');
  });
});
