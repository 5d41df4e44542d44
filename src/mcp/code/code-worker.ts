import { parentPort, workerData } from 'node:worker_threads';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { errorText } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { CodeEnd, CodeTask, FromCode, ToCode } from './messages.ts';

/**
 * A thread that runs one piece of code in QuickJS (CONTRACT §11, Code mode): an engine of its own, in which there is
 * nothing of Node: no modules, files, network or timers. All that leads out of it are the two functions below.
 */

const { code, engine, memoryBytes, timeoutMs, bounds } = workerData as CodeTask;

/** The types of Node 20 do not have it. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** What the engine takes of its memory before any code runs, its stack among it. */
const engineBytes = 8 * 1024 * 1024;
const pageBytes = 64 * 1024;
/** What the engine wants at least when it starts; its build says so. */
const leastPages = 256;
/**
 * All memory of the engine. Its own count (`setMemoryLimit`) knows the size of one piece, and not of those that there
 * are: this build cannot ask its allocator. So the bound is that of the memory itself.
 */
const mostPages = Math.max(leastPages, Math.ceil((memoryBytes + engineBytes) / pageBytes));
const memory = new WebAssembly.Memory({ initial: leastPages, maximum: mostPages });
const fileName = 'code.js';
/** Lines that stand before the code. */
const linesBefore = 1;

const logs: string[] = [];
const waiting = new Map<number, QuickJSDeferredPromise>();
let lastId = 0;
let sentChars = 0;

/** What the code finds: `tools` and `console`. It takes the functions of the hub away before the code begins. */
const prelude = `(() => {
  const { __call: call, __log: log } = globalThis;
  delete globalThis.__call;
  delete globalThis.__log;
  const { stringify, parse } = JSON;
  const named = (get) => new Proxy({}, {
    get: (_, name) => (typeof name === 'string' && name !== 'then' ? get(name) : undefined),
    set: () => false,
  });
  const answer = async (sent, place) => {
    const { value, error } = parse(await sent);
    if (error === undefined) return value;
    // The stack of an error made here would not lead to the code: nothing of it is under way now.
    throw Object.defineProperty(new Error(error), 'stack', { value: place.stack, writable: true, configurable: true });
  };
  const tool = (server, name) => async (args = {}) =>
    answer(call(server, name, stringify(args) ?? 'null'), new Error());
  Object.defineProperty(globalThis, 'tools', { value: named((server) => named((name) => tool(server, name))) });
  const shown = (value) => (typeof value === 'string' ? value : value instanceof Error ? String(value) : stringify(value) ?? String(value));
  const write = (...values) => log(values.map(shown).join(' '));
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write };
})()`;

function post(message: FromCode): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage(message);
}

async function run(): Promise<CodeEnd> {
  const { default: loaded } = await import('@jitl/quickjs-ng-wasmfile-release-sync');
  // Its types are those of CommonJS, in which the default lies one deeper than in the module that Node loads.
  const variant = 'default' in loaded ? loaded.default : loaded;
  const module = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: engine, wasmMemory: memory }));
  const runtime = module.newRuntime();
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(stackBytes);
  post({ kind: 'begun' });
  const end = performance.now() + timeoutMs;
  runtime.setInterruptHandler(() => performance.now() > end);
  const vm = runtime.newContext();
  const jobs = (): void => void runtime.executePendingJobs();
  addFunctions(vm, jobs);
  vm.unwrapResult(vm.evalCode(prelude, 'prelude.js')).dispose();
  // Kept before the code can put another in its place.
  const stringify = vm.getProp(vm.getProp(vm.global, 'JSON'), 'stringify');
  parentPort?.on('message', ({ id, answer }: ToCode) => {
    const deferred = waiting.get(id);
    waiting.delete(id);
    deferred?.resolve(vm.newString(answer));
    jobs();
  });
  const evaluated = vm.evalCode(`(async () => {\n${code}\n})()`, fileName);
  if (evaluated.error) return failure(vm, evaluated.error);
  const settled = vm.resolvePromise(evaluated.value);
  jobs();
  const outcome = await settled;
  return outcome.error ? failure(vm, outcome.error) : resultOf(vm, runtime, stringify, outcome.value);
}

const stackBytes = 256 * 1024;

function addFunctions(vm: QuickJSContext, jobs: () => void): void {
  const call = vm.newFunction('__call', (server, tool, args) => {
    const id = (lastId += 1);
    const deferred = vm.newPromise();
    void deferred.settled.then(jobs);
    const sent = { server: vm.getString(server), tool: vm.getString(tool), args: vm.getString(args) };
    sentChars += sent.server.length + sent.tool.length + sent.args.length;
    // Here, and not in the hub: what is sent there takes the memory of the hub.
    if (id > bounds.calls || sentChars > bounds.argumentChars) {
      const error = `The code may make ${bounds.calls} calls, with ${bounds.argumentChars} characters of arguments.`;
      deferred.resolve(vm.newString(JSON.stringify({ error })));
      return deferred.handle;
    }
    waiting.set(id, deferred);
    post({ kind: 'call', id, ...sent });
    return deferred.handle;
  });
  const log = vm.newFunction('__log', (text) => {
    if (logs.length < bounds.logLines) logs.push(vm.getString(text).slice(0, bounds.logChars));
    return vm.undefined;
  });
  vm.setProp(vm.global, '__call', call);
  vm.setProp(vm.global, '__log', log);
}

function resultOf(
  vm: QuickJSContext,
  runtime: QuickJSRuntime,
  stringify: QuickJSHandle,
  value: QuickJSHandle,
): CodeEnd {
  const text = vm.callFunction(stringify, vm.undefined, value);
  runtime.executePendingJobs();
  if (text.error) return failure(vm, text.error);
  const result = vm.typeof(text.value) === 'string' ? vm.getString(text.value) : undefined;
  if (result !== undefined && result.length > bounds.resultChars)
    return ended(`The result has ${result.length} characters; ${bounds.resultChars} are allowed. Return less of it.`);
  return { kind: 'result', result, logs };
}

function failure(vm: QuickJSContext, error: QuickJSHandle): CodeEnd {
  const thrown: unknown = vm.dump(error);
  const { name, message, stack } = isObject(thrown) ? thrown : {};
  const text = isObject(thrown) ? `${shown(name)}: ${shown(message)}` : shown(thrown);
  const place = /code\.js:(\d+)(?::(\d+))?/.exec(shown(stack));
  const line = place ? Number(place[1]) - linesBefore : undefined;
  return ended(
    thrown === null && isFull() ? tooMuchMemory : interrupted(text),
    line !== undefined && line > 0 ? line : undefined,
    place?.[2] ? Number(place[2]) : undefined,
  );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** In words that say what to do about it. */
function interrupted(text: string): string {
  if (text.includes('interrupted')) return `The code ran for longer than ${timeoutMs / 1_000} s.`;
  return text.includes('out of memory') ? tooMuchMemory : text;
}

const tooMuchMemory = `The code took more than ${memoryBytes / 1024 / 1024} MB of memory.`;

/**
 * Whether the memory cannot grow: it does so by a twentieth at least. Where there is no room for an error either, the
 * engine throws `null`.
 */
function isFull(): boolean {
  return memory.buffer.byteLength * 1.05 > mostPages * pageBytes;
}

function ended(message: string, line?: number, column?: number): CodeEnd {
  return { kind: 'error', message: message.slice(0, bounds.logChars), line, column, logs };
}

run().then(
  (end) => post({ kind: 'end', ended: end }),
  (error: unknown) => post({ kind: 'end', ended: ended(errorText(error)) }),
);
