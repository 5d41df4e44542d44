import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Identify } from '../../auth/identify.ts';
import { authLimits } from '../../auth/limits.ts';
import type { LoginSession } from '../../auth/session-store.ts';
import { isCsrfOf, type LoginSessions, type SessionTokens } from '../../auth/sessions.ts';
import type { Principal } from '../../core/access/principal.ts';
import { HubError } from '../../core/errors.ts';
import type { Guard } from './guard.ts';
import type { PublicUrl } from './public-url.ts';

/** A session whose user may still come in. */
export interface CookieLogin {
  readonly session: LoginSession;
  readonly principal: Principal;
}

/** The cookies of a login in a browser (CONTRACT §8). They are for `/api` of the hub's own pages alone. */
export interface SessionCookies {
  give(c: Context, tokens: SessionTokens): void;
  clear(c: Context): void;
  /**
   * The session of a request; undefined without one that holds, and for requests of pages of other origins, also of
   * those that the operator allows. Throws HubError `forbidden` for a change without the header `x-csrf-token`.
   */
  login(c: Context): Promise<CookieLogin | undefined>;
  /**
   * False for a request that a page of another origin caused, also one that the operator allows. Browsers tell from
   * which page a request is: `Sec-Fetch-Site` over https and on loopback, `Origin` with changes.
   */
  isOfOwnPage(c: Context): boolean;
}

export interface SessionCookieOptions {
  readonly sessions: Pick<LoginSessions, 'find'>;
  readonly userOf: Identify['userOf'];
  readonly publicUrl: Pick<PublicUrl, 'isHttps'>;
  readonly isOwn: Guard['isOwn'];
  readonly basePath: string;
}

const sessionName = 'toolhub_session';
const csrfName = 'toolhub_csrf';
/** Methods that change nothing. */
export const harmless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function sessionCookies({ sessions, userOf, publicUrl, isOwn, basePath }: SessionCookieOptions): SessionCookies {
  const path = basePath === '' ? '/' : basePath;

  function isOfOwnPage(c: Context): boolean {
    const [site, origin] = [c.req.header('sec-fetch-site'), c.req.header('origin')];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    return origin === undefined || isOwn(origin, c.req.header('host') ?? '');
  }

  /** Requests that were looked at: what is asked again, for a stream that is open, is no use of the session. */
  const used = new WeakSet<Request>();

  return {
    isOfOwnPage,
    give(c, { token, csrf }) {
      const secure = publicUrl.isHttps((c.env as HttpBindings).incoming);
      const options = { path, sameSite: 'Lax', secure, maxAge: authLimits.accessTokenMs / 1_000 } as const;
      setCookie(c, sessionName, token, { ...options, httpOnly: true });
      setCookie(c, csrfName, csrf, options);
    },
    clear(c) {
      const secure = publicUrl.isHttps((c.env as HttpBindings).incoming);
      for (const name of [sessionName, csrfName]) deleteCookie(c, name, { path, secure });
    },
    async login(c) {
      const token = getCookie(c, sessionName);
      if (token === undefined || !isOfOwnPage(c)) return undefined;
      const session = await sessions.find(token, !used.has(c.req.raw));
      used.add(c.req.raw);
      const principal = session && userOf(session.claims);
      if (!principal) return undefined;
      if (!harmless.has(c.req.method) && !isCsrfOf(token, c.req.header('x-csrf-token')))
        throw new HubError(
          'forbidden',
          'This change came with a cookie and without its CSRF token. Send the value of the cookie toolhub_csrf in the header x-csrf-token.',
        );
      return { session, principal };
    },
  };
}
