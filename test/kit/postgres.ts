import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from './processes.ts';
import { until } from './until.ts';

/** A PostgreSQL server of the tests' own, in a temporary folder, without fsync. */
export interface TestPostgres {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Creates an empty database and gives its address. */
  createDatabase(): Promise<string>;
  /** Kills it as a power cut would, connections and all. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, after `kill`; one that runs runs on. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  close(): Promise<void>;
}

/** Starts a server; PostgreSQL 15 must be installed (`initdb` on PATH or where Debian puts it). */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-pg-'));
  const owner = process.getuid?.() === 0 ? await postgresUser() : undefined;
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const port = await freePort();
  let server: ChildProcess | undefined;

  function run(command: string, args: string[]): ChildProcess {
    return spawn(binary(command), args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...owner });
  }

  async function start(): Promise<void> {
    if (server?.exitCode === null && server.signalCode === null) return;
    const settings = ['fsync=off', 'full_page_writes=off', `unix_socket_directories=${folder}`, 'max_connections=120'];
    server = run('postgres', [
      '-D',
      data,
      '-p',
      `${port}`,
      '-h',
      '127.0.0.1',
      ...settings.flatMap((one) => ['-c', one]),
    ]);
    let said = '';
    server.stderr?.on('data', (chunk) => (said = `${said}${String(chunk)}`.slice(-2_000)));
    const answers = until('PostgreSQL answers', () => ask(port, 'select 1').then(() => true), 60_000);
    await answers.catch((error: unknown) => {
      throw new Error(`PostgreSQL said: ${said}`, { cause: error });
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, 'exit');
    running.kill(signal);
    await exit;
  }

  await copyOfCluster(data, async (made) => {
    const shape = ['-U', 'test', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
    await finished(run('initdb', ['-D', made, ...shape]));
  });
  await start();

  return {
    port,
    createDatabase: () => createDatabaseAt(port),
    // Killing the postmaster alone would leave its children; on SIGQUIT they all die at once, and the next start
    // recovers from the log.
    kill: () => end('SIGQUIT'),
    start,
    async close() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An empty database on the server at that port, and its address. */
export async function createDatabaseAt(port: number): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await ask(port, `create database ${name}`);
  return `postgres://test@127.0.0.1:${port}/${name}`;
}

const template = 'node_modules/.cache/toolhub/postgres-15';

/**
 * Making a cluster takes as much work as many tests together, so one is made for all runs, and each server gets a copy,
 * with the same owner.
 */
async function copyOfCluster(data: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(template))
    return finished(spawn('cp', ['-a', template, data], { stdio: ['ignore', 'ignore', 'pipe'] }));
  await make(data);
  mkdirSync(dirname(template), { recursive: true });
  const copy = mkdtempSync(join(dirname(template), 'making-'));
  await finished(spawn('cp', ['-a', data, join(copy, 'data')], { stdio: ['ignore', 'ignore', 'pipe'] }));
  try {
    renameSync(join(copy, 'data'), template);
  } catch {
    // Another test file was quicker.
  }
  rmSync(copy, { recursive: true });
}

async function finished(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${child.spawnfile} failed: ${said}`);
}

async function ask(port: number, sql: string): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'test', database: 'postgres' });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function binary(name: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/lib/postgresql/15/bin'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`The tests need PostgreSQL 15: ${name} is neither on PATH nor in ${folders.at(-1)}. Install it.`);
  return found;
}

/** PostgreSQL refuses to run as root; its own user comes with its package. */
async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string): Promise<number> => {
    const child = spawn('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    await once(child, 'close');
    return Number(text.trim());
  };
  return { uid: await id('-u'), gid: await id('-g') };
}
