import { beforeAll, describe, expect, test } from 'vitest';
import {
  askable,
  askingHttp,
  askingStdio,
  begin,
  filled,
  questionsIn,
  reply,
  type Told,
  toldBy,
} from '../kit/asking.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// A question of a server on its way to a client with a session, and back. Every server here is asked by one client at a
// time, so that there is no doubt whose calls they are.

let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      pipe: askingStdio(),
      hasty: { ...askingStdio(), options: { timeout: 1_500 } },
      http: await askingHttp(),
    },
    groups: [{ name: 'both', servers: ['pipe', 'http'] }],
  });
  await hub.connected(3);
});

const url = (server: string) => hub.mcp(server);
const client = (server: string, capabilities: Record<string, unknown> = askable) =>
  session(url(server), { capabilities });

describe.each(['pipe', 'http'])('a server over %s', (server) => {
  test('gets the answer of the client, be it a result or an error', async () => {
    const own = await client(server);
    const declined = await begin(own, 'form', { label: 'no?' });
    await reply(url(server), own, (await declined.asked()).id, { result: { action: 'decline' } });
    expect((await declined.told()).result).toEqual({ action: 'decline' });
    const failed = await begin(own, 'sampling', { label: 'think' });
    const { id, method, params } = await failed.asked();
    expect({ method, maxTokens: params?.['maxTokens'] }).toEqual({ method: 'sampling/createMessage', maxTokens: 9 });
    await reply(url(server), own, id, { error: { code: -1, message: 'User rejected', data: { why: 'no' } } });
    expect((await failed.told()).error).toEqual({ code: -1, message: 'User rejected', data: { why: 'no' } });
  });

  test('may ask several things at once, and one after the other', async () => {
    const own = await client(server);
    const both = await begin(own, 'both', { label: 'two' });
    const asked = [await both.asked(0), await both.asked(1)];
    expect(new Set(asked.map(({ method }) => method))).toEqual(
      new Set(['elicitation/create', 'sampling/createMessage']),
    );
    for (const { id, method } of asked.toReversed()) await reply(url(server), own, id, { result: { to: method } });
    expect((await both.told<Told[]>()).map(({ result }) => result)).toEqual([
      { to: 'elicitation/create' },
      { to: 'sampling/createMessage' },
    ]);
    const twice = await begin(own, 'twice', { label: 'round' });
    await reply(url(server), own, (await twice.asked(0)).id, filled('1'));
    await reply(url(server), own, (await twice.asked(1)).id, filled('2'));
    expect((await twice.told<Told[]>()).map(({ result }) => result)).toEqual([filled('1').result, filled('2').result]);
  });

  test('hears at once what its client cannot be asked', async () => {
    const none = await session(url(server));
    const refusal = async (own: typeof none, tool: string, args = {}) =>
      (toldBy((await own.call(tool, { label: 'x', ...args })).result) as Told).error;
    expect(await refusal(none, 'form')).toMatchObject({ code: -32601 });
    expect(await refusal(none, 'sampling')).toMatchObject({ code: -32601 });
    expect(await refusal(none, 'roots')).toMatchObject({ code: -32601 });
    const some = await client(server, { elicitation: {}, sampling: {} });
    expect(await refusal(some, 'address')).toMatchObject({ code: -32602 });
    expect(await refusal(some, 'sampling', { withTools: true })).toMatchObject({ code: -32602 });
    expect(await refusal(some, 'unknown')).toMatchObject({ code: -32601 });
    expect(toldBy((await some.call('ping')).result)).toMatchObject({ result: {} });
  });

  test('hears that its call is cancelled, and the client that its answer is not needed', async () => {
    const own = await client(server);
    const call = await begin(own, 'patient', { label: `of ${server}` }, 'to cancel');
    const { id } = await call.asked();
    await own.notify('notifications/cancelled', { requestId: 'to cancel', reason: 'enough' });
    const cancelled = await call.stream.message(
      'the question is taken back',
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancelled.params?.['requestId']).toBe(id);
    expect((await reply(url(server), own, id, filled('too late'))).status).toBe(202);
    await until('the server heard', async () =>
      JSON.stringify(toldBy((await own.call('remembered')).result)).includes(`cancelled of ${server}`),
    );
  });

  test('may take a question back', async () => {
    const own = await client(server);
    const call = await begin(own, 'undecided', { label: 'forget it' });
    const { id } = await call.asked();
    const cancelled = await call.stream.message(
      'it is taken back',
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancelled.params).toEqual({ requestId: id, reason: 'changed my mind' });
    expect(await call.told()).toBe('taken back');
  });

  test('that answers the call before the client has answered it ends both', async () => {
    const own = await client(server);
    const call = await begin(own, 'impatient', { label: 'hurry' });
    expect(await call.told()).toBe('never mind');
    const [asked] = questionsIn(call.stream);
    const cancelled = call.stream.messages.find(({ method }) => method === 'notifications/cancelled');
    expect(cancelled?.params?.['requestId']).toBe(asked?.id);
    expect(call.stream.messages.at(-1)?.id).toBe('call');
  });

  test('hears of the progress that the client makes with its question', async () => {
    const own = await client(server);
    const call = await begin(own, 'progress', { label: 'slowly' });
    const { id, params } = await call.asked();
    const token = (params?.['_meta'] as { progressToken: string } | undefined)?.progressToken;
    expect(token).not.toBe(77);
    const other = await client(server);
    await other.notify('notifications/progress', { progressToken: token, progress: 99 });
    await own.notify('notifications/progress', { progressToken: token, progress: 1 });
    await own.notify('notifications/progress', { progressToken: 77, progress: 98 });
    await reply(url(server), own, id, filled('done'));
    expect((await call.told()).heard).toEqual([1]);
  });

  test('and its client understand each other digit by digit', async () => {
    const own = await client(server);
    const call = await begin(own, 'exact');
    const { id } = await call.asked();
    const question = call.stream.events.find(({ data }) => data.includes('elicitation/create'))?.data;
    expect(question).toContain('"n":1.50,"big":12345678901234567890');
    const body = `{ "jsonrpc": "2.0",\n "id": ${JSON.stringify(id)}, "result": {"action":"accept",\n"content":{"n":0.10,"big":9876543210987654321}}}`;
    await raw(url(server), { headers: own.headers, body });
    const { text } = await call.told();
    expect(text).toContain('"id":98765432109876543210');
    expect(text).toContain('{"n":0.10,"big":9876543210987654321}');
  });
});

