/** Bounds of governance (limits of calls, approvals), with their reasons. Times in milliseconds. */
export const governanceLimits = {
  /**
   * Rounds of calls that a hub remembers, in memory or in the shared database, so that none passes twice: 8 MB. Past it
   * a round counts as a call.
   */
  rounds: 50_000,
  // limits of calls

  /**
   * Counts in memory of callers without an account here, of addresses without a credential and of what one trusted
   * issuer names: a caller has one for the default limits, and one for each group with limits that it calls at. They
   * take 2 kB each. Past it those used longest ago are forgotten, but none with calls that run; so there may be as many
   * as calls that run.
   */
  countsOfAddresses: 50_000,
  countsOfAnIssuer: 50_000,
  /**
   * Of those, how many are in the file of the day's calls; no more are added that day. 1 MB of addresses, 2 MB of an
   * issuer, with ids of groups as the hub makes them.
   */
  dayCountsOfAddresses: 10_000,
  dayCountsOfAnIssuer: 10_000,
  /**
   * How often a hub that shares no database writes down the calls of the day: what it has counted since is forgotten
   * when it is killed.
   */
  dayCountsWriteMs: 5_000,
  /** A caller takes part in what a server can do for this long after its last call. */
  shareMs: 10_000,
  /**
   * A place that gets free is kept for a caller who was refused for want of one, until this long after it was told to
   * ask again; then it is free for those who ask.
   */
  turnMs: 2_000,
  /** Callers of one server among whom it is shared. */
  sharers: 1_000,
  /** A hub that says nothing for this long does not call any more: what it had running is over. */
  hubGoneMs: 30_000,
  hubSeenMs: 10_000,
  /** How long a call waits for the counts that hubs share; after that this hub counts alone. */
  sharedCountMs: 2_000,
  /** Counts of days and minutes that are over are cleared this often. */
  clearMs: 300_000,

  // pins

  /** How long a start waits for the pins in the database that hubs share, before it goes on with its copy. */
  pinLoadMs: 2_000,
  /** How long a decision about a pin waits for the database that hubs share. */
  pinWaitMs: 10_000,

  /** Changes of one list of a server that are told one by one; more are a number. */
  pinsTold: 100,
  /** Pins are written down in parts of this length, and into a database after some such parts in a turn. */
  pinPartChars: 32 * 1024,
  pinPartsInATurn: 20,

  // approvals

  /**
   * Questions that wait at once, at all hubs of a database together; more are refused. A hub alone remembers as many
   * that were decided, until they expire.
   */
  approvals: 10_000,
  /**
   * Where no more places than these are left, hubs ask one after another, so that no more wait than may. Until then
   * callers do not wait for each other: 125 hubs ask that many at once with all their connections.
   */
  approvalsApart: 1_000,
  /** Of their arguments, of a hub alone, which keeps them in memory. */
  approvalsChars: 50_000_000,
  /** Where more than these wait, a list of them has less of their arguments. */
  approvalsWhole: 200,
  approvalListChars: 1_000,
  /** Questions of one caller that wait at once. */
  approvalsPerCaller: 20,
  /** Other rounds of a stateless call that pass by one yes. */
  approvalRounds: 100,
  /** When a caller is to try again whose call may not wait, because too many do. */
  approvalRetryMs: 30_000,
  /**
   * How long a question waits, and is good for once it is approved, unless the settings say otherwise (CONTRACT §9).
   */
  approvalMs: 600_000,
  /** Of the arguments that a person is shown, and in a list. */
  approvalArgumentChars: 100_000,
  approvalListedChars: 2_000,
  /** Questions named to a page that shows how many wait. */
  approvalsNewest: 10,
  /** How often a call looks whether its question was decided at another hub, besides being told, or has expired. */
  approvalLookMs: 5_000,
  /** Decided questions that are still shown. */
  approvalsKept: 500,
  /** Questions that are ended at once because they have waited too long; more the next time. */
  approvalsExpired: 200,

  // the webhook of approvals

  /** Messages that wait for it; more are dropped, and counted in the log. */
  webhookQueue: 500,
  /** Of the arguments in a message: what a chat shows. The page has all. */
  webhookArgumentChars: 2_000,
  /** How long an attempt may take, how many there are, the wait between them, and the longest that is asked for. */
  webhookMs: 10_000,
  webhookAttempts: 3,
  webhookRetryMs: 2_000,
  webhookRetryMostMs: 60_000,
  /** What a stop waits for the message that is under way. */
  webhookCloseMs: 2_000,

  // guards

  /** Connections to the guards at one address; further questions wait for one, within the time of the guard. */
  guardConnections: 32,
  /** Questions to all guards that are under way; past it a guard counts as one that does not answer. */
  guardWaiting: 500,
  guardWaitingChars: 100_000_000,
  /** What a guard is shown of a call; what is longer counts as not answered. */
  guardSubjectChars: 2_000_000,
  /** What a guard answers: a changed result may have as many characters, of up to four bytes, and a frame. */
  guardAnswerBytes: 8_010_000,

  // secrets in calls

  /**
   * Arguments and results that are longer are refused where secrets are looked for: texts made to be slow take a tenth
   * of a second for each million.
   */
  secretsChars: 2_000_000,
} as const;
