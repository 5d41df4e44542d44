import { expect, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { setLimits } from '../kit/limits.ts';
import { documentOf, openApi, restApi } from '../kit/openapi.ts';
import { until } from '../kit/until.ts';

// OpenAPI documents that are read in a thread (`dist/document-worker.js`).

const rest = await restApi();
const about = 'x'.repeat(4_000);
const paths = Object.fromEntries(
  Array.from({ length: 100 }, (_, i) => [
    `/things${i}/{id}`,
    {
      get: {
        operationId: `get${i}`,
        description: about,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        ],
      },
      post: {
        operationId: `post${i}`,
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } },
            },
          },
        },
      },
    },
  ]),
);
const document = documentOf(rest.origin, paths);
const text = JSON.stringify(document);
const served = (path: string, body: string): string => {
  rest.on(path, (_, res) => res.end(body));
  return `${rest.origin}${path}`;
};

test('a large document gives the same tools as it does in the settings, and they can be called', async () => {
  expect(text.length).toBeGreaterThan(upstreamLimits.openapiThreadBytes);
  const fetched = openApi({ url: served('/large.json', text) });
  expect(await fetched.tools()).toEqual(await openApi({ schema: document }).tools());
  const got = await fetched.sent('get7', { id: 5, tags: ['a', 'b'] });
  expect(got).toMatchObject({
    path: '/things7/5',
    query: [
      ['tags', 'a'],
      ['tags', 'b'],
    ],
  });
  expect((await fetched.sent('post7', { id: 5, body: { names: ['a', 'b'] } })).body).toBe('names=a&names=b');
  // Of another page of the list; its schema makes a number of the text.
  expect(text.length).toBeGreaterThan(upstreamLimits.openapiPageBytes);
  expect(await fetched.sent('get99', { id: '5' })).toMatchObject({ path: '/things99/5' });
  await expect(fetched.sent('get99', { id: 'five' })).rejects.toThrow();
});

test('what is wrong with a large one is said with its place', async () => {
  const broken = `openapi: 3.1.0\ninfo: {title: "${about.repeat(70)}"}\npaths: {a: [}\n`;
  await expect(openApi({ url: served('/broken.yaml', broken) }).tools()).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/line 3, column \d+/) as string,
    reason: { code: 'api_unreadable' },
  });
  const swagger = JSON.stringify({ swagger: '2.0', paths });
  await expect(openApi({ url: served('/swagger.json', swagger) }).tools()).rejects.toMatchObject({
    reason: { code: 'api_swagger' },
  });
});

test('a channel that closes while its document is read leaves the next one its turn', async () => {
  const url = served('/again.json', text);
  const { channel } = openApi({ url });
  await until('the document is fetched', () => rest.received.some(({ path }) => path === '/again.json'));
  await channel.close();
  expect(await openApi({ url }).tools()).toHaveLength(200);
});

test('a document that takes too long is refused, and the next one has its turn', async () => {
  const url = served('/endless.json', text);
  setLimits(upstreamLimits, { openapiReadMs: 1 });
  await expect(openApi({ url }).tools()).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/reading it takes more than 0.001 s/) as string,
    reason: { code: 'api_unreadable' },
  });
  setLimits(upstreamLimits, { openapiReadMs: 120_000 });
  expect(await openApi({ url }).tools()).toHaveLength(200);
});
