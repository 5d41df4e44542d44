import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Scope } from '../../core/access/scope.ts';
import { queryArguments } from '../../core/arguments/query.ts';
import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Guard } from '../frame/guard.ts';
import { jsonBodyText } from '../frame/body.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { recordRefusedCalls } from '../frame/refused-calls.ts';
import { jsonText } from '../frame/reply.ts';
import { type CalledTool, type Calls, completeResult, type GivenArguments } from './calls.ts';
import { noBrowserGet, openApiGuard } from './openapi-guard.ts';
import { sessionIdOf } from './tools.ts';

export interface ExecutionOptions {
  readonly calls: Calls;
  readonly allowedOrigins: readonly string[];
  readonly isOwn: Guard['isOwn'];
  readonly records: Parameters<typeof recordRefusedCalls>[0];
}

/**
 * `GET` and `POST /tools/:serverName/:toolName`, and the same below the name of a group or server, which limits what is
 * there (SPEC, Tool execution without authentication; CONTRACT §4, OpenAPI-style). The answer is the tool result
 * itself; failures are `{error, message}` (`api.ts`, which answers HEAD as well: it runs no tool).
 */
export function executionRoutes({ calls, allowedOrigins, isOwn, records }: ExecutionOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const guard = openApiGuard(allowedOrigins);

  async function execute(c: Context<ApiEnv>): Promise<Response> {
    const { server, tool, scope } = c.var.asked ?? unasked();
    const given = c.req.method === 'GET' ? fromQuery(c, isOwn) : await fromBody(c.req.raw);
    const answer = await calls.tool({ server, tool }, given, {
      caller: c.var.caller,
      scope,
      sessionId: sessionIdOf(c.req.header('x-session-id')),
      traceparent: c.req.header('traceparent'),
      request: c.req.raw,
      found: (own) => c.set('asked', { server, tool: own, scope }),
      reached: () => c.set('reached', true),
    });
    return jsonText(c, completeResult(answer.result));
  }

  const ask = createMiddleware<ApiEnv>(async (c, next) => {
    const { name, serverName = '', toolName = '' } = c.req.param() as Partial<Record<string, string>>;
    const scope: Scope = name === undefined ? { kind: 'server', name: serverName } : { kind: 'named', name };
    c.set('asked', { server: serverName, tool: toolName, scope });
    await next();
  });

  for (const path of ['/tools/:serverName/:toolName', '/:name/tools/:serverName/:toolName']) {
    routes.on(['GET', 'POST'], path, recordRefusedCalls(records), ask, guard, execute);
  }

  return routes;
}

function unasked(): never {
  throw new TypeError('The route has not said what it is asked for.');
}

function fromQuery(c: Context<ApiEnv>, isOwn: Guard['isOwn']): (tool: CalledTool) => GivenArguments {
  const query = new URL(c.req.url).searchParams;
  return (tool) => {
    noBrowserGet(c, tool, isOwn);
    const { value, problems } = queryArguments(query, tool.inputSchema);
    return { value, text: JSON.stringify(value), problems, wrapSingles: true, path: '' };
  };
}

async function fromBody(request: Request): Promise<() => GivenArguments> {
  const { value, text } = await jsonBodyText(request, '{}');
  if (!isObject(value))
    throw new HubError('invalid_input', 'The body must be a JSON object: the arguments of the tool.');
  return () => ({ value, text, path: '' });
}
