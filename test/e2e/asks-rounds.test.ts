import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { askable, begin, filled, reply } from '../kit/asking.ts';
import { httpFixture, stdioFixture } from '../kit/conformance-fixture.ts';
import type { AnyResult, RawAnswer } from '../kit/raw.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Servers of 2026-07-28 ask by their answers. To a client of the same revision that passes through, but the state it
// carries is its own; for one of the session era the hub runs the rounds.

let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { pipe: stdioFixture('new'), http: { url: await httpFixture('new') } },
    bearerKeys: ['a', 'b'].map((letter) => ({
      id: letter,
      name: letter,
      token: `mcphub_${letter.repeat(64)}`,
      accessType: 'all',
      enabled: true,
    })),
  });
  await hub.connected(2);
});

const tool = 'test_input_required_result_request_state';
const meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable });
const key = (letter: string) => ({ authorization: `Bearer mcphub_${letter.repeat(64)}` });
const textOf = ({ result }: { result?: AnyResult | undefined }): string => result?.content?.[0]?.text ?? '';

const call = (server: string, name: string, again: Record<string, unknown> = {}, letter = 'a') =>
  modern(hub.mcp(server), 'tools/call', { name, arguments: {}, ...again }, { meta, headers: key(letter) });

describe.each(['pipe', 'http'])('a server over %s', (server) => {
  const confirm = { confirm: { action: 'accept', content: { ok: true } } };

  test('has its state brought back by whom it was given, for what it was given, and by no other client', async () => {
    const { result } = await call(server, tool);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { confirm: { method: 'elicitation/create' } },
    });
    const requestState = String(result?.['requestState']);
    const again = { inputResponses: confirm, requestState };
    const refused: [string, RawAnswer][] = [
      ['another key', await call(server, tool, again, 'b')],
      ['another tool', await call(server, 'test_input_required_result_tampered_state', again)],
      ['another server', await call(server === 'pipe' ? 'http' : 'pipe', tool, again)],
      ['another text', await call(server, tool, { ...again, requestState: `${requestState}A` })],
      ['no text at all', await call(server, tool, { ...again, requestState: null })],
    ];
    for (const [who, { status, error }] of refused) {
      expect({ who, status, code: error?.code }).toEqual({ who, status: 400, code: -32602 });
      expect(error?.message, who).toContain('params.requestState is not valid');
    }
    expect(textOf(await call(server, tool, again))).toContain('state-ok');
  });

  test('may answer with rounds of which only the last one counts', async () => {
    const name = 'test_input_required_result_multi_round';
    const first = (await call(server, name)).result ?? {};
    const step1 = { step1: filled('x').result };
    const second = await call(server, name, { inputResponses: step1, requestState: first['requestState'] });
    expect(second.result).toMatchObject({ resultType: 'input_required', inputRequests: { step2: {} } });
    expect(second.result?.['requestState']).not.toBe(first['requestState']);
  });

  test('asks a client with a session by requests, whatever that client makes up about earlier rounds', async () => {
    const own = await session(hub.mcp(server), { capabilities: askable });
    const events = await own.begin(
      'tools/call',
      { name: tool, arguments: {}, inputResponses: confirm, requestState: 'made up' },
      { id: 'call' },
    );
    const asked = await events.message('it is asked', ({ method }) => method === 'elicitation/create');
    await reply(hub.mcp(server), own, asked.id, { result: confirm.confirm });
    const answer = await events.message('the answer', ({ id }) => id === 'call');
    expect(textOf(answer)).toContain('state-ok');
  });

  test('hears no more of a call that its client cancels while it is asked', async () => {
    const own = await session(hub.mcp(server), { capabilities: askable });
    const asked = await begin(own, tool, {}, 'to cancel');
    const { id } = await asked.asked();
    await own.notify('notifications/cancelled', { requestId: 'to cancel' });
    const cancelled = await asked.stream.message(
      'it is taken back',
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancelled.params?.['requestId']).toBe(id);
    const answer = await asked.stream.message('the end of the call', (message) => message.id === 'to cancel');
    expect(answer.error?.message).toContain('cancelled');
  });

  test('is refused an answer by a client that gives an error, and the call says so', async () => {
    const own = await session(hub.mcp(server), { capabilities: askable });
    const call = await begin(own, 'test_sampling', { prompt: 'x' });
    await reply(hub.mcp(server), own, (await call.asked()).id, { error: { code: -1, message: 'User rejected it' } });
    const { error } = await call.stream.message('the answer', ({ id }) => id === 'call');
    expect(error?.message).toContain('User rejected it');
  });
});

