import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { boot } from '../boot.ts';
import { freshLogin } from './fresh-login.ts';
import { session } from './session.ts';

/** What is wrong with one value that was sent, by its path: `config.url`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  /** The same by name, where the hub gives one. */
  readonly said?: { readonly code: string; readonly values: Readonly<Record<string, string>> };
}

/** What a login has to show besides the password. */
export interface FactorAsked {
  /** Sent back in place of the password. */
  readonly challenge: string;
  /** `totp`, `passkey`, `recovery`. */
  readonly methods: readonly string[];
  /** What the browser is asked for a passkey; undefined where the user has none for this address. */
  readonly passkey?: PublicKeyCredentialRequestOptionsJSON;
}

/**
 * The hub refused, or could not be reached (`status` 0). `message` is the hub's own: what was attempted, why not, what
 * to do.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** The password was right, and the user has to show a second factor. */
  readonly asked: FactorAsked | undefined;
  /** `message` by name, where the hub gives one. */
  readonly said: Refusal['said'];
  /** What the page needs is not on this hub, which runs without a database: trying again changes nothing. */
  readonly hasNoDatabase: boolean;

  constructor(status: number, message: string, { errors = [], error, said, ...asked }: Refusal = {}) {
    super(message);
    this.status = status;
    this.problems = errors;
    this.said = said;
    this.hasNoDatabase = error === 'no_database';
    const { challenge, methods = [], passkey } = asked;
    if (error === 'second_factor_required' && challenge !== undefined)
      this.asked = { challenge, methods, ...(passkey && { passkey }) };
  }
}

interface Refusal {
  readonly message?: string;
  readonly errors?: Problem[];
  /** What a program can do about it. */
  readonly error?: string;
  readonly said?: { readonly code: string; readonly values: Readonly<Record<string, string>> };
  readonly challenge?: string;
  readonly methods?: readonly string[];
  readonly passkey?: PublicKeyCredentialRequestOptionsJSON;
}

/** The envelope of every answer (CONTRACT §3). */
export interface Envelope<T> {
  readonly data: T;
  readonly message?: string;
}

interface Request {
  readonly method?: string;
  /** Sent as JSON; a form or a text as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** May be answered with new cookies, and a 401 is about what was sent, not about the session: a wrong password. */
  readonly secondCredential?: boolean;
  /** May be answered with new cookies: with the first factor all other logins end. */
  readonly renewsLogin?: boolean;
}

/** An address below `/api`. */
export function apiUrl(path: string): string {
  return `${boot.basePath}/api${path}`;
}

/** A path from texts of any kind: each becomes one segment. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** `?a=b` without what is undefined or empty. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Asks the hub; the whole envelope. Throws ApiError. A session that is refused ends here too. */
export async function ask<T>(path: string, request: Request = {}): Promise<Envelope<T>> {
  const response = await send(path, request);
  const answer = (await response.json().catch(() => undefined)) as Partial<Envelope<T>> | undefined;
  return { ...answer, data: answer?.data as T };
}

/** Asks the hub; `data` alone. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask<T>(path, { signal })).data;
}

/**
 * Requests that may be answered with new cookies. Others wait for their answers: one that began meanwhile could be sent
 * with the value of the old cookie for `x-csrf-token` beside the new cookies, and be refused.
 */
let entering: Promise<unknown> = Promise.resolve();

/** Resolves once none of them is under way; rejects as `fetch` does when the signal is aborted before. */
async function entered(signal: AbortSignal | undefined): Promise<void> {
  let gone: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    gone = () => reject(signal?.reason as DOMException);
    signal?.addEventListener('abort', gone, { once: true });
  });
  try {
    let seen: typeof entering | undefined;
    while (seen !== entering) {
      signal?.throwIfAborted();
      seen = entering;
      await Promise.race([seen, aborted]);
    }
  } finally {
    if (gone) signal?.removeEventListener('abort', gone);
  }
}

function initOf({ method = 'GET', body, headers, signal }: Request, csrf: string | undefined): RequestInit {
  const asIs = body === undefined || body instanceof FormData || typeof body === 'string';
  return {
    method,
    headers: {
      'Accept-Language': document.documentElement.lang,
      ...(csrf !== undefined && method !== 'GET' && { 'x-csrf-token': csrf }),
      ...(!asIs && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: asIs ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  };
}

/** The answer as it came. Throws ApiError unless it is good. */
export async function send(path: string, request: Request = {}): Promise<Response> {
  const { secondCredential = false, renewsLogin = false } = request;
  if (!secondCredential) await entered(request.signal);
  const csrf = session.csrf();
  const fetching = fetch(apiUrl(path), initOf(request, csrf));
  if (secondCredential || renewsLogin) entering = Promise.allSettled([entering, fetching]).then(() => undefined);
  const response = await fetching.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, '');
  });
  if (response.ok) return response;
  const failure = (await response.json().catch(() => ({}))) as Refusal;
  // Sent once more with the cookies that the password was answered with.
  if (failure.error === 'reauthenticate' && (await freshLogin())) return send(path, request);
  if (response.status === 401 && csrf !== undefined && !secondCredential) {
    await entered(request.signal);
    const next = session.csrf();
    if (next !== undefined && next !== csrf) return send(path, request);
    session.end('expired', csrf);
  }
  throw new ApiError(response.status, failure.message ?? `HTTP ${response.status}`, failure);
}
