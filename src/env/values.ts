import { isIP } from 'node:net';

// Readers of single variables' texts. Undefined = malformed.

/** `DB_URL`: a PostgreSQL, none at all (`off`), or, when it is not set, the embedded one. */
export type DatabaseChoice =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'off' }
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * Which proxies' `X-Forwarded-*` are trusted: none, all, those of the last hops, or those of addresses (`10.0.0.0/8`,
 * `loopback`). `auto` = not set.
 */
export type TrustProxy =
  | { readonly kind: 'auto' | 'none' | 'all' }
  | { readonly kind: 'hops'; readonly hops: number }
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] };

/** A name or address to listen on, IPv6 without brackets. */
export function host(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return bare;
  return bare === text && /^(?!.*\.\.)[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9.])?$/.test(text) && !/^[\d.]+$/.test(text)
    ? text
    : undefined;
}

/** As a `Host` header has it. */
export function hostAndPort(text: string): string | undefined {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text);
  const name = match?.[1] ?? text;
  const known = host(name);
  if (known === undefined || Number(match?.[2] ?? 0) > 65_535) return undefined;
  const shown = isIP(known) === 6 ? `[${known}]` : known;
  return (match?.[2] === undefined ? shown : `${shown}:${match[2]}`).toLowerCase();
}

/** As an `Origin` header has it. */
export function origin(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

/** What the hub answers at the root, whatever `BASE_PATH` is (CONTRACT §1): its own page would be taken, or take it. */
const atRoot = new Set(['/health', '/health/live', '/health/ready', '/metrics']);
/** First parts of which all below is the hub's own. */
const wholeAtRoot = new Set(['.well-known', 'oauth']);

/** `''` or `/x/y`. */
export function basePath(text: string): string | undefined {
  const path = text.split('/').filter((part) => part !== '');
  if (!path.every((part) => /^[A-Za-z0-9._~-]+$/.test(part) && !/^\.+$/.test(part))) return undefined;
  const joined = path.map((part) => `/${part}`).join('');
  return atRoot.has(joined) || wholeAtRoot.has(path[0] ?? '') ? undefined : joined;
}

/** `DB_URL`. The rest of the address is for the driver to judge. */
export function database(text: string): DatabaseChoice | undefined {
  if (text.toLowerCase() === 'off') return { kind: 'off' };
  return /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text) ? { kind: 'postgres', url: text } : undefined;
}

/** `TRUST_PROXY`, as Express takes it. */
export function trustProxy(text: string): TrustProxy | undefined {
  const plain = { true: 'all', false: 'none', auto: 'auto', yes: 'all', no: 'none', on: 'all', off: 'none' } as const;
  const key = text.toLowerCase();
  if (Object.hasOwn(plain, key)) return { kind: plain[key as keyof typeof plain] };
  if (/^\d{1,3}$/.test(text)) return Number(text) === 0 ? { kind: 'none' } : { kind: 'hops', hops: Number(text) };
  const addresses = text.split(',').map((item) => item.trim());
  return addresses.every(isProxyAddress) ? { kind: 'addresses', addresses } : undefined;
}

function isProxyAddress(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
