import { setTimeout as after } from 'node:timers/promises';
import type { Hub } from '../core/hub.ts';
import type { Env } from '../env/env.ts';
import type { Worker } from '../hub/worker.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { cliLimits } from './limits.ts';
import { createStartReport } from './start-report.ts';

/** Starts the hub and tells the operator when it is up, and of its servers. Rejects as `startHub` does. */
export async function startReported(env: Env, stop: AbortSignal, worker?: Worker): Promise<Hub> {
  const { startHub } = await import('../hub/start-hub.ts');
  const hub = await startHub(env, stop, worker);
  const report = createStartReport(env);
  // Also when it was told to stop meanwhile: the first password is shown nowhere else.
  report.ready(hub);
  if (!stop.aborted) void report.followServers(hub, stop);
  return hub;
}

/**
 * A stop must not hang: the program that stops the hub (Docker, systemd) would kill it. A start that was not completed
 * has nothing open.
 */
export async function closeInTime(starting: Promise<Hub>): Promise<ExitCode> {
  const closed = starting
    .then(
      (hub) => hub.close(),
      () => undefined,
    )
    .then(() => exitCodes.stopped);
  const late = after(cliLimits.stopMs, exitCodes.failed, { ref: false });
  const code = await Promise.race([closed, late]);
  if (code !== exitCodes.stopped)
    process.stderr.write(`toolhub: not everything stopped within ${cliLimits.stopMs / 1000} s; ending now.\n`);
  return code;
}
