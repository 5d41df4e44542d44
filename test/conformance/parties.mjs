// Who takes part: the fixture servers and the hub, as processes that end with this one.
import { fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const fixture = fileURLToPath(new URL('../kit/conformance/fixture.mjs', import.meta.url));
const tasksServer = fileURLToPath(new URL('../kit/conformance/tasks-server.mjs', import.meta.url));
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/**
 * Only what would never come is given up: beside others that compute, a hub that is up in a second takes half a minute.
 * One that ends is told of at once.
 */
const startMs = 120_000;
const endMs = 60_000;

/** Of the user `admin` of every hub here. */
export const adminPassword = 'correct horse';

/**
 * Settings of the server that is the fixture over stdio; the hub starts it. `front`: what its names begin with, and
 * which it leaves to the hub.
 */
export const stdioFixture = (era, front = '') => ({
  command: process.execPath,
  args: [fixture, 'stdio', era],
  env: { FIXTURE_NAMES: front },
});

/** Starts the fixture over HTTP on a free port. `{ config, close }`. */
export const httpFixture = (era, front = '') => listening(fixture, ['http', era], { FIXTURE_NAMES: front });

/** The same of the server that has tasks. */
export const tasksFixture = () => listening(tasksServer, []);

async function listening(program, args, env = {}) {
  const child = fork(program, args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  const url = await said(child, /^(http:\S+)/m);
  return { config: { type: 'streamable-http', url }, close: () => end(child) };
}

/**
 * Starts the built hub with these settings on a free port of 127.0.0.1, in a folder of its own, and waits until its
 * servers are connected, for `connectMs` at most (0: it does not wait). `{ url, output(),
 * close() }`.
 */
export async function startHub(settings, { connectMs = 120_000 } = {}) {
  if (!existsSync(cli)) throw new Error('dist/cli.js is missing: npm run build');
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-conformance-'));
  writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify(settings));
  const child = spawn(process.execPath, [cli, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      HOST: '127.0.0.1',
      PORT: '0',
      SETTINGS_PATH: join(folder, 'mcp_settings.json'),
      DATA_DIR: join(folder, 'data'),
      DB_URL: 'off',
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      ADMIN_PASSWORD: adminPassword,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = `${output}${text}`.slice(-1_000_000);
    });
  }
  const close = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const url = await said(child, /(http:\/\/127\.0\.0\.1:\d+)/);
    if (connectMs > 0) await connected(url, Object.keys(settings.mcpServers).length, connectMs);
    return { url, output: () => output, close };
  } catch (error) {
    await close();
    throw new Error(`The hub did not start: ${output.slice(-2_000)}`, { cause: error });
  }
}

/** Waits for all servers; a server that cannot connect shows in the results. */
async function connected(url, count, connectMs) {
  const until = performance.now() + connectMs;
  for (;;) {
    const { servers } = await (await fetch(`${url}/health`)).json();
    if (servers.connected === count) return;
    if (performance.now() > until) break;
    await sleep(100);
  }
  console.log(`Not all ${count} servers are connected after ${connectMs} ms.`);
}

/** What a child printed, as soon as it matches. */
function said(child, pattern) {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`Nothing like ${pattern} within ${startMs} ms: ${text}`)), startMs);
    child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${text}`)));
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      text += piece;
      const found = pattern.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

/** Gently first: the hub's own children end with it only then for certain. */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), endMs);
  await ended;
  clearTimeout(forced);
}
