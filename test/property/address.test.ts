import { BlockList, isIPv4 } from 'node:net';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inRanges, isPublicAddress, parseCidr } from '../../src/core/address.ts';

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));

describe('addresses of the open internet', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '169.253.255.255',
    '192.167.255.255',
    '2606:4700:4700::1111',
    '2a00:1450::8',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    '0.0.0.0',
    '10.255.255.255',
    '100.64.0.0',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.0',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.19.255.255',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:A9FE:A9FE',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::808:808',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '5f00::1',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));

  test.each([
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    ':::',
    '1::2::3',
    '12345::',
    'g::',
  ])('what cannot be read, like "%s", is not public', (text) => expect(isPublicAddress(text)).toBe(false));

  test('every way to write an address is read', () => {
    // An address that means an IPv4 one is in the IPv4 range, whatever IPv6 range it was written in.
    const anyIpv4 = parseCidr('0.0.0.0/0');
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (text, length) => {
        const range = parseCidr(`${text}/${Math.min(length, isIPv4(text) ? 32 : 128)}`);
        const ranges = [range, anyIpv4].filter((found) => found !== undefined);
        expect(ranges).toHaveLength(2);
        expect(inRanges(text, ranges)).toBe(true);
      }),
    );
  });

  test('a range holds exactly what the system says it holds', () => {
    fc.assert(
      fc.property(octets, fc.nat(32), octets, (network, prefix, other) => {
        const oracle = new BlockList();
        oracle.addSubnet(network.join('.'), prefix, 'ipv4');
        const range = parseCidr(`${network.join('.')}/${prefix}`);
        const address = other.join('.');
        expect(range !== undefined && inRanges(address, [range])).toBe(oracle.check(address));
        expect(range !== undefined && inRanges(`::ffff:${address}`, [range])).toBe(oracle.check(address));
      }),
    );
  });

  test.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0/8', '::/129', '10.0.0.0/8/8', '/8', 'x'])(
    '"%s" is no range',
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );
});
