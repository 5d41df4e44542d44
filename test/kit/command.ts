import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { atEnd, atFileEnd } from './at-end.ts';
import { temporaryFolder } from './hostile.ts';
import { Hopeless, until } from './until.ts';

/** The program as a user with an empty home runs it. */
export interface Person {
  readonly home: string;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  start(args: readonly string[], options?: RunOptions): Running;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  /** What stands on standard input; nothing at all when left out. */
  readonly input?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Waits until stderr has this, and answers the first group. */
  says(pattern: RegExp): Promise<string>;
}

/** `hub` is what `TOOLHUB_URL` names. */
export function person(hub: { readonly url: string }): Person {
  const home = temporaryFolder();
  const task = (args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Task => ({
    args,
    env: { HOME: home, XDG_CONFIG_HOME: `${home}/.config`, TOOLHUB_URL: hub.url, ...env },
    cwd: home,
    input,
  });
  return {
    home,
    start: (args, options) => startProgram(task(args, options)),
    run: (args, options) => runProgram(task(args, options)),
  };
}

/** A command with all that its process is given. */
export interface Task {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  /** On standard input. */
  readonly input?: string;
}

/** Runs a command of the program to its end, in a process of its own or in the one that has loaded it. */
export async function runProgram(task: Task): Promise<Ran> {
  return (await runLoaded(task)) ?? startProgram(task).ended;
}

/** Runs a command of the program in a process of its own. */
export function startProgram({ args, env, cwd, input }: Task): Running {
  const child = spawn(process.execPath, [resolve('dist/cli.js'), ...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  atEnd(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    ended,
    says: (pattern) =>
      until(`the command says ${String(pattern)}`, () => {
        if (child.exitCode !== null && !pattern.test(stderr)) throw new Hopeless(`It ended: ${stderr}${stdout}`);
        return pattern.exec(stderr)?.[1] ?? (pattern.test(stderr) ? 'said' : undefined);
      }),
  };
}

/** What of the program a test file has run in a process of its own, and the one process for what it runs again. */
const known = new Set<string>();
let loaded: { readonly child: ChildProcess; readonly ended: Promise<never>; busy: boolean } | undefined;

/**
 * Runs a command in a process that has loaded the program already, which takes a tenth of a start. Undefined where it
 * is to have its own: the first of its name in a test file, one beside another, and what Node reads when it starts.
 */
async function runLoaded(task: Task): Promise<Ran | undefined> {
  const [word = ''] = task.args;
  // Flags alone are of `serve`, as nothing at all is.
  const name = word.startsWith('-') ? '' : word;
  const isFirst = !known.has(name);
  if (known.size === 0) atFileEnd(endLoaded);
  known.add(name);
  const forNode = Object.keys(task.env).some((variable) => variable.startsWith('NODE_'));
  if (isFirst || forNode || loaded?.busy) return undefined;
  loaded ??= load();
  const { child, ended } = loaded;
  loaded.busy = true;
  child.send(task);
  try {
    const [ran] = (await Promise.race([once(child, 'message'), ended])) as [Ran];
    loaded.busy = false;
    return ran;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

function load(): NonNullable<typeof loaded> {
  const child = fork(resolve('test/kit/fixtures/commands.mjs'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The program ended: ${String(code)}`)));
  ended.catch(() => undefined);
  return { child, ended, busy: false };
}

function endLoaded(): void {
  loaded?.child.kill('SIGKILL');
  loaded = undefined;
  known.clear();
}
