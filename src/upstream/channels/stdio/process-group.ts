import { setTimeout as wait } from 'node:timers/promises';

/** How often a group that was asked to end is looked at. */
const lookMs = 20;
/**
 * How long the kernel may take to remove what was killed; longer means a zombie that its parent does not reap, or a
 * process stuck in the kernel.
 */
const removalMs = 500;

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
 * or nothing more can be done.
 */
export async function endGroup(pgid: number, killAfterMs: number): Promise<void> {
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
