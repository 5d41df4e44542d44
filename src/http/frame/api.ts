import { type Context, Hono } from 'hono';
import { HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import { packedBody } from '../../core/protocol/packed-body.ts';
import { type ApiEnv, callerOf, type CallerOptions } from './caller.ts';
import { answerErrors, failBare } from './reply.ts';
import { bodyChunks } from './unread.ts';

export interface ApiOptions extends CallerOptions {
  /** Where the API is mounted: `${BASE_PATH}/api`. */
  readonly mount: string;
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
  const is = (c: Context, routes: Routes): boolean => {
    const path = c.req.path.slice(options.mount.length);
    return routes.some(([methods, pattern]) => methods.includes(c.req.method) && pattern.test(path));
  };
  // Answers are for this caller and this moment.
  api.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    await next();
  });
  api.use(
    callerOf(options, {
      open: (c) => is(c, openRoutes),
      // Whoever logs in often still sends the token that has ended.
      anonymous: (c) => is(c, [login]),
      queryToken: (c) => is(c, [logStream]),
    }),
  );
  api.use(async (c, next) => {
    if (options.readonly && !is(c, harmless)) throw new HubError('forbidden', 'This hub is read-only (READONLY).');
    const packed = packedBody(c.req.header('content-encoding'));
    if (packed !== undefined) throw new HubError('wrong_type', packed);
    const most = c.var.caller.settings.system.routing.jsonBodyBytes;
    if (most !== undefined) bodyLimits.set(c.req.raw, most);
    await next();
  });
  for (const routes of options.resources) api.route('/', routes);
  const [enveloped, bare] = [answerErrors(options.log), answerErrors(options.log, failBare)];
  api.onError((error, c) => (is(c, openApi) ? bare(error, c) : enveloped(error, c)));
  return api;
}

/** Paths below `/api`. */
type Routes = readonly (readonly [methods: readonly string[], path: RegExp])[];

const login: Routes[number] = [['POST'], /^\/auth\/login$/];
const logStream: Routes[number] = [['GET'], /^\/logs\/stream$/];

/** First parts of paths of the management API, which no group or server of that name opens to anybody; its id, or the routes without a scope, do for it. */
const managed =
  '(?!(?:activities|auth|cloud|cost|credentials|docs|groups|logs|market|mcp|mcpb|oauth|openapi|prompts|registry|resources|servers|settings|smart-routing|templates|users)/)';

/** OpenAPI-style execution and the documents that describe it. Their failures are `{error, message}`. */
const openApi: Routes = [
  [['GET'], /^\/tools\/[^/]+\/[^/]+$/],
  [['POST'], /^\/tools\/(?!call\/)[^/]+\/[^/]+$/],
  [['GET', 'POST'], new RegExp(`^/${managed}[^/]+/tools/[^/]+/[^/]+$`)],
  [['GET'], new RegExp(`^/(?:${managed}[^/]+/)?openapi\\.(?:json|yaml)$`)],
];

/** What may be called without a credential (SPEC, Authentication, 4; CONTRACT §2): the routes themselves decide what anonymous may see. */
const openRoutes: Routes = [login, [['GET'], /^\/docs(?:\/openapi\.json)?$/], ...openApi];

/** Whether a route below `/api` may be called without a credential. */
export function isOpen({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return openRoutes.some(([methods, pattern]) => methods.includes(method) && pattern.test(path));
}

/** The body of a refusal that is made before the API sees the request, in the form of the route it was for. `path` is the whole path. */
export function refusalText(
  mount: string,
  { method, path }: { method: string; path: string },
  message: string,
): string {
  // As the routes see it: without `.` and `..`, and without a slash at its end.
  const address = `http://hub${path}`;
  const pathname = URL.canParse(address) ? new URL(address).pathname : path;
  const below = pathname.startsWith(mount) ? pathname.slice(mount.length).replace(/\/$/, '') : '';
  const bare = openApi.some(([methods, pattern]) => methods.includes(method) && pattern.test(below));
  return JSON.stringify(bare ? { error: 'forbidden', message } : { success: false, message });
}

/** What `READONLY` allows: reading, calling tools, coming and going. */
const harmless: Routes = [
  ...openRoutes,
  [['GET', 'HEAD'], /^/],
  [['POST'], /^\/tools\/call\/[^/]+$/],
  [['POST'], /^\/mcp\/[^/]+\/prompts\/[^/]+$/],
  [['POST'], /^\/resources\/read$/],
  [['POST'], /^\/smart-routing\/search$/],
  [['POST'], /^\/auth\/logout$/],
];

/** Of requests whose body may have another length than `limits.apiBodyBytes`. */
const bodyLimits = new WeakMap<Request, number>();

/**
 * The JSON body of a request, or `fallback` when there is none. Throws HubError `wrong_type`, `invalid_input`, or `too_large` past
 * `limits.apiBodyBytes`, or what the settings say in place of it.
 */
export async function jsonBody(request: Request, fallback?: unknown): Promise<unknown> {
  const { value } = await jsonBodyText(request, fallback === undefined ? undefined : JSON.stringify(fallback));
  return value;
}

/** The same with the JSON text, in which every number has all its digits; `fallback` is JSON text too. */
export async function jsonBodyText(request: Request, fallback?: string): Promise<{ value: unknown; text: string }> {
  const type = request.headers.get('content-type');
  const text = await bodyText(request);
  if (text.trim() === '' && fallback !== undefined) return { value: JSON.parse(fallback) as unknown, text: fallback };
  if (type !== null && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new HubError('wrong_type', `Content-Type must be application/json, not "${type.slice(0, 80)}".`);
  }
  try {
    return { value: JSON.parse(text) as unknown, text };
  } catch {
    throw new HubError('invalid_input', 'The body is not valid JSON.');
  }
}

/**
 * The body of a request as it is. Throws HubError `too_large` past the same. Not the middleware of Hono: that makes a new request of one whose
 * length is not announced, which the requests of the Node adapter do not allow.
 */
export async function bodyText(request: Request): Promise<string> {
  const most = bodyLimits.get(request) ?? limits.apiBodyBytes;
  const tooLarge = () => new HubError('too_large', `The body is larger than ${most} bytes.`);
  // Looked at before the body is: one that was never touched is read away by the server.
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request.body)) {
    size += chunk.length;
    if (size > most) throw tooLarge();
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
