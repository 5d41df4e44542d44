import { Hono } from 'hono';
import { z } from 'zod';
import { closedScope } from '../../core/access/rules.ts';
import type { Scope } from '../../core/access/scope.ts';
import { parseInput } from '../../core/input.ts';
import { memberText } from '../../core/json/text.ts';
import { jsonBodyText } from '../frame/body.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { okText } from '../frame/reply.ts';
import type { Calls } from './calls.ts';
import { sessionIdOf } from './tools.ts';
import { problemTable } from '../../core/problems.ts';

/** The body of `POST /mcp/:serverName/prompts/:promptName`. */
export const promptInput = z.object({
  /** MCPHub takes the name from here and not from the path. */
  name: z.string().min(1, problemTable.empty).nullish(),
  arguments: z.record(z.string(), z.string(), { error: 'must be an object of texts' }).nullish(),
});

/** The body of `POST /resources/read`. */
export const resourceInput = z.object({
  uri: z.string().min(1, problemTable.empty),
  /** The server that has it, where several have one of that name; otherwise the first that has. */
  server: z.string().min(1, problemTable.empty).nullish(),
});

/**
 * `POST /mcp/:serverName/prompts/:promptName` and `POST /resources/read` (reference: MCPHub §1.10): what servers offer
 * besides tools.
 */
export function promptsResourcesRoutes(calls: Calls): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/mcp/:serverName/prompts/:promptName', async (c) => {
    const { serverName, promptName } = c.req.param();
    const body = await jsonBodyText(c.req.raw, '{}');
    const input = parseInput(promptInput, body.value, 'Cannot get the prompt');
    const given = memberText(body.text, 'arguments');
    const args = given === undefined || given === 'null' ? '{}' : given;
    const at = { server: serverName, prompt: input.name ?? promptName };
    return okText(
      c,
      await calls.prompt(at, args, {
        caller: c.var.caller,
        scope: { kind: 'server', name: serverName },
        sessionId: sessionIdOf(c.req.header('x-session-id')),
        request: c.req.raw,
      }),
    );
  });

  routes.post('/resources/read', async (c) => {
    const { value } = await jsonBodyText(c.req.raw);
    const { uri, server } = parseInput(resourceInput, value, 'Cannot read the resource');
    const scope: Scope = server ? { kind: 'server', name: server } : { kind: 'all' };
    const closed = closedScope(c.var.caller.settings, scope);
    if (closed) throw closed;
    return okText(
      c,
      await calls.resource(uri, {
        caller: c.var.caller,
        scope,
        sessionId: sessionIdOf(c.req.header('x-session-id')),
        request: c.req.raw,
      }),
    );
  });

  return routes;
}
