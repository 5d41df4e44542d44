import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { HubError } from '../core/errors.ts';
import { authLimits } from './limits.ts';
import {
  isOver,
  type LoginMethod,
  type LoginSession,
  type ProviderRefresh,
  type SeenSession,
  type SessionStore,
} from './session-store.ts';
import type { Tokens, TokenUser } from './tokens.ts';

/** What the browser is given of a session. */
export interface SessionTokens {
  /** For the cookie `toolhub_session`; kept nowhere. */
  readonly token: string;
  /** For the cookie `toolhub_csrf`: what changes have to send back. */
  readonly csrf: string;
}

export interface NewSession extends Pick<LoginSession, 'via' | 'provider' | 'address' | 'userAgent'> {
  readonly user: TokenUser;
  /** See `Claims`. */
  readonly secondFactor: boolean;
  /** Now, when it is left out. One in the future counts as now. */
  readonly loggedInAt?: number;
}

/**
 * The logins of people in browsers, for all hubs that share a database. A session ends by logout, by an end that the
 * user or the provider asks for, after `authLimits.sessionIdleMs` without a request, and after
 * `authLimits.accessTokenMs`. All throw HubError `not_ready` or `misconfigured` when the sessions cannot be read or
 * written.
 */
export interface LoginSessions {
  /** Logs a user in who has shown who they are. Pushes out the oldest sessions of a user with too many. */
  open(opened: NewSession): Promise<SessionTokens>;
  /**
   * The session of a cookie; undefined for one that is over. `isUse`: it is used now, and so not idle. The caller
   * checks that its user still exists, and `Tokens.valid`.
   */
  find(token: string, isUse: boolean): Promise<LoginSession | undefined>;
  /** Whether a text is the cookie of a session, also of one that is over; without asking the store. */
  isCookie(text: string): boolean;
  /**
   * Notes by what the provider of a session is asked again; returns the session then, undefined when another hub has
   * done so since, or it is over.
   */
  refreshed(session: LoginSession, refresh: ProviderRefresh): Promise<LoginSession | undefined>;
  /**
   * Gives a session whose user has shown again who they are another cookie; undefined when it is over. `secondFactor`:
   * with a second factor.
   */
  renew(session: LoginSession, secondFactor: boolean): Promise<SessionTokens | undefined>;
  /** Those of a user that are not over, last seen first. */
  ofUser(user: TokenUser): Promise<readonly SeenSession[]>;
  /** Ends those of a user for which `which` is true, on every replica. Returns how many there were. */
  end(username: string, which: (session: LoginSession) => boolean): Promise<number>;
  /** Ends all that came from a provider. */
  endVia(via: LoginMethod): Promise<void>;
  /**
   * Ends those that came from a provider: one session of it (`sid`), or all of a subject. Returns how many there were.
   * With neither, none ends.
   */
  endOfProvider(
    via: LoginMethod,
    which: { readonly subject?: string | undefined; readonly sid?: string | undefined },
  ): Promise<number>;
  close(): void;
}

