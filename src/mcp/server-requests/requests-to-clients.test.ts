import { expect, test } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import type { ServerRequestRefusal, ServerRequest } from '../../core/protocol/server-requests.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';
import type { Reply } from '../reply.ts';
import type { LiveSession } from '../sessions.ts';
import { createRequestsToClients } from './requests-to-clients.ts';

interface Ended {
  answers: string[];
  refusals: ServerRequestRefusal[];
  progress: string[];
}

function anAsk(paramsText?: string): ServerRequest & Ended {
  const ended: Ended = { answers: [], refusals: [], progress: [] };
  return {
    answers: ended.answers,
    refusals: ended.refusals,
    progress: ended.progress,
    server: 's',
    method: 'elicitation/create',
    params: {},
    paramsText,
    answer: (member, text) => void ended.answers.push(`${member} ${text}`),
    refuse: (refusal) => void ended.refusals.push(refusal),
    progressed: (params) => void ended.progress.push(params),
    withdrawn: undefined,
  };
}

/** A session with a stream, and a call's reply; both write down what they are given. */
function aSession(sid: string, { stream = true, abilities = 'fustr' } = {}) {
  const sent: { id?: string; method?: string; params?: { requestId?: string; _meta?: { progressToken?: string } } }[] =
    [];
  const take = (text: string): true => {
    sent.push(JSON.parse(text) as (typeof sent)[0]);
    return true;
  };
  const session = { facts: { sid, abilities }, send: (text: string) => stream && take(text) } as unknown as LiveSession;
  const reply = { ask: take } as unknown as Reply;
  return { sent, session, reply };
}

const response = (id: unknown, member: Partial<RpcMessage>): [RpcMessage, string] => {
  const message = { jsonrpc: '2.0', id, ...member };
  return [message, JSON.stringify(message)];
};

test('who does not answer in time is told so, and so is the server', async () => {
  const serverRequests = createRequestsToClients(10);
  const { sent, session, reply } = aSession('a');
  const ask = anAsk();
  serverRequests.put(ask, session, reply);
  await until('it is too late', () => ask.refusals.length > 0);
  expect(sent.map(({ method }) => method)).toEqual(['elicitation/create', 'notifications/cancelled']);
  expect(sent[1]?.params?.requestId).toBe(sent[0]?.id);
  serverRequests.answered('a', ...response(sent[0]?.id, { result: {} }));
  expect([ask.answers, ask.refusals.length, serverRequests.size]).toEqual([[], 1, 0]);
});

test('only the session that was asked can answer, and once', () => {
  const serverRequests = createRequestsToClients();
  const { sent, session, reply } = aSession('a');
  const ask = anAsk();
  serverRequests.put(ask, session, reply);
  const id = sent[0]?.id;
  serverRequests.answered('b', ...response(id, { result: { from: 'b' } }));
  serverRequests.answered('a', ...response(5, { result: {} }));
  serverRequests.answered('a', ...response(id, { result: { from: 'a' } }));
  serverRequests.answered('a', ...response(id, { error: { code: 1, message: 'again' } }));
  expect(ask.answers).toEqual(['result {"from":"a"}']);
  expect(serverRequests.size).toBe(0);
});

test('a session that has as many questions as a person answers gets no more', () => {
  const serverRequests = createRequestsToClients();
  const { sent, session, reply } = aSession('a');
  for (let i = 0; i < mcpLimits.serverRequestsPerSession; i++) serverRequests.put(anAsk(), session, reply);
  const last = anAsk();
  serverRequests.put(last, session, reply);
  expect(last.refusals[0]?.message).toContain('Too many');
  const other = anAsk();
  serverRequests.put(other, aSession('b').session, aSession('b').reply);
  expect([other.refusals, sent.length]).toEqual([[], mcpLimits.serverRequestsPerSession]);
  for (const { id } of sent) serverRequests.answered('a', ...response(id, { result: {} }));
  serverRequests.put(anAsk(), session, reply);
  expect(sent).toHaveLength(mcpLimits.serverRequestsPerSession + 1);
});

test('where there is no stream, nothing is left waiting', () => {
  const serverRequests = createRequestsToClients();
  const ask = anAsk();
  serverRequests.put(ask, aSession('a', { stream: false }).session, undefined);
  expect([ask.refusals[0]?.message, serverRequests.size]).toEqual([
    'The client has no stream open on which it could be asked.',
    0,
  ]);
});

test('each question has a progress token of its own, which leads back to the server’s, written as it was', () => {
  const serverRequests = createRequestsToClients();
  const { sent, session, reply } = aSession('a');
  const [first, second] = [anAsk('{"_meta":{"progressToken":1e3}}'), anAsk('{"_meta":{"progressToken":1e3}}')];
  serverRequests.put(first, session, reply);
  serverRequests.put(second, session, reply);
  const token = sent[1]?.params?._meta?.progressToken;
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } };
  serverRequests.progressed('a', progress, JSON.stringify(progress));
  serverRequests.progressed('b', progress, JSON.stringify(progress));
  expect([first.progress, second.progress]).toEqual([[], ['{"progressToken":1e3,"progress":1}']]);
});
