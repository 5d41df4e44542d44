import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { clientParts, connectionsBy, noRecords } from '../../../test/kit/client-parts.ts';
import { catalogue, offer, server, settings } from '../../../test/kit/snapshots.ts';
import { HubError } from '../../core/errors.ts';
import { anonymous } from '../../core/access/principal.ts';
import { metaKeys } from '../../core/protocol/stateless.ts';
import { createSealer } from '../../core/seal.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { view as viewOf } from '../../core/access/view.ts';
import { createServerRequests } from '../server-requests/server-requests.ts';
import { invoke } from '../invoke.ts';
import type { RelayConnection, ServerConnection } from './options.ts';

type Sent = Parameters<RelayConnection['send']>[3];

const view = viewOf(settings({ servers: [server('s')] }), catalogue(offer('s', ['t'])), anonymous, { kind: 'all' });

test.each(['answered', 'failed', 'cancelled'])(
  'a record that cannot be kept does not leave the asker waiting: %s',
  async (how) => {
    const sent: Sent[] = [];
    const connection: RelayConnection = {
      status: { kind: 'connected' },
      offer: undefined,
      available: async () => undefined,
      takeId: () => 1,
      send: (_id, _method, _params, exchange) => void sent.push(exchange),
      cancel: () => undefined,
    };
    const log = logLines();
    const leaving = new AbortController();
    const call = invoke(
      {
        method: 'tools/call',
        params: '{"name":"s-t"}',
        principal: anonymous,
        scope: { kind: 'all' },
        view,
        address: undefined,
        clientHeaders: undefined,
        signal: leaving.signal,
      },
      {
        connections: connectionsBy(connection),
        serverRequests: createServerRequests(createSealer(randomBytes(32), 'test')),
        ...clientParts({ get: () => view }),
        records: {
          ...noRecords,
          finished: () => {
            throw new Error('disk full');
          },
        },
        version: '1',
        log,
      },
    );
    const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
    if (how === 'answered') sent[0]?.answered(JSON.parse(text) as object, text);
    else if (how === 'failed') sent[0]?.failed(new HubError('timeout', 'late'));
    else leaving.abort();
    await expect(call).rejects.toThrow('disk full');
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
  },
);

test('a call whose connection ends while its sender is looked up never left, and is told to be tried again', async () => {
  let kind = 'connecting';
  const connection: RelayConnection = {
    get status() {
      return { kind };
    },
    offer: undefined,
    available: async () => undefined,
    takeId: () => 1,
    send: (_id, _method, _params, exchange) =>
      exchange.failed(new HubError('upstream_unavailable', 'Server "s" is not connected.')),
    cancel: () => undefined,
  };
  const call = callThrough(connection, () => {
    kind = 'disconnected';
  });
  await expect(call).rejects.toThrow('Server "s" is not connected. Try again in a moment.');
});

test('a call whose server falls asleep while its sender is looked up wakes it again, and is sent once', async () => {
  const sent: Sent[] = [];
  const waits: string[] = [];
  let kind = 'asleep';
  const connection: RelayConnection = {
    get status() {
      return { kind };
    },
    offer: undefined,
    available: async () => {
      waits.push(kind);
      kind = 'connected';
    },
    takeId: () => 1,
    send: (_id, _method, _params, exchange) => void sent.push(exchange),
    cancel: () => undefined,
  };
  const call = callThrough(connection, () => {
    kind = 'asleep';
  });
  await expect.poll(() => sent.length).toBe(1);
  expect(waits).toEqual(['asleep', 'asleep']);
  const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
  sent[0]?.answered(JSON.parse(text) as object, text);
  expect(await call).toMatchObject({ kind: 'result' });
  expect(sent).toHaveLength(1);
});

test('a call that a limit counts may wait: its connection is chosen when it is sent, and told the level of its log', () => {
  const sent: string[] = [];
  const connectionNamed = (name: string) =>
    ({
      server: { name },
      status: { kind: 'connected' },
      offer: undefined,
      hasGivenUp: false,
      isCrowded: false,
      available: async () => undefined,
      ask: async () => undefined,
      takeId: () => 1,
      send: () => void sent.push(name),
      cancel: () => undefined,
    }) satisfies ServerConnection;
  const [shared, own] = [connectionNamed('shared'), connectionNamed('own')];
  const parts = clientParts({ get: () => view });
  const told: unknown[] = [];
  const asked: boolean[] = [];
  const callWith = (system: object): void => {
    const meta = { [metaKeys.clientCapabilities]: { elicitation: {} }, [metaKeys.logLevel]: 'debug' };
    void invoke(
      {
        method: 'tools/call',
        params: JSON.stringify({ name: 's-t', _meta: meta }),
        principal: anonymous,
        scope: { kind: 'all' },
        view,
        address: undefined,
        clientHeaders: undefined,
        stateless: true,
        signal: new AbortController().signal,
      },
      {
        ...parts,
        connections: {
          ...connectionsBy(shared),
          forAsking: (_connection, _owner, _call, { waits, chosen }) => {
            asked.push(waits);
            chosen(own);
            return own;
          },
        },
        governance: { ...parts.governance, settings: () => ({ ...parts.governance.settings(), system }) as Settings },
        logLevels: { ...parts.logLevels, need: async ({ server }, level) => void told.push([server.name, level]) },
        serverRequests: createServerRequests(createSealer(randomBytes(32), 'test')),
        version: '1',
        log: logLines(),
      },
    );
  };
  callWith({});
  expect([asked, sent]).toEqual([[], ['shared']]);
  callWith({ defaultLimits: { callsPerMinute: 5 } });
  expect([asked, sent]).toEqual([[true], ['shared', 'own']]);
  expect(told).toEqual([
    ['shared', 'debug'],
    ['shared', 'debug'],
    ['own', 'debug'],
  ]);
});

/** A call of the one tool of a server; its sender is looked up once more before it is sent. */
function callThrough(connection: RelayConnection, lookedUp: () => void) {
  return invoke(
    {
      method: 'tools/call',
      params: '{"name":"s-t"}',
      principal: anonymous,
      scope: { kind: 'all' },
      view,
      address: undefined,
      clientHeaders: undefined,
      signal: new AbortController().signal,
      senderNow: async () => {
        lookedUp();
        return anonymous;
      },
    },
    {
      connections: connectionsBy(connection),
      serverRequests: createServerRequests(createSealer(randomBytes(32), 'test')),
      ...clientParts({ get: () => view }),
      version: '1',
      log: logLines(),
    },
  );
}
