import { HubError } from '../../../core/errors.ts';

/**
 * A signal that aborts when time is up, or earlier by hand; its reason is always a HubError. Who opens it calls `done`.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  abort(reason: HubError): void;
  done(): void;
}

/** Opens a deadline that ends with HubError `timeout` and this message. */
export function openDeadline(ms: number, message: string): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new HubError('timeout', message)), ms);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    done: () => clearTimeout(timer),
  };
}

/**
 * The promise's outcome, or the signal's reason as soon as it aborts. What the promise stands for goes on: others may
 * wait for it.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as HubError);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
