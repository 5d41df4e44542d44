/** What was opened, so that it can be closed in reverse order. Whatever one closer throws, the others still run. */
export interface Closers {
  add(close: () => void | Promise<void>): void;
  /** Idempotent: a second call waits for the first. Throws the first error when all have run. */
  close(): Promise<void>;
}

export function newClosers(): Closers {
  const all: (() => void | Promise<void>)[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of all.reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    add: (close) => {
      all.push(close);
    },
    close: () => (closing ??= closeAll()),
  };
}
