// The least that a hub has to do, to know what the hub adds: it parses, finds the tool, gives the call an id of its
// own, and sends it on. It knows no users, keeps nothing, limits nothing, and breaks with its servers; for measuring
// only. node minimal.mjs <settings.json>; writes its port on a line of its own.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';

const { mcpServers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const sessions = new Set();
const tools = new Map();
const listed = [];
let list = '{"tools":[]}';

/** `send(method, params)` resolves to the answer. */
function overStdio({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let lastId = 0;
  let unread = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    unread += chunk;
    let start = 0;
    for (let end = unread.indexOf('\n'); end !== -1; end = unread.indexOf('\n', start)) {
      const message = JSON.parse(unread.slice(start, end));
      start = end + 1;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
    unread = unread.slice(start);
  });
  return (method, params) =>
    new Promise((resolve) => {
      const id = ++lastId;
      if (!method.startsWith('notifications/')) waiting.set(id, resolve);
      const named = method.startsWith('notifications/') ? {} : { id };
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...named, method, params })}\n`);
    });
}

function overHttp({ url }) {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let lastId = 0;
  let session;
  return (method, params) =>
    new Promise((resolve) => {
      const id = method.startsWith('notifications/') ? {} : { id: ++lastId };
      const body = JSON.stringify({ jsonrpc: '2.0', ...id, method, params });
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': Buffer.byteLength(body),
        ...(session && { 'mcp-session-id': session }),
      };
      const sent = request({ hostname, port, path: pathname, method: 'POST', headers, agent }, (res) => {
        session ??= res.headers['mcp-session-id'];
        const chunks = [];
        res.on('data', (chunk) => chunks.push(chunk));
        res.on('end', () => resolve(chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks))));
      });
      sent.end(body);
    });
}

async function meet(name, server) {
  const send = server.url ? overHttp(server) : overStdio(server);
  await send('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'minimal', version: '1' },
  });
  void send('notifications/initialized', {});
  const { result } = await send('tools/list', {});
  for (const tool of result.tools) {
    const exposed = `${name}-${tool.name}`;
    tools.set(exposed, { send, name: tool.name });
    listed.push({ ...tool, name: exposed });
  }
  list = JSON.stringify({ tools: listed });
}

async function resultOf({ method, params }) {
  if (method === 'tools/list') return list;
  if (method !== 'tools/call') return '{}';
  const tool = tools.get(params.name);
  const { result } = await tool.send('tools/call', { ...params, name: tool.name });
  return JSON.stringify(result);
}

const server = createServer((req, res) => {
  const session = req.headers['mcp-session-id'];
  if (req.method === 'DELETE') return res.writeHead(sessions.delete(session) ? 200 : 404).end();
  if (req.method === 'GET' && sessions.has(session)) {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    return;
  }
  if (req.method !== 'POST') return res.writeHead(405).end();
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => void answer());
  const answer = async () => {
    const message = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    const say = (result, more) => {
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`;
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...more });
      res.end(text);
    };
    if (message.method === 'initialize') {
      const id = randomUUID();
      sessions.add(id);
      const about =
        '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"minimal","version":"1"}}';
      return say(about, { 'mcp-session-id': id });
    }
    if (!sessions.has(session)) return res.writeHead(404).end();
    if (message.id === undefined) return res.writeHead(202).end();
    say(await resultOf(message));
  };
});
server.keepAliveTimeout = 300_000;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', 4_096, () => console.log(server.address().port));
for (const [name, one] of Object.entries(mcpServers)) void meet(name, one);
