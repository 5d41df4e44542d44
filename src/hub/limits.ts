/** Bounds of the wiring, with their reasons. Times in milliseconds, sizes in bytes. */
export const hubLimits = {
  /**
   * What takes much computing and has time (the embedded database, the search) waits this long at most for servers that
   * are starting.
   */
  startCalmMs: 5_000,
  /**
   * One reconcile acts on a change of settings or catalogue at once, and on those that come within this time after it
   * together.
   */
  reconcileDebounceMs: 50,
  /** A stopping hub lets running calls finish for this long. */
  drainMs: 10_000,
  /**
   * Bodies of requests while they are received, all together: this part of the memory that the process may have, within
   * these bounds. The least still holds four of the largest usual bodies; the most is far below what a heap of Node
   * has, and more than honest clients have on their way at once.
   */
  budgetPart: 0.25,
  budgetBytesLeast: 64 * 1024 * 1024,
  budgetBytesMost: 256 * 1024 * 1024,
  /**
   * Texts of files with one secret (`${file:…}`) that logs hide, the newest of them: a token that changes every hour
   * fills it in a month.
   */
  secretFileValues: 1_000,
} as const;
