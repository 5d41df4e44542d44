// The fixture over HTTP: the official library's handlers behind node:http.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { changed } from './changes.mjs';
import { createEventStore } from './event-store.mjs';
import { offer } from './offer.mjs';

/** More clients than any test has. */
const maxSessions = 1_000;

/** Listens on 127.0.0.1 and resolves with the URL of the endpoint. Port 0 is any free one. */
export async function serveHttp(era, port) {
  const handle = era === 'old' ? oldEra() : newEra();
  const fetch = (request) =>
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    (new URL(request.url).pathname === '/mcp' ? handle(request) : new Response(null, { status: 404 }));
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

/** No sessions: a server for each request. */
function newEra() {
  const handler = createMcpHandler(() => offer('new', { live: false }), { legacy: 'reject' });
  changed.on('tools', () => handler.notify.toolsChanged());
  changed.on('prompts', () => handler.notify.promptsChanged());
  changed.on('resource', (uri) => handler.notify.resourceUpdated(uri));
  return (request) => handler.fetch(request);
}

/**
 * A server for each session, with a stream of its own for messages outside of requests, and events that can be had
 * again.
 */
function oldEra() {
  const sessions = new Map();

  const open = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = offer('old', { live: true });
    await server.connect(transport);
    if (sessions.size > maxSessions) {
      const [id, oldest] = sessions.entries().next().value;
      sessions.delete(id);
      await oldest.close();
    }
    return transport;
  };

  return async (request) => {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) return sessions.get(id)?.handleRequest(request) ?? failure(404, -32001, 'Session not found');
    const parsedBody = request.method === 'POST' ? await request.json().catch(() => undefined) : undefined;
    if (!isInitializeRequest(parsedBody)) return failure(400, -32000, 'Bad Request: no session');
    return (await open()).handleRequest(request, { parsedBody });
  };
}

function failure(status, code, message) {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}
