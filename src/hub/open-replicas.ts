import { networkInterfaces } from 'node:os';
import type { Closers } from '../core/closers.ts';
import { type HubId, newHubId } from '../core/hub-id.ts';
import type { Env } from '../env/env.ts';
import { replicaLimits } from '../replicas/limits.ts';
import type { OpenReplicas } from '../replicas/replicas.ts';
import { version } from '../version.ts';
import type { HttpServer } from './open-server.ts';
import type { Storage } from './open-storage.ts';

/** The name of this run of the hub, and the other hubs on the same PostgreSQL, if the database is not its own. */
export async function openReplicas(
  {
    env,
    httpServer,
    dataDir,
    database,
    log,
  }: Pick<Storage, 'dataDir' | 'database' | 'log'> & {
    readonly env: Env;
    readonly httpServer: Pick<HttpServer, 'hubsAt'>;
  },
  closers: Closers,
): Promise<{ readonly hubId: HubId; readonly replicas: OpenReplicas | undefined }> {
  const hubId = newHubId();
  if (env.database.kind !== 'postgres') return { hubId, replicas: undefined };
  // With the HTTP client, which takes longer to load than anything else: few hubs have others beside them.
  const { createReplicas } = await import('../replicas/replicas.ts');
  const secret = env.jwtSecret ?? dataDir.secret('jwt', 32).toString('hex');
  const replicas = createReplicas({ id: hubId, secret, version, database, log: log('hub') });
  closers.add(() => replicas.close());
  httpServer.hubsAt((from) => replicas.isHubAt(from));
  return { hubId, replicas };
}

/**
 * Where other hubs may reach this one, which listens at `url`: `INTERNAL_URL`, or where it listens; for all interfaces
 * the addresses of this machine. Each of the others takes the first that proves to be this hub.
 */
export function internalUrls({ internalUrl, host }: Pick<Env, 'internalUrl' | 'host'>, url: string): string[] {
  if (internalUrl !== undefined) return [internalUrl];
  if (host !== '0.0.0.0' && host !== '::') return [url];
  const { port } = new URL(url);
  const all = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  const addresses = all
    // Those of one link need its name, which is another one on another machine.
    .filter(({ address, family }) => !address.startsWith('fe80') && (family === 'IPv4' || host === '::'))
    .toSorted((a, b) => Number(a.internal) - Number(b.internal) || a.family.localeCompare(b.family));
  return addresses
    .slice(0, replicaLimits.urls)
    .map(({ address, family }) => `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`);
}
