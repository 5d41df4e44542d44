import { Worker } from 'node:worker_threads';
import { HubError } from '../../core/errors.ts';
import { shipped } from '../../core/shipped.ts';
import { mcpLimits } from '../limits.ts';
import type { CodeEnd, CodeTask, FromCode, ToCode } from './messages.ts';

/** Node 20 runs no TypeScript: the thread comes from the build (as `database/embedded.ts` has it). */
const workerFile = shipped('dist/code-worker.js');

export interface CodeLimits {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** Calls of tools in one run. */
  readonly calls: number;
}

/** A call of a tool by the code: what it gets, as a value, or the text of the error that is thrown there. */
export type ToolCall = (
  server: string,
  tool: string,
  args: string,
) => Promise<{ readonly value: string } | { readonly error: string }>;

export type CodeOutcome = CodeEnd & { readonly calls: number };

/** How many runs are under way in this process. */
let running = 0;

/**
 * Runs code in a thread of its own, and ends the thread with it. Throws HubError `too_many` where too many run already,
 * `cancelled` when the signal aborts. What the code does wrong is an outcome.
 */
export async function runCode(
  code: string,
  { timeoutMs, memoryBytes, calls: mostCalls }: CodeLimits,
  call: ToolCall,
  signal: AbortSignal,
): Promise<CodeOutcome> {
  if (running >= mcpLimits.codeRuns)
    throw new HubError('too_many', 'Too much code is running already. Try again in a moment.', { retryAfterMs: 2_000 });
  running += 1;
  const { codeLogLines: logLines, codeLogChars: logChars, codeResultChars: resultChars } = mcpLimits;
  const task: CodeTask = { code, memoryBytes, timeoutMs, bounds: { logLines, logChars, resultChars } };
  const worker = new Worker(workerFile, { workerData: task, execArgv: [], env: {}, resourceLimits });
  let calls = 0;
  try {
    return await new Promise((resolve, reject) => {
      const fail = (message: string): void =>
        resolve({ kind: 'error', message, line: undefined, column: undefined, logs: [], calls });
      let timer: NodeJS.Timeout | undefined;
      const endAfter = (ms: number): void => {
        clearTimeout(timer);
        timer = setTimeout(() => fail(`The code ran for longer than ${timeoutMs / 1_000} s.`), ms);
      };
      const ended = (): void => clearTimeout(timer);
      endAfter(mcpLimits.codeStartMs);
      signal.addEventListener('abort', () => reject(new HubError('cancelled', 'The client has left.')), { once: true });
      worker.once('error', (error) => fail(`The code could not go on: ${error.message}`));
      worker.once('exit', () => {
        ended();
        fail('The code was ended.');
      });
      worker.on('message', (message: FromCode) => {
        if (message.kind === 'begun') return endAfter(timeoutMs + graceMs);
        if (message.kind === 'end') {
          ended();
          resolve({ ...message.ended, calls });
          return;
        }
        const { id, server, tool, args } = message;
        const send = (text: string): void => {
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
          worker.postMessage({ id, answer: text } satisfies ToCode);
        };
        const fails = (error: string): void => send(JSON.stringify({ error }));
        if (calls >= mostCalls) return fails(`The code may make ${mostCalls} calls.`);
        calls += 1;
        void call(server, tool, args).then(
          (found) => ('error' in found ? fails(found.error) : send(`{"value":${found.value}}`)),
          (error: unknown) => fails(error instanceof HubError ? error.message : 'The call failed.'),
        );
      });
    });
  } finally {
    running -= 1;
    void worker.terminate();
  }
}

/** The engine ends what computes for too long itself, and can say where that was. */
const graceMs = 250;
/** Of the thread around the engine. The engine's own memory is bounded by itself. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
