import { upstreamLimits } from '../../limits.ts';

/** The cookies that an API has set for one session of a client (`cookieSession`), each for the origin that set it. */
export interface CookieJar {
  /** Keeps what an answer from this address sets (`Set-Cookie`); what cannot be read or does not fit is left out. */
  keep(from: URL, lines: readonly string[]): void;
  /** `name=value` of those for a request to this address. */
  pairsFor(url: URL): string[];
}

interface Cookie {
  readonly origin: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * As RFC 6265 has it for a client that knows no domains: a cookie goes back to the origin it came from, whatever its
 * `Domain` says, and not at all where it is `Secure` and that is http.
 */
export function createCookieJar(now: () => number = Date.now): CookieJar {
  /** The one that was set last is the last. */
  const kept = new Map<string, Cookie>();
  return {
    keep(from, lines) {
      for (const line of lines) {
        const cookie = line.length > upstreamLimits.openapiCookieChars ? undefined : cookieIn(line, from, now());
        if (!cookie) continue;
        const key = JSON.stringify([cookie.origin, cookie.path, cookie.name]);
        kept.delete(key);
        if (cookie.expiresAt > now()) kept.set(key, cookie);
        const [oldest] = kept.keys();
        if (kept.size > upstreamLimits.openapiCookies && oldest !== undefined) kept.delete(oldest);
      }
    },
    pairsFor: ({ origin, pathname }) =>
      [...kept.values()]
        .filter((one) => one.origin === origin && one.expiresAt > now() && isBelow(pathname, one.path))
        .toSorted((a, b) => b.path.length - a.path.length)
        .map(({ name, value }) => `${name}=${value}`),
  };
}

const nameAndValue = /^\s*([!#$%&'*+\-.^_`|~\w]+)\s*=([\x20-\x3a\x3c-\x7e]*)$/;

function cookieIn(line: string, from: URL, now: number): Cookie | undefined {
  const [first = '', ...rest] = line.split(';');
  const [, name, value = ''] = nameAndValue.exec(first) ?? [];
  if (name === undefined) return undefined;
  const attributes = new Map(
    rest.map((text) => {
      const [key = '', ...words] = text.split('=');
      return [key.trim().toLowerCase(), words.join('=').trim()] as const;
    }),
  );
  if (attributes.has('secure') && from.protocol !== 'https:') return undefined;
  const path = attributes.get('path');
  return {
    origin: from.origin,
    path: path?.startsWith('/') === true ? path : folderOf(from.pathname),
    name,
    value: value.trim(),
    expiresAt: endOf(attributes, now),
  };
}

/** `Max-Age` goes first; without either it lasts as long as the session. */
function endOf(attributes: ReadonlyMap<string, string>, now: number): number {
  const seconds = attributes.get('max-age') ?? '';
  if (/^-?\d+$/.test(seconds)) return now + Number(seconds) * 1_000;
  const date = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(date) ? Infinity : date;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
