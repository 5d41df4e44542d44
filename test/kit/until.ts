import { setTimeout as sleep } from 'node:timers/promises';

/** What `look` throws when waiting any longer is of no use. */
export class Hopeless extends Error {}

/**
 * Asks again every few milliseconds until `look` returns something that is neither undefined, null nor false (or stops
 * throwing), and returns it. Throws what it waited for, and what it saw last, after `timeoutMs`.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + timeoutMs;
  let last: unknown;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 1.5, 50)) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== null && seen !== false) return seen as Exclude<T, undefined | null | false>;
      last = seen;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`Waited ${timeoutMs} ms in vain until ${what}; last seen: ${show(last)}`, { cause: last });
    }
    await sleep(pauseMs);
  }
}

/** The value, or a failure that says what took too long. */
export async function within<T>(what: string, promise: Promise<T>, timeoutMs = 60_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function show(value: unknown): string {
  if (value instanceof Error) return value.message;
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 500);
}
