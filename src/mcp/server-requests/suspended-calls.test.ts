import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import type { ServerRequestMethod, ServerRequest } from '../../core/protocol/server-requests.ts';
import { anonymous, type Principal } from '../../core/access/principal.ts';
import { createSealer } from '../../core/seal.ts';
import type { ClientRequest } from '../request.ts';
import { createSuspendedCalls, type SuspendableCall, type SuspendedCallLimits } from './suspended-calls.ts';
import { createRequestStates, type StateContent } from './request-state.ts';

const target = { server: 's', key: 't' };
const scope = { kind: 'all' } as const;
const states = createRequestStates(createSealer(randomBytes(32), 'state'));

function request(params: Record<string, unknown> = {}, principal: Principal = anonymous): ClientRequest {
  const text = JSON.stringify({ name: 't', ...params });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: JSON.parse(text) as unknown };
  return { principal, scope, method: 'tools/call', message, params: text } as ClientRequest;
}

interface Round {
  inputRequests: Record<string, { method: string; params?: unknown }>;
  requestState: string;
}

const unchecked = (): void => undefined;

/** A call that writes down what becomes of it. */
function aCall(own = request()) {
  const rounds: Round[] = [];
  const cancelled: string[] = [];
  const resumed: ClientRequest[] = [];
  let now = own;
  const call: SuspendableCall = {
    get request() {
      return now;
    },
    target,
    needsYes: undefined,
    suspend: (result) => void rounds.push(JSON.parse(result) as Round),
    resume(next) {
      now = next;
      resumed.push(next);
    },
    cancel: (reason) => void cancelled.push(reason),
  };
  return { call, rounds, cancelled, resumed };
}

function anAsk(method: ServerRequestMethod = 'elicitation/create', params?: Record<string, unknown>) {
  const answers: string[] = [];
  const ask: ServerRequest = {
    server: 's',
    method,
    params: params ?? {},
    paramsText: params && JSON.stringify(params),
    answer: (_, text) => void answers.push(text),
    refuse: () => undefined,
    progressed: () => undefined,
    withdrawn: undefined,
  };
  return { ask, answers };
}

function suspendedCalls(bounds: Partial<SuspendedCallLimits> = {}) {
  return createSuspendedCalls(states, {
    total: 3,
    perPrincipal: 2,
    chars: 1_000,
    awayMs: 60_000,
    gatherMs: 1,
    ...bounds,
  });
}

const stateOf = ({ requestState }: Round): StateContent & { kind: 'parked' } => {
  const content = states.open(requestState, request(), target);
  if (content.kind !== 'parked') throw new Error('not the state of a parked call');
  return content;
};

test('a client that does not come back has its call cancelled, and its state is worth nothing', async () => {
  const all = suspendedCalls({ awayMs: 5 });
  const { call, rounds, cancelled } = aCall();
  all.open(call)?.add(anAsk().ask);
  await until('it is over', () => cancelled.length > 0);
  expect(cancelled).toEqual(['the client did not come back with its answers']);
  expect(all.size).toBe(0);
  const [first] = rounds;
  const lasting = { kind: 'parked', id: 'gone', use: 'any' } as const;
  expect(first?.inputRequests).toEqual({ 'elicitation-1': { method: 'elicitation/create' } });
  expect(() => all.resume(lasting, request(), unchecked)).toThrow('not valid');
});

test('so many calls may wait, of one caller and of all', () => {
  const all = suspendedCalls();
  const by = (username: string) => all.open(aCall(request({}, { kind: 'user', username })).call);
  expect([by('ann'), by('ann')].every(Boolean)).toBe(true);
  expect(by('ann')).toBeUndefined();
  const third = by('bob');
  expect(third).toBeDefined();
  expect(by('cy')).toBeUndefined();
  third?.over(() => undefined);
  expect(by('cy')).toBeDefined();
});

test('what waiting calls hold together is bounded', () => {
  const all = suspendedCalls();
  expect(all.open(aCall(request({ arguments: 'x'.repeat(900) })).call)).toBeDefined();
  expect(all.open(aCall(request({ arguments: 'x'.repeat(90) })).call)).toBeUndefined();
  expect(all.open(aCall(request({ arguments: 'x' })).call)).toBeDefined();
});

test('a call that ends while its client is away tells it when it is back, or no client', async () => {
  const all = suspendedCalls();
  const { call, rounds, resumed } = aCall();
  const suspended = all.open(call);
  suspended?.add(anAsk().ask);
  const [first] = await until('it is asked', () => rounds.length > 0 && rounds);
  const told: string[] = [];
  suspended?.over(() => told.push('the end'));
  expect([told, all.size]).toEqual([[], 1]);
  all.resume(stateOf(first as Round), request(), unchecked);
  expect([told, resumed.length, all.size]).toEqual([['the end'], 1, 0]);
});

