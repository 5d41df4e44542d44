import { createServer, type RequestListener, type Server } from 'node:http';
import type { ByteBudget } from '../core/byte-budget.ts';
import type { Logger } from '../core/logger.ts';
import type { Env } from '../env/env.ts';
import { clientOf } from '../http/frame/client-address.ts';
import { listen } from '../http/frame/server.ts';
import type { HttpEntry } from '../http/frame/http-entry.ts';
import { createFastPath, type FastPath } from '../wire/fast-path.ts';
import type { HttpResponse } from '../wire/http.ts';
import { wireLimits } from '../wire/limits.ts';
import { SafeResponse } from '../wire/safe-response.ts';
import type { Worker } from './worker.ts';
import { createWorkerConnections } from './worker-connections.ts';

/** What clients connect to. One way of answering follows another, the server and its address stay. */
export interface HttpServer {
  readonly server: Server;
  readonly fastPath: FastPath;
  /** Listens, if it does not yet; gives the address without a path. Errors are those of `listen`. */
  listen(): Promise<string>;
  /** Of one of several workers that listens: its own address, beside the one that all share. */
  readonly ownUrl: string | undefined;
  /** Resolves once the connections are over that came neither from `listen` nor with it. */
  closeOthers(): Promise<void>;
  /** How requests are answered before there is an HTTP entry. */
  answer(unready: RequestListener): void;
  /** Which addresses other hubs have: such stand for many clients. */
  hubsAt(isHub: (address: string) => boolean): void;
  /** From now on requests go through the HTTP entry; `bodies` is the memory for those to MCP endpoints. */
  open(httpEntry: HttpEntry, bodies: ByteBudget): void;
}

/** `worker`: set for one of several that share the port. */
export function createHttpServer(
  env: Pick<Env, 'trustProxy' | 'host' | 'port'>,
  log: Logger,
  worker?: Worker,
): HttpServer {
  let unready: RequestListener | undefined;
  let opened: HttpEntry | undefined;
  let address: Promise<string> | undefined;
  const server = createServer({
    keepAliveTimeout: wireLimits.idleConnectionMs,
    requestTimeout: wireLimits.requestReadMs,
    ServerResponse: SafeResponse,
  });
  const isMcp = (url: string | undefined): boolean => opened?.isMcp(url ?? '/') === true;
  let ownUrl: string | undefined;
  const own = worker && createWorkerConnections(server, worker, env.host, isMcp);
  server.on('request', (req, res) => {
    if (own?.isMisdirected(req)) {
      res.shouldKeepAlive = false;
      misdirected(res);
    } else if (opened) opened.enter(req, res);
    else unready?.(req, res);
  });
  let isHubAt = (_address: string): boolean => false;
  const clientAt = clientOf(env.trustProxy);
  const bounds = {
    most: wireLimits.connections,
    mostPerAddress: wireLimits.connectionsPerAddress,
    clientOf: (address: string) => (isHubAt(address) ? undefined : clientAt(address)),
    refused: refusedConnections(log),
  };
  const fastPath = createFastPath(server, { bounds, elsewhere: own });
  return {
    server,
    fastPath,
    listen: () =>
      (address ??= listen(server, env.host, env.port).then(async (url) => {
        ownUrl = await own?.listen();
        return url;
      })),
    get ownUrl() {
      return ownUrl;
    },
    closeOthers: async () => own?.close(),
    answer(listener) {
      unready = listener;
    },
    hubsAt(isHub) {
      isHubAt = isHub;
    },
    open(httpEntry, bodies) {
      opened = httpEntry;
      const { isMcp: takes, enterMcp } = httpEntry;
      const handle: typeof enterMcp = own
        ? (req, res) => (own.isMisdirected(req) ? misdirected(res) : enterMcp(req, res))
        : enterMcp;
      fastPath.serve({ takes, handle, bodies });
    },
  };
}

/** This process of the hub does not answer such requests. */
function misdirected(res: HttpResponse): void {
  res.writeHead(421, { 'content-length': 0 });
  res.end();
}

/** Tells of connections that were refused, now and then. */
function refusedConnections(log: Logger): (address: string, bound: 'all' | 'address') => void {
  let toldAt = -Infinity;
  let refused = 0;
  return (address, bound) => {
    refused++;
    if (performance.now() - toldAt < wireLimits.refusedConnectionsMs) return;
    const why =
      bound === 'all'
        ? `${wireLimits.connections} connections are open, all of them at work`
        : `${wireLimits.connectionsPerAddress} connections of one address are open. If it is that of your proxy, set TRUST_PROXY to it`;
    log.warn(`Connections are refused: ${why}`, { address, refused });
    toldAt = performance.now();
    refused = 0;
  };
}
