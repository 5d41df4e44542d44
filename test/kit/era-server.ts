import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { eraListener } from './fixtures/era-server.mjs';
import { temporaryFolder } from './hostile.ts';
import { within } from './until.ts';

type Era = 'session' | 'stateless';

/** What a server of `fixtures/era-server.mjs` speaks, and how it handles the negotiation. */
export interface EraOptions {
  readonly speaks: readonly Era[];
  /**
   * What it does with `server/discover` instead of answering it: an object is the answer (`result` or `error`). HTTP:
   * only where it does not speak without sessions.
   */
  readonly discover?: 'silent' | 'dies' | 'reset' | Record<string, unknown>;
  /** HTTP: its errors do not say which request they are for. */
  readonly nameless?: boolean;
  /** HTTP: requests without sessions get a web page and 404. */
  readonly html?: boolean;
  /** The version in its `serverInfo`. */
  readonly info?: string;
  /** stdio: nothing is answered earlier than this after its start. */
  readonly startMs?: number;
  readonly exitAt?: 'start';
  /** It knows no `subscriptions/listen`. */
  readonly noListen?: boolean;
  /** The header that its tool `näme` wants its region in, without `Mcp-Param-`. */
  readonly header?: string;
  /** More tools. */
  readonly tools?: readonly Record<string, unknown>[];
}

/** One line of what it saw. */
export interface EraEntry {
  readonly pid: number;
  readonly event: 'start' | 'message' | 'http' | 'left';
  readonly verb?: string;
  readonly method?: string;
  readonly id?: number;
  readonly params?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly ended?: boolean;
}

export interface EraServer {
  /** Its entry in `mcpServers`. */
  readonly config: Record<string, unknown>;
  journal(): EraEntry[];
  /** The methods it was asked, in order, since the last time this was called. */
  asked(): string[];
  /** From now on it is another version of itself. */
  become(options: EraOptions): void;
  /** HTTP: ends all streams of changes. */
  cutStreams(): void;
}

/**
 * A server of the official library that speaks both, for the hub to start; it reads nothing earlier than `startMs`
 * after its start.
 */
export function dualStdio(startMs = 0): Record<string, unknown> {
  return { command: process.execPath, args: [dual, 'stdio', String(startMs)] };
}

/** The same over HTTP. */
export async function dualHttp(): Promise<Record<string, unknown>> {
  const child = fork(dual, ['http'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said = new Promise<string>((resolve) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
  });
  return { type: 'streamable-http', url: await within('the start of the server', said, 60_000) };
}

const dual = fileURLToPath(new URL('fixtures/dual-server.mjs', import.meta.url));
const script = fileURLToPath(new URL('fixtures/era-server.mjs', import.meta.url));

/** A server for the hub to start. */
export function eraStdio(options: EraOptions): EraServer {
  const { files, ...server } = prepare(options);
  return { ...server, config: { command: process.execPath, args: [script, ...files] } };
}

/** A server that listens, in this process, until the test ends. */
export async function eraHttp(options: EraOptions, config: Record<string, unknown> = {}): Promise<EraServer> {
  const { files, ...server } = prepare(options);
  const { url, cutStreams, stop } = await eraListener(...files);
  atEnd(stop);
  return { ...server, config: { type: 'streamable-http', url, ...config }, cutStreams };
}

function prepare(options: EraOptions) {
  const folder = temporaryFolder();
  const files = [join(folder, 'options'), join(folder, 'journal')] as const;
  const become = (next: EraOptions): void => writeFileSync(files[0], JSON.stringify(next));
  become(options);
  let told = 0;
  const journal = (): EraEntry[] =>
    existsSync(files[1])
      ? readFileSync(files[1], 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as EraEntry)
      : [];
  return {
    files,
    become,
    journal,
    asked() {
      const all = journal().flatMap(({ method }) => method ?? []);
      const fresh = all.slice(told);
      told = all.length;
      return fresh;
    },
    cutStreams: () => undefined,
  };
}
