import { describe, expect, test } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import type { ServerRequestRefusal, ServerRequest } from '../../core/protocol/server-requests.ts';
import { InFlight, type LiveSession } from '../sessions.ts';
import { requestBetweenCalls } from './server-requests.ts';
import { createRequestsToClients } from './requests-to-clients.ts';
import { createElicitations } from './elicitations.ts';

function anAsk() {
  const refusals: ServerRequestRefusal[] = [];
  const ask: ServerRequest = {
    server: 's',
    method: 'roots/list',
    params: {},
    paramsText: undefined,
    answer: () => undefined,
    refuse: (refusal) => void refusals.push(refusal),
    progressed: () => undefined,
    withdrawn: undefined,
  };
  return { ask, refusals };
}

function aSession() {
  const sent: string[] = [];
  const streams = new Set<object>();
  const session = {
    facts: { sid: 'a', abilities: 'r' },
    streams,
    inFlight: new InFlight(),
    away: undefined,
    send: (text: string) => streams.size > 0 && sent.push(text) > 0,
  } as unknown as LiveSession;
  return { session, streams, sent };
}

describe('a question in the middle of no call', () => {
  const serverRequests = { clients: createRequestsToClients(), elicitations: createElicitations() };

  test('waits for the client to open a stream', async () => {
    const { session, streams, sent } = aSession();
    const { ask, refusals } = anAsk();
    let found: LiveSession | undefined;
    requestBetweenCalls(() => found, ask, serverRequests, 60_000);
    found = session;
    expect(sent).toEqual([]);
    streams.add({});
    await until('it is put', () => sent.length === 1);
    expect([JSON.parse(sent[0] ?? '{}').method, refusals]).toEqual(['roots/list', []]);
  });

  test('is refused when none is opened in time', async () => {
    const { session } = aSession();
    const { ask, refusals } = anAsk();
    requestBetweenCalls(() => session, ask, serverRequests, 0);
    await until('it is refused', () => refusals.length === 1);
  });

  test('is not put any more once its server has taken it back', async () => {
    const { session, streams, sent } = aSession();
    const [first, second] = [anAsk(), anAsk()];
    requestBetweenCalls(() => session, first.ask, serverRequests, 60_000);
    requestBetweenCalls(() => session, second.ask, serverRequests, 60_000);
    first.ask.withdrawn?.('not needed');
    streams.add({});
    await until('the other is put', () => sent.length > 0);
    expect([sent.length, first.refusals]).toEqual([1, []]);
  });
});
