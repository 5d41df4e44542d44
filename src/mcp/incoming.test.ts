import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { editObject } from '../core/json/text.ts';
import { readMessages } from './incoming.ts';
import { mcpLimits } from './limits.ts';
import type { RequestContext } from './request-context.ts';

/**
 * What a POST with this body is read as, or how it is refused. `given` is called when the memory for it is given back;
 * `client` may leave meanwhile.
 */
async function read(body: string, { client = { hasLeft: false }, given = (): void => {} } = {}) {
  const answered: { status?: number; text?: string } = {};
  const req = Object.assign(Readable.from([Buffer.from(body)]), { headers: { 'content-type': 'application/json' } });
  const context: Pick<RequestContext, 'req' | 'res' | 'headers' | 'bodyLimit' | 'stillAdmitted'> = {
    req: req as unknown as IncomingMessage,
    headers: {},
    res: {
      writeHead: (status: number) => void (answered.status = status),
      end: (text: string) => void (answered.text = text),
      get destroyed() {
        return client.hasLeft;
      },
    } as unknown as RequestContext['res'],
    bodyLimit: () => ({
      maxBytes: mcpLimits.requestBodyBytes,
      budget: { receive: () => ({ add: () => {}, close: given }) } as never,
      isKnown: true,
    }),
    stillAdmitted: () => true,
  };
  return { received: await readMessages(context as RequestContext), ...answered };
}

const many = Array.from({ length: 30_000 }, (_, i) => `{"n":${i},"of":[true,"x"]}`).join(',\n');
const call = (more: string) =>
  `{"jsonrpc":"2.0", "id":9007199254740993,"method":"tools/call","params":{"name":"t","arguments":{"list":[${many}]}}${more}`;

test('a long message is read as a short one is, and its texts are those that were sent', async () => {
  const body = call('}');
  expect(body.length).toBeGreaterThan(mcpLimits.bodyCharsAtOnce);
  const { received } = await read(body);
  if (received === undefined || Array.isArray(received)) throw new Error('no message');
  expect(received).toMatchObject({ text: body, id: '9007199254740993' });
  expect(received.message).toEqual(JSON.parse(body));
  const params = body.slice(body.indexOf('{"name"'), -1);
  expect(received.params).toBe(params);
  expect(editObject(received.params ?? '', { name: '"own"' })).toBe(params.replace('"t"', '"own"'));
});

test('other turns of the event loop pass while a long body is looked at', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  // And the memory for it is not given to others before.
  let turnsWhenGiven = 0;
  await read(call(',}'), { given: () => (turnsWhenGiven = turns) });
  isOver = true;
  expect(turnsWhenGiven).toBe(turns);
  expect(turns).toBeGreaterThan(call(',}').length / (128 * 1024) - 1);
});

test.each([
  ['breaks off', call(''), -32700],
  ['has a comma too many', call(',}'), -32700],
  ['is nested too deep', call(`,"x":${'['.repeat(2_000)}`), -32600],
  ['has too many members', call(`,${Array.from({ length: 1_001 }, (_, i) => `"m${i}":1`).join()}}`), -32600],
  ['is no message', `{"list":[${many}]}`, -32600],
  ['has an id that is none', `{"jsonrpc":"2.0","method":"ping","id":[${many}]}`, -32600],
  ['has params that are no object', `{"jsonrpc":"2.0","id":1,"method":"ping","params":[${many}]}`, -32600],
  [
    'has params of too many members',
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${Array.from({ length: 1_001 }, (_, i) => `"m${i}":"${'x'.repeat(300)}"`).join()}}}`,
    -32600,
  ],
])('a long body that %s is refused as a short one is', async (_, body, code) => {
  const { received, status, text } = await read(body);
  expect(received).toBeUndefined();
  expect(status).toBe(400);
  expect(JSON.parse(text ?? '{}')).toMatchObject({ error: { code } });
});

test('a call whose client left while its long body was looked at is not begun', async () => {
  const client = { hasLeft: false };
  const reading = read(call('}'), { client });
  setImmediate(() => (client.hasLeft = true));
  const { received, status } = await reading;
  expect([received, status]).toEqual([undefined, undefined]);
});

test('nothing long is parsed to see that a message is one', async () => {
  const { received } = await read(`{"jsonrpc":"2.0","id":1,"result":{"list":[${many}]},"error":[${many}]}`);
  if (received === undefined || Array.isArray(received)) throw new Error('no message');
  const isParsed = (key: string) => Object.getOwnPropertyDescriptor(received.message, key)?.get === undefined;
  expect([isParsed('result'), isParsed('error')]).toEqual([true, false]);
  expect(received.id).toBe('1');
});

test('of a long message only arguments and the like are long, and the error says which is not', async () => {
  const { status, text } = await read(call(`,"x":1}`).replace('"name"', `"_meta":{"list":[${many}]},"name"`));
  expect(status).toBe(400);
  expect(JSON.parse(text ?? '{}')).toMatchObject({
    error: { code: -32600, message: expect.stringMatching(/"params\._meta" has \d+ characters.* more than 65536/) },
  });
});
