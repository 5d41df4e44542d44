import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { diskFullCode, isDiskFull } from './disk-error.ts';
import { diskLimits } from './limits.ts';

/** What the disk had no space for. A hub serves without it, and writes it once there is space again. */
export interface FullDiskRetry {
  /** True while something waits for space. */
  readonly isFull: boolean;
  /**
   * Logs that `what` could not be written because of `error`, a full disk, and calls `write` until it succeeds or fails
   * for another reason.
   */
  wait(what: string, error: unknown, write: () => void | Promise<void>): void;
  /** `write` now, and what `wait` does when the disk is full. Throws what else fails. */
  keep(what: string, write: () => void): void;
  close(): void;
}

/** The caller closes it. */
export function createFullDiskRetry(log: Logger): FullDiskRetry {
  const waiting = new Map<string, () => void | Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function later(): void {
    if (timer === undefined && !isClosed) timer = setTimeout(() => void again(), diskLimits.diskRetryMs).unref();
  }

  /** In the order in which they came. */
  async function again(): Promise<void> {
    for (const [what, write] of waiting) {
      try {
        await write();
      } catch (error) {
        if (isDiskFull(error)) break;
        log.error(`${what} cannot be written: ${errorText(error)}`);
      }
      waiting.delete(what);
    }
    timer = undefined;
    if (waiting.size > 0) later();
    else log.info('There is room on the disk again; what waited for it is written');
  }

  function wait(what: string, error: unknown, write: () => void | Promise<void>): void {
    log.error(
      `No room left on the disk (${diskFullCode(error)}) for ${what}. Free some: the hub serves without it and tries again`,
    );
    waiting.set(what, write);
    later();
  }

  return {
    get isFull() {
      return waiting.size > 0;
    },
    wait,
    keep(what, write) {
      try {
        write();
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        wait(what, error, write);
      }
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
