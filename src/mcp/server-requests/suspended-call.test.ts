import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { clientParts, connectionsBy, noRecords } from '../../../test/kit/client-parts.ts';
import { catalogue, offer, server, settings } from '../../../test/kit/snapshots.ts';
import { modernMeta } from '../../../test/kit/sessions.ts';
import { until } from '../../../test/kit/until.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import { HubError } from '../../core/errors.ts';
import { anonymous } from '../../core/access/principal.ts';
import { createSealer } from '../../core/seal.ts';
import { view as viewOf } from '../../core/access/view.ts';
import { relay } from '../relay/relay.ts';
import type { FinishedCall } from '../records.ts';
import type { RelayConnection } from '../relay/options.ts';
import type { ClientRequest } from '../request.ts';
import { createServerRequests } from './server-requests.ts';

// A whole call of a stateless client, where the test itself plays the server, for what takes minutes with a real one.

type Exchange = Parameters<RelayConnection['send']>[3];

function hub(bounds: { awayMs?: number; perPrincipal?: number } = {}) {
  const serverRequests = createServerRequests(createSealer(randomBytes(32), 'test'), {
    total: 10,
    perPrincipal: 10,
    chars: 10_000,
    awayMs: 60_000,
    gatherMs: 1,
    ...bounds,
  });
  const sent: Exchange[] = [];
  const cancelled: string[] = [];
  const finished: FinishedCall[] = [];
  const connection: RelayConnection = {
    status: { kind: 'connected' },
    offer: { about: { protocolVersion: '2025-11-25' } },
    available: async () => undefined,
    takeId: () => sent.length + 1,
    send: (_id, _method, _params, exchange) => void sent.push(exchange),
    cancel: (_id, reason) => void cancelled.push(reason),
  };
  const offered = catalogue(offer('s', ['t']));
  const view = viewOf(settings({ servers: [server('s')] }), offered, anonymous, { kind: 'named', name: 's' });
  const options = {
    ...clientParts({ get: () => view }),
    connections: connectionsBy(connection),
    records: { ...noRecords, finished: (call: FinishedCall) => void finished.push(call) },
    serverRequests,
    log: logLines(),
  };

  /** Makes a call; its answers, parsed. */
  function call(more: Record<string, unknown> = {}) {
    const answers: { result?: Record<string, unknown>; error?: { code: number } }[] = [];
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const params = { name: 't', ...more, _meta: modernMeta(capabilities) };
    const request = {
      method: 'tools/call',
      message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      id: '1',
      params: JSON.stringify(params),
      stateless: true,
      principal: anonymous,
      scope: { kind: 'all' },
      view,
      session: undefined,
      reply: {
        notify: () => undefined,
        // The first one ends it, as with any reply.
        answer: (text: string) => void (answers.length === 0 && answers.push(JSON.parse(text) as (typeof answers)[0])),
        answerBytes: () => undefined,
        gone: undefined,
      },
    } as unknown as ClientRequest;
    relay(request, options);
    return { answers, request };
  }
  return { serverRequests, sent, cancelled, finished, call };
}

function anAsk() {
  const ended: string[] = [];
  const ask: ServerRequest = {
    server: 's',
    method: 'elicitation/create',
    params: {},
    paramsText: '{}',
    answer: (_, text) => void ended.push(text),
    refuse: ({ message }) => void ended.push(message),
    progressed: () => undefined,
    withdrawn: undefined,
  };
  return { ask, ended };
}

test('a call whose client does not come back is cancelled at its server, and that is what is kept of it', async () => {
  const { serverRequests, sent, cancelled, finished, call } = hub({ awayMs: 5 });
  const { answers } = call();
  sent[0]?.asked(anAsk().ask);
  await until('it is cancelled', () => cancelled.length > 0);
  expect(answers.map(({ result }) => result?.['resultType'])).toEqual(['input_required']);
  expect(finished.map(({ outcome }) => outcome)).toEqual(['cancelled']);
  expect(serverRequests.suspendedCalls.size).toBe(0);
});

test('a client that leaves before it is asked has its call cancelled, and nothing is parked', async () => {
  const { serverRequests, sent, cancelled, call } = hub();
  const { request } = call();
  sent[0]?.asked(anAsk().ask);
  request.reply.gone?.();
  expect([cancelled, serverRequests.suspendedCalls.size]).toEqual([['client disconnected'], 0]);
});

test('where no more calls may wait, the server is told, and the call goes on', () => {
  const { sent, call } = hub({ perPrincipal: 0 });
  const { answers } = call();
  const { ask, ended } = anAsk();
  sent[0]?.asked(ask);
  expect(ended).toEqual(['Too many calls wait for their clients to answer.']);
  const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
  sent[0]?.answered(JSON.parse(text) as object, text);
  expect(answers.map(({ result }) => result?.['resultType'])).toEqual(['complete']);
});

test('a server that fails while the client is away fails the call when it is back, once', async () => {
  const { sent, finished, call } = hub();
  const { answers } = call();
  const { ask } = anAsk();
  sent[0]?.asked(ask);
  const first = await until('it is asked', () => answers[0]?.result);
  sent[0]?.failed(new HubError('upstream_unavailable', 'gone'));
  expect(finished).toEqual([]);
  const again = call({ requestState: first['requestState'], inputResponses: {} });
  expect(again.answers.map(({ error }) => error?.code)).toEqual([-32000]);
  expect([finished.length, sent.length]).toEqual([1, 1]);
  expect(() => call({ requestState: first['requestState'] })).toThrow('not valid');
});

test('what happens after the end of a call has no effect', () => {
  const { sent, call } = hub();
  const { answers } = call();
  const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
  sent[0]?.answered(JSON.parse(text) as object, text);
  const { ask, ended } = anAsk();
  sent[0]?.asked(ask);
  sent[0]?.answered(JSON.parse(text) as object, text);
  expect([ended.length, answers.length]).toEqual([1, 1]);
});
