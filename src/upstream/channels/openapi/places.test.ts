import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import { documentOf, type OpenedApi, openApi, type RestApi, restApi } from '../../../../test/kit/openapi.ts';

let rest: RestApi;
let api: OpenedApi;

beforeAll(async () => {
  rest = await restApi();
  const parameter = (place: string, name: string, more = {}) => ({ in: place, name, schema: {}, ...more });
  const parameters = [
    parameter('path', 'id'),
    parameter('path', 'part'),
    parameter('query', 'q'),
    parameter('query', 'id'),
    parameter('query', 'list', { style: 'pipeDelimited', explode: false }),
    parameter('query', 'free', { explode: true }),
    parameter('query', 'any', { allowReserved: true }),
    parameter('query', 'asJson', { schema: undefined, content: { 'application/json': { schema: {} } } }),
    parameter('header', 'X-One'),
    parameter('cookie', 'session'),
    parameter('query', '__proto__'),
    parameter('query', 'constructor'),
    // What the operator supplies is not asked of callers, whatever the document says.
    parameter('query', 'api_key', { required: true }),
    parameter('header', 'x-FIXED', { required: true }),
  ];
  const operation = { operationId: 'all', parameters, requestBody: { content: { 'application/json': {} } } };
  api = openApi(
    {
      schema: documentOf(`${rest.origin}/base`, { '/items/{id}/of.{part}/end': { post: operation } }),
      security: { type: 'apiKey', apiKey: { in: 'query', name: 'api_key', value: 'the-operators-key' } },
    },
    { headers: { 'X-Fixed': 'operator' } },
  );
});

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom(
    '..',
    '../..',
    '.',
    '%2e%2e',
    '..%2f..',
    'a/../../b',
    '?x=1',
    '#',
    '&api_key=mine',
    '\\..\\',
    '//evil.example',
    '@evil.example',
    'a;b=c',
    ' ',
    '\u0000',
    '\t',
  ),
);
const line = hostile.map((value) => value.replace(/[^\t\u0020-\u007e]/g, '_').trim() || 'x');

const anyArguments = fc.record({
  id: hostile,
  part: hostile,
  q: hostile,
  query_id: hostile,
  list: fc.array(hostile),
  any: hostile,
  asJson: fc.jsonValue(),
  session: hostile,
  'X-One': line,
  proto: hostile,
  constructor: hostile,
  body: fc.jsonValue(),
});

describe('any argument', () => {
  test('lands in its place and nowhere else', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments, async (args) => {
        const { id, part } = args;
        if (/^\.{1,2}$/.test(id)) {
          expect((await api.call('all', args)).isError).toBe(true);
          return;
        }
        const got = await api.sent('all', args);
        const segments = got.path.split('/');
        expect(segments).toHaveLength(6);
        expect(segments.map(decodeURIComponent)).toEqual(['', 'base', 'items', id, `of.${part}`, 'end']);
        const json = args.asJson === null ? [] : [['asJson', JSON.stringify(args.asJson)]];
        const list = args.list.length === 0 ? [] : [['list', args.list.join('|')]];
        expect(got.query).toEqual([
          ['q', args.q],
          ['id', args.query_id],
          ...list,
          ['any', args.any],
          ...json,
          ['__proto__', args.proto],
          ['constructor', args.constructor],
          ['api_key', '••••'],
        ]);
        expect(got.cookies).toEqual([['session', args.session]]);
        expect(got.headers['x-one']).toBe(args['X-One']);
        expect(got.headers['x-fixed']).toBe('operator');
        expect(got.headers['host']).toBe(new URL(rest.origin).host);
        expect(got.body).toBe(JSON.stringify(args.body));
        expect(Object.keys(got.headers).toSorted()).toEqual([
          'accept',
          'accept-encoding',
          'connection',
          'content-length',
          'content-type',
          'cookie',
          'host',
          'user-agent',
          'x-fixed',
          'x-one',
        ]);
      }),
      { numRuns: 150 },
    );
  });

  test('cannot be another parameter’s, by way of an exploded object', async () => {
    const base = { id: 'a', part: 'b' };
    expect((await api.sent('all', { ...base, free: { color: 'red' } })).query).toEqual([
      ['color', 'red'],
      ['api_key', '••••'],
    ]);
    for (const stolen of ['api_key', 'q', '__proto__']) {
      const result = await api.call('all', `{"id":"a","part":"b","free":{"${stolen}":"mine"}}`);
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: `Argument "free" cannot have the member "${stolen}": that is another parameter.` }],
      });
    }
  });

  test.each([
    [{ id: '', part: 'b' }, 'Argument "id" must not be empty.'],
    [{ id: [], part: 'b' }, 'Argument "id" must not be empty.'],
    [
      { id: '..', part: 'b' },
      'An argument makes a segment of the path "." or "..", which would address something else.',
    ],
    [
      { id: 'a', part: 'b', 'X-One': 'a\r\nX-Two: b' },
      'The header "X-One" cannot hold line breaks, control characters or characters beyond Latin-1.',
    ],
    [{ id: 'a', part: 'b', 'x-fixed': 'mine' }, expect.stringContaining('no argument "x-fixed"')],
    [{ id: 'a', part: 'b', api_key: 'mine' }, expect.stringContaining('no argument "api_key"')],
  ])('%j is refused', async (args, why) => {
    await api.tools();
    const before = rest.received.length;
    expect(await api.call('all', args)).toMatchObject({ isError: true, content: [{ text: why }] });
    expect(rest.received).toHaveLength(before);
  });
});
