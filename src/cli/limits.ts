/** Bounds of the program, with their reasons. Times in milliseconds, sizes in bytes. */
export const cliLimits = {
  /**
   * The longest a stop may take: running calls (`drainMs`), then children that do not go (`killAfterMs`); past it the
   * process ends anyway.
   */
  stopMs: 15_000,
  /** The start-up lines look at the servers this often, and name one that has not connected after this long. */
  announcePollMs: 100,
  announceSlowMs: 3_000,
  /** A server whose package is being installed is named again this often, with the time it has taken. */
  announceInstallMs: 30_000,
  /** How long `toolhub search` waits for a hub; a hosted embedding service behind it may take ten seconds. */
  searchAnswerMs: 30_000,
  /**
   * How long `toolhub doctor` waits for the program that holds the hub's port, and for the Docker engine: one that
   * hangs must not delay the other checks.
   */
  doctorHealthMs: 2_000,
  doctorEngineMs: 5_000,
} as const;
