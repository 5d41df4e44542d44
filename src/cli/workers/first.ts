import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { type Closers, newClosers } from '../../core/closers.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { createFullDiskRetry, type FullDiskRetry } from '../../disk/full-disk-retry.ts';
import type { Env } from '../../env/env.ts';
import { createLog } from '../../logs/log.ts';
import { usualFormat } from '../../logs/output.ts';
import type { HubSecrets } from '../../hub/worker.ts';
import { openDataDir, refuseHalfRestored } from '../../settings/data-dir.ts';
import { heldBy } from '../../upstream/channels/open-channel.ts';
import { openStdioChannel } from '../../upstream/channels/stdio/channel.ts';
import { inheritableEnv } from '../../upstream/channels/stdio/child-env.ts';
import { createInstallQueue } from '../../upstream/channels/stdio/install-queue.ts';
import { endOrphans, ownerMark } from '../../upstream/channels/stdio/orphans.ts';
import { openReaper } from '../../upstream/channels/stdio/reaper.ts';
import { sandboxPlaces } from '../../upstream/channels/stdio/sandbox.ts';
import { createProgramHost, type ProgramHost } from '../../upstream/channels/shared/program-host.ts';
import type { ExitCode } from '../exit.ts';
import { watchStopSignals } from '../signals.ts';
import type { WorkerStart } from './messages.ts';
import { Workers } from './workers.ts';

/**
 * `WORKERS` above 1: this process starts the workers, which serve, and has the programs of stdio servers, which run
 * once for all of them (decisions/0092). Resolves when all have ended. Throws HubError when the data folder cannot be
 * used.
 */
export async function runWorkers(env: Env): Promise<ExitCode> {
  refuseOtherCluster();
  const stop = watchStopSignals();
  const log = createLog({ level: env.logLevel, format: env.logFormat ?? usualFormat() }).for('hub');
  const closers = newClosers();
  // Secrets that a full disk has no room for are written later.
  const room = createFullDiskRetry(log);
  closers.add(() => room.close());
  const secrets = await secretsOf(env, log, room, closers);
  const dataDir = resolve(env.dataDir);
  const programs = openPrograms(env, log);
  closers.add(() => programs.close());
  const startOf = (number: number): Omit<WorkerStart, 'reports'> => ({
    env: { ...env, dataDir: number === 1 ? dataDir : join(dataDir, 'workers', String(number)) },
    number,
    count: env.workers,
    dataDir,
    secrets,
  });
  const workers = new Workers({ count: env.workers, startOf, programs: programs.host, log });
  const code = await workers.run(stop);
  await closers.close();
  return code;
}

/** Processes of a cluster cannot start one of their own. */
function refuseOtherCluster(): void {
  if (cluster.isPrimary) return;
  throw new HubError(
    'misconfigured',
    'WORKERS: this process was started by a cluster of Node, such as that of PM2, which cannot be divided once more. Have it started as one process (PM2: exec_mode "fork"), or leave WORKERS out.',
  );
}

/**
 * What the workers sign and seal with: those of `DATA_DIR`, which the first of them would make, and the others have to
 * have. `JWT_SECRET` stays what it is: where it is not set, the database has a secret for what hubs seal in it.
 */
async function secretsOf(env: Env, log: Logger, room: FullDiskRetry, closers: Closers): Promise<HubSecrets> {
  const dataDir = await openDataDir(env.dataDir, log, room);
  closers.add(() => dataDir.keepSecrets());
  try {
    refuseHalfRestored(dataDir.path);
    const names = env.jwtSecret === undefined ? ['hub', 'jwt'] : ['hub'];
    return Object.fromEntries(names.map((name) => [name, dataDir.secret(name, 32)]));
  } finally {
    dataDir.close();
  }
}

function openPrograms(env: Env, log: Logger): { readonly host: ProgramHost; close(): Promise<void> } {
  const reaper = openReaper();
  const installs = createInstallQueue(availableParallelism());
  const places = sandboxPlaces(env);
  const owner = ownerMark(env.dataDir);
  const inheritedEnv = inheritableEnv(env.variables);
  endOrphans(env.dataDir, log, installs).catch((error: unknown) => {
    log.warn('processes of an earlier run could not be looked for', { error: errorText(error) });
  });
  const host = createProgramHost({
    open: (program, log, events) =>
      openStdioChannel({ ...program, ...heldBy(program, places), log, inheritedEnv, owner, reaper, installs }, events),
  });
  return {
    host,
    async close() {
      await host.close();
      installs.close();
      await reaper.close();
    },
  };
}
