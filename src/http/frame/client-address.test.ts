import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TrustProxy } from '../../env/values.ts';
import { clientAddress } from './client-address.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function addressOf(trust: TrustProxy, peer: string | undefined, forwarded?: string | string[]) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded as string };
  return clientAddress(trust, silent)({ headers, socket: { remoteAddress: peer } });
}

const auto = { kind: 'auto' } as const;
const none = { kind: 'none' } as const;
const all = { kind: 'all' } as const;
const hops = (hops: number) => ({ kind: 'hops', hops }) as const;
const named = (...addresses: string[]) => ({ kind: 'addresses', addresses }) as const;

describe("the client's address", () => {
  test.each<[string, TrustProxy, string | undefined, string | undefined, string]>([
    ['the peer, without a proxy', none, '192.0.2.1', undefined, '192.0.2.1'],
    ['the peer, whatever it says, when no proxy is trusted', none, '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    ['in its own form when it comes over IPv6', none, '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['what a proxy on this machine says', auto, '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['what a proxy on this machine says, over IPv6', auto, '::ffff:127.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['the last that proxy heard, not what a client put before', auto, '::1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['the peer, when a stranger forwards', auto, '10.0.0.1', '198.51.100.1', '10.0.0.1'],
    ['found one hop back', hops(1), '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['found two hops back', hops(2), '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['the furthest there is when there are fewer hops', hops(5), '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['the first of all when everybody is trusted', all, '10.0.0.1', '198.51.100.1, 1.1.1.1', '198.51.100.1'],
    ['behind the named proxies', named('10.0.0.0/8', 'fd00::/8'), 'fd00::1', '1.1.1.1, 5.5.5.5, 10.9.9.9', '5.5.5.5'],
    ['the peer, when it is not a named one', named('10.0.0.2'), '10.0.0.1', '198.51.100.1', '10.0.0.1'],
    ['behind private networks by name', named('uniquelocal'), '172.16.0.1', '5.5.5.5, 192.168.1.1', '5.5.5.5'],
    ['without its port', all, '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['without brackets and port', all, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['the nearest that is one, where the rest is none', all, '10.0.0.1', '1.1.1.1, unknown, 5.5.5.5', '5.5.5.5'],
    ['the peer, where what is forwarded is no address', all, '10.0.0.1', "'; DROP TABLE", '10.0.0.1'],
    ['the peer, where nothing is forwarded', all, '10.0.0.1', ' , ,', '10.0.0.1'],
    ['unknown when the connection is gone', all, undefined, '198.51.100.1', 'unknown'],
  ])('is %s', (_, trust, peer, forwarded, expected) => {
    expect(addressOf(trust, peer, forwarded)).toBe(expected);
  });

  test('is read from a header that came several times', () => {
    expect(addressOf(hops(2), '10.0.0.1', ['1.1.1.1', '198.51.100.1, 10.0.0.2'])).toBe('198.51.100.1');
  });

  test('cannot be chosen by what a client sends, as long as one trusted proxy appends whom it heard', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(fc.ipV4()).map(String), fc.ipV6()), (invented) => {
        for (const trust of [auto, hops(1), named('127.0.0.1')]) {
          expect(addressOf(trust, '127.0.0.1', `${invented}, 198.51.100.1`)).toBe('198.51.100.1');
        }
        for (const trust of [none, auto, named('10.0.0.1')])
          expect(addressOf(trust, '192.0.2.1', invented)).toBe('192.0.2.1');
      }),
    );
  });
});

test('a header that is ignored is told once, with the peer to trust', () => {
  const told: unknown[] = [];
  const log = { ...silent, warn: (_: string, fields?: unknown) => void told.push(fields) };
  const address = clientAddress(auto, log);
  for (const peer of ['127.0.0.1', '10.0.0.1', '10.0.0.2']) {
    address({ headers: { 'x-forwarded-for': '198.51.100.1' }, socket: { remoteAddress: peer } });
  }
  expect(told).toEqual([{ peer: '10.0.0.1' }]);
});
