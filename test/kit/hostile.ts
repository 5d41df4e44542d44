import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { hostileListener } from './fixtures/hostile-http.mjs';
import { processes } from './processes.ts';
import { within } from './until.ts';

/**
 * What a scripted server does, and does wrong. Nothing given: an honest server with the tools of `hostile-core.mjs`.
 */
export interface HostileOptions {
  name?: string;
  instructions?: string;
  protocolVersion?: string;
  capabilities?: Record<string, unknown>;
  /** The whole result of `initialize`, as JSON text. */
  initializeResult?: string;
  initializeDelayMs?: number;
  /** `initialize` is answered once this file is gone. */
  gate?: string;
  /** Tools by name, whole, or how many made-up ones. */
  tools?: number | (string | Record<string, unknown>)[];
  prompts?: Record<string, unknown>[];
  resources?: Record<string, unknown>[];
  resourceTemplates?: Record<string, unknown>[];
  /** The same as JSON texts, for what JSON.stringify cannot say. */
  toolTexts?: string[];
  promptTexts?: string[];
  resourceTexts?: string[];
  /** More members of every list result: text that begins with a comma. */
  listExtra?: string;
  /** The whole result of `tools/list`, as JSON text. */
  listText?: string;
  pageSize?: number;
  /** Every page names the first page as the next. */
  cursorLoop?: boolean;
  /** Every page has one more item and names one more page. */
  endless?: boolean;
  /** Result texts by tool name, prompt name or resource URI. */
  results?: Record<string, string>;
  /** Methods that are never answered. */
  silentOn?: string[];
  /** Methods that are answered with an error. */
  errorOn?: string[];
  /** Ends the server: at the start (stdio), or when this method arrives. */
  exitAt?: string;
  exitCode?: number;
  lastWords?: string;
  /** Answers a call after it was cancelled. */
  answerCancelled?: boolean;
  /** Starts a helper process that ends only when its process group is ended. */
  grandchild?: boolean;

  /** stdio: read at each start, so that it can be another one then. */
  changeable?: boolean;
  /** stdio: lines printed before every message. */
  noise?: string[];
  /** stdio: printed before anything else. */
  firstWords?: string;
  /** stdio: bytes of one endless line printed at the start. */
  floodBytes?: number;
  stderrBytes?: number;
  /** stdio: messages leave in pieces of this size. */
  fragmentBytes?: number;
  lineEnd?: string;
  /** stdio: a child of its own keeps its output open after it has ended. */
  leavesPipeOpen?: boolean;
  /** stdio: after the handshake, says that its tools changed this many times a second, for ever. */
  stormsPerSecond?: number;
  ignoreSigterm?: boolean;
  ignoreEof?: boolean;
  /** stdio: reads its input and acts on none of it. */
  deaf?: boolean;

  /** HTTP: which transport. */
  transport?: 'streamable' | 'sse';
  port?: number;
  answers?: 'sse' | 'json';
  sessions?: boolean;
  noGetStream?: boolean;
  /** HTTP: status of requests with an unknown session. */
  lostStatus?: number;
  /** HTTP: treats the session of every such request as unknown. */
  forgetsAt?: string;
  /** HTTP: accepts and never answers. */
  hangHttp?: boolean;
  /** HTTP: answers everything with this status. */
  status?: number;
  body?: string;
  fixedBody?: string;
  fixedType?: string;
  redirectTo?: string;
  /** HTTP: the response stream of this method breaks off before the answer. */
  cutStreamOn?: string;
  sseLineEnd?: string;
  /** HTTP: the response stream stays open after the answer. */
  keepsStreams?: boolean;
  /** HTTP: this method is answered 202 and nothing else. */
  acceptsOnly?: string;
  /** HTTP: answers of this method carry another request's id. */
  mistakesIdOf?: string;
}

/** One line of what a scripted server saw. */
export interface JournalEntry {
  readonly pid: number;
  readonly event: string;
  readonly method?: string;
  readonly id?: string | number;
  readonly text?: string;
  readonly child?: number;
  readonly headers?: Record<string, string>;
}

export interface Hostile {
  /** Its entry in `mcpServers`. */
  readonly config: Record<string, unknown>;
  /** Everything it saw so far; over stdio, in all its processes. */
  journal(): JournalEntry[];
  /** The messages it received of one method. */
  received(method: string): { id: string | number | undefined; params: Record<string, unknown>; text: string }[];
  /** Ids of the processes it ran as, oldest first; over HTTP, the process of the test. */
  pids(): number[];
  /** Steers it past the hub. */
  control(command: {
    set?: HostileOptions;
    emit?: string;
    exit?: number;
    loseSessions?: boolean;
    dropStreams?: boolean;
  }): Promise<void>;
}

const fixture = (file: string) => fileURLToPath(new URL(`./fixtures/${file}`, import.meta.url));

/** A scripted server for the hub to start. Its files are removed when the test ends. */
export function hostileStdio(options: HostileOptions = {}): Hostile & {
  /** What it is from its next start on, with the same settings. Its first options have to be `changeable`. */
  becomes(options: HostileOptions): void;
} {
  const folder = temporaryFolder();
  const journal = join(folder, 'journal');
  const control = join(folder, 'control');
  const changing = join(folder, 'options.json');
  const becomes = (next: HostileOptions): void =>
    writeFileSync(changing, JSON.stringify({ ...next, journal, control }));
  atEnd(() => endSurvivors(journal));
  if (options.changeable === true) becomes(options);
  const argument =
    options.changeable === true ? `@${changing}` : optionsArgument(folder, { ...options, journal, control });
  return {
    config: { command: process.execPath, args: [fixture('hostile-stdio.mjs'), argument] },
    becomes,
    ...readers(journalIn(journal)),
    control: (command) => post({ socketPath: control, path: '/' }, command),
  };
}

