import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

/** Sends a part of a request and leaves. Resolves when the connection is gone. */
function sendAndLeave(url: string, head: string, body: string): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    socket.write(`POST ${head} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${body}`, () =>
      setImmediate(() => socket.resetAndDestroy()),
    );
  });
}

test('a client that leaves in the middle of a body is no error of the hub', async () => {
  const hub = await testHub({ env: { LOG_LEVEL: 'info' } });
  const admin = await login(hub);
  const half = 'Content-Length: 900\r\n\r\n{"username":"admin",';
  const auth = `Authorization: Bearer ${admin}\r\n`;
  for (let i = 0; i < 20; i++) {
    await Promise.all([
      sendAndLeave(hub.url, '/api/auth/login', half),
      sendAndLeave(hub.url, '/api/auth/login', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"use'),
      sendAndLeave(hub.url, '/api/servers', auth + half),
      sendAndLeave(hub.url, '/api/mcpb/upload', auth + half),
      sendAndLeave(hub.url, '/oauth/sign-in/none', half),
      sendAndLeave(hub.url, '/mcp', `Accept: text/event-stream\r\n${half}`),
      sendAndLeave(hub.url, '/mcp', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"use'),
    ]);
  }
  // A whole request behind them: by then the hub has noticed.
  await until('the hub has noticed them', async () => {
    const { text } = await api(hub, 'GET', '/logs', { token: admin });
    expect(text).not.toContain('Unexpected error');
    expect(text).not.toContain('request failed');
    expect(text).not.toContain('sign-in not begun');
    return (await api(hub, 'GET', '/servers', { token: admin })).status === 200;
  });
});
