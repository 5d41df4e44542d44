import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hub, ServerState } from '../../src/core/hub.ts';
import { readEnv } from '../../src/env/env.ts';
import { startHub } from '../../src/hub/start-hub.ts';
import { atEnd } from './at-end.ts';
import { runProgram } from './command.ts';
import { temporaryFolder } from './hostile.ts';
import { hubDatabase, testDatabase } from './hub-database.ts';
import { raw } from './raw.ts';
import { Hopeless, until, within } from './until.ts';

/** `mcp_settings.json` as an operator writes it. */
export interface SettingsDocument {
  mcpServers?: Record<string, Record<string, unknown>>;
  groups?: Record<string, unknown>[];
  users?: Record<string, unknown>[];
  bearerKeys?: Record<string, unknown>[];
  systemConfig?: Record<string, unknown>;
  [unknown: string]: unknown;
}

export interface HubOptions extends SettingsDocument {
  env?: Record<string, string>;
  /** A folder of an earlier hub, to start again on the same data. */
  folder?: string;
  /**
   * Without a settings file: the hub makes one with its sample servers. Otherwise a hub without settings has no server.
   */
  firstStart?: boolean;
}

interface Files {
  readonly folder: string;
  readonly settingsPath: string;
  readonly env: Record<string, string>;
  /**
   * Replaces the settings file: the whole text or a document; `in place` as `echo >` does, otherwise as editors do (new
   * file, rename).
   */
  write(document: SettingsDocument | string, how?: 'in place' | 'rename'): void;
}

/** Addresses of a hub, and what `/health` tells. */
interface Reach {
  readonly url: string;
  mcp(scope?: string): string;
  sse(scope?: string): string;
  health(): Promise<{
    status: string;
    message?: string;
    servers: { total: number; connected: number; disconnected: number };
    /** Where there is more than one. */
    hubs?: { known: number; reachable: number };
    database: { state: string };
  }>;
  /** Waits until that many servers are connected. */
  connected(count: number, timeoutMs?: number): Promise<void>;
}

export interface TestHub extends Files, Reach {
  readonly hub: Hub;
  close(): Promise<void>;
}

async function files(options: HubOptions): Promise<Files> {
  const { env = {}, folder = temporaryFolder(), firstStart = false, ...document } = options;
  const settingsPath = join(folder, 'mcp_settings.json');
  const write: Files['write'] = (next, how = 'rename') => {
    const text = typeof next === 'string' ? next : JSON.stringify(next, null, 2);
    if (how === 'in place') return writeFileSync(settingsPath, text);
    writeFileSync(`${settingsPath}.edited`, text);
    renameSync(`${settingsPath}.edited`, settingsPath);
  };
  if (Object.keys(document).length > 0) write(document);
  else if (options.folder === undefined && !firstStart) write({ mcpServers: {} });
  const dataDir = join(folder, 'data');
  return {
    folder,
    settingsPath,
    write,
    env: {
      PORT: '0',
      SETTINGS_PATH: settingsPath,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
      LOG_FORMAT: 'json',
      ADMIN_PASSWORD: 'correct horse',
      // Longer than a test may take: what ends earlier did not end by it.
      REQUEST_TIMEOUT_MS: '600000',
      // None as a rule: opening the embedded one takes seconds. Tests that are about it set `DB_URL`.
      ...(env['DB_URL'] === undefined && { DB_URL: await hubDatabase(dataDir) }),
      ...env,
    },
  };
}

function reach(url: string): Reach {
  const at = (kind: string) => (scope?: string) =>
    scope === undefined || scope === '' ? `${url}/${kind}` : `${url}/${kind}/${scope}`;
  // `/health` is never below BASE_PATH.
  const health = async () =>
    JSON.parse((await raw(new URL('/health', url).href, { method: 'GET' })).text) as Awaited<
      ReturnType<Reach['health']>
    >;
  return {
    url,
    mcp: at('mcp'),
    sse: at('sse'),
    health,
    connected: async (count, timeoutMs = 60_000) => {
      await until(
        `${count} servers are connected`,
        async () => (await health()).servers.connected === count,
        timeoutMs,
      );
    },
  };
}

