import { HubError } from '../../../core/errors.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import type { ClientCredentials } from './config.ts';
import { openDeadline } from './deadline.ts';
import type { Answer, HttpClient } from './http.ts';

/** The access token of a server, one for all its callers. */
export interface Tokens {
  /**
   * A token that is not about to end; fetched when there is none. Callers who come while it is fetched wait for the
   * same one.
   */
  current(): Promise<string>;
  /**
   * A token other than the one that was refused: one that another caller fetched meanwhile, or a new one. Undefined
   * when none can be fetched.
   */
  renew(refused: string): Promise<string | undefined>;
}

/**
 * Tokens by OAuth 2.0 client credentials (RFC 6749 §4.4). The secret goes to the token endpoint alone, never along a
 * redirect. Failures are HubError `upstream_failed` with the error code of the endpoint, nothing else of its answer.
 */
export function openTokens(settings: ClientCredentials, http: HttpClient, timeoutMs: number): Tokens {
  const { tokenUrl, clientId } = settings;
  let held =
    settings.token === undefined ? undefined : { token: settings.token, endsAt: settings.expiresAt ?? Infinity };
  let fetching: Promise<string> | undefined;
  /**
   * How the endpoint takes the client's credentials: in the body, as MCPHub sends them, or by HTTP Basic, which RFC
   * 6749 prefers.
   */
  let basic = false;

  function fetchOnce(): Promise<string> {
    fetching ??= fetchToken().finally(() => {
      fetching = undefined;
    });
    return fetching;
  }

  async function fetchToken(): Promise<string> {
    let answer = await ask(basic);
    if (settings.clientSecret !== undefined && (answer.status === 401 || codeOf(answer) === 'invalid_client')) {
      const other = await ask(!basic);
      if (other.status === 200) basic = !basic;
      answer = other.status === 200 ? other : answer;
    }
    const { access_token: token, expires_in: seconds } = answer.status === 200 ? json(answer) : {};
    if (typeof token !== 'string' || !/^[\u0021-\u007e]+$/.test(token)) {
      const why = codeOf(answer) ?? (answer.status === 200 ? 'no access_token in the answer' : `HTTP ${answer.status}`);
      throw new HubError(
        'upstream_failed',
        `The token endpoint ${answer.url.origin} gave no token: ${why}. Check the client's id, secret and scopes.`,
      );
    }
    const lasts = Number(seconds);
    held = { token, endsAt: Number.isFinite(lasts) && lasts > 0 ? Date.now() + lasts * 1_000 : Infinity };
    return token;
  }

  function ask(byBasic: boolean): Promise<Answer> {
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (settings.scope !== undefined) form.set('scope', settings.scope);
    const id = clientId ?? '';
    const secret = settings.clientSecret ?? '';
    if (!byBasic) {
      form.set('client_id', id);
      if (settings.clientSecret !== undefined) form.set('client_secret', secret);
    }
    const authorization = `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
    const body = { contentType: 'application/x-www-form-urlencoded', bytes: Buffer.from(form.toString()) };
    const url = new URL(tokenUrl ?? '');
    const deadline = openDeadline(timeoutMs, `The token endpoint ${url.origin} did not answer within ${timeoutMs} ms.`);
    const sending = http.send({
      request: {
        method: 'POST',
        url: new URL(tokenUrl ?? ''),
        headers: { accept: 'application/json' },
        cookies: [],
        body,
      },
      credentials: { headers: byBasic ? { authorization } : {}, query: [], cookies: [] },
      maxBytes: upstreamLimits.tokenAnswerBytes,
      redirects: 0,
      signal: deadline.signal,
    });
    return sending.finally(() => deadline.done());
  }

  const canFetch = tokenUrl !== undefined && clientId !== undefined;
  return {
    current: () => {
      const usable = held !== undefined && (!canFetch || held.endsAt > Date.now() + upstreamLimits.tokenSpareMs);
      return usable && held !== undefined ? Promise.resolve(held.token) : fetchOnce();
    },
    renew: async (refused) => {
      if (held !== undefined && held.token !== refused) return held.token;
      if (!canFetch) return undefined;
      const token = await fetchOnce();
      return token === refused ? undefined : token;
    },
  };
}

function json({ bytes }: Answer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(bytes.toString());
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** The `error` of an OAuth answer: one of a few short words, and safe to show as long as it looks like one. */
function codeOf(answer: Answer): string | undefined {
  const { error } = json(answer);
  return typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : undefined;
}

/** RFC 6749, appendix B: the parts of Basic credentials are form-encoded first. */
function formEncoded(text: string): string {
  return new URLSearchParams({ t: text }).toString().slice(2);
}
