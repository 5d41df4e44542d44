/** Bounds between hubs that share a database, with their reasons. Times in milliseconds. */
export const replicaLimits = {
  /** A hub says in the table this often that it is there. */
  heartbeatMs: 5_000,
  /** A hub that has said nothing for so long is gone: three times, so that a slow database ends none. */
  goneMs: 20_000,
  /** Rows of hubs that are gone are removed after this long. */
  rowMs: 24 * 60 * 60_000,
  /** Hubs that are known at most: each asks each of the others every few seconds. */
  hubs: 64,
  /** Another hub is asked this often whether it answers; a request may have to wait for so long and `helloMs`. */
  helloEveryMs: 2_000,
  /** How long its answer may take. Loaded hubs answer within tenths of a second. */
  helloMs: 2_000,
  /** A hub that missed so many in a row cannot be reached. */
  helloMisses: 2,
  /**
   * Calls that were sent to such a hub before are waited for this long: it may have got no CPU. Where it is cut off,
   * they fail as late as that.
   */
  silentMs: 20_000,
  /** A hub that stops waits this long at most until the others know: milliseconds, but where all are busy. */
  goodbyeMs: 3_000,
  /** Then for what they had sent just before: it is on its way on connections that look idle. */
  lastRequestsMs: 250,
  /** And this long for calls, and clients to answer what servers ask in them, while it still takes requests. */
  lastAnswersMs: 5_000,
  lastAnswersLookMs: 20,
  /** Addresses that a hub gives: one for each network of its machine. */
  urls: 8,
  /** Requests that are passed on to one other hub at once, streams not counted: each has a connection. */
  passedCalls: 1_500,
  /** Streams (GET) that are passed on to one other hub: as many as a hub has (`mcpLimits.streams`), each for hours. */
  passedStreams: 20_000,
  /** The part of either that one principal, or one address without an account, may have. */
  passedPart: 0.5,
  /** A client that takes nothing of what was passed back to it for this long is dropped (`mcpLimits.unreadMs`). */
  unreadMs: 60_000,
  /** What is under way at a hub that said that it stops ends within this time: longer than `hubLimits.drainMs`. */
  leavingMs: 20_000,
  /** Of the answer to the question whether a hub is there: an id, a clock and a proof. */
  helloBytes: 1_000,
  /** How long connecting may take. */
  connectMs: 2_000,
  /** Below `wireLimits.idleConnectionMs`: a connection is not used that the other side is about to close. */
  idleMs: 10_000,
  /** A proof is good for this long, by the clock of the hub it is made for. */
  passMs: 10_000,
  /** Requests of one hub that are remembered, so that none is taken twice: more than are under way at once. */
  passNumbers: 8_192,
  /** An answer of a known length up to this is sent on in one piece. */
  wholeBytes: 64 * 1024,
  /** News for all hubs that come within this time go together. */
  newsMs: 20,
  /** And no more of them than this: what a notification of the database holds. */
  newsChars: 7_000,
  /** The id of a cancelled request, as JSON text: clients count, or use a UUID. */
  newsIdChars: 200,
  /** News of one kind that wait for the database; past it the oldest go. */
  newsWaiting: 1_000,
} as const;
