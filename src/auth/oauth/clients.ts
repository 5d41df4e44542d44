import { isLoopbackName } from '../../core/access/outside.ts';
import { authLimits } from '../limits.ts';
import type { Consents } from './consents.ts';
import { hashOf, type Tickets } from './tickets.ts';

/** A client of the authorization server. All of them are public: they have no secret. */
export interface OAuthClient {
  readonly id: string;
  /** As it calls itself. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Whether its id is an address that vouches for what it says of itself. */
  readonly isProven: boolean;
}

/** What a client's id has in it: name, redirect addresses, and when it was registered. */
export type Registration = readonly [name: string, redirectUris: readonly string[], at: number];

export interface Clients {
  /** Registers a client (RFC 7591). Nothing is kept of it: its id says it all. */
  register(client: Pick<OAuthClient, 'name' | 'redirectUris'>): OAuthClient;
  /** Undefined for an id that was not given out here, or to a client that no user let in within a day. */
  find(id: string): Promise<OAuthClient | undefined>;
}

export function createClients(options: {
  tickets: Tickets<Registration>;
  consents: Pick<Consents, 'knows'>;
  now: () => number;
}): Clients {
  const { tickets, consents, now } = options;
  return {
    register({ name, redirectUris }) {
      return { id: tickets.make([name, redirectUris, now()]), name, redirectUris, isProven: false };
    },
    async find(id) {
      const registration = tickets.read(id);
      if (!registration) return undefined;
      const [name, redirectUris, at] = registration;
      const isFresh = now() - at <= authLimits.unusedClientMs;
      if (!isFresh && !(await consents.knows(hashOf(id)))) return undefined;
      return { id, name, redirectUris, isProven: false };
    },
  };
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

/** Of a loopback address alone. */
function withoutPort(text: string): string | undefined {
  const url = new URL(text);
  if (!isLoopback(url)) return undefined;
  url.port = '';
  return url.href;
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
