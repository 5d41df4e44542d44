import { readFileSync } from 'node:fs';

import { Validator } from '@cfworker/json-schema';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';

import { type OpenedApi, openApi, type RestApi, restApi } from '../../../../test/kit/openapi.ts';
import { openOpenapiChannel } from './channel.ts';

const fixture = new URL('../../../../test/kit/fixtures/openapi-petstore-30.yaml', import.meta.url);

let rest: RestApi;
let api: OpenedApi;
let document = '';

beforeAll(async () => {
  rest = await restApi();
  document = readFileSync(fixture, 'utf8').replace('BASE', rest.origin);
  rest.on('/docs/openapi.yaml', (_, res) => res.end(document));
  api = openApi({ url: `${rest.origin}/docs/openapi.yaml` });
});

const byName = async (name: string) => {
  const found = (await api.tools()).find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`No tool ${name}`);
  return found;
};

describe('the tools of an OpenAPI 3.0 document', () => {
  test('are its operations, by operationId or MCPHub’s form of method and path', async () => {
    expect((await api.tools()).map(({ name }) => name)).toEqual([
      'listPets',
      'addPet',
      'get_pets',
      'pets/replace',
      'deletePet',
      'addPhoto',
    ]);
  });

  test('say what they do and what HTTP says of their method', async () => {
    expect(await byName('listPets')).toMatchObject({
      title: 'List pets',
      description: 'List pets\n\nAll pets, a page at a time.',
      annotations: { readOnlyHint: true },
    });
    expect(await byName('get_pets')).toMatchObject({ title: 'One pet', description: 'One pet' });
    expect(await byName('pets/replace')).toMatchObject({
      description: 'PUT /pets/{petId}',
      annotations: { readOnlyHint: false, idempotentHint: true },
    });
    expect(await byName('deletePet')).toMatchObject({
      description: 'Deprecated. Removes a pet.',
      annotations: { destructiveHint: true, idempotentHint: true },
    });
  });

  test('take their parameters by name, in JSON Schema 2020-12', async () => {
    const { inputSchema } = await byName('listPets');
    expect(inputSchema).toEqual({
      type: 'object',
      properties: {
        tenant: { type: ['string', 'null'] },
        limit: { type: 'integer', format: 'int32', exclusiveMinimum: 0, maximum: 100, default: 20, examples: [50] },
        status: { type: 'array', items: { type: 'string', enum: ['available', 'sold'] }, description: 'Any of these.' },
        page_size: { type: 'integer', description: 'Sent as query parameter "page[size]".' },
        filter: { type: 'object', properties: { age: { type: 'integer' }, name: { type: 'string' } } },
        'X-Trace': { type: 'string' },
        pref: { type: 'string' },
      },
    });
  });

  test('take their body under "body"; what refers to itself stands in $defs', async () => {
    const { inputSchema } = await byName('addPet');
    expect(inputSchema.required).toEqual(['body']);
    expect(inputSchema.properties['body']).toEqual({ $ref: '#/$defs/Pet' });
    expect(inputSchema.$defs).toEqual({
      Pet: {
        type: 'object',
        required: ['name'],
        properties: {
          id: { type: 'integer', format: 'int64', readOnly: true },
          name: { type: 'string', examples: ['Rex'] },
          tag: { type: ['string', 'null'], enum: ['a', 'b', null] },
          parent: { $ref: '#/$defs/Pet' },
          owner: {
            anyOf: [
              {
                allOf: [
                  {
                    type: 'object',
                    properties: { name: { type: 'string' }, photo: { type: 'string', contentEncoding: 'base64' } },
                  },
                ],
              },
              { type: 'null' },
            ],
          },
        },
      },
    });
    const validator = new Validator(inputSchema, '2020-12');
    const pet = (parent: unknown) => ({ body: { name: 'Rex', tag: null, owner: null, parent } });
    expect(validator.validate(pet({ name: 'Max', parent: { name: 'Moritz' } })).valid).toBe(true);
    expect(validator.validate(pet({ name: 'Max', parent: { name: 1 } })).valid).toBe(false);
  });
});

