import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';
import { temporaryFolder } from './hostile.ts';

/** A folder on a disk of its own of a few megabytes. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills all space; empty files can still be made. */
  fill(): void;
  /** Gives it back. */
  free(): void;
}

/** Whether this user may mount one: root on Linux, outside of most containers. */
export const hasSmallDisks = ((): boolean => {
  try {
    openSmallDisk().unmount();
    return true;
  } catch {
    return false;
  }
})();

export function smallDisk(): SmallDisk {
  const { unmount, ...disk } = openSmallDisk();
  atEnd(unmount);
  return disk;
}

function openSmallDisk(): SmallDisk & { unmount(): void } {
  const folder = temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', folder], { stdio: 'ignore' });
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a');
      try {
        for (let size = 1 << 20; size > 0; size >>= 1) {
          try {
            while (writeSync(file, Buffer.alloc(size)) === size);
          } catch {
            // No space for that many.
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast),
    unmount: () => void execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }),
  };
}
