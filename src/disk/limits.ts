/** Bounds of files and folders, with their reasons. Times in milliseconds, sizes in bytes. */
export const diskLimits = {
  /** What a full disk had no room for is tried again this often: an operator who frees some looks whether it helped. */
  diskRetryMs: 2_000,
  /**
   * A temporary file older than this was left by a process that was killed: writing one takes milliseconds, the largest
   * on the slowest disk seconds.
   */
  temporaryFileMs: 60_000,
  /** A file that holds one secret (`JWT_SECRET_FILE`, `${file:…}`): a long private key has 13 KB. */
  secretFileBytes: 64 * 1024,
  /** A hub answers at the socket beside its lock in milliseconds; one that does not counts as alive. */
  lockAnswerMs: 1_000,
  /**
   * Taking over the lock of a process that is gone takes milliseconds; a mark of it older than this was left by a
   * crash.
   */
  takeoverMs: 10_000,
} as const;
