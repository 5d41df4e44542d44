import type { RequestListener } from 'node:http';
import { errorTable } from '../../core/errors.ts';
import { errorResponseText } from '../../core/protocol/rpc.ts';
import { databaseLimits } from '../../database/limits.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { isMcpPath } from '../../mcp/mcp-entry.ts';
import { failureText } from '../frame/open-routes.ts';
import { takenPaths } from '../frame/taken-paths.ts';
import { unreadyHealth } from './health.ts';
import { createProbe } from './probes.ts';

export interface Unready {
  /** `''` or `/prefix`. */
  readonly basePath: string;
  readonly database: Pick<DatabaseHandle, 'state'>;
  readonly version: string;
}

const message =
  'The hub has no settings yet: they are in its database (DB_URL), which is not available. The hub keeps trying, and serves as soon as it has them.';

/**
 * Answers all requests, with 503, while the settings are not known. Which hosts, pages and callers are let in is part
 * of them, so these answers are for all and hold nothing of the hub but the state of its database.
 */
export function answerUnready({ basePath, database, version }: Unready): RequestListener {
  const startedAt = performance.now();
  const { status, rpc } = errorTable.not_ready;
  const probe = createProbe(() => ({
    status: 'starting',
    message: 'The hub waits for the database with its settings',
  }));

  function textFor(method: string, path: string): string {
    if (path === '/health') {
      const uptimeMs = performance.now() - startedAt;
      return JSON.stringify(unreadyHealth({ message, database: database.state(), version, uptimeMs, now: Date.now() }));
    }
    const below = path.startsWith(basePath) ? path.slice(basePath.length) : '';
    if (isMcpPath(below, takenPaths)) return errorResponseText('null', rpc, message);
    return failureText(`${basePath}/api`, { method, path }, { code: 'not_ready', message });
  }

  return (req, res) => {
    const { method = 'GET', url = '/' } = req;
    // The next request comes on a connection that the fast path reads.
    res.setHeader('connection', 'close');
    if (probe(req, res)) return;
    const text = textFor(method, url.split('?', 1)[0] ?? '');
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'retry-after': String(databaseLimits.databaseRetryMaxMs / 1_000),
    });
    res.end(text);
  };
}
