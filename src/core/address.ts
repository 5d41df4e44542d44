/** An IP address as a number, so that ranges are computed and never written out by hand. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** A range of addresses: those whose first `prefix` bits are the network's. */
export interface Cidr {
  readonly bits: 32 | 128;
  readonly prefix: number;
  readonly network: bigint;
}

/**
 * Reads `10.0.0.0/8`, `fd00::/8`, or a single address; a range of IPv4-mapped IPv6 addresses is the range of IPv4 that
 * it means. Undefined when it is none of them.
 */
export function parseCidr(text: string): Cidr | undefined {
  const range = readCidr(text);
  if (range === undefined || range.bits === 32 || range.prefix < mappedPrefix) return range;
  const prefix = range.prefix - mappedPrefix;
  if (range.network >> BigInt(prefix) !== 0xffffn) return range;
  return { bits: 32, prefix, network: BigInt.asUintN(prefix, range.network) };
}

/** The bits before the IPv4 address in an IPv4-mapped one. */
const mappedPrefix = 96;

function readCidr(text: string): Cidr | undefined {
  const [host = '', length, ...rest] = text.trim().split('/');
  const address = parseAddress(host);
  if (address === undefined || rest.length > 0) return undefined;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  const prefix = length === undefined ? address.bits : Number(length);
  if (prefix > address.bits) return undefined;
  return { bits: address.bits, prefix, network: networkOf(address, prefix) };
}

/**
 * Whether an address, as the system resolved it, lies in one of the ranges. An IPv4-mapped IPv6 address is judged as
 * the IPv4 one it means.
 */
export function inRanges(text: string, ranges: readonly Cidr[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && contains(ranges, unmapped(address));
}

/**
 * Whether an address belongs to the open internet: what is left after the special-purpose registries of IANA (private,
 * loopback, link-local with the clouds' metadata services, carrier-grade NAT, documentation, multicast, reserved). IPv6
 * is refused by default: only global unicast counts, and forms that carry an IPv4 address (mapped, NAT64) are judged by
 * that address. What cannot be read is not public.
 */
export function isPublicAddress(text: string): boolean {
  const parsed = parseAddress(text);
  if (parsed === undefined) return false;
  const address = embeddedIpv4(parsed) ?? parsed;
  if (address.bits === 32) return !contains(specialIpv4, address);
  return contains(globalUnicast, address) && !contains(specialIpv6, address);
}

const specialIpv4 = cidrs(
  '0.0.0.0/8', // this host
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '168.63.129.16/32', // a cloud's host agent on a public address
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
);

const globalUnicast = cidrs('2000::/3');
const specialIpv6 = cidrs(
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address behind a relay; no such relay runs any more
  '3fff::/20', // documentation
);

const mapped = cidrs('::ffff:0:0/96');
/**
 * NAT64 with the well-known prefix; the local-use prefix 64:ff9b:1::/48 is outside global unicast and refused with it.
 */
const nat64 = cidrs('64:ff9b::/96');

function embeddedIpv4(address: Address): Address | undefined {
  const carries = contains(mapped, address) || contains(nat64, address);
  return carries ? { bits: 32, value: BigInt.asUintN(32, address.value) } : undefined;
}

function unmapped(address: Address): Address {
  return contains(mapped, address) ? { bits: 32, value: BigInt.asUintN(32, address.value) } : address;
}

function contains(ranges: readonly Cidr[], address: Address): boolean {
  return ranges.some((range) => range.bits === address.bits && networkOf(address, range.prefix) === range.network);
}

function networkOf(address: Address, prefix: number): bigint {
  return address.value >> BigInt(address.bits - prefix);
}

function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Address | undefined {
  const parts = text.split('.');
  // A leading zero means octal to some readers and decimal to others: neither is taken.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return { bits: 32, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) };
}

function parseIpv6(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const halves = bare.split('::');
  if (halves.length > 2) return undefined;
  const head = groups(halves[0] ?? '', halves.length === 1);
  const tail = groups(halves[1] ?? '', true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const all = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return { bits: 128, value: all.reduce((value, group) => value * 65_536n + BigInt(group), 0n) };
}

/** The 16-bit groups of one side of `::`; only the last part of an address may be written as IPv4. */
function groups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const found: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      found.push(Number.parseInt(part, 16));
      continue;
    }
    const ipv4 = isEnd && index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (ipv4 === undefined) return undefined;
    found.push(Number(ipv4.value >> 16n), Number(ipv4.value & 0xffffn));
  }
  return found;
}

function cidrs(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = readCidr(text);
    if (cidr === undefined) throw new Error(`Not a range of addresses: ${text}`);
    return cidr;
  });
}
