import { passwordOf } from './api.ts';

/** A page that a person sees: the last answer, after every redirect. */
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly url: string;
}

/**
 * A person with a browser of their own: it keeps cookies, follows redirects, and fills in the hub's sign-in page. Over
 * at authorization servers they are signed in already, under the same name.
 */
export interface Person {
  /** Opens an address; where the hub asks for a sign-in, they sign in. */
  open(url: string): Promise<Page>;
  /** The same up to the hub's callback, which is not opened. */
  answerOf(url: string): Promise<URL>;
  /** Keeps the cookies of an answer that came some other way. */
  keep(from: string, setCookies: readonly string[]): void;
  /** What is sent to this address. */
  cookiesFor(url: string): string;
}

const mostRedirects = 10;

export function person(
  username = 'admin',
  password = username === 'admin' ? 'correct horse' : passwordOf(username),
): Person {
  // By host, as browsers do, which do not look at the port.
  const jar = new Map<string, Map<string, string>>();

  function cookiesFor(url: string): string {
    return [...(jar.get(new URL(url).hostname) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  function keep(from: string, setCookies: readonly string[]): void {
    const { hostname } = new URL(from);
    const own = jar.get(hostname) ?? new Map<string, string>();
    jar.set(hostname, own);
    for (const line of setCookies) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*max-age=0/i.test(line)) own.delete(name);
      else own.set(name, value);
    }
  }

  async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [`account=${username}`, cookiesFor(url)].filter((part) => part !== '').join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    keep(url, answer.headers.getSetCookie());
    return answer;
  }

  async function walk(start: string, stopsAt: (url: URL) => boolean): Promise<{ url: string; answer?: Response }> {
    let url = start;
    let form: URLSearchParams | undefined;
    for (let i = 0; i < mostRedirects; i++) {
      if (stopsAt(new URL(url))) return { url };
      const answer = form
        ? await request(url, { method: 'POST', body: form, headers: { origin: new URL(url).origin } })
        : await request(url);
      const location = answer.headers.get('location');
      const asksWho =
        form === undefined && answer.status === 200 && new URL(url).pathname.startsWith('/oauth/sign-in/');
      form = asksWho ? new URLSearchParams({ username, password }) : undefined;
      if (asksWho) await answer.text();
      else if (location === null) return { url, answer };
      else url = new URL(location, url).href;
    }
    throw new Error(`${start} redirects for ever`);
  }

  return {
    async open(start) {
      const { url, answer } = await walk(start, () => false);
      if (!answer) throw new Error('no answer');
      return { status: answer.status, text: await answer.text(), headers: answer.headers, url };
    },
    async answerOf(start) {
      const { url, answer } = await walk(start, ({ pathname }) => pathname === '/oauth/callback');
      if (answer) throw new Error(`${start} led to ${url}: ${answer.status} ${await answer.text()}`);
      return new URL(url);
    },
    keep,
    cookiesFor,
  };
}
