/** Bounds of the servers and the connections to them, with their reasons. Times in milliseconds, sizes in bytes. */
export const upstreamLimits = {
  // what servers ask of clients

  /** Open server requests of one server: no user reads more. */
  serverRequestsPerConnection: 1_000,
  /** Size of all open server requests of one server, images for a model included: as much as one message of it. */
  serverRequestsChars: 64 * 1024 * 1024,

  // servers as they start, fail and come back

  /**
   * Servers that may be in the costly part of their start at once, and per core where that is more. Few at a time end
   * together and leave the cores idle until the next begin.
   */
  startsAtOnce: 32,
  startsPerCore: 4,
  /**
   * Between the starts of two servers: less than one of them computes, so that the cores have work, and the hub has
   * time for its own work in between.
   */
  startPauseMs: 10,
  /** So many begin without it, so that the cores have work while the hub loads what it needs later. */
  startsWithoutPause: 4,
  /** How long a server holds its place among those that start: a hanging one must not delay the others. */
  startSlotMs: 1_000,
  /** First and longest wait before the next attempt to connect; doubled each time, with jitter. */
  backOffFirstMs: 1_000,
  backOffMaxMs: 60_000,
  /**
   * The same of a program: each start costs a core seconds, and a program that fails to start fails until its settings
   * or the machine are changed.
   */
  backOffProgramMaxMs: 5 * 60_000,
  /**
   * A server that took too long to connect gets twice the time at its next attempt, this many times: four minutes in
   * place of half a one.
   */
  connectTimeoutDoublings: 3,
  /** However many `list_changed` a server sends, there is one list request per this time. */
  relistDebounceMs: 100,
  /** How long an idle remote server may take to answer a ping. */
  keepAliveAnswerMs: 15_000,
  /** How long a server that is away keeps its last known tools. */
  catalogueGraceMs: 10 * 60_000,
  /** The catalogue is written to disk at most this often. */
  catalogueSaveMs: 1_000,

  // servers that start on demand

  /** A server is stopped at the soonest after this long without use: less would start it for each call of a client. */
  idleLeastMs: 100,
  /** How often it is looked whether one that is in use still is. */
  busyLookMs: 1_000,
  /**
   * A call to a server whose start has just failed is told why at once; after this long, or the usual back-off where
   * that is shorter, it starts the server again.
   */
  onDemandRetryMs: 5_000,

  // channels/stdio/: servers whose launcher installs their package first

  /**
   * Installations at once of one launcher. One leaves a core idle while it waits for the network; with more than three,
   * two cores take longer for all.
   */
  installsAtOnce: 3,
  /**
   * Launchers at once, and per core where that is more, whose package is in the cache: each computes for a second and
   * waits for the registry.
   */
  launchesAtOnce: 4,
  launchesPerCore: 2,
  /**
   * A launcher that starts what is in its cache is not in the way of others for longer than this, and counts as
   * installing then.
   */
  launchPlaceMs: 10_000,
  /** How long an installation may take: a large package through a slow line takes minutes. */
  installMs: 10 * 60_000,
  /**
   * One that is not wanted any more, or took longer, may go on for so long. Only then it is ended: until it ends, the
   * package cannot be installed again.
   */
  installLeftMs: 30 * 60_000,
  /** The processes of launchers are looked at this often: what the start of a server loses by it at most. */
  installLookMs: 150,
  /**
   * What process group a process is in is remembered from one look to the next, and read again where the last look was
   * this long ago.
   */
  groupsKnownMs: 2_000,
  /**
   * A launcher that has a process at work for this long may have started a program that is not recognised, so it is
   * spoken to; so is one that is silent for this long.
   */
  installBusyMs: 3_000,
  installSilentMs: 60_000,
  /** An engine of containers says within this time that it has to fetch an image. */
  installSignMs: 2_000,
  /** How often it is looked whether another hub of the machine has installed the same package. */
  installElsewhereMs: 1_000,
  /** npm renews its lock every second, and does not believe one that is older than this. */
  npmLockMs: 60_000,

  // what a server offers and says

  /**
   * A message larger than this stays in pieces on its way: to decode, parse and write a megabyte as text takes 5 ms and
   * more, in which nothing else moves.
   */
  largeMessageBytes: 256 * 1024,
  /** Pages read of one upstream list; 1 000 pages of any sane size exceed what a client can show. */
  listPages: 1_000,
  /** Items of longer pages get memory of their own: they keep the page otherwise, and its memory for each character. */
  listDetachChars: 16 * 1024,
  /** How long a server may take to agree that it will tell of a resource's changes. */
  subscribeAnswerMs: 10_000,
  /**
   * A server that did not answer a subscription is asked again for those who heard of the resource before: soon, since
   * it may be busy with its start, then ever more slowly, up to where it costs nothing.
   */
  subscribeRetryFirstMs: 1_000,
  subscribeRetryMostMs: 5 * 60_000,
  /**
   * How long a connecting server may take to say that it will tell of changes, before its lists are read without that.
   */
  listenAnswerMs: 1_000,
  /**
   * A stream of changes that lasted this long was good: the next failure starts its back-off from the beginning.
   * Serverless hosts end streams after 10 to 60 s.
   */
  listenHeldMs: 5_000,
  /**
   * How long a server with which no revision was negotiated before may take to answer `server/discover`, before the
   * older handshake is tried too: a server that is up answers at once.
   */
  eraProbeMs: 2_000,
  /**
   * A server that was negotiated as one of the session era is asked again after this long: it may support the newer era
   * by then, and would not say so.
   */
  eraTrustMs: 24 * 60 * 60_000,
  /** Servers whose era is remembered, newest first; 100 bytes each. */
  erasKept: 5_000,
  /** Between two looks whether a server has changed its era under way. */
  eraDoubtMs: 5_000,

  // calls, and connections of sessions' own

  /** Calls in flight to one server; past it the server is overloaded and callers get an error at once. */
  upstreamInFlight: 10_000,
  /** Bytes waiting for a child that does not read its stdin before calls to it are refused. */
  upstreamBacklogBytes: 64 * 1024 * 1024,
  /** Workers: the largest frame between two of them, and the size of the pieces that larger messages go in. */
  frameBytes: 1024 * 1024,
  framePieceBytes: 64 * 1024,
  /**
   * Workers: bytes that a worker has not taken, past which the programs that write them are not read on; and a worker
   * that takes none of them for this long is ended.
   */
  workerBacklogBytes: 8 * 1024 * 1024,
  workerStalledMs: 30_000,
  /** Workers: a program whose only worker was killed waits so long for the next one. */
  programKeptMs: 30_000,
  /** Workers: while a program starts, what it printed is told this often. */
  printedEveryMs: 250,
  /** Resolution of call timeouts. */
  deadlineTickMs: 50,
  /**
   * How long a call may go on whose server reports progress again and again: work that is real is done, one that only
   * says so is ended.
   */
  callTotalMs: 60 * 60_000,
  /**
   * Calls that were given up and that the server may go on with; and for how long they count where server requests come
   * on the streams of calls, and for log messages: twice what a call may take.
   */
  abandonedCalls: 1_000,
  abandonedMs: 2 * 60_000,
  /**
   * A server that answers a call which was given up does so within this time; after it, other clients that can be sent
   * server requests do not share its connection.
   */
  givenUpGraceMs: 2_000,
  /**
   * Connections made for that, and for calls of clients without a session in which a server may ask while it is at work
   * on others, all together: each may be a process; and when one that is not used ends.
   */
  temporaryConnections: 32,
  temporaryIdleMs: 2 * 60_000,
  /**
   * Those of one caller for calls without a session: half of all, so that there is room for others. Past them a call
   * that has waited for its client for so long is given up for the next one: many clients never come back.
   */
  temporaryPerCaller: 16,
  temporaryLeftMs: 60_000,
  /** How long such a connection is kept for a call that is about to be sent: it is only decided about once more. */
  temporaryReservedMs: 5_000,
  /** That one is made is told in the log at most this often. */
  temporaryToldMs: 60_000,
  /**
   * Tools of one server for which it is remembered whether they send server requests; and how many tools must have run
   * without sending one, before a tool that never ran is assumed to send none.
   */
  askingTools: 1_000,
  quietTools: 10,
  /** Answers to no request are told once in this time, with their number. */
  strayAnswersMs: 60_000,
  /**
   * Connections of their own that sessions hold to servers with `perSessionClient`: each may be a process with a
   * browser in it.
   */
  dedicated: 200,
  dedicatedPerPrincipal: 32,
  /**
   * A connection of a session's own that is not used for this long is ended, with whatever state the server keeps for
   * it; and how often that is looked at.
   */
  dedicatedIdleMs: 30 * 60_000,
  dedicatedSweepMs: 30_000,

  // channels/stdio/: programs

  /** A stopping child gets this long after SIGTERM before SIGKILL. */
  killAfterMs: 2_000,
  /** A child whose stdin was closed ends by itself within this time, or gets SIGTERM. */
  stdinGraceMs: 200,
  /** An ended child's last output is still read for this long: a grandchild may hold the pipe open for ever. */
  lastOutputMs: 250,
  /** A child that closed its stdin or stdout and does not end within this time is of no use any more. */
  hangUpMs: 1_000,
  /** One line of a child's stderr; no log reader needs more of it. */
  stderrLineBytes: 16 * 1024,
  /** What a dead child said last, quoted in the error: npm says in 10 lines that a package is missing. */
  lastWordsLines: 20,
  lastWordsBytes: 4_096,
  /** Of such a line, where it is searched for the reason. */
  reasonLineChars: 1_000,
  /** Where a command that was not found is compared with those that are there: a PATH has a dozen folders. */
  similarCommandFolders: 50,
  similarCommandNames: 5_000,
  similarCommandChars: 40,
  /** What it printed to stdout that is no message, quoted there too. */
  strayLineChars: 200,
  /**
   * Lines one server may write to stderr (or garbage lines to stdout) at once and over minutes: the longest stack
   * traces have hundreds of lines, and what is too much would push what others say out of the log.
   */
  serverLogBurstLines: 2_000,
  serverLogLinesPerSecond: 10,
  /**
   * The last lines of a flood are written whatever came before them: the end of a stack trace says what is wrong. And a
   * flood pauses when nothing comes for this long.
   */
  serverLogLastLines: 200,
  serverLogPauseMs: 500,

  /** Processes and threads in the container of one server: a browser that a server drives takes some 200. */
  containerProcesses: 512,
  /** How often the control group of a program that has ended is removed, which works once the last process is gone. */
  groupRemovals: 20,
  groupRemovalMs: 500,
  /** An empty one that is older than this is left over from a hub that was killed: a program enters its own at once. */
  groupNewMs: 60_000,

  // servers that flood the hub

  /**
   * Lines and messages of one server in a second that answer nothing, past which it is read slowly: for so many ms at a
   * time, in pieces of so many bytes, and a pause between.
   */
  floodPerSecond: 2_000,
  floodReadMs: 0.5,
  floodPieceBytes: 2 * 1024,
  floodPauseMs: 10,
  /** A flood is over when nothing comes for this long after a pause. */
  floodOverMs: 50,

  // channels/http/: remote servers

  /**
   * Connections to one remote server. A call may hold one for minutes, and a server that must be asked more at once has
   * other problems.
   */
  upstreamConnections: 1_024,
  /** Redirects followed within the server's own origin; `/mcp` to `/mcp/` takes one. */
  redirects: 3,
  /** More than this after a 202 or a redirect is not read to its end for the sake of keeping the connection. */
  unreadBytes: 64 * 1024,
  /**
   * A pause that a server asks for (`Retry-After`) lasts this long at most: one wrong header must not keep the server
   * away for days.
   */
  retryAfterMs: 60 * 60_000,
  /** Body of an HTTP error that is read for its message. */
  errorBodyBytes: 16 * 1024,
  /** Attempts in a row to go on with a cut answer stream, and the wait before each unless the server names one. */
  resumeTries: 5,
  resumeWaitMs: 1_000,
  /** An answer stream that stays open after its answer is ended after this long. */
  lingerMs: 5_000,
  /** How long a remote server may take to end our session when we leave. */
  endSessionMs: 2_000,

  // channels/openapi/: REST APIs

  /** An OpenAPI document; the largest public ones (code hosts, payment services) are 12 MB. */
  openapiDocumentBytes: 16 * 1024 * 1024,
  /** A larger one is read in a thread of its own, where the memory of it goes when it is read. */
  openapiThreadBytes: 256 * 1024,
  openapiThreadMb: 1_024,
  /**
   * How long one may take: the largest take a second or two, also a machine that is ten times slower reads them. They
   * are read one after another, so one that never ends would hold up all.
   */
  openapiReadMs: 60_000,
  /** Operations of one document that become tools; more than any client can show. */
  openapiOperations: 10_000,
  /** Parameters of one operation; the rest is not offered. */
  openapiParameters: 500,
  /** Schema nodes (or 50 characters each) one tool may have with every $ref written out; past it they become $defs. */
  openapiInlineNodes: 2_000,
  /**
   * Schema nodes that one tool may have at all, and all tools of a document; what is beyond is left open (any value).
   */
  openapiToolNodes: 20_000,
  openapiDocumentNodes: 1_000_000,
  /** Depth of one schema, and values of an enum that are spelled out. */
  openapiDepth: 64,
  openapiEnum: 1_000,
  /** Text of a tool's or schema's description that is kept, and JSON of an example or default. */
  openapiDescriptionChars: 8_000,
  openapiValueChars: 4_000,
  /** Chunks of a long body are joined whenever they have this much. */
  openapiJoinedBytes: 1024 * 1024,
  /** One page of the list of an API's tools: V8 gives longer texts memory that only a collection of all gives back. */
  openapiPageBytes: 48 * 1024,
  /** Redirects followed for one request to a REST API. */
  openapiRedirects: 5,
  /** Connections kept to one REST API. */
  openapiConnections: 64,
  /** Cookies that are kept for one session, as many as browsers keep of a site, and characters of each, all told. */
  openapiCookies: 50,
  openapiCookieChars: 4_096,

  // sign-in/: signing in to servers

  /**
   * One request to an authorization server, and all requests until a user can be asked to sign in: well within
   * `CONNECT_TIMEOUT_MS`.
   */
  oauthRequestMs: 10_000,
  oauthPrepareMs: 20_000,
  /**
   * How long a sign-in may take from its address to its end; half of that is how old an address that is shown may be.
   */
  signInMs: 10 * 60_000,
  /** Sign-ins begun and not ended, of one server and of all. */
  signInsPerServer: 16,
  signIns: 1_000,
  /**
   * A shared sign-in is forgotten when the settings have not fitted it for this long: another hub's newer ones may
   * still be on their way.
   */
  signInSettleMs: 15_000,
  /** The answer of an OAuth token endpoint, and how long before its end a token is no longer used. */
  tokenAnswerBytes: 256 * 1024,
  tokenSpareMs: 30_000,
  /** After a token could not be renewed for a temporary reason, the hub does not try again for this long. */
  tokenRetryMs: 2_000,
  /**
   * How long one hub may take to fetch new tokens before another one may try (discovery, token request), and how often
   * the others look whether it has.
   */
  tokenClaimMs: 45_000,
  tokenClaimPollMs: 100,
} as const;
