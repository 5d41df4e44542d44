import type { Logger } from '../core/logger.ts';
import type { ServerSettings } from '../core/settings.ts';
import type { Env } from '../env.ts';
import { expandServer } from '../settings/placeholders.ts';
import { inheritableEnv } from '../upstream/child-env.ts';
import { openChannel } from '../upstream/open-channel.ts';
import { ownerMark } from '../upstream/orphans.ts';
import { probeServer } from '../upstream/probe.ts';
import { openReaper } from '../upstream/reaper.ts';
import { version } from '../version.ts';
import type { Offer } from './checks/servers.ts';

const silent = (): void => {};
const log: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** Trial connections made just as the hub makes its own. Each takes as long as the hub would wait, and says nothing but its outcome. */
export function openProbes(env: Env): {
  probe: (server: ServerSettings) => Promise<Offer>;
  close: () => Promise<void>;
} {
  const reaper = openReaper();
  const opener = {
    expand: (server: ServerSettings) => expandServer(server, env.variables).transport,
    addresses: () => ({ allowPrivateAddresses: true, allowedCidrs: [] }),
    inheritedEnv: inheritableEnv(env.variables),
    owner: ownerMark(env.dataDir),
    reaper,
    connectTimeoutMs: env.connectTimeoutMs,
    requestTimeoutMs: env.requestTimeoutMs,
    userAgent: `toolhub/${version}`,
    log: () => log,
  };
  return {
    probe: (server) =>
      probeServer(server, {
        open: (wanted, events) => openChannel(wanted, events, opener),
        version,
        timeoutMs: env.connectTimeoutMs,
        log,
      }),
    close: () => reaper.close(),
  };
}
