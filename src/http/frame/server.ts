import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HubError } from '../../core/errors.ts';
import type { FastPath } from '../../wire/fast-path.ts';
import { wireLimits } from '../../wire/limits.ts';

/**
 * Starts to listen; the address without a path. Throws HubError `misconfigured` or `conflict` with what to do about it.
 */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ port, host, backlog: wireLimits.waitingConnections }, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return `http://${shownHost(host)}:${actual}`;
}

/**
 * Stops to accept, lets running requests end for `drainMs`, then closes what is left. `streams` would never end by
 * themselves. `others`: the end of connections that the server does not know it has.
 */
export async function closeServer(
  server: Server,
  fastPath: FastPath,
  drainMs: number,
  streams: readonly { close(): void }[],
  others: Promise<void> = Promise.resolve(),
): Promise<void> {
  const closed = Promise.all([new Promise<void>((resolve) => server.close(() => resolve())), others]);
  for (const stream of streams) stream.close();
  fastPath.end();
  // A connection that was answering becomes idle when it is done, and would stay open for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const late = setTimeout(() => {
    server.closeAllConnections();
    fastPath.destroy();
  }, drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): HubError {
  const where = `${host}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new HubError(
        'conflict',
        `Cannot listen on ${where}: the port is taken. Stop what uses it, or choose another with PORT or --port.`,
        { cause: error },
      );
    case 'EACCES':
      return new HubError(
        'misconfigured',
        `Cannot listen on ${where}: not permitted. Ports below 1024 need privileges; choose another PORT.`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new HubError(
        'misconfigured',
        `Cannot listen on ${where}: this machine has no such address. Set HOST to one of its own.`,
        { cause: error },
      );
    default:
      return new HubError('misconfigured', `Cannot listen on ${where}: ${error.message}`, { cause: error });
  }
}
