import { createHash, randomBytes } from 'node:crypto';
import { passwordOf } from './api.ts';
import { raw } from './raw.ts';

/** A form of a page of the hub: its hidden fields. */
export function fieldsOf(text: string): Record<string, string> {
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

/** Sends a form as a browser does, without following what it answers. */
export function submit(
  url: string,
  fields: Record<string, string> | URLSearchParams,
  headers: Record<string, string> = {},
) {
  const address = new URL(url);
  return fetch(`${address.origin}${address.pathname}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: address.origin, 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields),
  });
}

export interface Consenting {
  readonly username?: string;
  readonly password?: string;
  /** Two: both fields are sent. */
  readonly decision?: 'allow' | 'deny' | readonly ('allow' | 'deny')[];
  readonly reach?: readonly string[];
  /** The boxes beside `reach` that are ticked. */
  readonly scope?: readonly string[];
}

/** A person who opens the address that a client gave them, logs in and decides; where the browser is then sent to. */
export async function authorize(url: string, as: Consenting = {}): Promise<URL> {
  const { username = 'admin', decision = 'allow', reach = ['all'], scope = [] } = as;
  const password = as.password ?? (username === 'admin' ? 'correct horse' : passwordOf(username));
  const opened = await fetch(url, { redirect: 'manual' });
  const login = await submit(url, { ...fieldsOf(await opened.text()), username, password });
  const fields = new URLSearchParams(fieldsOf(await login.text()));
  for (const one of [decision].flat()) fields.append('decision', one);
  for (const name of reach) fields.append('reach', name);
  for (const name of scope) fields.append('scope', name);
  const decided = await submit(url, fields);
  const location = decided.headers.get('location');
  if (location === null) throw new Error(`No way back: ${decided.status} ${await decided.text()}`);
  return new URL(location);
}

/** A client that does by hand what libraries do. */
export interface HandClient {
  readonly id: string;
  readonly redirectUri: string;
  /** The address for the browser; `more` is added, `null` takes a parameter away. */
  address(more?: Record<string, string | null>): string;
  token(fields: Record<string, string | null>): Promise<TokenAnswer>;
  /** Redeems a code that came back. */
  redeem(back: URL, more?: Record<string, string | null>): Promise<TokenAnswer>;
  refresh(token: string, more?: Record<string, string | null>): Promise<TokenAnswer>;
}

export interface TokenAnswer {
  readonly status: number;
  readonly body: {
    access_token: string;
    refresh_token: string;
    error?: string;
    [member: string]: unknown;
  };
}

export const verifier = randomBytes(32).toString('base64url');

let addresses = 0;

/** Registers from an address of its own: those of one address are bounded. */
export async function handClient(
  origin: string,
  redirectUri = 'https://app.example/callback',
  name = 'An app',
): Promise<HandClient> {
  const registered = await raw(`${origin}/oauth/register`, {
    method: 'POST',
    headers: { 'x-forwarded-for': `10.1.${addresses >> 8}.${addresses++ & 255}` },
    body: { client_name: name, redirect_uris: [redirectUri] },
  });
  const { client_id: id } = JSON.parse(registered.text) as { client_id: string };
  return clientWithId(origin, id, redirectUri);
}

/** A client that has its id already. */
export function clientWithId(origin: string, id: string, redirectUri = 'https://app.example/callback'): HandClient {
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  async function token(fields: Record<string, string | null>): Promise<TokenAnswer> {
    const answer = await fetch(`${origin}/oauth/token`, {
      method: 'POST',
      body: parameters({ client_id: id }, fields),
    });
    return { status: answer.status, body: (await answer.json()) as TokenAnswer['body'] };
  }

  return {
    id,
    redirectUri,
    address(more = {}) {
      const usual = {
        response_type: 'code',
        client_id: id,
        redirect_uri: redirectUri,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state: 'some state',
        resource: `${origin}/mcp`,
      };
      return `${origin}/oauth/authorize?${parameters(usual, more).toString()}`;
    },
    token,
    redeem: (back, more = {}) =>
      token({
        grant_type: 'authorization_code',
        code: back.searchParams.get('code'),
        redirect_uri: redirectUri,
        code_verifier: verifier,
        ...more,
      }),
    refresh: (text, more = {}) => token({ grant_type: 'refresh_token', refresh_token: text, ...more }),
  };
}

function parameters(usual: Record<string, string>, more: Record<string, string | null>): URLSearchParams {
  const all = Object.entries<string | null>({ ...usual, ...more });
  const there = all.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));
  return new URLSearchParams(there);
}
