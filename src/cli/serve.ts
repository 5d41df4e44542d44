import { type Command, environmentHelp, environmentOptions, variablesFrom } from './command.ts';
import { refuseDebugger, watchStopSignals } from './signals.ts';

/** `toolhub serve`: runs the hub until it is told to stop. */
export const serve: Command = {
  name: 'serve',
  summary: 'run the hub (the default)',
  help: environmentHelp,
  options: environmentOptions,
  async run(flags) {
    refuseDebugger();
    // Started by another program of Node: by the first process of this hub, or by PM2, for example.
    if (process.send) {
      const { isWorker, runWorker } = await import('./workers/worker.ts');
      if (isWorker()) return runWorker();
    }
    const { readProcessEnv } = await import('../env/env.ts');
    // Ahead of the whole hub, which takes a second to load: what is wrong with the environment is said at once.
    const env = readProcessEnv(variablesFrom(flags));
    if (env.workers > 1) return (await import('./workers/first.ts')).runWorkers(env);
    const { closeInTime, startReported } = await import('./run-hub.ts');
    const stop = watchStopSignals();
    const starting = startReported(env, stop.signal);
    await Promise.race([starting, stop.asked]);
    await stop.asked;
    return closeInTime(starting);
  },
};
