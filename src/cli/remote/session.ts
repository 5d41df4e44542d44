import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { setTimeout as after } from 'node:timers/promises';
import { z } from 'zod';
import { errorText, HubError } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { endpointUrl } from '../../snippets/snippet.ts';
import { version } from '../../version.ts';
import { cliLimits } from '../limits.ts';
import { oneLine } from '../terminal.ts';
import { bearerFor, wantsLogin } from './access.ts';
import type { HubConnection } from './hub-connection.ts';

const listedTool = z.looseObject({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
});
const toolList = z.looseObject({ tools: z.array(listedTool), nextCursor: z.string().optional() });
const toolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
});

/** A tool as the hub lists it, with all its members. */
export type ListedTool = z.output<typeof listedTool>;
/** What a tool answered, with all its members. */
export type ToolResult = z.output<typeof toolResult>;

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** One MCP endpoint of a hub, as an AI client uses it. Its methods throw HubError. */
export interface Session {
  tools(): Promise<ListedTool[]>;
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: { readonly signal?: AbortSignal; readonly progressed?: (progress: Progress) => void },
  ): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Path below `/mcp`: nothing for all servers, a group, a server, `$smart`. */
  readonly scope: readonly string[];
  /** Answers what servers ask; without it they are told that this client takes no questions. */
  readonly elicit?: (params: ElicitRequest['params']) => Promise<ElicitResult>;
}

/** The caller closes it. */
export async function openSession(
  hub: HubConnection,
  env: UserEnv,
  { scope, elicit }: SessionOptions,
): Promise<Session> {
  const token = await bearerFor(hub, env);
  const client = new Client(
    { name: 'toolhub', version },
    {
      ...(elicit && { capabilities: { elicitation: { form: {}, url: {} } } }),
      // The library refuses a result of the stateless revision with anything in it that it does not know.
      versionNegotiation: { mode: 'legacy' },
    },
  );
  if (elicit) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
  const url = new URL(endpointUrl(`${hub.url}/mcp`, ...scope));
  let isUnknown = false;
  const underWay = new Set<Promise<unknown>>();
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: async (...request) => {
      const asked = hub.fetch(...request);
      underWay.add(asked);
      const answer = await asked.finally(() => underWay.delete(asked));
      isUnknown ||= answer.status === 401;
      return answer;
    },
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    reconnectionOptions: {
      initialReconnectionDelay: cliLimits.reconnectFirstMs,
      maxReconnectionDelay: cliLimits.reconnectMostMs,
      reconnectionDelayGrowFactor: 2,
      maxRetries: cliLimits.reconnectTries,
    },
  });
  const asked = async <T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      if (signal?.aborted === true) throw new HubError('cancelled', 'Stopped.');
      throw isUnknown ? wantsLogin(hub, env, token) : failure(error, hub, scope);
    }
  };
  const timeout = cliLimits.hubAnswerMs;
  await asked(() => client.connect(transport, { timeout }));
  return {
    async tools() {
      const found: ListedTool[] = [];
      let cursor: string | undefined;
      do {
        const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
        const page = await asked(() => client.request(request, toolList, { timeout }));
        found.push(...page.tools);
        cursor = page.nextCursor;
        if (found.length > cliLimits.listedTools || (cursor !== undefined && page.tools.length === 0))
          throw new HubError('upstream_failed', `The list of tools of the hub at ${hub.url} does not come to an end.`);
      } while (cursor !== undefined);
      return found;
    },
    call: (name, args, { signal, progressed } = {}) =>
      asked(
        () =>
          client.request({ method: 'tools/call', params: { name, arguments: args } }, toolResult, {
            // What bounds a call is the hub's own timeout, and the user who waits.
            timeout: coreLimits.timerMs,
            ...(signal && { signal }),
            ...(progressed && { onprogress: progressed }),
          }),
        signal,
      ),
    async close() {
      // That a call is cancelled would not arrive otherwise.
      await Promise.race([Promise.allSettled(underWay), after(cliLimits.lastWordsMs)]);
      await client.close();
    },
  };
}

function failure(error: unknown, hub: HubConnection, scope: readonly string[]): HubError {
  const known = causes(error).find((each) => each instanceof HubError);
  if (known instanceof HubError) return known;
  const http = causes(error).find((each) => SdkHttpError.isInstance(each));
  if (SdkHttpError.isInstance(http)) {
    const said = saidIn(http.data['text']);
    if (http.status === 404)
      return new HubError(
        'misconfigured',
        `There is no group or server "${oneLine(scope.at(-1) ?? '', 100)}" for you at ${hub.url}.`,
      );
    return new HubError(
      'upstream_failed',
      said ?? `The hub at ${hub.url} answered ${http.status}, which no Tool Hub does.`,
    );
  }
  if (ProtocolError.isInstance(error)) return new HubError('upstream_failed', oneLine(error.message, 1000));
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout)
    return new HubError('timeout', `The hub at ${hub.url} did not answer in time.`);
  const text = `What answers at ${hub.url} does not speak MCP as a Tool Hub does: ${oneLine(errorText(error), 200)}`;
  return new HubError('upstream_failed', text, { cause: error });
}

function causes(error: unknown, depth = 0): unknown[] {
  if (depth > 5 || !(error instanceof Error)) return [error];
  const data: unknown = SdkError.isInstance(error) ? error.data : undefined;
  const inner = typeof data === 'object' && data !== null && 'cause' in data ? data.cause : undefined;
  return [error, ...causes(error.cause, depth + 1), ...causes(inner, depth + 1)];
}

/** The message of a refusal: JSON-RPC's, or the API's. */
function saidIn(text: unknown): string | undefined {
  const shape = z.union([
    z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
    z.object({ message: z.string() }).transform(({ message }) => message),
  ]);
  try {
    const said = shape.safeParse(JSON.parse(String(text))).data;
    return said === undefined ? undefined : oneLine(said, 1000);
  } catch {
    return undefined;
  }
}
