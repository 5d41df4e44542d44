import { useEffect, useRef, useState } from 'react';
import { ApiError, type Envelope, pathOf, type Problem, send } from '../../api/client.ts';
import { readFrames } from '../../api/sse.ts';
import type { JsonObject } from '../../api/types.ts';

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ToolResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly isError: boolean;
}

/** What the server wants to know before it goes on, by name: requests as in MCP. */
export type Questions = Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>;

interface Asked {
  readonly inputRequests: Questions;
  readonly requestState?: string;
}

/** One message of the call, as an MCP client sends and receives it. */
export interface Message {
  readonly from: 'client' | 'server';
  /** ISO 8601. */
  readonly time: string;
  /** Absent of a long one, which has `bytes`. */
  readonly message?: JsonObject;
  readonly bytes?: number;
}

export type CallState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly since: number; readonly progress?: Progress }
  | { readonly kind: 'asked'; readonly since: number; readonly questions: Questions }
  /** `givenUp`: the server waits for answers that it will not get, until the hub ends that. */
  | { readonly kind: 'cancelled'; readonly givenUp: boolean }
  | {
      readonly kind: 'done';
      readonly since: number;
      readonly args: JsonObject;
      readonly result: ToolResult;
      readonly ms: number;
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly ms: number };

type Frame =
  | ({ readonly type: 'progress' } & Progress)
  | ({ readonly type: 'message' } & Message)
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly dropped?: number;
      readonly body: Partial<Envelope<ToolResult & Partial<Asked>>> & { errors?: Problem[] };
    };

/** What this page can be asked, and from which level on it wants to hear of the log. */
const client = { capabilities: { elicitation: { form: {}, url: {} }, sampling: {} }, logLevel: 'info' };

/** The newest of so many messages are shown. */
const mostMessages = 500;

/** One call at a time of one tool; leaving the page cancels it. */
export function useCall(server: string, toolName: string) {
  const [state, setState] = useState<CallState>({ kind: 'idle' });
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const running = useRef<AbortController>(undefined);
  const answering = useRef<(answers: JsonObject | undefined) => void>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  /** The answers of the user to what the server asks; undefined when the call is given up. */
  const ask = (questions: Questions, since: number) =>
    new Promise<JsonObject | undefined>((resolve) => {
      answering.current = resolve;
      setState({ kind: 'asked', since, questions });
    });

  /** True when the tool answered without an error; undefined when the call was cancelled. */
  async function run(args: JsonObject): Promise<boolean | undefined> {
    const stop = new AbortController();
    running.current?.abort();
    answering.current?.(undefined);
    running.current = stop;
    const since = Date.now();
    setMessages([]);
    const heard = (frame: Frame) => {
      if (stop.signal.aborted) return;
      if (frame.type === 'progress') setState({ kind: 'running', since, progress: frame });
      if (frame.type === 'message') setMessages((old) => [...old, frame].slice(-mostMessages));
    };
    let rounds: object = {};
    try {
      for (;;) {
        setState({ kind: 'running', since });
        const body = { toolName, arguments: args, client, ...rounds };
        const result = await call(server, body, stop.signal, heard);
        if (result.inputRequests === undefined) {
          setState({ kind: 'done', since, args, result, ms: Date.now() - since });
          return !result.isError;
        }
        const inputResponses = await ask(result.inputRequests, since);
        if (inputResponses === undefined) throw new GivenUp();
        rounds = { inputResponses, requestState: result.requestState };
      }
    } catch (error) {
      if (running.current !== stop) return undefined;
      const givenUp = error instanceof GivenUp;
      const isCancelled = stop.signal.aborted || givenUp;
      setState(isCancelled ? { kind: 'cancelled', givenUp } : { kind: 'failed', error, ms: Date.now() - since });
      return isCancelled ? undefined : false;
    }
  }

  return {
    state,
    messages,
    run,
    cancel: () => running.current?.abort(),
    /** Without answers the call is given up. */
    answer: (answers: JsonObject | undefined) => answering.current?.(answers),
  };
}

class GivenUp extends Error {}

async function call(
  server: string,
  body: unknown,
  signal: AbortSignal,
  heard: (frame: Frame) => void,
): Promise<ToolResult & Partial<Asked>> {
  const headers = { Accept: 'application/json, text/event-stream' };
  const response = await send(`/tools/call${pathOf(server)}`, { method: 'POST', body, headers, signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return ((await response.json()) as Envelope<ToolResult>).data;
  }
  let answer: ToolResult | undefined;
  await readFrames(response, ({ data }) => {
    const frame = JSON.parse(data) as Frame;
    if (frame.type !== 'answer') return heard(frame);
    if (frame.status >= 400) throw new ApiError(frame.status, frame.body.message ?? '', frame.body);
    answer = frame.body.data;
  });
  if (!answer) throw new ApiError(0, '');
  return answer;
}
