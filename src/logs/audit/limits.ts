/** Bounds of the audit log, with their reasons. Times in milliseconds. */
export const auditLimits = {
  /** How long records are kept (CONTRACT §9): a year, and the month in which an auditor asks for it. */
  auditAgeMs: 400 * 24 * 60 * 60_000,
  /** Old records go this often, so many at most in one transaction, which no other hub may write in. */
  auditExpireEveryMs: 24 * 60 * 60_000,
  auditExpireRows: 10_000,
  /**
   * Nothing goes that was not announced so long ago, and no longer: a clock that jumps ahead removes nothing at once,
   * and what was announced before the jump does not count. Less than a day, so that each look of a day finds the last.
   */
  auditAnnouncedLeastMs: 23 * 60 * 60_000,
  auditAnnouncedMostMs: 8 * 24 * 60 * 60_000,
  /** One text of a record: names are shorter, descriptions of tools rarely longer. */
  auditTextChars: 1_000,
  /** What was before, and what is after, each: with both a record stays below 40 kB. */
  auditValueChars: 16_000,
  auditDepth: 20,
  /** Records that wait for the database in memory; more wait in the journal alone. */
  auditQueue: 5_000,
  /** What one caller or address repeats within this time is one record. */
  auditWindowMs: 60_000,
  /**
   * Records of repeated failures in an hour: of all anonymous callers together, and of one known caller. What is more
   * is one record of all. At 1 kB each, 400 days of an attack that never ends are 1 GB.
   */
  auditStrangersPerHour: 100,
  auditRepeatedPerHour: 200,
  /** Known callers whose refusals are counted at the same time; past it the counts of the oldest are written. */
  auditCallers: 1_000,
  /** Records of one page when it does not say, and at most; records read at once for an export or a check. */
  auditPage: 100,
  auditPageMost: 1_000,
  auditReadRows: 500,
  /** A listing waits this long for records to be written, and for a database that is being opened. */
  auditReadMs: 10_000,
  /**
   * To a webhook or syslog server: records that wait for it, so many in one message, how long that may take, the first
   * and longest wait before it is tried again, and what a stop waits.
   */
  sinkQueue: 2_000,
  sinkBatch: 100,
  sinkMs: 10_000,
  sinkRetryFirstMs: 1_000,
  sinkRetryMaxMs: 60_000,
  sinkCloseMs: 2_000,
  /** What one UDP datagram takes; a record of 40 kB fits. */
  datagramBytes: 60_000,
} as const;
