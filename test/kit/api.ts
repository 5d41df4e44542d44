import { expect } from 'vitest';
import { raw } from './raw.ts';
import type { TestHub } from './test-hub.ts';

/** An answer of the management API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Awaited<ReturnType<typeof raw>>['headers'];
  readonly text: string;
  /** The envelope; empty when the answer is no JSON object. */
  readonly body: {
    success?: boolean;
    data?: unknown;
    message?: string;
    errors?: { path: string; message: string }[];
    [member: string]: unknown;
  };
}

export interface ApiCall {
  /** Sent as `Authorization: Bearer`. */
  token?: string | undefined;
  /** JSON, or a text as it is. */
  body?: unknown;
  headers?: Record<string, string | undefined>;
}

/** Calls the management API as clients do; `path` is below `/api`. */
export async function api(
  hub: Pick<TestHub, 'url'>,
  method: string,
  path: string,
  call: ApiCall = {},
): Promise<ApiAnswer> {
  const { token, body, headers } = call;
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const answer = await raw(`${hub.url}/api${path}`, {
    method,
    ...(body !== undefined && { body }),
    headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }), ...headers },
  });
  return {
    status: answer.status,
    headers: answer.headers,
    text: answer.text,
    body: answer.message as ApiAnswer['body'],
  };
}

/** The access token of a user who logs in; `admin` has the password that `testHub` sets. */
export async function login(
  hub: Pick<TestHub, 'url'>,
  username = 'admin',
  password = 'correct horse',
): Promise<string> {
  const { status, text, body } = await api(hub, 'POST', '/auth/login', { body: { username, password } });
  expect(status, text).toBe(200);
  return body['token'] as string;
}

/** The cookies of a user who logs in as the dashboard does, and the header that their changes need. */
export async function cookieLogin(
  hub: Pick<TestHub, 'url'>,
  username = 'admin',
  password = 'correct horse',
  headers: Record<string, string> = {},
) {
  const body = { username, password, cookie: true };
  const answer = await api(hub, 'POST', '/auth/login', { body, headers });
  expect(answer.status, answer.text).toBe(200);
  return cookiesOf(answer);
}

/** The cookies of an answer that begins a session. */
export function cookiesOf({ headers }: ApiAnswer) {
  const set = [headers['set-cookie'] ?? []].flat();
  const value = (name: string): string => {
    const found = set.find((text) => text.startsWith(`${name}=`));
    return /=([^;]*)/.exec(found ?? '')?.[1] ?? '';
  };
  const [session, csrf] = [value('toolhub_session'), value('toolhub_csrf')];
  return { set, session, csrf, headers: { cookie: `toolhub_session=${session}`, 'x-csrf-token': csrf } };
}

/** Makes a user (password `password of <name>`) and logs in as them. */
export async function userToken(
  hub: Pick<TestHub, 'url'>,
  admin: string,
  username: string,
  more: { role?: 'admin' | 'user'; servers?: string[]; groups?: string[] } = {},
): Promise<string> {
  const password = passwordOf(username);
  const made = await api(hub, 'POST', '/users', { token: admin, body: { username, password, ...more } });
  expect(made.status, made.text).toBe(201);
  return login(hub, username, password);
}

export function passwordOf(username: string): string {
  return `password of ${username}`;
}

/** A new access key, in full. */
export async function keyToken(
  hub: Pick<TestHub, 'url'>,
  token: string,
  input: Record<string, unknown> = {},
): Promise<string> {
  const made = await api(hub, 'POST', '/auth/keys', { token, body: { name: 'key', ...input } });
  expect(made.status, made.text).toBe(201);
  return (made.body.data as { token: string }).token;
}
