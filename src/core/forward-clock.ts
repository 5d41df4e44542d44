/**
 * The clock in milliseconds since the epoch, but for steps back: where it is put back, time goes on from where it was.
 * What is to end after a while ends then.
 */
export function forwardClock(clock: () => number = Date.now, steady: () => number = () => performance.now()) {
  let last = clock();
  let passed = steady();
  return (): number => {
    const now = steady();
    last = Math.max(clock(), Math.round(last + now - passed));
    passed = now;
    return last;
  };
}