test('a person may take longer than a server may', async () => {
  const own = await client('hasty');
  const call = await begin(own, 'form', { label: 'take your time' }, 'slow person');
  const { id } = await call.asked();
  // A call that nothing holds up, begun later, is over its time before the question is answered.
  const late = await own.call('deaf', {}, { id: 'slow server' });
  expect(late.error?.message).toContain('did not answer within');
  expect(call.stream.ended()).toBe(false);
  await reply(url('hasty'), own, id, filled('at last'));
  expect((await call.told()).result).toEqual(filled('at last').result);
});

test('a client that takes no stream with its call is asked on the one it has open, or not at all', async () => {
  const own = await client('pipe');
  const headers = { accept: 'application/json' };
  const refused = await own.call('form', { label: 'where?' }, { headers });
  expect((toldBy(refused.result) as Told).error?.message).toContain('no stream');
  const listening = await own.listen();
  const call = own.call('form', { label: 'here' }, { headers });
  const { id } = await until('it is asked', () => questionsIn(listening)[0]);
  await reply(url('pipe'), own, id, filled('there'));
  expect((toldBy((await call).result) as Told).result).toEqual(filled('there').result);
});

test('a client that leaves its call answers nothing more', async () => {
  const own = await client('http', askable);
  const older = await session(url('http'), { capabilities: askable, protocolVersion: '2025-06-18' });
  const call = await stream(url('http'), {
    method: 'POST',
    headers: older.headers,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'patient', arguments: { label: 'of who left' } },
    },
  });
  await until('it is asked', () => questionsIn(call)[0]);
  await older.end();
  call.close();
  await until('the server heard', async () =>
    JSON.stringify(toldBy((await own.call('remembered')).result)).includes('cancelled of who left'),
  );
});

