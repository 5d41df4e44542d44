import { randomUUID } from 'node:crypto';
import type { Context, ErrorHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { oauthFailure } from '../frame/open-routes.ts';

/** A refusal with an error code of OAuth (RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2). */
export class OAuthRefusal extends HubError {
  readonly error: string;

  constructor(error: string, message: string) {
    super('invalid_input', message);
    this.error = error;
  }
}

/** What other failures are called. */
const names: Partial<Record<ErrorCode, string>> = {
  too_many: 'temporarily_unavailable',
  not_ready: 'temporarily_unavailable',
  misconfigured: 'server_error',
  not_found: 'invalid_request',
  forbidden: 'access_denied',
};

/** Makes what routes throw an answer of OAuth. A bug is logged, and the caller hears a request id alone. */
export function answerOAuthErrors(log: Logger): ErrorHandler {
  return (error, c) => {
    c.header('Cache-Control', 'no-store');
    if (error instanceof OAuthRefusal)
      return answer(c, error.error === 'invalid_client' ? 401 : 400, error.error, error.message);
    if (error instanceof HubError) {
      if (error.retryAfterMs !== undefined) c.header('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
      return answer(c, error.status, names[error.code] ?? 'invalid_request', error.message);
    }
    const requestId = randomUUID();
    log.error('Unexpected error', { requestId, path: c.req.path, stack: error.stack ?? String(error) });
    return answer(c, 500, 'server_error', `Internal error. The log of the hub has it under request id ${requestId}.`);
  };
}

function answer(c: Context, status: number, error: string, message: string) {
  return c.json(oauthFailure(error, message), status as ContentfulStatusCode);
}

/** The only value of a parameter, undefined when it is absent or empty. Throws when it comes twice (RFC 6749 §3.1). */
export function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  if (values.length > 1) throw new OAuthRefusal('invalid_request', `The parameter ${name} comes more than once.`);
  return values[0] === '' ? undefined : values[0];
}