export function createLoginSessions(options: {
  store: SessionStore;
  /** Of all hubs that share the store. */
  secret: string;
  tokens: Pick<Tokens, 'issue' | 'verify' | 'valid' | 'revoke'>;
  /** Whether what a session began with is still a way in: its provider, and the user's identity there. */
  holds: (session: LoginSession) => boolean;
  /** Reads the newest settings, by which `holds` answers. */
  newest?: () => Promise<unknown>;
  /** Called with each session that is used. Must not block. */
  used?: (session: LoginSession) => void;
  now?: () => number;
}): LoginSessions {
  const { store, tokens, holds, newest, used, now = Date.now } = options;
  const { make: newToken, isToken } = sessionTokens(options.secret);
  const known = createKnown(store);

  /** Their claims first: what fails can be asked for again, as long as the store has them. */
  async function endAll(sessions: readonly LoginSession[]): Promise<number> {
    for (const { claims } of sessions) await tokens.revoke(claims);
    return (await store.end(sessions.map(({ claims }) => claims.jti))).length;
  }

  async function found(token: string, isUse: boolean): Promise<LoginSession | undefined> {
    if (!isToken(token)) return undefined;
    const tokenHash = hashOf(token);
    const seen = known.get(tokenHash);
    const isKnown = seen && !isOver(seen, now());
    if (isKnown && (!isUse || now() - seen.seenAt < authLimits.sessionSeenMs)) return seen.session;
    const remember = known.keeperOf(tokenHash);
    try {
      const seenNow = await store.find(tokenHash, isUse);
      remember(seenNow);
      return seenNow?.session;
    } catch (error) {
      // While the database is away, what was read of it counts.
      if (isKnown) return seen.session;
      throw error;
    }
  }

  return {
    async open({ user, secondFactor, loggedInAt = now(), ...rest }) {
      const claims = await tokens.verify(await tokens.issue(user, secondFactor));
      if (!claims) throw new HubError('conflict', 'Cannot log in: the account has just changed. Try again.');
      const token = newToken();
      const userAgent = rest.userAgent.slice(0, authLimits.userAgentChars);
      const opened = { ...rest, claims, userAgent, loggedInAt: Math.min(loggedInAt, now()) };
      for (const { claims } of await store.add(hashOf(token), opened)) await tokens.revoke(claims);
      return { token, csrf: csrfOf(token) };
    },
    async find(token, isUse) {
      const session = await found(token, isUse);
      if (!session) return undefined;
      // Another hub may have made the account a moment ago, with the login that the browser comes from.
      if (!holds(session) && now() - session.claims.issuedAt < authLimits.youngSessionMs) await newest?.();
      if (!holds(session)) return undefined;
      if (isUse) used?.(session);
      return session;
    },
    isCookie: isToken,
    async refreshed(session, refresh) {
      const { provider, claims } = session;
      const next = provider && { ...session, provider: { ...provider, refresh } };
      const isNext = next && (await store.replace(claims.jti, provider.refresh?.at ?? 0, next));
      // It is read again: it may be what another hub has made of it.
      known.forget(claims.jti);
      return isNext ? next : undefined;
    },
    async renew(session, secondFactor) {
      const token = newToken();
      const claims = { ...session.claims, ...(secondFactor && ({ secondFactor } as const)) };
      const renewed = await store.renew(claims.jti, hashOf(token), { ...session, claims, loggedInAt: now() });
      // Under the cookie before this one. A hub that is not told asks the store after `authLimits.sessionSeenMs`.
      known.forget(claims.jti);
      return renewed ? { token, csrf: csrfOf(token) } : undefined;
    },
    async ofUser(user) {
      const own = await store.ofUser(user.username);
      return own.filter(({ session }) => tokens.valid(session.claims, user) && holds(session));
    },
    async end(username, which) {
      const own = (await store.ofUser(username)).map(({ session }) => session).filter(which);
      return endAll(own);
    },
    async endVia(via) {
      await endAll(await store.via(via));
    },
    async endOfProvider(via, { subject, sid }) {
      if (subject === undefined && sid === undefined) return 0;
      const from = (await store.via(via)).filter((session) => isOfProvider(session, subject, sid));
      return endAll(from);
    },
    close: () => known.close(),
  };
}

/** Sessions by the hash of their cookie as the store last had them. Their ends come with those of tokens. */
function createKnown(store: Pick<SessionStore, 'onRenewed'>) {
  const known = new Map<string, SeenSession>();
  let renewals = 0;
  const forget = (jti: string): void => {
    for (const [tokenHash, { session }] of known) if (session.claims.jti === jti) known.delete(tokenHash);
  };
  // The cookie before counts no more, at any hub.
  const stopHearing = store.onRenewed((jti) => {
    renewals += 1;
    if (jti === undefined) known.clear();
    else forget(jti);
  });
  return {
    get: (tokenHash: string) => known.get(tokenHash),
    forget,
    /** To be called before the store is asked: what is read before a renewal may be of the cookie before. */
    keeperOf(tokenHash: string) {
      const before = renewals;
      return (seen: SeenSession | undefined): void => {
        known.delete(tokenHash);
        if (seen && renewals === before) known.set(tokenHash, seen);
        const [oldest] = known.keys();
        if (known.size > authLimits.knownSessions && oldest !== undefined) known.delete(oldest);
      };
    },
    close: stopHearing,
  };
}

function isOfProvider({ provider }: LoginSession, subject: string | undefined, sid: string | undefined): boolean {
  if (subject !== undefined && provider?.subject !== subject) return false;
  // Of a provider that names sessions only when they end, all of the person end.
  return sid === undefined || provider?.sid === sid || (subject !== undefined && provider?.sid === undefined);
}

/** What a session's changes have to send back. It cannot be computed without the session's cookie. */
export function csrfOf(token: string): string {
  return createHmac('sha256', token).update('toolhub csrf').digest('base64url');
}

/** Whether a header has the value that belongs to a session. Takes the same time for each value. */
export function isCsrfOf(token: string, sent: string | undefined): boolean {
  const [wanted, given] = [Buffer.from(csrfOf(token)), Buffer.from(sent ?? '')];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * What is in the cookie: random bits, and by what secret they were made. So what a stranger makes up is told from a
 * session without asking the store.
 */
function sessionTokens(secret: string): { make: () => string; isToken: (text: string) => boolean } {
  const key = createHmac('sha256', secret).update('toolhub session cookie').digest();
  const markOf = (random: string): Buffer => createHmac('sha256', key).update(random).digest().subarray(0, markBytes);
  return {
    make() {
      const random = randomBytes(tokenBytes).toString('base64url');
      return `${random}.${markOf(random).toString('base64url')}`;
    },
    isToken(text) {
      const [, random, mark] = /^([\w-]{43})\.([\w-]{22})$/.exec(text) ?? [];
      return random !== undefined && timingSafeEqual(Buffer.from(mark ?? '', 'base64url'), markOf(random));
    },
  };
}

const tokenBytes = 32;
const markBytes = 16;

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
