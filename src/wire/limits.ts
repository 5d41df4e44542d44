/** Bounds of connections of clients, with their reasons. Times in milliseconds, sizes in bytes. */
export const wireLimits = {
  /**
   * An idle HTTP connection of a client stays open this long: longer than the usual load balancer's own limit of 60 s.
   */
  idleConnectionMs: 75_000,
  /** A client gets this long to send one whole request. */
  requestReadMs: 120_000,
  /**
   * Connections of clients: `streams` of them may be streams, and there is room for calls beside. Each costs some 10 kB
   * while it is idle. Of one address as many as a large office behind one has; a trusted proxy and this machine itself
   * stand for many, and have no such bound.
   */
  connections: 25_000,
  connectionsPerAddress: 2_000,
  /**
   * Connections that wait while the hub computes for something else. Of those past it the kernel takes none: their
   * clients wait a second or longer, or are told of a reset. Linux has `net.core.somaxconn` at most, 4 096 as a rule.
   */
  waitingConnections: 4_096,
  /** Refused connections are told of this often at most. */
  refusedConnectionsMs: 60_000,
  /**
   * Of the connections that may be closed for a new one, this part is closed together: looking for them costs more than
   * closing them.
   */
  closedTogether: 0.01,
  /** Where none could be closed it is not tried again for this long. */
  allBusyMs: 1_000,
  /**
   * The rest of a body is read away this far and this long where its answer came before it, so that its sender finds
   * the answer.
   */
  lingerBytes: 256 * 1024 * 1024,
  lingerMs: 60_000,
  /** How often that is looked at, where a connection ends with the answer. */
  lingerLookMs: 100,

  // plain requests

  /**
   * The head of a plain request, the headers in it, and its body: what is larger is for node:http. Small enough to be
   * read in one go.
   */
  plainHeadBytes: 8 * 1024,
  plainHeaders: 64,
  plainBodyBytes: 64 * 1024,
  /** Pieces that a body may arrive in; a body in more pieces is left to node:http. */
  bodyPieces: 16,
  /** What is read of later requests while one is worked on. */
  aheadBytes: 64 * 1024,
  /** Names of headers kept as they were sent: clients use few, and the same all day. */
  headerNames: 500,
} as const;
