import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DatabaseState } from '../../database/supervise.ts';

/** Whether a hub is ready for requests, or why not (CONTRACT §10, `/health/ready`). */
export type Readiness =
  | { readonly status: 'ready' }
  | { readonly status: 'starting' | 'waiting' | 'stopping'; readonly message: string };

export interface ReadinessFacts {
  /** Whether all parts of the hub answer. */
  readonly isOpen: boolean;
  readonly isStopping: boolean;
  readonly database: DatabaseState;
  /** Several hubs share the database: what one of them keeps to itself the others do not see. */
  readonly isShared: boolean;
}

/** Whether requests are to be sent to this hub, or to another one. */
export function readinessOf({ isOpen, isStopping, database, isShared }: ReadinessFacts): Readiness {
  if (isStopping) return { status: 'stopping', message: 'The hub is being stopped' };
  if (!isOpen) return { status: 'starting', message: 'The hub is starting' };
  if (database.state === 'down') return { status: 'waiting', message: 'The database is not available' };
  // The embedded one is opened later, and nothing that is served waits for it.
  if (database.state === 'opening' && isShared) return { status: 'starting', message: 'The database is being opened' };
  return { status: 'ready' };
}

/** Answers `/health/live` and `/health/ready`. False: the request is for something else. */
export type Probe = (req: Pick<IncomingMessage, 'method' | 'url' | 'socket'>, res: ServerResponse) => boolean;

/** The answer to another hub, by the address that its question came from. */
type Hello = (url: string, address: string | undefined) => string | undefined;

/**
 * `/health/live`: 200 as soon as the hub listens and as long as its event loop turns, whatever else is wrong.
 * `/health/ready`: 200 where requests are to be sent here, else 503 with the reason. Open to all, so both name nothing
 * of the hub. They wait for no other part. `hello` answers other hubs on the same database at `/health/hub`; for all
 * others there is no such path.
 */
export function createProbe(ready: () => Readiness, hello?: Hello): Probe {
  return ({ method = 'GET', url = '/', socket }, res) => {
    const path = url.split('?', 1)[0];
    if (method !== 'GET' && method !== 'HEAD') return false;
    if (path === '/health/hub') {
      const text = hello?.(url, socket.remoteAddress);
      if (text !== undefined) send(res, 200, text);
      return text !== undefined;
    }
    const isLive = path === '/health/live';
    if (!isLive && path !== '/health/ready') return false;
    const answer = isLive ? { status: 'alive' } : ready();
    send(res, isLive || answer.status === 'ready' ? 200 : 503, JSON.stringify(answer), method === 'HEAD');
    return true;
  };
}

function send(res: ServerResponse, status: number, text: string, isHead = false): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(isHead ? undefined : text);
}