/**
 * A scripted server that listens, in this process, until the test ends. A program of its own costs 0.2 s of CPU: where
 * a test is not about stdio or processes, this is the server for it. `stop()` and what ends a program (`exitAt`, the
 * tool `die`) end the listening and all connections.
 */
export async function hostileHttp(options: HostileOptions = {}): Promise<Hostile & { url: string; stop(): void }> {
  const journal: JournalEntry[] = [];
  const { url, control, stop } = await hostileListener({ ...options }, (entry) => journal.push(entry));
  atEnd(stop);
  return {
    config: configOf(url, options),
    ...readers(() => journal),
    control: async (command) => control(command),
    url,
    stop,
  };
}

/**
 * The same in a process of its own that ends with the test: where the test makes so many calls that its own process
 * must not answer them too.
 */
export async function hostileHttpProcess(options: HostileOptions = {}): Promise<Hostile & { url: string }> {
  const folder = temporaryFolder();
  const journal = join(folder, 'journal');
  const child = spawn(
    process.execPath,
    [fixture('hostile-http.mjs'), optionsArgument(folder, { ...options, journal })],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  atEnd(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = await within(
    'the start of an HTTP fixture',
    new Promise<[string]>((resolve) => lines.once('line', (text) => resolve([text]))),
  );
  const { url } = JSON.parse(line) as { url: string };
  const { hostname, port } = new URL(url);
  return {
    config: configOf(url, options),
    ...readers(journalIn(journal)),
    control: (command) => post({ hostname, port, path: '/control' }, command),
    url,
  };
}

function configOf(url: string, { transport }: HostileOptions): Record<string, unknown> {
  return transport === 'sse' ? { type: 'sse', url: `${url}/sse` } : { type: 'streamable-http', url: `${url}/mcp` };
}

/**
 * What a failing hub left running must not outlive the test. A process is known by its id and its command: ids are used
 * again.
 */
function endSurvivors(journal: string): void {
  const seen = journalIn(journal)().flatMap(({ pid, child }) => (child === undefined ? [pid] : [pid, child]));
  if (!seen.some(isThere)) return;
  for (const { pid, command } of processes()) {
    if (pid === process.pid || !seen.includes(pid) || !command.includes('hostile-')) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

/** To look at all processes takes much longer. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What programs have written into a file so far. Each line is read once, however often a test looks. */
function journalIn(file: string): () => readonly JournalEntry[] {
  const entries: JournalEntry[] = [];
  let read = 0;
  return () => {
    const unread = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) - read;
    if (unread <= 0) return entries;
    const bytes = Buffer.alloc(unread);
    const opened = openSync(file, 'r');
    try {
      readSync(opened, bytes, 0, unread, read);
    } finally {
      closeSync(opened);
    }
    // A line that is still being written waits for its end.
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
    read += whole.length;
    for (const line of whole.toString('utf8').split('\n'))
      if (line !== '') entries.push(JSON.parse(line) as JournalEntry);
    return entries;
  };
}

type Received = ReturnType<Hostile['received']>[number];

function readers(journal: () => readonly JournalEntry[]): Pick<Hostile, 'journal' | 'received' | 'pids'> {
  // Each message is looked at once and parsed once: tests that wait look again and again.
  const messages = new Map<string, { unread: JournalEntry[]; read: Received[] }>();
  let seen = 0;
  const messagesOf = (method: string) => {
    const found = messages.get(method) ?? { unread: [], read: [] };
    messages.set(method, found);
    return found;
  };
  const received = (method: string): Received[] => {
    const entries = journal();
    for (const entry of entries.slice(seen))
      if (entry.event === 'message') messagesOf(entry.method ?? '').unread.push(entry);
    seen = entries.length;
    const { unread, read } = messagesOf(method);
    for (const { id, text = '{}' } of unread.splice(0)) {
      const { params } = JSON.parse(text) as { params?: Record<string, unknown> };
      read.push({ id, params: params ?? {}, text });
    }
    return [...read];
  };
  return {
    journal: () => [...journal()],
    received,
    pids: () => journal().flatMap((entry) => (entry.event === 'start' ? [entry.pid] : [])),
  };
}

function post(
  to: { socketPath?: string; hostname?: string; port?: string; path: string },
  body: unknown,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...to, method: 'POST' }, (incoming) => {
      incoming.resume().on('end', resolve);
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(body));
  });
}

/** Options as an argument; past 100 kB an argument is more than Linux takes, and they go through a file. */
function optionsArgument(folder: string, options: HostileOptions & { journal: string; control?: string }): string {
  const text = JSON.stringify(options);
  if (text.length < 100_000) return text;
  const file = join(folder, `options-${randomUUID()}.json`);
  writeFileSync(file, text);
  return `@${file}`;
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-test-'));
  // An installer that goes on after its hub has ended may still write into it.
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 200 }));
  return folder;
}
