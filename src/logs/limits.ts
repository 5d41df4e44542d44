/** Bounds of the log and the activity, with their reasons. Times in milliseconds, sizes in bytes. */
export const logLimits = {
  // the activity

  /** Of a search query this much comes back in the answer's metadata. */
  searchEchoChars: 1_000,
  /** Activity records that wait for the database, and that are kept in memory. */
  activityQueue: 5_000,
  activityRing: 2_000,
  /** Activity records kept in the database, and for how long. */
  activityRows: 200_000,
  activityAgeMs: 30 * 24 * 60 * 60_000,
  /** Records of one page of the activity when it does not say, and at most: bounds of the reference. */
  activityPage: 20,
  activityPageMost: 100,
  /** Arguments or result of one call as kept in its record; longer text is cut, with a mark. */
  activityPayloadChars: 8_000,
  /** Of what a failed call was answered; kept also where arguments and results are not. */
  errorChars: 300,
  /** The newest failed calls, whose causes are told: to compare the texts of so many takes a third of a second. */
  failures: 10_000,
  /** Different errors that are looked at for the causes of failures, causes that are told, and tools of each. */
  failureTexts: 1_000,
  failureCauses: 50,
  failedTools: 5,
  /** Results that the record of a search keeps; a model hardly looks further. */
  activityResults: 20,
  /** Stretches of time that calls are counted in: the hours of a month with one more for each end. */
  activityBuckets: 750,
  /**
   * Groups of calls that are told when the request does not say, and at most: each tool of a large hub. With stretches
   * of time, cells.
   */
  activityGroups: 20,
  activityGroupsMost: 10_000,
  activityGroupCells: 24_000,
  /** Values to filter by, of each kind: clients choose their names themselves. */
  activityChoices: 1_000,
  /** Uses of searches that one page of the activity tells. */
  activityUses: 1_000,
  /** How long after a call pages and other hubs are told of it, and how often at most: each page asks again then. */
  callNewsMs: 100,
  callNewsEveryMs: 500,

  // the log

  /**
   * Configured values shorter than this are not hidden in logs: hiding every `true` or `3000` would make them
   * unreadable.
   */
  secretChars: 6,
  /** Log entries kept in memory. */
  logRing: 1_000,
  /**
   * Entries about security kept besides, in memory and in the database: of strangers `strangersTold` in a quarter of an
   * hour, of an account `accountTold`, days of them at the least.
   */
  securityRing: 1_000,
  securityRows: 50_000,
  /** Log entries that wait for the database; at 200 characters each that is a few MB, and minutes of a busy hub. */
  logQueue: 10_000,
  /** Log entries kept in the database, and for how long (CONTRACT §4, Logs). */
  logRows: 100_000,
  logAgeMs: 7 * 24 * 60 * 60_000,
  /** Entries of one listing. */
  logPage: 1_000,
  /** Entries that one request for the log may ask for; at their longest that is an answer of 40 MB. */
  logPageMost: 10_000,
  /**
   * Log streams open at once, and bytes one reader may let pile up before it is cut off; it resumes with Last-Event-ID.
   */
  logReaders: 1_000,
  logReaderBytes: 1024 * 1024,
  /** Search text and other free text of a listing's filter. */
  filterChars: 200,

  // on the way to the database, and out of it

  /**
   * Rows written in one statement, and how long the first of them waits for more. Past a thousand a row becomes no
   * cheaper.
   */
  writeBatchRows: 1_000,
  writeBatchMs: 1_000,
  /**
   * So many rows wait no longer, but for what has passed since the last writing began: a core that relays calls too is
   * taken often and shortly, not for as long as a thousand rows take.
   */
  writeSoonRows: 200,
  writeEveryMs: 100,
  /**
   * Where more calls than this are recorded in a second, their records wait in the journal of a hub with an embedded
   * database: as many take a fiftieth of a core to write.
   */
  busyRowsPerSecond: 2_000,
  /** Old rows are removed this often, at most so many per statement so that no statement takes long. */
  pruneEveryMs: 10 * 60_000,
  pruneRows: 10_000,
  /**
   * The files of rows that are not in the database yet, for log and activity each: some 200 000 calls, which is what
   * the table keeps. One file, which is read and dropped as a whole: some 1 000 calls, whose reading takes
   * milliseconds. What is gathered in one turn of the event loop until it is written before its end.
   */
  journalBytes: 64 * 1024 * 1024,
  journalSegmentBytes: 256 * 1024,
  journalTurnChars: 128 * 1024,
  /** And no more rows, which may go back to memory until they are written: those of `activityRing` are used again. */
  journalTurnRows: 1_000,
  /** A listing waits this long for a database that is being opened, which takes up to 10 s on a busy machine. */
  databaseFirstReadMs: 10_000,
} as const;