test('a call that ends while its client waits tells it at once, and asks nothing more', async () => {
  const all = suspendedCalls();
  const { call, rounds } = aCall();
  const suspended = all.open(call);
  suspended?.add(anAsk().ask);
  const told: string[] = [];
  suspended?.over(() => told.push('the end'));
  expect([told, all.size]).toEqual([['the end'], 0]);
  const other = aCall();
  all.open(other.call)?.add(anAsk().ask);
  await until('another one is asked', () => other.rounds.length > 0);
  expect(rounds).toEqual([]);
});

test('a question that is taken back is not asked; one that comes while the client is away is asked next', async () => {
  const all = suspendedCalls();
  const { call, rounds } = aCall();
  const suspended = all.open(call);
  const [kept, back, later] = [anAsk(), anAsk(), anAsk('roots/list')];
  suspended?.add(kept.ask);
  suspended?.add(back.ask);
  back.ask.withdrawn?.('changed');
  const first = await until('it is asked', () => rounds[0]);
  expect(Object.keys(first.inputRequests)).toEqual(['elicitation-1']);
  suspended?.add(later.ask);
  all.resume(
    stateOf(first),
    request({ inputResponses: { 'elicitation-1': { n: 1 }, 'roots-3': { early: true } } }),
    unchecked,
  );
  expect([kept.answers, back.answers]).toEqual([['{"n":1}'], []]);
  const second = await until('the other one is asked', () => rounds[1]);
  expect([Object.keys(second.inputRequests), later.answers]).toEqual([['roots-3'], []]);
  all.resume(stateOf(second), request({ inputResponses: { 'roots-3': { seen: true } } }), unchecked);
  expect(later.answers).toEqual(['{"seen":true}']);
  expect(() => all.resume(stateOf(first), request(), unchecked)).toThrow('not valid');
});

test('what the client cannot be asked is refused when it has answered the rest, or at once where there is no rest', async () => {
  const all = suspendedCalls();
  const { call, rounds } = aCall();
  const suspended = all.open(call);
  const refusals: string[] = [];
  const unable = (name: string) => ({ ...anAsk().ask, refuse: () => void refusals.push(name) });
  const refusal = { code: -32601, message: 'no' };
  suspended?.addUnable(unable('alone'), refusal);
  await until('it is refused', () => refusals.length > 0);
  const able = anAsk();
  suspended?.addUnable(unable('with another'), refusal);
  suspended?.add(able.ask);
  const first = await until('the other one is asked', () => rounds[0]);
  expect([Object.keys(first.inputRequests), refusals]).toEqual([['elicitation-1'], ['alone']]);
  all.resume(stateOf(first), request({ inputResponses: { 'elicitation-1': { n: 1 } } }), unchecked);
  expect([able.answers, refusals]).toEqual([['{"n":1}'], ['alone', 'with another']]);
});

test('what the client cannot be asked is refused when its call is over, and not once the server has taken it back', async () => {
  const refusals: string[] = [];
  const unable = (name: string) => ({ ...anAsk().ask, refuse: () => void refusals.push(name) });
  const refusal = { code: -32601, message: 'no' };
  const here = suspendedCalls().open(aCall().call);
  here?.addUnable(unable('here'), refusal);
  const back = unable('taken back');
  here?.addUnable(back, refusal);
  back.withdrawn?.('changed');
  here?.over(() => undefined);
  expect(refusals).toEqual(['here']);

  const { call, rounds, cancelled } = aCall();
  const away = suspendedCalls({ awayMs: 5 }).open(call);
  away?.addUnable(unable('away'), refusal);
  away?.add(anAsk().ask);
  await until('it is over', () => cancelled.length > 0);
  expect([rounds.length, refusals]).toEqual([1, ['here', 'away']]);
});

test('a question goes out without what only a request of its own can have', async () => {
  const all = suspendedCalls();
  const { call, rounds } = aCall();
  const params = { mode: 'url', url: 'https://x', elicitationId: 'e', _meta: { progressToken: 1, kept: true } };
  all.open(call)?.add(anAsk('elicitation/create', params).ask);
  const { inputRequests } = await until('it is asked', () => rounds[0]);
  expect(inputRequests['elicitation-1']?.params).toEqual({ mode: 'url', url: 'https://x', _meta: { kept: true } });
});