test('a yes lets each later round of its call pass once: a round that is sent again is asked about again', async () => {
  const name = 'test_input_required_result_multi_round';
  const token = await login(hub);
  const text = `@approve("admin") forbid(principal, action, resource == Tool::"http/${name}");`;
  const put = (policies: unknown) => api(hub, 'PUT', '/system-config', { token, body: { policies } });
  expect((await put([{ id: 'ask', text }])).status).toBe(200);
  const waiting = async () => (await api(hub, 'GET', '/approvals/waiting', { token })).text;
  const decide = async (decision: string) => {
    const id = await until('it is asked', async () => /"id":"([^"]+)"/.exec(await waiting())?.[1]);
    await api(hub, 'POST', `/approvals/${id}`, { token, body: { decision } });
  };
  const begun = call('http', name);
  await decide('approve');
  const first = (await begun).result ?? {};
  const round1 = { inputResponses: { step1: filled('x').result }, requestState: first['requestState'] };
  // A round that a guard refuses was not sent.
  const guard = (guards: unknown) => api(hub, 'PUT', '/system-config', { token, body: { guards } });
  expect((await guard([{ id: 'away', url: 'http://127.0.0.1:1/', on: ['call'] }])).status).toBe(200);
  expect((await call('http', name, round1)).error).toMatchObject({ data: { reason: 'guard' } });
  await guard(null);
  const second = (await call('http', name, round1)).result ?? {};
  expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { step2: {} } });
  const again = call('http', name, round1);
  await decide('deny');
  expect((await again).error).toMatchObject({ code: -32001, data: { reason: 'approval' } });
  const round2 = { inputResponses: { step2: filled('y').result }, requestState: second['requestState'] };
  expect((await call('http', name, round2)).result).toMatchObject({ resultType: 'complete' });
  expect((await put(null)).status).toBe(200);
});

test('rounds of a call are one call for limits; sent again, or with other arguments, they are more', async () => {
  const name = 'test_input_required_result_multi_round';
  const token = await login(hub);
  const limit = async (limits: object | null) =>
    expect((await api(hub, 'PUT', '/auth/keys/b', { token, body: { limits } })).status).toBe(200);
  const asked = (again: Record<string, unknown>) => call('http', name, again, 'b');
  const stateOf = ({ result }: RawAnswer) => ({ requestState: result?.['requestState'] });
  await limit({ callsPerDay: 2 });
  const round1 = { inputResponses: { step1: filled('x').result }, ...stateOf(await asked({})) };
  const round2 = { inputResponses: { step2: filled('y').result }, ...stateOf(await asked(round1)) };
  expect((await asked(round2)).result).toMatchObject({ resultType: 'complete' });
  expect((await asked(round2)).result).toMatchObject({ resultType: 'complete' });
  expect((await asked(round1)).error).toMatchObject({ code: -32005 });
  // A server that keeps no state is brought back one of the hub's, and gets none.
  await limit({ callsPerDay: 3 });
  const plain = await call('http', 'test_input_required_result_elicitation', {}, 'b');
  const [name1 = ''] = Object.keys(plain.result?.['inputRequests'] ?? {});
  const answer = { inputResponses: { [name1]: filled('x').result }, ...stateOf(plain) };
  const answered = await call('http', 'test_input_required_result_elicitation', answer, 'b');
  expect(answered.result).toMatchObject({ resultType: 'complete' });
  await limit(null);
  await limit({ callsPerDay: 5 });
  const other = { inputResponses: { step1: filled('x').result }, ...stateOf(await asked({})) };
  const changed = await asked({ ...other, arguments: { more: true } });
  expect(changed.result).toMatchObject({ resultType: 'input_required' });
  expect((await asked({})).error).toMatchObject({ code: -32005 });
  await limit(null);
});
