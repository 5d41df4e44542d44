import { ApiError } from './client.ts';
import { session } from './session.ts';
import { follow, type Frame } from './sse.ts';

interface KeepFollowing {
  readonly signal: AbortSignal;
  readonly opened: () => void;
  readonly received: (frame: Frame) => void;
  /** It ended, and is tried again: with the error when it could not be opened, without when it broke. */
  readonly lost: (error: unknown) => void;
}

const firstWaitMs = 300;
const longestWaitMs = 5_000;

/**
 * Follows a stream until it is stopped, or the session is over. One that breaks is opened again after the last event
 * that came.
 */
export async function keepFollowing(path: string, { signal, opened, received, lost }: KeepFollowing): Promise<void> {
  let waitMs = firstWaitMs;
  let lastEventId: string | undefined;
  while (!signal.aborted) {
    const error = await follow(path, {
      signal,
      lastEventId,
      opened() {
        waitMs = firstWaitMs;
        opened();
      },
      received(frame) {
        received(frame);
        lastEventId = frame.id ?? lastEventId;
      },
    }).catch((failure: unknown) => failure);
    if (signal.aborted) return;
    lost(error);
    // The end of the session has been shown already; with a new password there is a new session.
    if (error instanceof ApiError && error.status === 401 && session.csrf() === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }
}
