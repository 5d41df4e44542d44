// node [flags] scripts/compile-ahead.mjs: runs the built hub until it has done what every hub does first, and keeps
// what V8 compiled meanwhile beside the bundle (src/cli/compiled.ts). Only which functions run here counts, not what
// comes of it: all others are compiled when they are first needed.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

const { openBundle } = createRequire(import.meta.url)('../dist/compiled.js');
const memoryServer = resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const home = mkdtempSync(join(tmpdir(), 'toolhub-'));
try {
  process.exitCode = await compileAhead();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function compileAhead() {
  const port = await freePort();
  const memory = {
    command: process.execPath,
    args: [memoryServer],
    env: { MEMORY_FILE_PATH: join(home, 'memory.json') },
  };
  const remote = await remoteServer();
  const web = { type: 'streamable-http', url: `http://127.0.0.1:${remote.address().port}/mcp` };
  writeFileSync(join(home, 'mcp_settings.json'), JSON.stringify({ mcpServers: { memory, web } }));
  Object.assign(process.env, {
    PORT: String(port),
    DB_URL: 'off',
    SETTINGS_PATH: join(home, 'mcp_settings.json'),
    DATA_DIR: join(home, 'data'),
  });
  const bundle = openBundle(resolve('dist'));
  const ended = bundle.load('main.js').run(['serve']);
  await use(`http://127.0.0.1:${port}`);
  bundle.keep();
  remote.close();
  remote.closeAllConnections();
  // Not `process.kill`: on Windows that ends the process at once, as one that failed.
  process.emit('SIGTERM', 'SIGTERM');
  return ended;
}

/** Waits until the hub and its servers are there, and does what a client does first. */
async function use(url) {
  const end = Date.now() + 120_000;
  for (let health; health?.servers?.connected !== 2; await after(20)) {
    if (Date.now() > end) throw new Error('The hub that was just built was not ready within two minutes');
    health = await fetch(`${url}/health`).then(
      (answer) => answer.json(),
      () => undefined,
    );
  }
  let id = 0;
  let session = {};
  const ask = (method, params) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    });
  const clientInfo = { name: 'toolhub-build', version: '1' };
  const opened = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  session = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
  const answers = [
    opened,
    await ask('tools/list', {}),
    await ask('tools/call', { name: 'memory-read_graph', arguments: {} }),
  ];
  for (const answer of answers) {
    const { error } = await answer.json();
    if (error) throw new Error(`The hub that was just built refused a request: ${error.message}`);
  }
}

/** A server over HTTP, so that the HTTP client is compiled too. */
async function remoteServer() {
  const serverInfo = { name: 'web', version: '1' };
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools: [] },
  };
  const server = createHttpServer((req, res) => {
    let body = '';
    req.on('data', (piece) => (body += piece));
    req.on('end', () => {
      const { id, method } = req.method === 'POST' ? JSON.parse(body) : {};
      if (id === undefined) return res.writeHead(req.method === 'POST' ? 202 : 405).end();
      const result = results[method];
      const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
