import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { newClosers } from '../../core/closers.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { createFullDiskRetry } from '../../disk/full-disk-retry.ts';
import type { Env } from '../../env/env.ts';
import { createLog } from '../../logs/log.ts';
import { usualFormat } from '../../logs/output.ts';
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
  const stop = watchStopSignals();
  const log = createLog({ level: env.logLevel, format: env.logFormat ?? usualFormat() }).for('hub');
  const jwtSecret = env.jwtSecret ?? (await secretOf(env, log));
  const dataDir = resolve(env.dataDir);
  const closers = newClosers();
  const programs = openPrograms(env, log);
  closers.add(() => programs.close());
  const startOf = (number: number): Omit<WorkerStart, 'reports'> => ({
    env: { ...env, jwtSecret, dataDir: number === 1 ? dataDir : join(dataDir, 'workers', String(number)) },
    number,
    count: env.workers,
    dataDir,
  });
  const workers = new Workers({ count: env.workers, startOf, programs: programs.host, log });
  const code = await workers.run(stop);
  await closers.close();
  return code;
}

/** What the workers sign with: the first of them would make it, and the others have to have the same. */
async function secretOf(env: Env, log: Logger): Promise<string> {
  const room = createFullDiskRetry(log);
  const dataDir = await openDataDir(env.dataDir, log, room);
  try {
    refuseHalfRestored(dataDir.path);
    return dataDir.secret('jwt', 32).toString('hex');
  } finally {
    dataDir.close();
    room.close();
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
