import { describe, expect, test } from 'vitest';
import { openHttp, request } from '../../../test/kit/channel-log.ts';
import { json, result, scriptedHttp, sse, stream } from '../../../test/kit/scripted-http.ts';
import { HubError } from '../../core/errors.ts';
import { type Credential, type Refusal, SignInRequired } from './credential.ts';
import { openLegacySse } from './http/legacy-sse.ts';
import { openEither } from './http/channel.ts';
import { openStreamableHttp } from './http/streamable-http.ts';

/** A credential whose token the test decides. */
function held(first: string | undefined, renew: (refusal: Refusal) => string | HubError) {
  let token = first;
  const refusals: Refusal[] = [];
  let wait: Promise<void> | undefined;
  const credential: Credential = {
    header: () => token,
    pending: () => wait,
    accepted: () => undefined,
    async refused(refusal) {
      refusals.push(refusal);
      const next = renew(refusal);
      if (next instanceof HubError) throw next;
      token = next;
    },
  };
  return {
    credential,
    refusals,
    holdUntil(until: Promise<void>, then: string) {
      wait = until.then(() => {
        token = then;
        wait = undefined;
      });
    },
  };
}

const signIn = () => new HubError('upstream_unavailable', 'sign in', { cause: new SignInRequired() });

/** Takes `good` only. Speaks streamable HTTP at `/mcp`, the older transport at `/sse`. */
async function guarded(good: string) {
  let out: ReturnType<typeof stream> | undefined;
  return scriptedHttp(({ method, path, headers, message }, response) => {
    if (path === '/sse' && method === 'POST') return void response.writeHead(405).end();
    if (headers.authorization !== good) {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="x"' }).end('token is no good');
    } else if (path === '/sse') {
      out = stream(response);
      out.write('event: endpoint\ndata: /messages\n\n');
    } else if (path === '/messages') {
      response.writeHead(202).end();
      if (message.id !== undefined) out?.write(sse(result(message.id)));
    } else if (method !== 'POST') response.writeHead(405).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else json(response, result(message.id));
  });
}

describe.each([
  ['streamable HTTP', openStreamableHttp, '/mcp'],
  ['legacy SSE', openLegacySse, '/sse'],
])('%s', (_kind, opener, path) => {
  test('a refused request is sent again with the new credential, once, and everything after carries it', async () => {
    const server = await guarded('Bearer new');
    const { credential, refusals } = held('Bearer old', () => 'Bearer new');
    const { channel, events } = openHttp(opener, server.origin + path, { credential });
    channel.send(request(1, 'a'), 1);
    await events.answer(1);
    channel.send(request(2, 'b'), 2);
    await events.answer(2);
    expect(refusals).toEqual([{ status: 401, sent: 'Bearer old', challenge: 'Bearer realm="x"', again: false }]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      ...server.seen.slice(1).map(() => 'Bearer new'),
    ]);
  });

  test('what only a person can mend is told as that, and nothing is tried again', async () => {
    const server = await guarded('Bearer new');
    const { credential, refusals } = held(undefined, signIn);
    const { channel, events } = openHttp(opener, server.origin + path, { credential });
    channel.send(request(1, 'a'), 1);
    const error = path === '/sse' ? await events.closing() : (await events.failure(1)).error;
    expect(error.cause).toBeInstanceOf(SignInRequired);
    expect(refusals).toHaveLength(1);
    expect(server.seen).toHaveLength(1);
  });

  test('a credential of the settings is sent as it is, whatever else there would be', async () => {
    const server = await guarded('Bearer new');
    const { credential, refusals } = held('Bearer new', signIn);
    const headers = { Authorization: 'Bearer mine' };
    const { channel, events } = openHttp(opener, server.origin + path, { credential, headers });
    channel.send(request(1, 'a'), 1);
    const error = path === '/sse' ? await events.closing() : (await events.failure(1)).error;
    expect(error.message).toContain('401');
    expect(refusals).toEqual([]);
    expect(server.seen.every((one) => one.headers.authorization === 'Bearer mine')).toBe(true);
  });
});

test('a second refusal says that it is the second', async () => {
  const server = await guarded('Bearer other');
  const { credential, refusals } = held('a', ({ again }) => (again ? new HubError('upstream_failed', 'enough') : 'b'));
  const { channel, events } = openHttp(openStreamableHttp, `${server.origin}/mcp`, { credential });
  channel.send(request(1, 'a'), 1);
  expect((await events.failure(1)).error.message).toBe('enough');
  expect(refusals.map(({ again }) => again)).toEqual([false, true]);
  expect(server.seen).toHaveLength(2);
});

test('while the credential is renewed requests wait; one that no caller waits for any more is not sent', async () => {
  const server = await guarded('Bearer new');
  const own = held('Bearer old', signIn);
  const { credential } = own;
  let release = (): void => undefined;
  own.holdUntil(new Promise<void>((resolve) => (release = resolve)), 'Bearer new');
  const { channel, events } = openHttp(openStreamableHttp, `${server.origin}/mcp`, { credential });
  for (const id of [1, 2, 3]) channel.send(request(id, 'a'), id);
  channel.abandon(2);
  release();
  await Promise.all([events.answer(1), events.answer(3)]);
  expect(server.seen.map(({ message, headers }) => [message.id, headers.authorization])).toEqual([
    [1, 'Bearer new'],
    [3, 'Bearer new'],
  ]);
});

test('an older server found by trying that asks for a sign-in is not taken for a wrong address', async () => {
  const server = await guarded('Bearer new');
  const { credential } = held(undefined, signIn);
  const { channel, events } = openHttp(openEither, `${server.origin}/sse`, { credential });
  channel.send(request(1, 'initialize'), 1);
  expect((await events.closing()).cause).toBeInstanceOf(SignInRequired);
});
