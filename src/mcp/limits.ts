/** Bounds of the MCP endpoints, with their reasons. Times in milliseconds, sizes in bytes. */
export const mcpLimits = {
  /** How often a server of the stateless revision may ask in one call before the next round counts as a call. */
  roundsOfCall: 20,
  // code of clients

  /** Runs at the same time: each has a thread, and memory of its own. */
  codeRuns: 8,
  codeRunsOfCaller: 2,
  /** Loading the engine takes a tenth of a second, and longer on a busy machine. */
  codeStartMs: 30_000,
  codeChars: 200_000,
  codeLogLines: 200,
  /** Of a line of the log, and of the text of an error. */
  codeLogChars: 2_000,
  codeResultChars: 4 * 1024 * 1024,
  /** Of a result of a tool that code gets: it is copied into the memory of the run. */
  codeResultBytes: 16 * 1024 * 1024,
  /** Of all calls of one run together. */
  codeArgumentChars: 4 * 1024 * 1024,

  // results in parts

  /** How long the rest of a result is kept for its caller (CONTRACT §11). */
  keptResultMs: 15 * 60_000,
  /** Characters of all that is kept together, two bytes each at most; the oldest goes first. */
  keptResultChars: 64 * 1024 * 1024,
  keptResults: 10_000,
  /** Of a query of `read_result`: each of its words is looked for in each item. */
  readQueryChars: 1_000,

  // requests

  /** A JSON-RPC request body from a client: base64 files as tool arguments fit, a memory attack does not. */
  requestBodyBytes: 16 * 1024 * 1024,
  /** A longer body is not parsed at once: that would take 10 ms of the thread that relays, and 300 ms for 7 MB. */
  bodyCharsAtOnce: 256 * 1024,
  /**
   * Of a longer message, each member but arguments and the like, which the hub looks at while all others wait: the
   * largest in use are capabilities and `_meta`, of some kilobytes.
   */
  memberChars: 64 * 1024,
  /** Messages in one batch of a 2025-03-26 client. */
  batchMessages: 100,
  /** A call to a server that is still connecting waits this long for it. */
  waitForConnectionMs: 15_000,
  /**
   * Progress and log messages that a slow reader may let pile up; past it they are left out, and the answer comes all
   * the same.
   */
  notifyBacklogBytes: 1024 * 1024,
  /** A client that reads nothing of what it was sent for this long is dropped, and what it did not read with it. */
  unreadMs: 60_000,
  /** The hub declares no list fresh for longer than this: its own settings may change it at any moment. */
  listTtlMs: 60_000,

  // sessions

  /** A session of the old era ends after this long, used or not; clients then initialize again. */
  sessionMs: 7 * 24 * 60 * 60_000,
  /** Ended sessions remembered until they would have expired anyway. */
  endedSessions: 100_000,
  /** Opened session tokens kept so that each request need not decrypt again. */
  openedSessions: 20_000,
  /**
   * A token longer than this belongs to an endpoint whose name the client invented, up to 16 KB of it. Such a token is
   * opened on each request.
   */
  openedTokenChars: 1_024,
  /** What a session holds without a stream or a request, such as subscriptions, is released after this long. */
  heldSessionMs: 10 * 60_000,
  /** Sessions are looked through this often for what has ended; what the settings say holds at once. */
  withdrawnSweepMs: 15_000,

  // clients that have said who they are

  /** Clients remembered, for the page that waits for one: more than a company's people connect in an hour. */
  arrivals: 200,
  /** Of one credential: who sends another name with each request takes no place of others. */
  arrivalsOfOne: 10,
  /** Characters kept of what a client calls itself, its version and its endpoint. */
  arrivalTextChars: 80,
  /** Those that came within this time are told to pages and other hubs together. */
  arrivalsToldMs: 250,
  /** New ones are told no more often than this: pages ask for all they show. Who waits for one looks at the page. */
  arrivalsRestMs: 1_000,
  /** Those that were there before and begin again: programs do so all the time. */
  arrivalsAgainMs: 5_000,
  /** And no more of them than this: each is a notification of the database. */
  arrivalsTold: 20,

  // streams, and clients that come back to them

  /** Streams of one client session that may be open at once. */
  streamsPerSession: 8,
  /** Open legacy SSE connections and GET streams of the whole hub. */
  streams: 20_000,
  /**
   * Bytes a slow reader may let pile up before its stream is dropped: room for an answer or two of the largest that
   * real servers give.
   */
  streamBacklogBytes: 32 * 1024 * 1024,
  /**
   * Messages kept for a client whose stream broke: of one stream, of one session, of all. A busy call reports progress
   * some hundred times.
   */
  replayEvents: 1_000,
  replaySessionChars: 2 * 1024 * 1024,
  replayChars: 32 * 1024 * 1024,
  /**
   * Messages are kept this long after the last one of their stream: a laptop that was closed for a moment comes back
   * within it; and how often that is looked at.
   */
  replayMs: 5 * 60_000,
  replaySweepMs: 30_000,
  /** A client whose stream broke is told to come back after this long. */
  streamRetryMs: 1_000,
  /**
   * A call goes on for this long without its client: long enough for a few attempts to come back, short enough that a
   * client that is gone costs the server little.
   */
  resumeGraceMs: 5_000,
  /**
   * Calls of one principal that go on without their client at the same time; each may hold a connection to its server.
   */
  resumeWaiting: 32,

  // what clients hear of changes, log messages and tasks

  /**
   * Resources one session or stream may subscribe to, and all of them together; each is also a subscription at its
   * server.
   */
  subscriptionsPerSession: 200,
  subscriptions: 50_000,
  /** How long the acknowledgement of a stream of changes waits for the servers to agree. */
  subscribeWaitMs: 2_000,
  /** Sessions whose requested log level is remembered, and for how long; past it the oldest is forgotten. */
  wantedLogLevels: 5_000,
  logWishMs: 24 * 60 * 60_000,
  /** How long a client waits until the servers have its log level: a hanging server must not delay it. */
  setLevelWaitMs: 500,
  /** How long after a single request wanted more log messages its server gives them. */
  logNeedMs: 10 * 60_000,
  /**
   * Tasks whose server is remembered, of one principal and of all, and for how long when the task itself does not say.
   */
  tasksPerPrincipal: 1_000,
  tasks: 20_000,
  taskMs: 24 * 60 * 60_000,
  /**
   * Arguments that are kept with tasks, of one principal and of all: policies are asked again about the call when its
   * result is wanted. Past it the oldest go, and policies that read them refuse.
   */
  taskArgumentCharsPerPrincipal: 4_000_000,
  taskArgumentChars: 32_000_000,
  /** A result longer than this is no handle of a task. */
  taskHandleChars: 64 * 1024,

  // server-requests/: what servers ask of clients

  /** Open server requests at one client session: no user reads more. */
  serverRequestsPerSession: 50,
  /** How long a person may take to answer; until then the call that waits for it is not late. */
  askMs: 10 * 60_000,
  /** Clients give up after a minute without a message, and many of them count from the last progress. */
  approvalProgressMs: 15_000,
  /** Of the arguments that a person is shown who is asked about a call. */
  approvalChars: 4_000,
  /** A server request outside any call waits this long for its client to open a stream; this is checked this often. */
  serverRequestStreamWaitMs: 10_000,
  serverRequestStreamLookMs: 50,
  /**
   * Server requests that come within this time go to a stateless client together: it answers them all with one request.
   */
  askGatherMs: 20,
  /**
   * Rounds of server requests in one call, for a server that sends them in its answers; with a form per round, no user
   * fills in more.
   */
  askRounds: 20,
  /** A server that wants the call to be repeated, and sends no server request with it, gets this long each time. */
  askAgainMs: 500,
  /**
   * Calls that wait, without a connection, for a stateless client to come back with its answers: each holds a request
   * open at its server.
   */
  suspendedCalls: 1_000,
  suspendedPerPrincipal: 100,
  suspendedChars: 128 * 1024 * 1024,
  /**
   * How long the state that a server gave a stateless client is good for, whatever the server itself says: no user
   * needs longer to fill in a form.
   */
  requestStateMs: 24 * 60 * 60_000,
  /** The id that a server gives an elicitation: ours have 36 characters. */
  elicitationIdChars: 200,
  /** URL-mode elicitations of which the end may still be told. */
  elicitations: 10_000,

  // large answers

  /**
   * Of a large message, what is given to a client's connection ahead of its reading; and what may wait for all clients
   * together before further large answers are refused.
   */
  largeAheadBytes: 512 * 1024,
  largeUnsentBytes: 1024 * 1024 * 1024,

  // skills

  /** Skills of one page of a server's list, and the longest cursor of a server that is passed on. */
  skillsInPage: 5_000,
  skillCursorChars: 4_096,

  // searches and their use

  /** Searches remembered to tell which of their results are called: per asker, askers, and for how long. */
  searchesPerAsker: 5,
  searchAskers: 1_000,
  searchLinkMs: 30 * 60_000,
} as const;