/**
 * A hub in this process on a free port, with a folder of its own. Settings as in the file, next to `env` and `folder`.
 */
export async function testHub(options: HubOptions = {}): Promise<TestHub> {
  const own = await files(options);
  const hub = await startHub(readEnv(own.env));
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= hub.close());
  atEnd(close);
  const reached = reach(hub.url);
  // Until then memory answers, and a run on a database is to test the database.
  if (testDatabase() !== 'off' && options.env?.['DB_URL'] === undefined) {
    await until('the database is ready', async () => (await reached.health()).database.state === 'ready', 60_000);
  }
  // Without a request each time.
  const connected: Reach['connected'] = async (count, timeoutMs) => {
    const isConnected = ({ status }: ServerState) => status === 'connected';
    await until(`${count} servers are connected`, () => hub.servers().filter(isConnected).length === count, timeoutMs);
  };
  return { ...own, ...reached, connected, hub, close };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface HubProcess extends Files, Reach {
  readonly pid: number;
  /** Everything it printed, on stdout and stderr. */
  output(): string;
  readonly exited: Promise<Exit>;
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Exit>;
}

export const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/**
 * `toolhub serve` as a process of its own; `program` is its `cli.js`. Resolves when it answers `/health`; throws with
 * its output when it ends before.
 */
export async function hubProcess(options: HubOptions = {}, program = cli): Promise<HubProcess> {
  const started = await startProcess(options, program);
  const url = await until(
    'the hub printed its address',
    () => {
      if (started.ended() !== undefined) throw new Hopeless(`The hub ended: ${started.output()}`);
      // Its servers may have said something before.
      return /is ready".*?"url":"(https?:\/\/[^"/]+)/.exec(started.output())?.[1];
    },
    60_000,
  );
  const base = `${url}${started.env['BASE_PATH'] ?? ''}`;
  await until(
    'the hub answers /health',
    async () => (await raw(new URL('/health', base).href, { method: 'GET' })).status === 200,
  );
  return { ...started, ...reach(base) };
}

/**
 * A start that is refused before anything runs: its exit code and what it printed. Not a process of its own, but for
 * the first in a test file (kit/command.ts).
 */
export async function refusedStart(options: HubOptions = {}): Promise<Pick<Exit, 'code'> & { output: string }> {
  const own = await files(options);
  const refused = runProgram({ args: ['serve'], env: processEnv(own), cwd: own.folder });
  const { code, stdout, stderr } = await within('the refused start', refused, 60_000);
  return { code, output: stdout + stderr };
}

/** A start that is expected to fail, as a process of its own: its exit and what it printed. */
export async function failedStart(options: HubOptions = {}, timeoutMs = 60_000): Promise<Exit & { output: string }> {
  const started = await startProcess(options);
  const exit = await within('the failing start', started.exited, timeoutMs);
  await until('its output is complete', started.silent);
  return { ...exit, output: started.output() };
}

function processEnv({ folder, env }: Files): Record<string, string> {
  const { LOG_LEVEL = 'info' } = env;
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    ...env,
    LOG_LEVEL: LOG_LEVEL === 'error' ? 'info' : LOG_LEVEL,
  };
}

async function startProcess(options: HubOptions, program = cli) {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build`);
  const own = await files(options);
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: own.folder,
    env: processEnv(own),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  let ended: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve((ended = { code, signal })));
  });
  atEnd(() => endProcess(child, exited));
  return {
    ...own,
    pid: child.pid ?? 0,
    output: () => output,
    ended: () => ended,
    silent: () => child.stdout.readableEnded && child.stderr.readableEnded,
    exited,
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return within(`the end after ${signal}`, exited, 60_000);
    },
  };
}

/** SIGTERM first: only then its children are certain to end with it. */
async function endProcess(child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  child.kill('SIGTERM');
  try {
    await within('the end after SIGTERM', exited, 60_000);
  } catch {
    child.kill('SIGKILL');
    await exited;
  }
}
