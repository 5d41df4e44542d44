// A tool server over streamable HTTP.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { echoServer } from './echo.mjs';

/** One that listens nowhere yet; `options` are those of `echoServer`. */
export function overHttp(options) {
  const handle = echoServer(options);
  const server = createServer((req, res) => {
    if (req.method !== 'POST') return res.writeHead(req.method === 'DELETE' ? 200 : 405).end();
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const message = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      if (message.id === undefined) {
        handle(message, () => {}, req.headers['mcp-session-id']);
        return res.writeHead(202).end();
      }
      const say = (text) => {
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
        if (message.method === 'initialize') headers['mcp-session-id'] = randomUUID();
        res.writeHead(200, headers).end(text);
      };
      handle(message, say, req.headers['mcp-session-id']);
    });
  });
  server.keepAliveTimeout = 300_000;
  server.requestTimeout = 0;
  return server;
}
