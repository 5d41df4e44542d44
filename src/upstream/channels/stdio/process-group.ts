import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How often a group that was asked to end is looked at. */
const lookMs = 20;
/**
 * How long the kernel may take to remove what was killed; longer means a zombie that its parent does not reap, or a
 * process stuck in the kernel.
 */
const removalMs = 500;
/** How long `taskkill` may take; it ends a tree within a second as a rule. */
const treeMs = 10_000;

/**
 * Sends a signal to every process of the group; false when there is none any more. On Windows, which has no groups, to
 * its leader alone.
 */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(process.platform === 'win32' ? pgid : -pgid, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, but it is not ours to signal (it changed its user).
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Ends a process group with all its members: SIGTERM, a wait of up to `killAfterMs`, SIGKILL. Resolves when it is gone
 * or nothing more can be done. On Windows, where no process can be asked to end, the process and what it started are
 * ended at once: a server was asked before, by the end of its input.
 */
export async function endGroup(
  pgid: number,
  killAfterMs: number,
  endTree: ((pid: number) => Promise<void>) | undefined = process.platform === 'win32' ? endTreeOfWindows : undefined,
): Promise<void> {
  if (endTree !== undefined) return endTree(pgid);
  if (!signalGroup(pgid, 'SIGTERM')) return;
  if (await groupGone(pgid, killAfterMs)) return;
  signalGroup(pgid, 'SIGKILL');
  await groupGone(pgid, removalMs);
}

async function groupGone(pgid: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += lookMs) {
    await wait(lookMs);
    if (!signalGroup(pgid, 0)) return true;
  }
  return false;
}

/**
 * A process and all that it started, found by their parents. A tree whose first process is gone is not found any more;
 * `taskkill` fails then, and nothing is left to do.
 */
function endTreeOfWindows(pid: number): Promise<void> {
  // Windows looks for a program in the current folder first, which may be anything; this one belongs to Node.
  const options = { cwd: dirname(process.execPath), windowsHide: true, timeout: treeMs };
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(pid), '/t', '/f'], options, () => resolve());
  });
}
