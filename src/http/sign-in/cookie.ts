import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { upstreamLimits } from '../../upstream/limits.ts';
import type { PublicUrl } from '../frame/public-url.ts';

/**
 * The cookie by which a browser shows that a sign-in was begun in it: otherwise an attacker could begin one, have
 * another user finish it, and use the server as that user. One per sign-in, so that two tabs do not disturb each other
 * and an old cookie proves nothing.
 */
export interface SignInCookies {
  give(c: Context, begun: { readonly state: string; readonly browser: string }): void;
  /** What the browser was given for this `state`; it is taken back. */
  take(c: Context, state: string): string | undefined;
}

/** `__Host-`: no other site below the same domain can set such a cookie; it requires https. */
const prefix = 'host' as const;

export function signInCookies(publicUrl: PublicUrl): SignInCookies {
  const optionsFor = (c: Context) => {
    const secure = publicUrl.isHttps((c.env as HttpBindings).incoming);
    return { path: '/', httpOnly: true, sameSite: 'Lax', secure, ...(secure && { prefix }) } as const;
  };
  return {
    give(c, { state, browser }) {
      setCookie(c, nameOf(state), browser, { ...optionsFor(c), maxAge: upstreamLimits.signInMs / 1_000 });
    },
    take(c, state) {
      const options = optionsFor(c);
      const name = nameOf(state);
      const value = options.secure ? getCookie(c, name, prefix) : getCookie(c, name);
      if (value !== undefined) setCookie(c, name, '', { ...options, maxAge: 0 });
      return value;
    },
  };
}

function nameOf(state: string): string {
  return `toolhub-sign-in-${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
}
