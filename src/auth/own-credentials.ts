import type { Settings } from '../core/settings/settings.ts';
import { isTokenOfKey } from './keys.ts';
import { authLimits } from './limits.ts';
import type { Tokens } from './tokens.ts';

/** Names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface OwnCredentials {
  readonly settings: () => Settings;
  readonly tokens: Pick<Tokens, 'isSigned'>;
  /** True for the other texts that open something here: codes, refresh tokens. */
  readonly isTicket: (text: string) => boolean;
}

/**
 * Takes the credentials of the hub out of a header of a client before a server gets it (CONTRACT §8, Header
 * pass-through): access keys, tokens of logins and of clients, codes, and the cookies of the hub, of any user or key,
 * all but keys also when they have ended; and whatever the request itself was let in by. They are found anywhere in the
 * value: after a scheme, in a cookie, in basic authentication, percent-encoded. A header that has one is left out
 * (undefined); of `Cookie` only those cookies are. A value of very many words is left out too.
 */
export function withoutOwnCredentials(options: OwnCredentials) {
  function isOwn(text: string, sent: ReadonlySet<string>): boolean {
    const pieces = new Set(formsOf(text).flatMap(piecesOf));
    // Looking at more would take long at each call.
    if (pieces.size > authLimits.headerPieces) return true;
    return [...pieces].some((piece) => isCredential(piece, options) || sent.has(piece));
  }

  return (name: string, value: string, headers: Headers): string | undefined => {
    const sent = sentCredentials(headers, options.settings());
    if (name !== 'cookie') return isOwn(value, sent) ? undefined : value;
    const kept = value.split(';').filter((pair) => !isOwnCookie(pair) && !isOwn(pair, sent));
    const rest = kept.join(';').trim();
    return rest === '' || isOwn(rest, sent) ? undefined : rest;
  };
}

/** Cookies that the hub gives out. */
function isOwnCookie(pair: string): boolean {
  return /^\s*(__Host-|__Secure-)?toolhub[-_]/i.test(pair);
}

function isCredential(text: string, { settings, tokens, isTicket }: OwnCredentials): boolean {
  if (text.length > authLimits.tokenChars) return false;
  return isTokenOfKey(settings(), text) || (text.split('.').length === 3 && tokens.isSigned(text)) || isTicket(text);
}

/** What this request was or could be let in by (`auth/identify.ts`), and the values of the hub's cookies. */
function sentCredentials(headers: Headers, { system }: Settings): ReadonlySet<string> {
  const bearers = ['authorization', system.routing.bearerAuthHeaderName ?? '', 'x-auth-token'];
  const tokenIn = (name: string) => /^(?:bearer\s+)?(\S+)$/i.exec(textOf(headers, name))?.[1];
  const token = bearers.map(tokenIn).find((found) => found !== undefined);
  // Whatever is in the header of the proxy, also one that does not count.
  const ofProxy = system.forwardAuth === undefined ? '' : textOf(headers, system.forwardAuth.header);
  const cookies = textOf(headers, 'cookie').split(';').filter(isOwnCookie);
  const values = cookies.map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  const words = ofProxy.split(/[\s,]+/).filter((word) => !/^bearer$/i.test(word));
  return new Set([token ?? '', ...words, ...values].filter((text) => text !== ''));
}

function textOf(headers: Headers, name: string): string {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return (typeof value === 'string' ? value : (value ?? []).join(', ')).trim();
}

/** The text, and what it is when it is decoded: percent-encoding, base64 of any of its words. */
function formsOf(text: string): string[] {
  const plain = [text, ...decodedUri(text)];
  const words = plain.flatMap((form) => form.split(/[^\w+/=-]+/)).filter((word) => /^[\w+/-]{16,}={0,2}$/.test(word));
  return [...plain, ...words.map((word) => Buffer.from(word, 'base64').toString('latin1'))];
}

function decodedUri(text: string): string[] {
  try {
    const decoded = decodeURIComponent(text);
    return decoded === text ? [] : [decoded];
  } catch {
    return [];
  }
}

/** Every part of a text that a credential could be. */
function piecesOf(text: string): string[] {
  const shapes = text.match(/mcphub_[0-9a-f]{64}|eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [];
  const rests = [' ', '=', ':'].flatMap((mark) => (text.includes(mark) ? [text.slice(text.indexOf(mark) + 1)] : []));
  const pieces = [text, ...rests, ...text.split(/[\s,;="'&?:@<>(){}[\]]+/), ...shapes];
  return [...new Set(pieces.map((piece) => piece.trim()))].filter((piece) => piece !== '');
}
