// What is measured beside what.
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cores, onLoadCore, startNode, stop } from './processes.mjs';
import { after } from './numbers.mjs';
import { overHttp } from '../servers/over-http.mjs';
import { toolNames } from './session.mjs';

const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
let ourProgram = here('../dist/cli.js');
/** Measures another build in place of this one. */
export const useProgram = (file) => (ourProgram = file);
/** Of a test on this machine; it opens nothing else. */
const key = `bench_${'0123456789abcdef'.repeat(2)}`;

/** The entry of a stdio tool server in the settings. */
export const stdioServer = (options = {}) => onLoadCore([here('servers/stdio.mjs'), JSON.stringify(options)]);

/** A tool server over HTTP: `{url, close}`. */
export async function httpServer(options = {}) {
  const child = startNode([here('servers/http.mjs'), JSON.stringify(options)], { on: cores?.load });
  const port = await firstLine(child);
  return { url: `http://127.0.0.1:${port}/mcp`, pid: child.pid, close: () => stop(child) };
}

/**
 * The same in this process: two processes on the core of the load would wait for one another's turn, which is longer
 * than what is measured.
 */
export async function httpServerHere(options = {}) {
  const server = overHttp(options).listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close };
}

async function firstLine(child) {
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`ended with ${code} before it was ready`)),
  );
  const [line] = await Promise.race([once(lines, 'line'), failed]);
  lines.close();
  child.stdout.resume();
  return line;
}

/**
 * A contender: `{name, target: {url, headers}, pid, settings, close}`. `pid` is undefined where its CPU time cannot be
 * read.
 */
export const kinds = {
  /** The tool server itself: what is left when nothing is between. */
  direct: async ({ web }) => ({ name: 'direct', target: { url: web.url }, pid: web.pid, close: async () => {} }),
  proxy: async ({ web }) => {
    const child = startNode([here('floor/proxy.mjs'), web.url], { on: cores?.measured });
    const port = await firstLine(child);
    return { name: 'proxy', target: { url: `http://127.0.0.1:${port}/mcp` }, pid: child.pid, close: () => stop(child) };
  },
  minimal: async ({ servers }) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    const file = join(folder, 'settings.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const child = startNode([here('floor/minimal.mjs'), file], { on: cores?.measured });
    const port = await firstLine(child);
    const close = async () => {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    };
    return { name: 'minimal', target: { url: `http://127.0.0.1:${port}/mcp` }, pid: child.pid, close };
  },
  /**
   * As it is shipped: a key is asked for and its permissions are looked at, every call is recorded, in the embedded
   * database.
   */
  hub: (setup) => startHub('hub', setup),
  'hub without database': (setup) =>
    startHub('hub without database', { ...setup, env: { DB_URL: 'off', ...setup.env } }),
};

/** Starts a hub; `program` is its `cli.js`, `folder` one of an earlier run, `on` its cores. */
export async function startHub(
  name,
  { servers, users, keys = [], env = {}, program = ourProgram, folder, flags = [], system, on = cores?.measured },
) {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(home, 'mcp_settings.json');
  const bearerKeys = [{ id: 'bench', name: 'bench', token: key, enabled: true, accessType: 'all' }, ...keys];
  const systemConfig = { routing: { enableBearerAuth: true }, ...system };
  // Those of an earlier run stay, with the first admin in them.
  if (!existsSync(file))
    writeFileSync(file, JSON.stringify({ mcpServers: servers, bearerKeys, systemConfig, ...(users && { users }) }));
  const startedAt = performance.now();
  const child = startNode([...flags, program, 'serve'], {
    on,
    cwd: home,
    env: {
      PORT: '0',
      SETTINGS_PATH: file,
      DATA_DIR: join(home, 'data'),
      ADMIN_PASSWORD: 'bench password',
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const url = await addressOf(child);
  const close = async () => {
    await stop(child);
    if (folder === undefined) rmSync(home, { recursive: true, force: true });
  };
  return {
    name,
    target: targetAt(url),
    url,
    pid: child.pid,
    startedAt,
    home,
    close,
  };
}

/** The MCP endpoint of a hub that `startHub` starts, and how it is let in there. */
export const targetAt = (url) => ({ url: `${url}/mcp`, headers: { authorization: `Bearer ${key}` } });

/** The hub says where it listens. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const look = (chunk) => {
      said = (said + chunk).slice(-20_000);
      // Its servers may have said something before.
      const found = /is ready".*?"url":"(http:\/\/[^"/]+)/.exec(said);
      if (!found) return;
      for (const stream of [child.stdout, child.stderr]) stream.off('data', look).resume();
      resolve(found[1].replace('localhost', '127.0.0.1'));
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
    child.once('exit', (code) => reject(new Error(`the hub ended with ${code}:\n${said}`)));
  });
}

/** Waits until that many tools are listed; nothing may listen there yet. */
export async function listed({ name, target }, count, patienceMs = 60_000) {
  const begun = performance.now();
  for (;;) {
    const tools = await toolNames(target).catch(noneYet);
    if (tools.count >= count) return tools;
    const waited = performance.now() - begun;
    if (waited > patienceMs) throw new Error(`${name} lists ${tools.count} tools of ${count}`);
    // Asking takes the time of who is asked, so the longer it takes the more seldom: one part in fifty is exact
    // enough.
    await after(Math.min(200, Math.max(10, waited / 50)));
  }
}

function noneYet(error) {
  if (error.code !== 'ECONNREFUSED') throw error;
  return { count: 0 };
}

/** The same, and that nothing else is on its way: opening the embedded database takes seconds of CPU time. */
export async function ready(one, count, patienceMs) {
  const tools = await listed(one, count, patienceMs);
  if (one.url !== undefined) await databaseReady(one);
  return tools;
}

/** Waits until the database of a hub is open, or there is none. */
export async function databaseReady({ url }) {
  for (let wait = 0; wait < 1_200; wait++) {
    const { database } = await (await fetch(`${url}/health`)).json();
    if (database.state === 'ready' || database.state === 'off') return;
    await after(50);
  }
}
