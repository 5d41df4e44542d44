// A hub with something on every page, for pictures and for a look at the dashboard while it is made.
import { resolve } from 'node:path';

export const password = 'correct horse';

const official = (name, ...args) => ({
  command: process.execPath,
  args: [resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
});

export function demoSettings(folder) {
  return {
    mcpServers: {
      everything: { ...official('everything'), description: 'Shows every feature of the protocol' },
      memory: { ...official('memory'), description: 'A knowledge graph that remembers', visibility: 'public' },
      files: { ...official('filesystem', folder), description: 'Reads and writes below one folder' },
      tickets: {
        type: 'streamable-http',
        url: 'http://127.0.0.1:9/mcp',
        description: 'The ticket system',
        headers: { Authorization: 'Bearer secret-of-tickets' },
      },
      archive: { ...official('memory'), enabled: false, description: 'What was before' },
    },
    groups: [
      {
        id: '5b0a8a1e-7c1c-4e6d-9d52-0f2f1f0c7a01',
        name: 'writing',
        description: 'What writers need',
        servers: ['memory', { name: 'files', tools: ['read_text_file', 'write_file', 'list_directory'] }],
      },
      {
        id: '5b0a8a1e-7c1c-4e6d-9d52-0f2f1f0c7a02',
        name: 'support',
        description: 'Answering customers',
        servers: ['tickets', 'memory'],
      },
    ],
    systemConfig: {
      policies: [
        {
          id: 'Destructive tools ask first',
          text: '@approve("caller")\nforbid(principal, action == Action::"call", resource) when { resource.destructive };',
        },
      ],
    },
  };
}

/** The cookies of the admin who logs in as the page does, for a browser. */
export async function adminCookies(url) {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password, cookie: true }),
  });
  return response.headers.getSetCookie().map((text) => {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(text);
    return { url, name, value, sameSite: 'Lax' };
  });
}

/** Makes users, keys and calls, as an admin who logs in. */
export async function makeTraffic(url) {
  const post = async (path, body, token) => {
    const response = await fetch(`${url}/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const { token } = await post('/auth/login', { username: 'admin', password });
  for (let wait = 0; wait < 100; wait++) {
    const { servers } = await (await fetch(`${url}/health`)).json();
    if (servers.connected >= 3) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  await post('/users', { username: 'ann', password: 'password of ann', groups: ['writing'] }, token);
  await post(
    '/users',
    { username: 'ben', password: 'password of ben', role: 'admin', email: 'ben@example.com' },
    token,
  );
  await post('/auth/keys', { name: 'laptop', accessType: 'all' }, token);
  await post('/auth/keys', { name: 'writers', accessType: 'groups', allowedGroups: ['writing'] }, token);
  const ann = await post('/auth/login', { username: 'ann', password: 'password of ann' });
  const calls = [
    { server: 'everything', toolName: 'echo', arguments: { message: 'hello' } },
    { server: 'everything', toolName: 'get-sum', arguments: { a: 2, b: 3 } },
    { server: 'memory', toolName: 'read_graph', arguments: {} },
    { server: 'memory', toolName: 'search_nodes', arguments: { query: 'notes' } },
    { server: 'files', toolName: 'read_text_file', arguments: { path: '/nowhere' } },
    { server: 'files', toolName: 'list_allowed_directories', arguments: {} },
  ];
  for (let round = 0; round < 6; round++) {
    for (const { server, ...call } of calls.slice(0, 2 + (round % 5))) {
      await post(`/tools/call/${server}`, call, server === 'memory' ? ann.token : token);
    }
  }
  const text = { message: 'hello' };
  await callAs('Cursor', `${url}/mcp`, token, [
    ['everything-echo', text, 14],
    ['memory-read_graph', {}, 5],
    ['files-read_text_file', { path: '/nowhere' }, 4],
  ]);
  await callAs('Claude Code', `${url}/mcp`, token, [['everything-get-sum', { a: 2, b: 3 }, 9]]);
  await callAs('Claude Code', `${url}/mcp/writing`, token, [
    ['memory-search_nodes', { query: 'notes' }, 16],
    ['files-list_directory', { path: '/nowhere' }, 3],
  ]);
  await callAs('Visual Studio Code', `${url}/mcp/$smart`, token, [
    ['call_tool', { toolName: 'everything-echo', arguments: text }, 8],
    ['call_tool', { toolName: 'memory-read_graph', arguments: {} }, 6],
  ]);
}

/** Calls of an AI client of that name, each tool so many times. */
async function callAs(name, endpoint, token, calls) {
  let session;
  const send = async (message) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${token}`,
        ...(session && { 'Mcp-Session-Id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    session ??= response.headers.get('mcp-session-id');
    await response.text();
  };
  const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } };
  await send({ id: 0, method: 'initialize', params: about });
  await send({ method: 'notifications/initialized' });
  for (const [tool, args, times] of calls)
    for (let id = 1; id <= times; id++)
      await send({ id, method: 'tools/call', params: { name: tool, arguments: args } });
}
