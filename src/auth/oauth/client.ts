import { z } from 'zod';
import { isLoopbackName } from '../../core/access/outside.ts';
import { authLimits } from '../limits.ts';

/** A client of the authorization server. All of them are public: they have no secret. */
export interface OAuthClient {
  readonly id: string;
  /** As it calls itself. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Whether its id is an address that vouches for what it says of itself. */
  readonly isProven: boolean;
}

/** What of a client's metadata counts here (RFC 7591 §2); everything else is passed over, as §3.1 has it. */
export const clientMetadata = z.looseObject({
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()).refine(hasIt('authorization_code')).optional(),
  response_types: z.array(z.string()).refine(hasIt('code')).optional(),
});

function hasIt(value: string): (values: readonly string[]) => boolean {
  return (values) => values.includes(value);
}

/** As people read it: on one line, without characters that turn text around. */
export function clientName(said: string): string {
  const plain = said.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return plain === ''
    ? 'An app without a name'
    : plain.slice(0, authLimits.clientNameChars).replace(/[\ud800-\udbff]$/, '');
}

/** Why a client may not have these redirect addresses; undefined when it may. */
export function redirectsProblem(redirectUris: readonly string[]): string | undefined {
  if (redirectUris.length === 0) return 'The redirect_uris are empty.';
  if (redirectUris.length > authLimits.redirectUris)
    return `There are more than ${authLimits.redirectUris} redirect_uris.`;
  const [bad] = redirectUris.flatMap((text) => redirectProblem(text) ?? []);
  return bad === undefined ? undefined : `One of the redirect_uris ${bad}.`;
}

/** Schemes that a browser acts upon itself, or that lead out of it unencrypted. */
const refusedSchemes = new Set(
  'about blob chrome data file filesystem ftp http intent jar javascript mailto resource sms tel vbscript view-source ws wss'
    .split(' ')
    .map((scheme) => `${scheme}:`),
);

/** Why a client may not have its codes sent to this address; undefined when it may. */
export function redirectProblem(text: string): string | undefined {
  if (text.length > authLimits.redirectUriChars) return `is longer than ${authLimits.redirectUriChars} characters`;
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'is not an address';
  const url = new URL(text);
  if (url.hash !== '' || text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'has a user name or a password';
  if (url.protocol === 'https:' || isLoopback(url)) return undefined;
  if (url.protocol === 'http:') return 'needs https, or a loopback host';
  return refusedSchemes.has(url.protocol) ? 'has a scheme that is not allowed' : undefined;
}

/**
 * Whether an address is one of those registered: the same text, but for the port of a loopback address (RFC 8252 §7.3).
 */
export function isRegistered(redirectUri: string, registered: readonly string[]): boolean {
  if (registered.includes(redirectUri)) return true;
  if (redirectProblem(redirectUri) !== undefined) return false;
  const portless = withoutPort(redirectUri);
  return portless !== undefined && registered.some((known) => withoutPort(known) === portless);
}

/** Of a loopback address alone; otherwise as it is written. */
function withoutPort(text: string): string | undefined {
  return isLoopback(new URL(text)) ? text.replace(/^(http:\/\/[^/?#]*?):\d+(?=[/?#]|$)/, '$1') : undefined;
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && isLoopbackName(url.hostname.replace(/^\[|\]$/g, ''));
}

/** Who gets the codes that are sent to an address, for people: a host, or what stands for it. */
export function hostOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (isLoopback(url)) return 'a program on your computer';
  return url.protocol === 'https:' ? url.host : `an app on your device (${url.protocol})`;
}
