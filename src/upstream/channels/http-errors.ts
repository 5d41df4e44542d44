import { STATUS_CODES } from 'node:http';
import { HubError, errorText } from '../../core/errors.ts';
import { type Reason, type ReasonCode, reasonWords, wordsWithoutAddress } from '../../core/reasons.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { upstreamLimits } from '../limits.ts';

/** Response headers as undici gives them: names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The `cause` of a HubError that came from an HTTP answer: what authorization and transport detection need to know of
 * it.
 */
export class HttpAnswer extends Error {
  readonly status: number;
  /** The challenge of a 401 or 403 (RFC 9110 §11.6.1, RFC 9728 `resource_metadata`). */
  readonly wwwAuthenticate: string | undefined;
  /** The start of the body, as text. */
  readonly body: string;

  constructor(status: number, headers: ResponseHeaders, body: string) {
    super(`HTTP ${status}`);
    this.name = 'HttpAnswer';
    this.status = status;
    this.wwwAuthenticate = header(headers, 'www-authenticate');
    this.body = body;
  }
}

/**
 * The failure of a request that was answered with an HTTP error. `where` is the address without credentials and query.
 */
export function statusError(where: string, status: number, headers: ResponseHeaders, body: string): HubError {
  const cause = new HttpAnswer(status, headers, body);
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  const answered = `${where} answered ${answer}`;
  const said = bodyText(body, header(headers, 'content-type'));
  const quoted = said === '' ? '' : `: ${said}`;
  const known = (code: ReasonCode) => ({
    cause,
    output: said === '' ? undefined : said,
    reason: { code, values: { where, status: answer } },
  });
  switch (status) {
    case 401:
      return new HubError(
        'upstream_failed',
        `${answered}: the server requires authorization. Give it a valid credential${quoted}`,
        known('credential_refused'),
      );
    case 403:
      return new HubError(
        'upstream_failed',
        `${answered}: the server does not allow this with the credential it got${quoted}`,
        known('credential_insufficient'),
      );
    case 404:
    case 405:
      return new HubError(
        'upstream_failed',
        `${answered}. Is this the address of its MCP endpoint?${quoted && ` It said${quoted}`}`,
        known('no_endpoint'),
      );
    case 429:
    case 503: {
      const retryAfterMs = retryAfter(headers);
      return new HubError('upstream_unavailable', answered + quoted, {
        ...known(status === 429 ? 'too_many_requests' : 'server_fault'),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
    }
    default:
      return new HubError('upstream_failed', answered + quoted, status >= 500 ? known('server_fault') : { cause });
  }
}

/** An answer that says 200 but is none. */
export function notAnAnswer(where: string, status: number, headers: ResponseHeaders, body: string): HubError {
  const cause = new HttpAnswer(status, headers, body);
  const type = header(headers, 'content-type');
  const encoding = header(headers, 'content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    return new HubError(
      'upstream_failed',
      `${where} answered in the encoding "${encoding}", which was not asked for.`,
      { cause },
    );
  }
  if (type?.includes('html') || /^\s*<(!doctype|html)/i.test(body)) {
    return new HubError(
      'upstream_failed',
      `${where} answered with a web page. Is this the address of its MCP endpoint?`,
      { cause, reason: { code: 'web_page', values: { where } } },
    );
  }
  if (body === '')
    return new HubError('upstream_failed', `${where} answered ${status} without the answer to the request.`, { cause });
  return new HubError(
    'upstream_failed',
    `${where} answered ${status} with something that is not the answer to the request: ${bodyText(body, type)}`,
    {
      cause,
      output: bodyText(body, type),
      reason: { code: 'not_mcp', values: { where, status: String(status) } },
    },
  );
}

/** What the system and the TLS library say, and what it means. */
const reasonsByCode: Readonly<Record<string, ReasonCode>> = {
  ECONNREFUSED: 'port_closed',
  ENOTFOUND: 'host_unknown',
  EAI_AGAIN: 'host_unknown',
  EAI_NODATA: 'host_unknown',
  EAI_NONAME: 'host_unknown',
  EAI_FAIL: 'host_unknown',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  EACCES: 'no_route',
  EPERM: 'no_route',
  ETIMEDOUT: 'no_connection_in_time',
  UND_ERR_CONNECT_TIMEOUT: 'no_connection_in_time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_self_signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_unknown_issuer',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_not_valid_yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_other_name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'tls_not_spoken',
  EPROTO: 'tls_not_spoken',
};
const cut = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

/** Whether this ended a connection that had come about. */
export function wasCut(error: unknown): boolean {
  return cut.has(details(error).code);
}

/**
 * The failure of a request that got no (complete) answer: connection, name, certificate. `where` is the address without
 * credentials and query, `setting` what of the settings it comes from.
 */
export function connectionError(where: string, error: unknown, setting = '"url"'): HubError {
  // An address that is not allowed, told by the connector.
  if (error instanceof HubError) return error;
  // undici gives its parser's errors a name but not always a code.
  const parserFailed = error instanceof Error && error.name === 'HTTPParserError';
  const { code, text } = parserFailed ? { code: 'HPE_', text: error.message } : details(error);
  const reason = whyUnreachable(code, { where, setting, code });
  if (!reason) {
    const why = cut.has(code) ? 'the connection was closed before the answer was complete.' : `${text}.`;
    return new HubError('upstream_unavailable', `Cannot reach ${where}: ${why}`, { cause: error });
  }
  const words = reasonWords(reason);
  return new HubError('upstream_unavailable', `${words.text} ${words.advice}`, {
    cause: error,
    reason,
    unreachable: wordsWithoutAddress(reason),
  });
}

/** Why no connection came about; undefined for what happens to one that is there, and for what is not known. */
function whyUnreachable(code: string, values: Reason['values']): Reason | undefined {
  const known = Object.hasOwn(reasonsByCode, code) ? reasonsByCode[code] : undefined;
  if (known) return { code: known, values };
  if (code.startsWith('HPE_')) return { code: 'http_not_spoken', values };
  const isTls = ['ERR_TLS_', 'ERR_SSL_', 'CERT_'].some((start) => code.startsWith(start));
  return isTls ? { code: 'tls_failed', values } : undefined;
}

/** The first useful code among an error, its parts (one per address tried) and its causes. */
function details(error: unknown): { code: string; text: string } {
  let text = errorText(error);
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if ('code' in at && typeof at.code === 'string' && at.code !== '')
      return { code: at.code, text: at.message || at.code };
    text = at.message || text;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return { code: '', text };
}

/** One header's value; of several, all of them joined. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** About 200 characters of an error's body: the message of a JSON error, or plain text; nothing of a web page. */
function bodyText(body: string, type: string | undefined): string {
  if (type?.includes('html')) return '';
  return printable(jsonMessage(body) ?? body).slice(0, 200);
}

function jsonMessage(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(parsed)) return undefined;
  const error = parsed['error'];
  const candidates = [
    isObject(error) ? error['message'] : undefined,
    parsed['error_description'],
    parsed['message'],
    parsed['detail'],
    error,
  ];
  return candidates.find((text) => typeof text === 'string');
}

/** What a server says is printed on terminals and pages: control characters and line breaks become blanks. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}

/** `Retry-After` in seconds or as a date, in milliseconds from now, as far as it is believed. */
function retryAfter(headers: ResponseHeaders): number | undefined {
  const value = header(headers, 'retry-after');
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), upstreamLimits.retryAfterMs) : undefined;
}
