import { type Context, Hono } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { ByteBudget } from '../../core/byte-budget.ts';
import { managementApi, toolExecution } from '../../core/access/endpoint.ts';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { AuditSink } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import { packedBody } from '../../wire/http.ts';
import { httpLimits } from '../limits.ts';
import { limitBody, limitMembers, type MembersOf } from './body.ts';
import { auditedAs, auditRequests } from './audited.ts';
import { type ApiEnv, callerOf, type CallerOptions, mustBeInPerson, mustHaveFactor, requires } from './caller.ts';
import { largeBodies } from './large-bodies.ts';
import {
  harmless,
  inPerson,
  login,
  logStream,
  matches,
  methodsInstead,
  openApi,
  oidc,
  openRoutes,
  type Routes,
  settingUpFactor,
  toolCalls,
} from './open-routes.ts';
import { answerErrors, failBare } from './reply.ts';

export interface ApiOptions extends CallerOptions {
  /** Where the API is mounted: `${BASE_PATH}/api`. */
  readonly mount: string;
  /** `READONLY`: refuse what changes something; calling tools is allowed. */
  readonly readonly: boolean;
  readonly resources: readonly Hono<ApiEnv>[];
  /** What the JSON body of a route may have at its top. */
  readonly membersOf: MembersOf;
  /** The memory for bodies. */
  readonly bodies: ByteBudget;
  readonly audit: AuditSink;
  readonly log: Logger;
}

/**
 * The management API (`/api/**`, CONTRACT §2–§4). Everything needs a caller except what `openRoutes` names: a route
 * that has no guard by mistake is closed.
 */
export function createApi(options: ApiOptions): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>();
  const is = (c: Context, routes: Routes): boolean =>
    matches(routes, { method: c.req.method, path: c.req.path.slice(options.mount.length) });
  // Answers are for this caller and this moment.
  api.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    await next();
    // Hono drops the body of such an answer without ending it: what is written into it would wait for ever.
    if (c.req.method === 'HEAD') await c.res.body?.cancel();
  });
  api.use(async (c, next) => {
    const methods = methodsInstead({ method: c.req.method, path: c.req.path.slice(options.mount.length) })?.join(', ');
    if (methods === undefined) return next();
    c.header('Allow', methods);
    return c.json({ error: 'method_not_allowed', message: `Use one of these methods here: ${methods}.` }, 405);
  });
  api.use(
    callerOf(options, {
      open: (c) => is(c, openRoutes),
      // A client that logs in often still sends the token that has ended.
      anonymous: (c) => is(c, [login, ...oidc]),
      queryToken: (c) => is(c, [logStream]),
      endpoint: (c) => (is(c, toolCalls) ? toolExecution : managementApi),
      // A page that leads a browser to a tool must not run it as the user who is logged in there.
      // A login does not need the session that it replaces.
      cookie: (c) => !is(c, [login, ...oidc, ...openApi]),
      audited: (c) => auditedAs(c, options.mount),
    }),
  );
  api.use(auditRequests(options.audit, options.mount));
  api.use(async (c, next) => {
    const { principal } = c.var.caller;
    if (!is(c, settingUpFactor)) await requires(c, () => mustHaveFactor(c.var.caller));
    if (is(c, inPerson)) mustBeInPerson(principal);
    if (options.readonly && !is(c, harmless)) throw saying('forbidden', 'read_only');
    const packed = packedBody(c.req.header('content-encoding'));
    if (packed !== undefined) throw new HubError('wrong_type', packed);
    const { settings } = c.var.caller;
    const most = is(c, largeBodies)
      ? (settings.system.routing.jsonBodyBytes ?? httpLimits.apiBodyBytes)
      : httpLimits.smallBodyBytes;
    limitBody(c.req.raw, { most, budget: options.bodies, isKnown: principal.kind !== 'anonymous' });
    const path = matchedRoutes(c).find(({ method }) => method === c.req.method)?.path ?? '';
    const members = options.membersOf({ method: c.req.method, path: path.slice(options.mount.length) });
    if (members !== undefined) limitMembers(c.req.raw, members);
    await next();
  });
  for (const routes of options.resources) api.route('/', routes);
  const [enveloped, bare] = [answerErrors(options.log), answerErrors(options.log, failBare)];
  api.onError((error, c) => (is(c, openApi) ? bare(error, c) : enveloped(error, c)));
  return api;
}
