/**
 * The milliseconds of CPU time that `work` takes in this process: others on a busy machine do not count, as they would
 * by the clock. It collects garbage meanwhile: tests of modules that measure so are in `measured` (vitest.config.ts).
 */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return cpuMsSince(before);
}

/** The same of work that is not done when it returns, with everything else that this process does meanwhile. */
export async function cpuMsUntil(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return cpuMsSince(before);
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
