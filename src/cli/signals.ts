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

/** The first signal asks to stop in order; the second ends the process at once, and its children with it. */
export function watchStopSignals(): StopSignals {
  const { promise: asked, resolve } = deferred<undefined>();
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.failed);
    controller.abort();
    resolve(undefined);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return { asked, signal: controller.signal };
}
