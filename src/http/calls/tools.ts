import { Hono } from 'hono';
import { z } from 'zod';
import { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import { memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { DispatchOptions } from '../../mcp/dispatch.ts';
import { jsonBodyText } from '../frame/body.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { levels as logLevels } from '../../mcp/log-levels.ts';
import { recordRefusedCalls } from '../frame/refused-calls.ts';
import { answerErrors, okText } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';
import { type AsClient, type Calls, completeResult } from './calls.ts';
import { type Listening, withProgress } from './progress-stream.ts';
import { problemTable } from '../../core/problems.ts';

const anObject = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** The body of `POST /tools/call/:server`. */
export const callInput = z.object({
  toolName: z.string().min(1, problemTable.empty),
  arguments: anObject.nullish(),
  /** The caller speaks as an MCP client of 2026-07-28 does, and wants to hear the messages. */
  client: z
    .strictObject({
      capabilities: anObject.optional(),
      logLevel: z.enum(logLevels).optional(),
    })
    .nullish(),
  /** The second and later rounds of a call whose server asked something. */
  inputResponses: anObject.nullish(),
  requestState: z.string().nullish(),
});

/**
 * `POST /tools/call/:server` (SPEC, Tool call; CONTRACT §4): 200 also when the tool reports failure, which `isError`
 * says. Who takes `text/event-stream` hears of progress, and as a
 * client (`client`) of every message.
 */
export function toolsRoutes(calls: Calls, { log, records }: Pick<DispatchOptions, 'records' | 'log'>): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/tools/call/:server', recordRefusedCalls(records), async (c) => {
    const { caller } = c.var;
    if (caller.principal.kind === 'anonymous') throw new HubError('unauthenticated', 'Log in to call tools.');
    const body = await jsonBodyText(c.req.raw);
    const input = parseInput(callInput, body.value, 'Cannot call the tool');
    const scope = { kind: 'server', name: c.req.param('server') } as const;
    c.set('asked', { server: scope.name, tool: input.toolName, scope });
    const value = isObject(body.value) && isObject(body.value['arguments']) ? body.value['arguments'] : {};
    const text = input.arguments ? (memberText(body.text, 'arguments') ?? '{}') : '{}';
    const context = {
      caller,
      scope,
      sessionId: sessionIdOf(c.req.header('x-session-id')),
      traceparent: c.req.header('traceparent'),
      request: c.req.raw,
      found: (tool: string) => c.set('asked', { server: scope.name, tool, scope }),
      reached: () => c.set('reached', true),
    };
    const call = async (listening?: Listening) => {
      const given = () => ({ value, text, path: 'arguments' });
      const at = { server: scope.name, tool: input.toolName };
      const asClient = clientOf(input, body.text, listening);
      const answer = await calls.tool(at, given, { ...context, progressed: listening?.progressed, asClient });
      const more = { toolName: JSON.stringify(input.toolName), arguments: answer.arguments };
      return okText(c, completeResult(answer.result, more));
    };
    return withProgress(c, call, (error) => answerErrors(log)(error as Error, c));
  });

  return routes;
}

/** Undefined for callers that are no clients. Without a stream the messages are not sent to it. */
function clientOf(
  { client, inputResponses, requestState }: z.infer<typeof callInput>,
  body: string,
  listening: Listening | undefined,
): AsClient | undefined {
  if (!client) return undefined;
  return {
    capabilities: client.capabilities ?? {},
    logLevel: client.logLevel,
    rounds: {
      ...(inputResponses && { inputResponses: memberText(body, 'inputResponses') ?? '{}' }),
      ...(typeof requestState === 'string' && { requestState: JSON.stringify(requestState) }),
    },
    heard: listening?.heard ?? (() => undefined),
  };
}

/**
 * The value of `x-session-id`; undefined when there is none. Throws HubError `invalid_input` for one that is too long.
 */
export function sessionIdOf(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  if (header.length <= httpLimits.sessionIdChars) return header;
  throw new HubError('invalid_input', `x-session-id may have at most ${httpLimits.sessionIdChars} characters.`);
}
