import { type Context, Hono } from 'hono';
import { HubError } from '../core/errors.ts';
import { queryArguments } from '../core/query-arguments.ts';
import { isObject } from '../core/rpc.ts';
import type { Scope } from '../core/scope.ts';
import { jsonBodyText } from './api.ts';
import type { ApiEnv } from './caller.ts';
import { type Calls, completeResult, type GivenArguments } from './calls.ts';
import { openApiGuard } from './openapi-guard.ts';
import { jsonText } from './reply.ts';
import { sessionIdOf } from './tools.ts';

export interface ExecutionOptions {
  readonly calls: Calls;
  readonly allowedOrigins: readonly string[];
}

/**
 * `GET` and `POST /tools/:serverName/:toolName`, and the same below the name of a group or server, which limits what is there (SPEC, Tool execution
 * without authentication; CONTRACT §4, OpenAPI-style). The answer is the tool result itself; failures are `{error, message}` (`api.ts`).
 */
export function executionRoutes({ calls, allowedOrigins }: ExecutionOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const guard = openApiGuard(allowedOrigins);

  async function execute(c: Context<ApiEnv>, scope: Scope, at: { server: string; tool: string }): Promise<Response> {
    // Whoever asks for the headers of an answer wants nothing done.
    if (c.req.method === 'HEAD') throw new HubError('not_found', 'HEAD calls no tools. Use GET or POST.');
    const given = c.req.method === 'GET' ? fromQuery(new URL(c.req.url).searchParams) : await fromBody(c.req.raw);
    const answer = await calls.tool(at, given, {
      caller: c.var.caller,
      scope,
      sessionId: sessionIdOf(c.req.header('x-session-id')),
      traceparent: c.req.header('traceparent'),
      signal: c.req.raw.signal,
    });
    return jsonText(c, completeResult(answer.result));
  }

  routes.on(['GET', 'POST'], '/tools/:serverName/:toolName', guard, (c) => {
    const { serverName, toolName } = c.req.param();
    return execute(c, { kind: 'server', name: serverName }, { server: serverName, tool: toolName });
  });

  routes.on(['GET', 'POST'], '/:name/tools/:serverName/:toolName', guard, (c) => {
    const { name, serverName, toolName } = c.req.param();
    return execute(c, { kind: 'named', name }, { server: serverName, tool: toolName });
  });

  return routes;
}

function fromQuery(query: URLSearchParams): (inputSchema: unknown) => GivenArguments {
  return (inputSchema) => {
    const { value, problems } = queryArguments(query, inputSchema);
    return { value, text: JSON.stringify(value), problems, wrapSingles: true, path: '' };
  };
}

async function fromBody(request: Request): Promise<() => GivenArguments> {
  const { value, text } = await jsonBodyText(request, '{}');
  if (!isObject(value))
    throw new HubError('invalid_input', 'The body must be a JSON object: the arguments of the tool.');
  return () => ({ value, text, path: '' });
}
