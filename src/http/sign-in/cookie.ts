import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { upstreamLimits } from '../../upstream/limits.ts';
import type { PublicUrl } from '../frame/public-url.ts';
import { httpLimits } from '../limits.ts';

/**
 * The cookies by which a browser shows that a sign-in was begun in it: otherwise an attacker could begin one, have
 * another user finish it, and use the server as that user. One for each sign-in, so that two tabs do not disturb each
 * other. A page of another site can lead the browser to where sign-ins begin as often as it likes, so there are as many
 * names as sign-ins may wait in one browser: another one takes the place of the oldest.
 */
export interface SignInCookies {
  give(c: Context, begun: { readonly state: string; readonly browser: string }): void;
  /** What the browser was given for this `state`; it is taken back. */
  take(c: Context, state: string): string | undefined;
}

/** `__Host-`: no other site below the same domain can set such a cookie; it requires https. */
const prefix = 'host' as const;

const names = Array.from({ length: httpLimits.signInCookies }, (_, i) => `toolhub-sign-in-${i + 1}`);

/** A cookie's value: when it was given, for which `state`, and what the browser was given. */
interface Waiting {
  readonly name: string;
  readonly value: string | undefined;
  readonly at: number;
  readonly mark: string;
  readonly browser: string;
}

export function signInCookies(publicUrl: PublicUrl): SignInCookies {
  const optionsFor = (c: Context) => {
    const secure = publicUrl.isHttps((c.env as HttpBindings).incoming);
    return { path: '/', httpOnly: true, sameSite: 'Lax', secure, ...(secure && { prefix }) } as const;
  };
  /** Those of the browser, the free names and the oldest first. */
  const waiting = (c: Context): Waiting[] => {
    const { secure } = optionsFor(c);
    const all = names.map((name): Waiting => {
      const value = secure ? getCookie(c, name, prefix) : getCookie(c, name);
      const [at = '', mark = '', ...rest] = value?.split('.') ?? [];
      return { name, value, at: Number.parseInt(at, 36) || 0, mark, browser: rest.join('.') };
    });
    return all.toSorted((a, b) => a.at - b.at);
  };
  const clear = (c: Context, { name }: Waiting) => setCookie(c, name, '', { ...optionsFor(c), maxAge: 0 });

  return {
    give(c, { state, browser }) {
      const value = `${Date.now().toString(36)}.${markOf(state)}.${browser}`;
      const [place, ...others] = waiting(c);
      if (!place) return;
      setCookie(c, place.name, value, { ...optionsFor(c), maxAge: upstreamLimits.signInMs / 1_000 });
      // The newest stay: all of them together have to fit into the head of a request.
      let chars = value.length;
      for (const other of others.toReversed()) {
        chars += other.value?.length ?? 0;
        if (other.value !== undefined && chars > httpLimits.signInCookieChars) clear(c, other);
      }
    },
    take(c, state) {
      const mark = markOf(state);
      const found = waiting(c).find((one) => one.mark === mark);
      if (found) clear(c, found);
      return found?.browser;
    },
  };
}

function markOf(state: string): string {
  return createHash('sha256').update(state).digest('hex').slice(0, 16);
}
