import { describe, expect, test } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import { beginRound, type RoundOutcome } from './round.ts';

/** A round of these requests, whose questions are recorded. */
function round(result: unknown) {
  const put: ServerRequest[] = [];
  const outcomes: RoundOutcome[] = [];
  const withdrawn: string[] = [];
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  const own = beginRound(text, {
    server: 's',
    put(ask) {
      ask.withdrawn = (reason) => withdrawn.push(reason);
      put.push(ask);
    },
    done: (outcome) => outcomes.push(outcome),
  });
  return { put, outcomes, withdrawn, round: own };
}

const form = { method: 'elicitation/create', params: { message: 'm', requestedSchema: {} } };
const roots = { method: 'roots/list' };

test('all answers go back together, each under its key and as it was written', () => {
  const own = round(
    '{"inputRequests":{"a b":{"method":"roots/list"},"c\\"":{"method":"sampling/createMessage","params":{"n":1.0}}},"requestState":"s\\u0041"}',
  );
  expect(own.put.map(({ method, paramsText }) => [method, paramsText])).toEqual([
    ['roots/list', undefined],
    ['sampling/createMessage', '{"n":1.0}'],
  ]);
  own.put[1]?.answer('result', '{"x":2.50}');
  expect(own.outcomes).toEqual([]);
  own.put[0]?.answer('result', '{"roots":[]}');
  own.put[0]?.answer('result', '{"roots":["again"]}');
  const edits = { inputResponses: '{"c\\"":{"x":2.50},"a b":{"roots":[]}}', requestState: '"s\\u0041"' };
  expect(own.outcomes).toEqual([{ kind: 'again', edits }]);
});

test('a question by address is given the id that clients of the session era expect', () => {
  const own = round({
    inputRequests: { a: { method: 'elicitation/create', params: { mode: 'url', url: 'https://x', message: 'm' } } },
  });
  const [ask] = own.put;
  expect(ask?.params['elicitationId']).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.parse(ask?.paramsText ?? '{}')).toEqual(ask?.params);
});

describe('a round fails', () => {
  test.each([
    [
      'is answered with an error',
      (ask: ServerRequest) => ask.answer('error', '{"code":-1,"message":"no"}'),
      'error: no',
    ],
    ['cannot be put', (ask: ServerRequest) => ask.refuse({ code: 1, message: 'not able' }), 'not able'],
  ])('when one question %s; the others are taken back', (_, end, why) => {
    const own = round({ inputRequests: { a: form, b: roots } });
    const [first, second] = own.put;
    if (second) end(second);
    first?.answer('result', '{}');
    expect(own.outcomes).toEqual([{ kind: 'failed', why: expect.stringContaining(why) as string }]);
    expect(own.withdrawn).toContain('another question was not answered');
  });

  test('when the server asks for what there is not, before a client is asked', () => {
    const own = round({ inputRequests: { a: form, b: { method: 'weather/get' } } });
    expect(own.put).toEqual([]);
    expect(own.outcomes.map(({ kind }) => kind)).toEqual(['failed']);
  });

  test('when the server says neither what it wants nor what to come back with', () => {
    expect(round({ resultType: 'input_required' }).outcomes.map(({ kind }) => kind)).toEqual(['failed']);
  });
});

test('a server that only wants to be asked again is, with its state and no answers', async () => {
  const own = round({ requestState: 'busy' });
  expect(own.outcomes).toEqual([]);
  await until('it is time', () => own.outcomes.length > 0);
  expect(own.outcomes).toEqual([{ kind: 'again', edits: { inputResponses: null, requestState: '"busy"' } }]);
});

test('a round that is withdrawn ends in nothing', () => {
  const own = round({ inputRequests: { a: form } });
  own.round.withdraw('cancelled');
  own.put[0]?.answer('result', '{}');
  expect([own.withdrawn, own.outcomes]).toEqual([['cancelled'], []]);
});
