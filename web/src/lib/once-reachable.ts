const firstWaitMs = 500;
const longestWaitMs = 5_000;

/**
 * What `load` gives. While the hub cannot be reached it is tried again, so that a page that is opened then appears when
 * the hub is back. It fails where the hub answers: it is another version, whose files have other names.
 */
export async function onceReachable<T>(load: () => Promise<T>): Promise<T> {
  let answered = false;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      return await load();
    } catch (error) {
      if (answered) throw error;
    }
    answered = await answers();
    if (!answered) await new Promise((resolve) => setTimeout(resolve, waitMs));
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
