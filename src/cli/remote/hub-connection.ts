import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, type RequestInit as UndiciInit } from 'undici';
import { isLoopbackUrl } from '../../core/access/outside.ts';
import { errorText, HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { version } from '../../version.ts';
import { cliLimits } from '../limits.ts';
import { oneLine } from '../terminal.ts';

/** A hub at an address, which may answer anything: each answer is bounded, and no redirect is followed. */
export interface HubConnection {
  /** Without a slash at its end: `https://example.com/hub`. */
  readonly url: string;
  /** Throws HubError `upstream_unavailable` or `upstream_failed` with what to do. */
  readonly fetch: FetchLike;
  /** An answer of the management API: its status, and its body where that is a JSON object. */
  api(path: string, call?: ApiCall): Promise<ApiAnswer>;
}

export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The address of the hub that is meant. Throws HubError `misconfigured` for what is none. */
export function hubAddress(named: string | undefined, env: Pick<UserEnv, 'hubUrl'>): string {
  const text = named ?? env.hubUrl ?? 'http://127.0.0.1:3000';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = (why: string): HubError =>
    new HubError('misconfigured', `"${oneLine(text.replace(/\/\/[^/]*@/, '//•••@'), 200)}" ${why}.`);
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong('is no http:// or https:// address of a hub');
  if (url.username !== '' || url.password !== '')
    throw wrong('has a password in it. Leave it out, and log in with: toolhub login');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Over the proxy that the environment names, but never to this machine. */
export function connectTo(
  url: string,
  { proxies }: Pick<UserEnv, 'proxies'>,
  answerBytes: number = cliLimits.answerBytes,
): HubConnection {
  const dispatcher = dispatcherFor(url, proxies);
  const reached: FetchLike = async (address, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', `toolhub/${version}`);
    try {
      const sent = { ...init, headers: Object.fromEntries(headers), redirect: 'manual', dispatcher } as UndiciInit;
      const answer = (await fetch(address, sent)) as unknown as Response;
      const { status } = answer;
      if (status >= 300 && status < 400) throw moved(url, answer.headers.get('location'));
      return bounded(answer, url, answerBytes);
    } catch (error) {
      if (error instanceof HubError || init.signal?.aborted === true) throw error;
      throw unreachable(url, error);
    }
  };
  return {
    url,
    fetch: reached,
    async api(path, { method = 'GET', token, body, signal } = {}) {
      const answer = await reached(`${url}/api${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(cliLimits.hubAnswerMs), ...(signal ? [signal] : [])]),
      }).catch((error: unknown) => {
        throw timedOut(url, error);
      });
      return { status: answer.status, body: await objectIn(answer, url) };
    },
  };
}

/** What a hub says of a refusal, on one line; for an answer of something else that it is no Tool Hub. */
export function refusalText({ status, body }: ApiAnswer): string {
  const { message, error, error_description: described } = body;
  const said = [message, described, isObject(error) ? error['message'] : error].find(
    (text) => typeof text === 'string',
  );
  return typeof said === 'string' ? oneLine(said, 1000) : `it answered ${status}, which no Tool Hub does.`;
}

function dispatcherFor(url: string, { http, https, except }: UserEnv['proxies']): Dispatcher {
  // A call may take an hour: what bounds it is its own signal.
  const times = { headersTimeout: 0, bodyTimeout: 0 };
  if (isLoopbackUrl(url) || (http === '' && https === '')) return new Agent(times);
  const proxies = { ...(http !== '' && { httpProxy: http }), ...(https !== '' && { httpsProxy: https }) };
  try {
    return new EnvHttpProxyAgent({ ...times, ...proxies, noProxy: except });
  } catch (error) {
    throw new HubError('misconfigured', 'The proxy in HTTP_PROXY or HTTPS_PROXY is no http:// address.', {
      cause: error,
    });
  }
}

function bounded(answer: Response, url: string, most: number): Response {
  if (answer.body === null) return answer;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= most) return controller.enqueue(chunk);
      controller.error(
        new HubError('upstream_failed', `The hub at ${url} answered more than ${most / 1024 / 1024} MB.`),
      );
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counted), { status, statusText, headers: Object.fromEntries(headers) });
}

async function objectIn(answer: Response, url: string): Promise<Record<string, unknown>> {
  const text = await answer.text().catch((error: unknown) => {
    throw timedOut(url, error);
  });
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {
    // Said below.
  }
  if (answer.ok) throw new HubError('upstream_failed', `What answers at ${url} is no Tool Hub. Check the address.`);
  return {};
}

function moved(url: string, location: string | null): HubError {
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const where = target === undefined ? 'elsewhere' : `to ${oneLine(`${target.origin}${target.pathname}`, 200)}`;
  return new HubError(
    'upstream_failed',
    `The hub at ${url} sends on ${where}. Commands do not follow that, because they carry your login: name the right address.`,
  );
}

function timedOut(url: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  if (error instanceof Error && error.name === 'TimeoutError')
    return new HubError('timeout', `The hub at ${url} did not answer within ${cliLimits.hubAnswerMs / 1000} s.`);
  return unreachable(url, error);
}

const certificates = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function unreachable(url: string, error: unknown): HubError {
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof HubError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const attempt = `Cannot reach the hub at ${url}`;
  const because = (why: string) => new HubError('upstream_unavailable', `${attempt}: ${why}`, { cause: error });
  if (code === 'ECONNREFUSED')
    return because('nothing listens there. Start one with "toolhub serve", or name another address.');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return because('there is no such host name.');
  if (certificates.has(code))
    return because(
      `this machine does not know who signed its certificate (${code}). Put the certificate of the signer into a file and set NODE_EXTRA_CA_CERTS to its path.`,
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return because('its certificate is for another host name. Use the name that is in it.');
  if (code === 'CERT_HAS_EXPIRED') return because('its certificate has expired.');
  if (/^(ERR_SSL_|EPROTO)/.test(code)) return because('it does not speak https. Try http://.');
  const what = cause instanceof Error && cause.message !== '' ? cause : error;
  return because(`${oneLine(errorText(what), 200)}${code === '' ? '' : ` (${code})`}.`);
}
