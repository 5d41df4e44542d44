import { createServer, type RequestListener, type Server } from 'node:http';
import type { ByteBudget } from '../core/byte-budget.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Env } from '../env/env.ts';
import { clientOf } from '../http/frame/client-address.ts';
import { listen } from '../http/frame/server.ts';
import type { Door } from '../mcp/door.ts';
import { createFront, type Front } from '../wire/front.ts';
import { SafeResponse } from '../wire/safe-response.ts';

/** What clients connect to. One way of answering follows another, the server and its address stay. */
export interface Entrance {
  readonly server: Server;
  readonly front: Front;
  /** Listens, if it does not yet; gives the address without a path. Errors are those of `listen`. */
  listen(): Promise<string>;
  /** How requests are answered before there is a door. */
  answer(unready: RequestListener): void;
  /** From now on requests go through the door; `bodies` is the memory for those to MCP endpoints. */
  open(door: Door, bodies: ByteBudget): void;
}

export function createEntrance(env: Pick<Env, 'trustProxy' | 'host' | 'port'>, log: Logger): Entrance {
  let unready: RequestListener | undefined;
  let opened: { readonly door: Door; readonly bodies: ByteBudget } | undefined;
  let address: Promise<string> | undefined;
  const server = createServer({
    keepAliveTimeout: limits.idleConnectionMs,
    requestTimeout: limits.requestReadMs,
    ServerResponse: SafeResponse,
  });
  server.on('request', (req, res) => (opened ? opened.door.enter(req, res) : unready?.(req, res)));
  const bounds = {
    most: limits.connections,
    mostPerAddress: limits.connectionsPerAddress,
    clientOf: clientOf(env.trustProxy),
    refused: refusedConnections(log),
  };
  const front = createFront(server, {
    takes: (url) => opened?.door.isMcp(url) === true,
    handle: (req, res) => opened?.door.enterMcp(req, res),
    bounds,
    bodies: {
      hold: (bytes, size) => opened?.bodies.hold(bytes, size) === true,
      release: (bytes) => opened?.bodies.release(bytes),
    },
  });
  return {
    server,
    front,
    listen: () => (address ??= listen(server, env.host, env.port)),
    answer(listener) {
      unready = listener;
    },
    open(door, bodies) {
      opened = { door, bodies };
    },
  };
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
