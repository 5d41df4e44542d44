import { memoizeLast } from '../memoize-last.ts';
import type { UserSettings } from '../settings/user.ts';

/**
 * Who makes a request (CONTRACT §2). It names the caller only; role and lists are read from the settings snapshot on
 * each request, so a demoted or deleted user loses access at once.
 */
export type Principal =
  /** `only`: reaches nothing but what the settings explicitly call public (CONTRACT §7). */
  | { readonly kind: 'anonymous'; readonly only?: 'public' }
  /**
   * `since`: when the account was made, as the settings say it. Another account of that name is another user, even if
   * data of the first is still kept. `app`: the consent of the client that acts for the user below `/api`.
   * `passwordAlone`: the login was a password without a second factor (`rules.ts`, `mustSetUpFactor`).
   */
  | {
      readonly kind: 'user';
      readonly username: string;
      readonly since?: string | undefined;
      readonly app?: string | undefined;
      readonly passwordAlone?: true;
    }
  | { readonly kind: 'key'; readonly id: string }
  | AppPrincipal
  | IssuedPrincipal;

/** A client that a user let in (OAuth): it acts as that user, within what the consent allows, and manages nothing. */
export interface AppPrincipal {
  readonly kind: 'app';
  /** What `principalId` gives, made once: each call asks for it. */
  readonly id: string;
  readonly username: string;
  /** As in a user's principal. */
  readonly since: string | undefined;
  /** Undefined: everything its user reaches. */
  readonly reach: Reach | undefined;
}

/**
 * The holder of a trusted issuer's token who has no account here: reaches what the groups in the token are mapped to,
 * and nothing else (CONTRACT §8).
 */
export interface IssuedPrincipal {
  readonly kind: 'issued';
  /** What `principalId` gives. */
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  /** What records call it. */
  readonly name: string;
  /** Values of the groups claim, those that the settings map. */
  readonly values: readonly string[];
}

/** What a consent is cut down to: groups by id, and servers by name. */
export interface Reach {
  readonly groups: readonly string[];
  readonly servers: readonly string[];
}

export const anonymous: Principal = { kind: 'anonymous' };

/** Without a credential, over plain HTTP, from beyond this machine. */
export const anonymousOutside: Principal = { kind: 'anonymous', only: 'public' };

/** The principal that a user is; or a client that acts for the user below `/api`, by its consent. */
export function principalOf(
  { username, createdAt }: Pick<UserSettings, 'username' | 'createdAt'>,
  app?: string,
): Principal {
  return { kind: 'user', username, since: createdAt, ...(app !== undefined && { app }) };
}

/** A user who logged in with a password and no second factor. */
export function withPasswordAlone(user: Pick<UserSettings, 'username' | 'createdAt'>): Principal {
  return { kind: 'user', username: user.username, since: user.createdAt, passwordAlone: true };
}

/** The principal of a client that a user let in by this consent. */
export function appPrincipal(
  consent: string,
  { username, createdAt }: Pick<UserSettings, 'username' | 'createdAt'>,
  reach: Reach | undefined,
): AppPrincipal {
  const within = reach === undefined ? [] : [reach.groups, reach.servers];
  const id = `a:${JSON.stringify([consent, username, createdAt ?? '', ...within])}`;
  return { kind: 'app', id, username, since: createdAt, reach };
}

/** The consent by which a client acts, in the text that `principalId` gives; undefined for other callers. */
export function consentOf(principal: string): string | undefined {
  if (!principal.startsWith('a:')) return undefined;
  const [consent] = JSON.parse(principal.slice(2)) as [string];
  return consent;
}

/** The principal of a token of a trusted issuer. */
export function issuedPrincipal(
  issuer: string,
  subject: string,
  name: string,
  values: readonly string[],
): IssuedPrincipal {
  return { kind: 'issued', id: `i:${JSON.stringify([issuer, subject, name, values])}`, issuer, subject, name, values };
}

/** One string per principal: what sessions are bound to and views are cached by. */
export function principalId(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return principal.only === undefined ? '-' : '-public';
    case 'user':
      return `u:${principal.since ?? ''}\n${principal.username}`;
    case 'key':
      return keyId(principal.id);
    case 'app':
    case 'issued':
      return principal.id;
  }
}

/** Each call asks for it some ten times, and V8 keeps the hash of a text that stays. */
const keyId = memoizeLast((id) => `k:${id}`);

/** The principal that `principalId` named; undefined for any other text. */
export function principalFromId(id: string): Principal | undefined {
  if (id === '-') return anonymous;
  if (id === '-public') return anonymousOutside;
  const [, since = '', username] = /^u:(.*)\n(.*)$/s.exec(id) ?? [];
  if (username !== undefined) return { kind: 'user', username, since: since === '' ? undefined : since };
  if (id.startsWith('a:')) return appFromId(id);
  if (id.startsWith('i:'))
    return issuedPrincipal(
      ...(JSON.parse(id.slice(2)) as [issuer: string, subject: string, name: string, values: string[]]),
    );
  return id.startsWith('k:') ? { kind: 'key', id: id.slice(2) } : undefined;
}

/** Only what `appPrincipal` made gets here: such texts come back sealed. */
function appFromId(id: string): AppPrincipal {
  const [, username, since, groups, servers] = JSON.parse(id.slice(2)) as [
    string,
    string,
    string,
    string[]?,
    string[]?,
  ];
  const reach = groups && servers && { groups, servers };
  return { kind: 'app', id, username, since: since === '' ? undefined : since, reach };
}
