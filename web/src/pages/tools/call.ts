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

export type CallState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly since: number; readonly progress?: Progress }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'done'; readonly result: ToolResult; readonly ms: number }
  | { readonly kind: 'failed'; readonly error: unknown; readonly ms: number };

type Frame =
  | ({ readonly type: 'progress' } & Progress)
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly body: Partial<Envelope<ToolResult>> & { errors?: Problem[] };
    };

/** One call at a time of one tool; leaving the page cancels it. */
export function useCall(server: string, toolName: string) {
  const [state, setState] = useState<CallState>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  /** True when the tool answered without an error; undefined when the call was cancelled. */
  async function run(args: JsonObject): Promise<boolean | undefined> {
    const stop = new AbortController();
    running.current?.abort();
    running.current = stop;
    const since = Date.now();
    setState({ kind: 'running', since });
    try {
      const result = await call(server, { toolName, arguments: args }, stop.signal, (progress) =>
        setState({ kind: 'running', since, progress }),
      );
      setState({ kind: 'done', result, ms: Date.now() - since });
      return !result.isError;
    } catch (error) {
      const isCancelled = stop.signal.aborted;
      setState(isCancelled ? { kind: 'cancelled' } : { kind: 'failed', error, ms: Date.now() - since });
      return isCancelled ? undefined : false;
    }
  }

  return { state, run, cancel: () => running.current?.abort() };
}

async function call(
  server: string,
  body: unknown,
  signal: AbortSignal,
  progressed: (progress: Progress) => void,
): Promise<ToolResult> {
  const headers = { Accept: 'application/json, text/event-stream' };
  const response = await send(`/tools/call${pathOf(server)}`, { method: 'POST', body, headers, signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return ((await response.json()) as Envelope<ToolResult>).data;
  }
  let answer: ToolResult | undefined;
  await readFrames(response, ({ data }) => {
    const frame = JSON.parse(data) as Frame;
    if (frame.type === 'progress') return progressed(frame);
    if (frame.status >= 400) throw new ApiError(frame.status, frame.body.message ?? '', frame.body);
    answer = frame.body.data;
  });
  if (!answer) throw new ApiError(0, '');
  return answer;
}
