import { createServer, type Server } from 'node:http';
import type { ByteBudget } from '../core/byte-budget.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Env } from '../env/env.ts';
import { clientOf } from '../http/frame/client-address.ts';
import type { Door } from '../mcp/door.ts';
import { createFront, type Front } from '../wire/front.ts';
import { SafeResponse } from '../wire/safe-response.ts';

export interface OpenServer {
  readonly env: Pick<Env, 'trustProxy'>;
  readonly door: Door;
  readonly bodies: ByteBudget;
  readonly log: Logger;
}

/** What clients connect to, which does not listen yet. */
export function openServer({ env, door, bodies, log }: OpenServer): { server: Server; front: Front } {
  const server = createServer({
    keepAliveTimeout: limits.idleConnectionMs,
    requestTimeout: limits.requestReadMs,
    ServerResponse: SafeResponse,
  });
  server.on('request', door.enter);
  const bounds = {
    most: limits.connections,
    mostPerAddress: limits.connectionsPerAddress,
    clientOf: clientOf(env.trustProxy),
    refused: refusedConnections(log),
  };
  return { server, front: createFront(server, { takes: door.isMcp, handle: door.enterMcp, bounds, bodies }) };
}

/** Tells of connections that were refused, now and then. */
function refusedConnections(log: Logger): (address: string, bound: 'all' | 'address') => void {
  let toldAt = -Infinity;
  let refused = 0;
  return (address, bound) => {
    refused++;
    if (performance.now() - toldAt < limits.refusedConnectionsMs) return;
    const why =
      bound === 'all'
        ? `${limits.connections} connections are open, all of them at work`
        : `${limits.connectionsPerAddress} connections of one address are open. If it is that of your proxy, set TRUST_PROXY to it`;
    log.warn(`Connections are refused: ${why}`, { address, refused });
    toldAt = performance.now();
    refused = 0;
  };
}
