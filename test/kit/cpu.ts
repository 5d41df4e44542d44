/**
 * The milliseconds of CPU time that `work` takes in this process: others on a busy machine do not count, as they would
 * by the clock.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
