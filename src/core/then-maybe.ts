/**
 * Continues at once when the value is there, for values that nearly always are: a promise costs a turn of the event
 * loop even then.
 */
export function thenMaybe<T, R>(value: T | Promise<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(step) : step(value);
}
