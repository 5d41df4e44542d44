import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { type ApiEnv, callerOf, type CallerOptions } from './caller.ts';
import { answerErrors, fail } from './reply.ts';

export interface ApiOptions extends CallerOptions {
  /** `READONLY`: refuse what changes something; calling tools is allowed. */
  readonly readonly: boolean;
  readonly resources: readonly Hono<ApiEnv>[];
  readonly log: Logger;
}

/**
 * The management API (`/api/**`, CONTRACT §2–§4). Everything needs a caller except what `openRoutes` names: a route somebody forgot to guard is closed.
 */
export function createApi(options: ApiOptions): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>();
  // Uploads have limits of their own.
  const small = bodyLimit({
    maxSize: limits.apiBodyBytes,
    onError: (c) => fail(c, new HubError('too_large', `The body is larger than ${limits.apiBodyBytes} bytes.`)),
  });
  api.use((c, next) => (pathOf(c.req.path) === '/mcpb/upload' ? next() : small(c, next)));
  api.use(
    callerOf(options, {
      open: (c) => openRoutes.some(([method, path]) => method.includes(c.req.method) && path.test(pathOf(c.req.path))),
      queryToken: (c) => c.req.method === 'GET' && pathOf(c.req.path) === '/logs/stream',
    }),
  );
  api.use(async (c, next) => {
    const harmless = c.req.method === 'GET' || c.req.method === 'HEAD' || /^\/(tools|auth)\//.test(pathOf(c.req.path));
    if (options.readonly && !harmless) throw new HubError('forbidden', 'This hub is read-only (READONLY).');
    await next();
  });
  for (const routes of options.resources) api.route('/', routes);
  api.notFound((c) => fail(c, new HubError('not_found', `There is nothing at ${c.req.method} ${c.req.path}.`)));
  api.onError(answerErrors(options.log));
  return api;
}

/** What may be called without a credential (SPEC, Authentication, 4; CONTRACT §2): the routes themselves decide what anonymous may see. */
const openRoutes: readonly (readonly [methods: readonly string[], path: RegExp])[] = [
  [['POST'], /^\/auth\/login$/],
  [['GET', 'POST'], /^\/tools\/(?!call\/)[^/]+\/[^/]+$/],
  [['GET', 'POST'], /^\/[^/]+\/tools\/[^/]+\/[^/]+$/],
  [['GET'], /^\/(?:[^/]+\/)?openapi\.(?:json|yaml)$/],
];

/** The path below `/api`, whatever `BASE_PATH` is. */
function pathOf(path: string): string {
  return path.replace(/^.*?\/api(?=\/|$)/, '');
}

/** The JSON body of a request, or `fallback` when there is none. Throws HubError `wrong_type` or `invalid_input`. */
export async function jsonBody(request: Request, fallback?: unknown): Promise<unknown> {
  const type = request.headers.get('content-type');
  const text = await request.text();
  if (text.trim() === '' && fallback !== undefined) return fallback;
  if (type !== null && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new HubError('wrong_type', `Content-Type must be application/json, not "${type.slice(0, 80)}".`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HubError('invalid_input', 'The body is not valid JSON.');
  }
}
