/** Goes on with a value at once where it is there, for what nearly always is: a promise takes its turn even then. */
export function goOn<T, R>(value: T | Promise<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(step) : step(value);
}