test('a client of legacy SSE is asked on its stream', async () => {
  const own = await legacySession(hub.sse('pipe'), { capabilities: askable });
  const answer = own.request('tools/call', { name: 'form', arguments: { label: 'old' } });
  const { id } = await until('it is asked', () => questionsIn(own.stream)[0]);
  expect((await own.post({ jsonrpc: '2.0', id, ...filled('old word') })).status).toBe(202);
  expect((toldBy((await answer).result) as Told).result).toEqual(filled('old word').result);
});

test.each([
  ['a group', 'both', 'http-form', {}],
  ['smart routing', '$smart', 'call_tool', { toolName: 'http-form' }],
])('calls through %s ask like any other', async (_, scope, tool, wrapper) => {
  const own = await client(scope);
  const args = { label: 'through' };
  const call = await begin(own, tool, 'toolName' in wrapper ? { ...wrapper, arguments: args } : args);
  await reply(url(scope), own, (await call.asked()).id, filled('round'));
  expect((await call.told()).result).toEqual(filled('round').result);
});

test('who is no client, or has no session, is not asked, and the server is told at once', async () => {
  const bare = await rpc(url('http'), 'tools/call', { name: 'form', arguments: { label: 'bare' } });
  expect((toldBy(bare.result) as Told).error?.code).toBe(-32601);
  const rest = await within(
    'the call over REST',
    raw(`${hub.url}/api/tools/http/form`, { body: { label: 'rest' }, headers: { accept: 'application/json' } }),
  );
  expect(rest.status).toBe(200);
  expect((toldBy(JSON.parse(rest.text)) as Told).error?.code).toBe(-32601);
});

test('the end of an elicitation by address is told once, to whom was sent there and to no other client', async () => {
  const [own, other] = await Promise.all([client('http'), client('http')]);
  const [heard, unheard] = await Promise.all([own.listen(), other.listen()]);
  const call = await begin(own, 'address', { label: 'mine' });
  const { id, params } = await call.asked();
  expect(params).toMatchObject({ mode: 'url', elicitationId: 'e-mine' });
  await reply(url('http'), own, id, { result: { action: 'accept' } });
  await call.told();
  const refused = await other.call('signIn', { label: 'theirs' });
  expect(refused.error).toMatchObject({ code: -32042, data: { elicitations: [{ elicitationId: 'e-theirs' }] } });
  await own.call('finish', { label: 'mine' });
  await own.call('finish', { label: 'mine' });
  await other.call('finish', { label: 'theirs' });
  await own.call('finish', { label: 'unknown' });
  const done = 'notifications/elicitation/complete';
  await heard.message('the end of its own', ({ method }) => method === done);
  await unheard.message('the end of the other', ({ method }) => method === done);
  const ends = (events: typeof heard) => events.messages.map(({ params }) => params?.['elicitationId']);
  expect([ends(heard), ends(unheard)]).toEqual([['e-mine'], ['e-theirs']]);
});

test('a client of 2025-03-26 may answer in a batch', async () => {
  const own = await session(url('http'), { capabilities: askable, protocolVersion: '2025-03-26' });
  const call = await begin(own, 'both', { label: 'batch' });
  const ids = [(await call.asked(0)).id, (await call.asked(1)).id];
  const body = ids.map((id) => ({ jsonrpc: '2.0', id, result: { batched: true } }));
  expect((await raw(url('http'), { headers: own.headers, body })).status).toBe(202);
  expect((await call.told<Told[]>()).map(({ result }) => result)).toEqual([{ batched: true }, { batched: true }]);
});
