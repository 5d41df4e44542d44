import { deferred } from '../core/deferred.ts';
import { exitCodes } from './exit.ts';

export interface StopSignals {
  /** Resolves at the first SIGTERM or SIGINT. */
  readonly asked: Promise<undefined>;
  /** Aborted at the same moment. */
  readonly signal: AbortSignal;
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
