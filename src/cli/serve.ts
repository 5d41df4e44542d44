import { setTimeout as after } from 'node:timers/promises';
import type { Hub } from '../core/hub.ts';
import { cliLimits } from './limits.ts';
import { createStartReport } from './start-report.ts';
import { type Command, environmentHelp, environmentOptions, variablesFrom } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { refuseDebugger, watchStopSignals } from './signals.ts';

/** `toolhub serve`: runs the hub until it is told to stop. */
export const serve: Command = {
  name: 'serve',
  summary: 'run the hub (the default)',
  help: environmentHelp,
  options: environmentOptions,
  async run(flags) {
    refuseDebugger();
    const { readProcessEnv } = await import('../env/env.ts');
    // Ahead of the whole hub, which takes a second to load: what is wrong with the environment is said at once.
    const env = readProcessEnv(variablesFrom(flags));
    const { startHub } = await import('../hub/start-hub.ts');
    const stop = watchStopSignals();
    const report = createStartReport(env);
    const starting = startHub(env, stop.signal).then((hub) => {
      // Also when it was told to stop meanwhile: the first password is shown nowhere else.
      report.ready(hub);
      return hub;
    });
    const hub = await Promise.race([starting, stop.asked]);
    if (hub !== undefined) {
      void report.followServers(hub, stop.signal);
      await stop.asked;
    }
    return closeInTime(starting);
  },
};

/**
 * A stop must not hang: the program that stops the hub (Docker, systemd) would kill it. A start that was not completed
 * has nothing open.
 */
async function closeInTime(starting: Promise<Hub>): Promise<ExitCode> {
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
