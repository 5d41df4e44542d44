import { availableParallelism } from 'node:os';
import type { Logger } from '../core/logger.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Env } from '../env/env.ts';
import { expandServer, type ReadFile } from '../settings/server/placeholders.ts';
import { inheritableEnv } from '../upstream/channels/stdio/child-env.ts';
import { createInstallQueue } from '../upstream/channels/stdio/install-queue.ts';
import { loadChannel, openChannel } from '../upstream/channels/open-channel.ts';
import { ownerMark } from '../upstream/channels/stdio/orphans.ts';
import { type ConnectingState, probeServer } from '../upstream/connections/probe.ts';
import { sandboxPlaces } from '../upstream/channels/stdio/sandbox.ts';
import { openReaper } from '../upstream/channels/stdio/reaper.ts';
import { version } from '../version.ts';
import type { Offer } from './checks/servers.ts';
import type { StoredSignIns } from './stored-sign-ins.ts';

const silent = (): void => {};
export const noLog: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** What decides how far a server is trusted, as in `checks/settings.ts`. */
export interface Vouched {
  readonly name: string;
  readonly trusted: boolean;
  readonly allowedCidrs: readonly string[];
}

/**
 * Trial connections made just as the hub makes its own, with the same trust in each server; one that is not among
 * `servers` gets none. Each takes as long as the hub would wait, and says nothing but its outcome; `progress` is called
 * with what it is doing meanwhile.
 */
export function openProbes(
  env: Env,
  servers: readonly Vouched[],
  signIns?: Pick<StoredSignIns, 'credential'>,
  readFile?: ReadFile,
  progress: (server: string, state: ConnectingState) => void = () => undefined,
): {
  probe: (server: ServerSettings) => Promise<Offer>;
  close: () => Promise<void>;
} {
  const reaper = openReaper();
  const installs = createInstallQueue(availableParallelism());
  const known = new Map(servers.map((server) => [server.name, server]));
  const trusts = ({ name }: ServerSettings) => known.get(name)?.trusted === true;
  const opener = {
    expand: (server: ServerSettings) =>
      (trusts(server) ? expandServer(server, env.variables, readFile) : expandServer(server, {})).transport,
    addresses: (server: ServerSettings) => ({
      allowPrivateAddresses: trusts(server),
      allowedCidrs: known.get(server.name)?.allowedCidrs ?? [],
    }),
    ...(signIns && { credential: signIns.credential }),
    sandboxes: sandboxPlaces(env),
    inheritedEnv: inheritableEnv(env.variables),
    owner: ownerMark(env.dataDir),
    reaper,
    installs,
    connectTimeoutMs: env.connectTimeoutMs,
    requestTimeoutMs: env.requestTimeoutMs,
    userAgent: `toolhub/${version}`,
    log: () => noLog,
  };
  return {
    probe: (server) =>
      probeServer(server, {
        load: loadChannel,
        open: (wanted, events) => openChannel(wanted, events, opener),
        version,
        timeoutMs: env.connectTimeoutMs,
        log: noLog,
        progress: (state) => progress(server.name, state),
      }),
    async close() {
      installs.close();
      await reaper.close();
    },
  };
}
