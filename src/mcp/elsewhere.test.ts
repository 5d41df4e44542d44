import { expect, test } from 'vitest';
import { anonymous } from '../core/access/principal.ts';
import type { RpcMessage } from '../core/protocol/rpc.ts';
import type { HubPlace } from '../replicas/peers.ts';
import { atItsHub, type ElsewhereOptions } from './elsewhere.ts';
import type { RequestContext } from './request-context.ts';

type Replicas = NonNullable<ElsewhereOptions['replicas']>;
type Passing = Parameters<Replicas['passOn']>[1];

const places: Record<string, HubPlace> = { aaaaaaaa: 'here', bbbbbbbb: 'reachable', cccccccc: 'reachable' };

/** Where a request of these messages goes, while other hubs do with it what `passOn` says. */
function sent(messages: RpcMessage[], { at, passOn }: { at?: string; passOn?: (passing: Passing) => void } = {}) {
  const seen = { here: 0, hubs: [] as string[], owners: [] as string[], status: 0, text: '' };
  const replicas: Replicas = {
    id: 'aaaaaaaa',
    placeOf: (hub) => places[hub] ?? 'gone',
    heirOf: () => 'aaaaaaaa',
    tell: () => undefined,
    passOn(hub, passing) {
      seen.hubs.push(hub);
      seen.owners.push(passing.owner);
      passOn?.(passing);
      return undefined;
    },
  };
  const res = {
    writeHead: (status: number) => void (seen.status = status),
    end: (text: string) => void (seen.text = text),
  };
  const req = { method: 'POST', url: '/mcp', headers: {}, socket: { remoteAddress: '192.0.2.9' } };
  const context = { req, res, headers: {}, principal: anonymous, address: '192.0.2.1' } as unknown as RequestContext;
  const received = messages.map((message) => ({ message, text: JSON.stringify(message), id: undefined }));
  const sessions = { byId: () => undefined } as unknown as ElsewhereOptions['sessions'];
  atItsHub(context, { messages: received as never, at }, { replicas, sessions }, () => void seen.here++);
  return seen;
}

const answerTo = (hub: string) => ({ jsonrpc: '2.0', id: `${hub}.1`, result: {} }) as RpcMessage;
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as RpcMessage;

test('a batch goes to the hub that any of its messages names, and to no two', () => {
  expect(sent([ping, answerTo('bbbbbbbb')])).toMatchObject({ hubs: ['bbbbbbbb'], owners: ['address 192.0.2.1'] });
  const split = sent([answerTo('bbbbbbbb'), answerTo('cccccccc')]);
  expect(split).toMatchObject({ hubs: [], here: 0, status: 400 });
  expect(split.text).toContain('Send each by itself.');
});

test('an answer that no attempt brought to its hub is not taken for one that is answered here', () => {
  const lost = sent([answerTo('bbbbbbbb')], { passOn: ({ failed }) => failed(false) });
  expect(lost).toMatchObject({ here: 0, status: 503 });
  expect(lost.hubs.length).toBeGreaterThan(1);
  expect(sent([{ ...ping, params: {} }])).toMatchObject({ here: 1, hubs: [] });
});

test('what one hub alone has goes there also while that hub stops or answers late, and nowhere else', () => {
  for (const place of ['leaving', 'silent'] as const) {
    places['dddddddd'] = place;
    for (const message of [ping, answerTo('bbbbbbbb')])
      expect(sent([message], { at: 'dddddddd' }).hubs).toEqual(['dddddddd']);
  }
  expect(sent([ping], { at: 'eeeeeeee' })).toMatchObject({ hubs: [], here: 1 });
});
