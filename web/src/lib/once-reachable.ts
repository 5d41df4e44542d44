const firstWaitMs = 500;
const longestWaitMs = 5_000;

/**
 * What `load` gives. While the hub cannot be reached it is tried again, so that a page that is opened then appears when
 * the hub is back. It fails where the hub answers and goes on not to give it: it is another version, whose files have
 * other names, or the browser does not ask for a file again that it failed to load once. So nothing is tried while the
 * hub is known to be away (`isAway`).
 */
export async function onceReachable<T>(load: () => Promise<T>, isAway: () => boolean): Promise<T> {
  let answered = 0;
  for (let waitMs = firstWaitMs; isAway() && !(await answers()); waitMs = Math.min(longestWaitMs, waitMs * 2))
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      return await load();
    } catch (error) {
      if (answered === 2) throw error;
    }
    answered = (await answers()) ? answered + 1 : 0;
    if (answered !== 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Whether something answers at the address of the hub; a proxy says by 502 to 504 that it is away. */
async function answers(): Promise<boolean> {
  try {
    const { status } = await fetch('./health', { cache: 'no-store' });
    return status < 502 || status > 504;
  } catch {
    return false;
  }
}
