/** Bounds of what is exported, with their reasons. Times in milliseconds. */
export const telemetryLimits = {
  /** Spans, or log entries, that wait for the collector; more are dropped, so that one that is away costs no memory. */
  queued: 4_096,
  /** Of them in one request: log entries, and spans in JSON. */
  batch: 512,
  /**
   * Of a request with spans in protobuf, some 1 500 of them: many proxies take a megabyte. A request costs as much CPU
   * time as several hundred spans.
   */
  batchBytes: 524_288,
  /** A request with spans is waited for so long; then the next one may begin. */
  exportMs: 30_000,
  /** What is left is sent for this long at most when the hub ends. */
  flushMs: 3_000,
  /**
   * Requests of a second that are recorded because their clients say so, where the hub itself records only some: a
   * client decides about its own trace, not about the load of the collector.
   */
  sampledByClientsPerSecond: 100,
  /** What a client may send as `tracestate`: as much as W3C wants to be passed on. */
  traceStateChars: 512,
  /** What spans have alike is kept for so many tools and revisions of the protocol; a client may name any revision. */
  spanForms: 2_000,
  /** Of an id that a client chose. */
  idChars: 100,
  /** Of the value of an attribute, which may be the name of a tool. */
  attributeChars: 300,
  /** How often the clock that spans are timed with is compared with the wall clock. */
  compareClocksMs: 1_000,
  /** The wall clock tells whole milliseconds; what differs less is no difference. */
  clockPrecisionMs: 2,
  /** Random bytes made at once. */
  randomBytes: 4_096,
} as const;
