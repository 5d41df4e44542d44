import { createServer } from 'node:net';
import { errorText } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { cliLimits } from '../limits.ts';
import type { Check } from './check.ts';

const name = 'port';

/** Can the hub listen there? When something holds the port: is it a hub, and how is it? */
export async function checkPort(host: string, port: number): Promise<Check> {
  const where = `${host}:${port}`;
  const code = await tryToListen(host, port);
  switch (code) {
    case undefined:
      return { name, status: 'ok', detail: port === 0 ? 'any free one' : `${where} is free` };
    case 'EADDRINUSE': {
      const hub = await askHub(host, port);
      if (hub !== undefined) return { name, status: 'ok', detail: `${where} is held by a hub: ${hub}` };
      return {
        name,
        status: 'fail',
        detail: `${where} is held by another program`,
        fix: 'Stop it, or choose another port: --port, or PORT.',
      };
    }
    case 'EACCES':
      return {
        name,
        status: 'fail',
        detail: `no right to listen on ${where}`,
        fix: 'Choose a port above 1023: --port, or PORT.',
      };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return {
        name,
        status: 'fail',
        detail: `${host} is no address of this machine`,
        fix: 'Use 127.0.0.1, or 0.0.0.0 for every address: --host, or HOST.',
      };
    default:
      return {
        name,
        status: 'fail',
        detail: `cannot listen on ${where} (${code})`,
        fix: 'Choose another address: --host and --port.',
      };
  }
}

/** The system's error code, or undefined when listening worked. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error) => done('code' in error ? String(error.code) : errorText(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}

async function askHub(host: string, port: number): Promise<string | undefined> {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${near}:${port}/health`, {
      signal: AbortSignal.timeout(cliLimits.doctorHealthMs),
      redirect: 'error',
    });
    const health: unknown = await response.json();
    if (!isObject(health) || !isObject(health['servers']) || typeof health['version'] !== 'string') return undefined;
    const { total, connected } = health['servers'];
    return `version ${health['version']}, ${String(health['status'])}, ${String(connected)} of ${String(total)} servers connected`;
  } catch {
    return undefined;
  }
}
