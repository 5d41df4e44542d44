import { atEnd } from './at-end.ts';

/**
 * Sets limits of the hubs in this process until the running test ends, or the test file where no test runs: a longer
 * one where a test must not depend on how busy the machine is, a shorter one where it would only wait. Limits that a
 * module has read when it was loaded stay.
 */
export function setLimits<T extends object>(limits: T, values: { readonly [Name in keyof T]?: number }): void {
  const before = { ...limits };
  Object.assign(limits, values);
  atEnd(() => void Object.assign(limits, before));
}