describe('a call', () => {
  test('puts path, query, header and cookie where the document wants them', async () => {
    const args = {
      tenant: 'a&b=c',
      limit: 5,
      status: ['available', 'sold'],
      page_size: 3,
      filter: { age: 4, name: 'x y' },
      'X-Trace': 'abc',
      pref: 'a;b',
    };
    const got = await api.sent('listPets', args);
    expect(got).toMatchObject({
      method: 'GET',
      path: '/v2/pets',
      query: [
        ['tenant', 'a&b=c'],
        ['limit', '5'],
        ['status', 'available'],
        ['status', 'sold'],
        ['page[size]', '3'],
        ['filter[age]', '4'],
        ['filter[name]', 'x y'],
      ],
      cookies: [['pref', 'a;b']],
      body: '',
    });
    expect(got.headers).toMatchObject({ 'x-trace': 'abc', 'user-agent': 'toolhub/test' });
    expect(got.headers).not.toHaveProperty('authorization');
  });

  test('may name a parameter as the document does', async () => {
    expect((await api.sent('listPets', { 'page[size]': 3 })).query).toEqual([['page[size]', '3']]);
  });

  test('sends the JSON body and the digits of numbers as they were given', async () => {
    const got = await api.sent(
      'pets/replace',
      '{"petId":9007199254740993,"body":{"name":"Rex","weight":1.0, "id":12345678901234567890}}',
    );
    expect(got).toMatchObject({
      method: 'PUT',
      target: '/v2/pets/9007199254740993',
      body: '{"name":"Rex","weight":1.0, "id":12345678901234567890}',
    });
    expect(got.headers['content-type']).toBe('application/json');
  });

  test('sends files of a form as bytes, with their names and types', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x0d, 0x0a, 0x00, 0xff]);
    const got = await api.sent('addPhoto', {
      petId: 7,
      body: {
        photo: picture.toString('base64'),
        more: [{ content: Buffer.from('hi').toString('base64'), filename: 'a"b\r\n.txt', contentType: 'text/plain' }],
        caption: 'Räx',
        place: { lat: 1.5 },
      },
    });
    const form = await new Response(Buffer.from(got.bodyBase64, 'base64'), {
      headers: { 'content-type': got.headers['content-type'] ?? '' },
    }).formData();
    const [photo, more] = [form.get('photo') as File, form.get('more') as File];
    expect(Buffer.from(await photo.arrayBuffer())).toEqual(picture);
    expect(photo.type).toBe('image/png');
    expect([more.name, more.type, await more.text()]).toEqual(['a"b\r\n.txt', 'text/plain', 'hi']);
    expect(form.get('caption')).toBe('Räx');
    expect(form.get('place')).toBe('{"lat":1.5}');
  });

  test.each([
    ['get_pets', {}, 'Argument "petId" is missing.'],
    ['get_pets', { petId: null }, 'Argument "petId" is missing.'],
    ['addPet', {}, 'Argument "body" is missing.'],
    ['deletePet', { petId: 1, force: true }, 'Tool "deletePet" has no argument "force". Known: petId.'],
    ['addPhoto', { petId: 1, body: { photo: 'not base64!' } }, '"photo" must be bytes written as base64 text.'],
    ['addPhoto', { petId: 1, body: 'x' }, 'Cannot call tool "addPhoto": body expected object, got the string "x".'],
  ])('%s %j is refused before anything is sent', async (name, args, why) => {
    await api.tools();
    const before = rest.received.length;
    expect(await api.call(name, args)).toEqual({ content: [{ type: 'text', text: why }], isError: true });
    expect(rest.received).toHaveLength(before);
  });
});

describe('the official client', () => {
  test('takes the API for a tool server', async () => {
    const client = new Client({ name: 'judge', version: '1' });
    await client.connect(transport());
    expect(client.getServerVersion()).toMatchObject({ name: 'api', title: 'Pet store', version: '1.0.7' });
    expect(client.getInstructions()).toBe('Pets, and who owns them.');
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(6);
    const result = await client.callTool({ name: 'get_pets', arguments: { petId: 4 } });
    expect(result.structuredContent).toMatchObject({ method: 'GET', path: '/v2/pets/4' });
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await expect(client.listPrompts()).rejects.toThrow();
    await expect(client.ping()).resolves.toEqual({});
    await client.close();
  });
});

function transport(): Transport {
  const adapter: Transport = {
    start: async () => {},
    send: async (message: JSONRPCMessage) =>
      channel.send(JSON.stringify(message), 'id' in message && 'method' in message ? Number(message.id) : undefined),
    close: () => channel.close(),
  };
  const channel = openOpenapiChannel(
    {
      name: 'api',
      config: { type: 'openapi', openapi: { schema: document }, headers: {}, env: {} },
      userAgent: 'x',
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      maxMessageBytes: 1_000_000,
      timeoutMs: 10_000,
      allowPrivateAddresses: true,
      allowedCidrs: [],
    },
    {
      message(message) {
        adapter.onmessage?.(message as JSONRPCMessage);
        return true;
      },
      large: () => false,
      failed: (_, error) => adapter.onerror?.(error),
      closed: () => adapter.onclose?.(),
    },
  );
  return adapter;
}
