import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { atEnd } from './at-end.ts';
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

  function start(args: readonly string[], { env = {}, input }: RunOptions = {}): Running {
    const child = spawn(process.execPath, [resolve('dist/cli.js'), ...args], {
      cwd: home,
      env: { HOME: home, XDG_CONFIG_HOME: `${home}/.config`, TOOLHUB_URL: hub.url, ...env },
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

  return { home, start, run: (args, options) => start(args, options).ended };
}
