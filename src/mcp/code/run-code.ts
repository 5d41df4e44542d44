import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
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

/** The types of Node 20 do not have it. */
declare const WebAssembly: { compile(code: Uint8Array): Promise<object> };

let compiling: Promise<object> | undefined;

/**
 * The engine's code, compiled once and kept: what V8 has compiled of it in one run is there for the next, which takes a
 * third of the CPU time then. It is nothing but code; the memory of a run is its own. Where it cannot be read the next
 * run tries again.
 */
function engineCode(): Promise<object> {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm');
  compiling ??= readFile(path)
    .then((code) => WebAssembly.compile(code))
    .catch((error: unknown) => {
      compiling = undefined;
      throw error;
    });
  return compiling;
}

/** How many runs are under way in this process, by caller. */
const running = new Map<string, number>();

/**
 * Runs code in a thread of its own, and ends the thread with it. Throws HubError `too_many` where too many run already,
 * `cancelled` when the signal aborts. What the code does wrong is an outcome.
 */
export async function runCode(
  code: string,
  { timeoutMs, memoryBytes, calls: mostCalls }: CodeLimits,
  { caller, call, signal }: { readonly caller: string; readonly call: ToolCall; readonly signal: AbortSignal },
): Promise<CodeOutcome> {
  const ofCaller = running.get(caller) ?? 0;
  const all = [...running.values()].reduce((sum, one) => sum + one, 0);
  if (all >= mcpLimits.codeRuns || ofCaller >= mcpLimits.codeRunsOfCaller)
    throw new HubError('too_many', 'Too much code is running already. Try again in a moment.', { retryAfterMs: 2_000 });
  running.set(caller, ofCaller + 1);
  const { codeLogLines: logLines, codeLogChars: logChars, codeResultChars: resultChars, codeArgumentChars } = mcpLimits;
  const task: Omit<CodeTask, 'engine'> = {
    code,
    memoryBytes,
    timeoutMs,
    bounds: { logLines, logChars, resultChars, calls: mostCalls, argumentChars: codeArgumentChars },
  };
  let worker: Worker | undefined;
  let calls = 0;
  try {
    const workerData: CodeTask = { ...task, engine: await engineCode() };
    if (signal.aborted) throw new HubError('cancelled', 'The client has left.');
    const thread = new Worker(workerFile, { workerData, execArgv: [], env: {}, resourceLimits });
    worker = thread;
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
      thread.once('error', (error) => fail(`The code could not go on: ${error.message}`));
      thread.once('exit', () => {
        ended();
        fail('The code was ended.');
      });
      thread.on('message', (message: FromCode) => {
        if (message.kind === 'begun') return endAfter(timeoutMs + graceMs);
        if (message.kind === 'end') {
          ended();
          resolve({ ...message.ended, calls });
          return;
        }
        const { id, server, tool, args } = message;
        const send = (text: string): void => {
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
          thread.postMessage({ id, answer: text } satisfies ToCode);
        };
        const fails = (error: string): void => send(JSON.stringify({ error }));
        if (calls >= mostCalls) return fails(`The code may make ${mostCalls} calls.`);
        calls += 1;
        void call(server, tool, args).then(
          (found) => {
            if ('error' in found) return fails(found.error);
            // It is copied into the memory of the code.
            if (found.value.length > memoryBytes / 4) return fails('The result is too large for the code.');
            send(`{"value":${found.value}}`);
          },
          (error: unknown) => fails(error instanceof HubError ? error.message : 'The call failed.'),
        );
      });
    });
  } finally {
    const left = (running.get(caller) ?? 1) - 1;
    if (left === 0) running.delete(caller);
    else running.set(caller, left);
    void worker?.terminate();
  }
}

/** The engine ends what computes for too long itself, and can say where that was. */
const graceMs = 250;
/** Of the thread around the engine. The engine's own memory is bounded by itself. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
