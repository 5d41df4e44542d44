import { deferred } from '../core/deferred.ts';
import { exitCodes } from './exit.ts';

export interface StopSignals {
  /** Resolves at the first SIGTERM or SIGINT. */
  readonly asked: Promise<undefined>;
  /** Aborted at the same moment. */
  readonly signal: AbortSignal;
}

/**
 * SIGUSR1 makes Node open a debugger on the loopback address, through which every local program could run code in this
 * process; any program of the same user can send it. With a listener of our own Node does not.
 */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => {
    process.stderr.write('toolhub: SIGUSR1 is ignored; for a debugger start with node --inspect.\n');
  });
}

/** What asks a hub to stop. On Windows also Ctrl-Break and a window that is closed, after which it has some seconds. */
export function stopSignals(platform: NodeJS.Platform = process.platform): NodeJS.Signals[] {
  return platform === 'win32' ? ['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGTERM', 'SIGINT'];
}

/** The first signal asks to stop in order; the second ends the process at once, and its children with it. */
export function watchStopSignals(): StopSignals {
  const { promise: asked, resolve } = deferred<undefined>();
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.failed);
    controller.abort();
    resolve(undefined);
  };
  for (const signal of stopSignals()) process.on(signal, onSignal);
  return { asked, signal: controller.signal };
}
