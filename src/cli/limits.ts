/** Bounds of the program, with their reasons. Times in milliseconds, sizes in bytes. */
export const cliLimits = {
  /**
   * The longest a stop may take: running calls (`drainMs`), then children that do not go (`killAfterMs`); past it the
   * process ends anyway.
   */
  stopMs: 15_000,
  /**
   * A worker that ended is started again after the first, and after twice as long each time that it ends within
   * `workerHeldMs`, up to the most: one that cannot start must not take a core.
   */
  workerAgainMs: 200,
  workerAgainMostMs: 30_000,
  workerHeldMs: 60_000,
  /** A worker that is cut off from the programs ends by itself within this time; one that hangs is killed after it. */
  workerGoneMs: 1_000,
  /**
   * Of connections that a worker hands to the lead, and of entries of the log that it shows to it, so many wait for it
   * at most: further connections are refused with 503, further entries are in the log, and not in live pages.
   */
  handoversWaiting: 500,
  loggedWaiting: 1_000,
  /** The page of metrics of all workers waits so long for each. */
  workersMetricsMs: 2_000,
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
  /**
   * Of the commands that use a hub: the wait for an answer of its management API, and the most that is read of an
   * answer. The largest are results of tools, which the hub passes on in whole.
   */
  hubAnswerMs: 30_000,
  answerBytes: 256 * 1024 * 1024,
  /** Files of clients: that of Claude Code, which keeps more than servers in it, has some MB. */
  clientFileBytes: 64 * 1024 * 1024,
  /** `connect` waits this long for the client, and asks the hub this often whether it is there. */
  connectWaitMs: 10 * 60_000,
  connectPollMs: 1_000,
  /** A list of tools past this does not come to an end; hubs with a thousand servers have some 10 000. */
  listedTools: 100_000,
  /** A call whose connection broke goes on where it was, if the hub is back within some seconds. */
  reconnectFirstMs: 500,
  reconnectMostMs: 4_000,
  reconnectTries: 4,
  /** At the end of a session: the wait until its last messages are sent, such as that a call is cancelled. */
  lastWordsMs: 1_000,
  /** Near names that are shown for one that is not there. */
  nearNames: 5,
  /** What `call --json -` reads at most. */
  argumentBytes: 64 * 1024 * 1024,
  /** The wait for a login in a browser. The page of the hub is valid for as long. */
  browserLoginMs: 15 * 60_000,
  /** An access token that ends within this time is renewed before it is used. */
  renewAheadMs: 60_000,
  /** The wait for another command that renews the same login, and how often it is looked at. */
  loginLockMs: 60_000,
  loginLockPollMs: 50,
  /** A token of a hub has some 250 characters. */
  tokenChars: 8_192,
  /** What `login --password-stdin` reads at most: a password and a code. */
  passwordInputChars: 2_000,
  /** One line of an export of the audit log; a record has 40 kB at most, in characters of JSON a few times that. */
  auditLineChars: 1024 * 1024,
  /** A backup: full tables of records are some 100 MB, and unpacked bundles may be some GB. */
  backupBytes: 64 * 1024 * 1024 * 1024,
  /** How long `doctor` waits for a collector of OpenTelemetry. */
  collectorMs: 5_000,
} as const;
