/** Every bound of the hub, with its reason, by the module that keeps it. Times in milliseconds, sizes in bytes. */
export const limits = {
  // cli/, hub/ and env/: the start, the end, and what is asked of a hub from outside

  /**
   * What takes much computing and has time (the embedded database, the search) waits this long at most for servers that
   * are starting.
   */
  startCalmMs: 5_000,
  /**
   * One reconcile acts on a change of settings or catalogue at once, and on those that come within this time after it
   * together.
   */
  reconcileDebounceMs: 50,
  /** A stopping hub lets running calls finish for this long. */
  drainMs: 10_000,
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
  /** The longest time a Node timer accepts; a longer one would fire at once. */
  timerMs: 2 ** 31 - 1,

  // wire/ and node:http: connections of clients

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
  /** Refused connections are told of this often at most. */
  refusedConnectionsMs: 60_000,

  // mcp/: requests

  /** A JSON-RPC request body from a client: base64 files as tool arguments fit, a memory attack does not. */
  requestBodyBytes: 16 * 1024 * 1024,
  /**
   * What `routing.jsonBodyLimit` may say in place of `requestBodyBytes` and `apiBodyBytes`: no less than what is read
   * in one go (`wire/head.ts`), and so much at most that a few bodies at once do not take the machine's memory.
   */
  jsonBodyBytesLeast: 64 * 1024,
  jsonBodyBytesMost: 128 * 1024 * 1024,
  /**
   * Bodies of requests while they are received, all together: this part of the memory that the process may have, within
   * these bounds. The least still holds four of the largest usual bodies; the most is far below what a heap of Node
   * has, and more than honest clients have on their way at once.
   */
  budgetPart: 1 / 4,
  budgetBytesLeast: 64 * 1024 * 1024,
  budgetBytesMost: 256 * 1024 * 1024,
  /**
   * A body of no more than this is small: some of the budget is for such alone (`byte-budget.ts`). A plain request is
   * (`wire/head.ts`).
   */
  budgetSmallBytes: 64 * 1024,
  /** Who is refused for it comes back after this long: most bodies are there within a second. */
  budgetRetryMs: 2_000,
  /**
   * Nesting of the JSON of a request. Parsers that servers are built on stop at 64 (.NET), 512 (PHP) or 1 000 (Python,
   * Java); real arguments stay under 50.
   */
  nesting: 512,
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

  // mcp/: sessions

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

  // mcp/: streams, and clients that come back to them

  /** Streams of one client session that may be open at once. */
  streamsPerSession: 8,
  /** Open legacy SSE connections and GET streams of the whole hub. */
  streams: 20_000,
  /**
   * Bytes a slow reader may let pile up before its stream is dropped: room for an answer or two of the largest that
   * real servers give.
   */
  streamBacklogBytes: 32 * 1024 * 1024,
  /** Comment lines that keep proxies from closing an idle stream. */
  streamKeepAliveMs: 15_000,
  /** How soon a stream, of the log or of an MCP endpoint, ends after the credential it was opened with. */
  streamCredentialMs: 1_000,
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

  // mcp/: what clients hear of changes, log messages and tasks

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
  /** A result longer than this is no handle of a task. */
  taskHandleChars: 64 * 1024,

  // mcp/server-requests/: what servers ask of clients

  /** Open server requests of one server, and open server requests at one client session: no user reads more. */
  serverRequestsPerConnection: 1_000,
  serverRequestsPerSession: 50,
  /** Size of all open server requests of one server, images for a model included: as much as one message of it. */
  serverRequestsChars: 64 * 1024 * 1024,
  /** How long a person may take to answer; until then the call that waits for it is not late. */
  askMs: 10 * 60_000,
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

  // http/: the management API and the dashboard

  /** A body of a route that takes a form, such as a login: thousands of characters in each of its fields. */
  smallBodyBytes: 16 * 1024,
  /** A body of any other route (`http/frame/large-bodies.ts`); an inline OpenAPI document of a large service fits. */
  apiBodyBytes: 8 * 1024 * 1024,
  /** The rest of a body that was refused is read away this far and this long, so that its sender finds the answer. */
  strayBodyBytes: 256 * 1024 * 1024,
  strayBodyMs: 60_000,
  /** Groups or servers created by one request; each is a change of the settings of its own. */
  batchItems: 200,
  /**
   * Entries of one page of a listing in the management API at most (reference: MCPHub §1.5), and when it does not say.
   */
  pageItems: 1_000,
  pageItemsUsual: 100,
  /**
   * The number of a page that may be asked for: no listing has as many, and what it stands for is still an exact
   * number.
   */
  pageNumber: 1_000_000,
  /** Parts of one query parameter `a.b.c`, which stands for objects within objects. */
  queryDepth: 16,
  /** The `x-session-id` of a call. */
  sessionIdChars: 200,
  /** An uploaded form besides its file: fields, each of them, and all that with the boundaries. */
  formFields: 20,
  formFieldBytes: 256 * 1024,
  formBytes: 8 * 1024 * 1024,
  /** The query of an answer to a sign-in: a code and a state of some hundred characters each. */
  callbackChars: 16_000,
  /**
   * Pages of the dashboard that follow changes at once, and how often each hears of them: a start of many servers
   * causes many changes.
   */
  changeReaders: 200,
  changesEveryMs: 250,
  /** An answer of the MCP registry: 30 servers are some 100 kB. */
  registryAnswerMs: 8_000,
  registryAnswerBytes: 4 * 1024 * 1024,
  /** The wait of `POST /smart-routing/reindex` for the end of it; a longer one goes on in the background. */
  reindexAnswerMs: 25_000,

  // core/: who sees what, under which names

  /** Views kept ready (one per principal and scope). */
  views: 2_000,
  /** Items in all views that are kept, each of which costs some 150 bytes and its share of the list as text. */
  viewItems: 500_000,
  /** Texts kept of one item: it has one for each alias under which groups show it. */
  itemForms: 100,
  /** Names that other programs accept: letters, digits, `_`, `-`, at most this many. */
  exposedNameChars: 64,
  /**
   * A resource's URI, or a template of such, that the two are compared of; and templates kept ready, some 100 bytes
   * each.
   */
  uriChars: 8_192,
  uriTemplates: 10_000,
  /** Servers named one by one in what the start says about anonymous callers. */
  exposedServers: 20,

  // core/: schemas and arguments

  /** Compiled schemas kept; compiling one again takes a fraction of a millisecond. */
  schemas: 1_000,
  /**
   * Nesting and size of a schema, and of the work of converting arguments by it; past it arguments pass as they are.
   */
  schemaDepth: 100,
  schemaNodes: 20_000,
  conversionSteps: 100_000,
  /**
   * One check of arguments may block the process for this long; a schema that takes longer is not tried again for some
   * time.
   */
  schemaCheckMs: 50,
  schemaRestMs: 60_000,
  /** Problems of one input that are reported; more do not help the caller. */
  problems: 20,

  // settings/: the document

  /** The settings file; inline API documents make it long, nothing honest makes it longer. */
  settingsBytes: 32 * 1024 * 1024,
  /** Nesting of the settings document, so that walking it can never exhaust the stack. API documents stay under 60. */
  settingsDepth: 200,
  /** Problems of one settings document spelled out in an error's text; more is a file of another kind. */
  problemLines: 100,
  /** Nesting of defaults in `${A:-${B:-…}}`; past it a default is taken as it stands. */
  placeholderDepth: 8,
  /** Access keys of one user. */
  keysPerOwner: 100,
  /** Members of one list in the settings (servers of a group, servers of a user, users something is shared with). */
  listedNames: 1_000,
  /** The name of a group or a user: fits a line, and a path of the dashboard. */
  nameChars: 64,
  /** The name of a server, which is part of file names, of which file systems take 255. */
  serverNameChars: 128,
  /** The name of an access key; what it is for, in a few words. */
  keyNameChars: 100,
  /** An e-mail address (RFC 5321 §4.5.3.1): 64 before the @, 255 after it. */
  emailChars: 320,
  /** A free text in the settings, such as a description. */
  textChars: 4_000,
  /** Largest `options.maxBufferSize` of a server: near the longest string the engine can hold. */
  messageBytesMost: 512 * 1024 * 1024,
  /** A client configuration pasted for import, and the servers in it. */
  importChars: 2 * 1024 * 1024,
  importServers: 1_000,

  // settings/: reading, watching and keeping it

  /** Editors save in several steps: the file is read once they have been quiet for this long. */
  settingsDebounceMs: 100,
  /** The file's size and time are looked at this often too: bind mounts and network disks announce nothing. */
  settingsPollMs: 2_000,
  /**
   * A file that cannot be parsed is read again after this long before the problem is reported: it may be half saved.
   */
  settingsSettleMs: 150,
  /** Attempts to write a change while others keep changing the settings. */
  settingsAttempts: 20,
  /**
   * How long a start waits for the settings in the database, before it uses the copy of them, or listens without any
   * and answers 503.
   */
  settingsDatabaseMs: 3_000,
  /**
   * Notifications do not come through every pooler (PgBouncer), so the version in the database is also looked at this
   * often.
   */
  settingsVersionMs: 5_000,

  // bundles/: uploads, unpacked

  /** A bundle file, the entries in it, and what they may unpack to (CONTRACT §4, MCPB upload). */
  bundleBytes: 200 * 1024 * 1024,
  bundleEntries: 10_000,
  bundleUnpackedBytes: 1024 * 1024 * 1024,
  /**
   * An entry that inflates to more than this many times its size, once it is past the given bytes, is a bomb; source
   * code reaches 20.
   */
  bundleRatio: 200,
  bundleRatioFromBytes: 16 * 1024 * 1024,
  /** A path inside a bundle; the folder it is unpacked to comes on top, and file systems end at 4 096. */
  bundlePathBytes: 1_024,
  /** `manifest.json` of a bundle; the largest known ones, with every tool described, stay under 100 kB. */
  bundleManifestBytes: 1024 * 1024,
  /** Folders kept side by side for one version of a bundle; each replace makes one and removes another. */
  bundleCopies: 100,
  /** What an interrupted unpacking left is removed once it is this old: no unpacking takes that long. */
  bundleLeftoverMs: 60 * 60_000,

  // upstream/: servers as they start, fail and come back

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
  /** A connection that lasted this long was good: the next failure starts the back-off from the beginning. */
  backOffResetMs: 60_000,
  /** However many `list_changed` a server sends, there is one list request per this time. */
  relistDebounceMs: 100,
  /** Time between pings of an idle remote server, and how long its answer may take. */
  keepAliveMs: 60_000,
  keepAliveAnswerMs: 15_000,
  /** How long a server that is away keeps its last known tools. */
  catalogueGraceMs: 10 * 60_000,
  /** The catalogue is written to disk at most this often. */
  catalogueSaveMs: 1_000,

  // upstream/stdio/: servers whose launcher installs their package first

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

  // upstream/: what a server offers and says

  /**
   * A message larger than this stays in pieces on its way, of which so many bytes are worked on in one turn of the
   * event loop: to decode, parse and write a megabyte as text takes 5 ms and more, in which nothing else moves.
   */
  largeMessageBytes: 256 * 1024,
  largeTurnBytes: 256 * 1024,
  /**
   * Of a large message, what is given to a client's connection ahead of its reading; and what may wait for all clients
   * together before further large answers are refused.
   */
  largeAheadBytes: 512 * 1024,
  largeUnsentBytes: 1024 * 1024 * 1024,
  /** One message from a server. Screenshots and database dumps reach 20 MB; a server that sends more is faulty. */
  upstreamMessageBytes: 64 * 1024 * 1024,
  /** Pages read of one upstream list; 1 000 pages of any sane size exceed what a client can show. */
  listPages: 1_000,
  /** Items kept of one upstream list. */
  listItems: 100_000,
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

  // upstream/: calls, and connections of sessions' own

  /** Calls in flight to one server; past it the server is overloaded and callers get an error at once. */
  upstreamInFlight: 10_000,
  /** Bytes waiting for a child that does not read its stdin before calls to it are refused. */
  upstreamBacklogBytes: 64 * 1024 * 1024,
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
  /** Connections made for that, all together: each may be a process; and when one that is not used ends. */
  temporaryConnections: 32,
  temporaryIdleMs: 2 * 60_000,
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

  // upstream/stdio/: programs

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
  /** What a dead child said last, quoted in the error. */
  lastWordsLines: 10,
  lastWordsBytes: 2_048,
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

  // upstream/: servers that flood the hub

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

  // upstream/http/: remote servers

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

  // upstream/openapi/: REST APIs

  /** An OpenAPI document; the largest public ones (code hosts, payment services) are 12 MB. */
  openapiDocumentBytes: 16 * 1024 * 1024,
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
  /** One page of the list of an API's tools. */
  openapiPageBytes: 1024 * 1024,
  /** Redirects followed for one request to a REST API. */
  openapiRedirects: 5,
  /** Connections kept to one REST API. */
  openapiConnections: 64,

  // upstream/oauth/: signing in to servers

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

  // smart/: the search

  /**
   * The query of a tool search and its context. A user's whole request, told at length, stays under 4 000; more is a
   * document.
   */
  searchChars: 6_000,
  /** Results of a tool search when it does not say, and at most: a model reads few with care. */
  searchResults: 10,
  searchResultsMost: 100,
  /** Of a search query this much comes back in the answer's metadata. */
  searchEchoChars: 1_000,
  /** How long tools are read into the search index before other work gets its turn. */
  indexSliceMs: 8,
  /** How long a search waits for changed tools to be read: a hundred or so are; of more it takes what is there. */
  indexWaitMs: 50,
  /** How long searches of many clients are answered before other work gets its turn. */
  searchTurnMs: 8,
  /** Stems of words kept: names of a catalogue repeat, hostile text does not. */
  stems: 50_000,
  /**
   * What the search tool's text says of the servers: each name, each description, all names, and all names with
   * descriptions. Every client pays for it in every conversation.
   */
  smartServerChars: 400,
  smartAboutChars: 200,
  smartServersChars: 2_000,
  smartServersFullChars: 6_000,
  /** Searches remembered to tell which of their results are called: per asker, askers, and for how long. */
  searchesPerAsker: 5,
  searchAskers: 1_000,
  searchLinkMs: 30 * 60_000,

  // smart/hosted/: embedding services

  /** Connections to the embedding service: one embeds tools, the others serve searches. */
  embeddingConnections: 8,
  /** An answer of the embedding service: 128 vectors of 4 096 numbers written out as decimals are some 12 MB. */
  embeddingAnswerBytes: 32 * 1024 * 1024,
  /** Of what the embedding service says about a failure this much is logged. */
  embeddingWordsChars: 300,
  /**
   * A key of an embedding service that is shorter is a placeholder ("ollama", "none") for a service that needs no key,
   * and hiding it would hide parts of other words.
   */
  embeddingKeyChars: 12,
  /**
   * A search waits this long for the vector of the query (CONTRACT §6), the embedding of tools waits longer: a model on
   * a small machine is slow.
   */
  embeddingQueryMs: 10_000,
  embeddingBatchMs: 60_000,
  /**
   * The pause before a search asks the service once more, and the longest pause the service may ask for itself: the
   * caller of the search waits meanwhile.
   */
  embeddingQueryPauseMs: 200,
  embeddingQueryPauseMostMs: 2_000,
  /** Queries whose vectors are kept: a few MB, and who pages through results asks the same again. */
  embeddedQueries: 500,
  /** Texts in one request; services that take fewer say so, and the number is halved. */
  embeddingBatch: 128,
  /** Tokens in one request, about: OpenAI takes 300 000. */
  embeddingBatchTokens: 200_000,
  /** Vectors that the database does not take are brought again after this long. */
  embeddingSavePauseMs: 1_000,
  /**
   * Pauses before trials of a service that fails, doubling; and the longest one it may ask for itself (`Retry-After`).
   */
  embeddingRetryFirstMs: 1_000,
  embeddingRetryMostMs: 60_000,
  embeddingRestMs: 10 * 60_000,
  /** A text that the service refused is tried again after this long. */
  embeddingRefusedMs: 10 * 60_000,
  /** A refused text is halved until it is this short: then it was not its length. */
  embeddingShortestChars: 64,
  /** Texts refused one after the other until the service counts as failing. */
  embeddingRefusals: 3,

  // smart/vectors/: vectors that are kept

  /** A hub that takes on tools to embed has this long before another one may; twice `embeddingBatchMs`. */
  embeddingClaimMs: 120_000,
  /** While other hubs embed some of the tools, this often it is looked whether they have, besides what they tell. */
  embeddingOthersMs: 5_000,
  /** Vectors that no hub has used for this long are removed from the database; how often that is looked at. */
  embeddingsKeptMs: 30 * 24 * 60 * 60_000,
  embeddingsTendMs: 60 * 60_000,
  /** Vectors in memory, as bytes: room for 50 000 tools with 3 072 numbers each. */
  vectorMemoryBytes: 192 * 1024 * 1024,
  /** Vectors compared in memory before other requests get their turn: some 2 ms where there is no SIMD. */
  vectorSegmentRows: 1_024,
  /** Vectors read from or written to the database in one statement. */
  vectorRows: 64,
  /** One search in the vectors of the database: 50 000 of 1 536 numbers take a second in the embedded one. */
  vectorSearchMs: 5_000,

  // auth/: passwords, tokens and failed logins

  /**
   * Password hashes computed at once (19 MiB each) and waiting; both logins and the file system use the same four
   * threads of Node.
   */
  passwordsAtOnce: 2,
  passwordsWaiting: 200,
  /** A password: longer ones are an attack on the hash function, not a sentence. */
  passwordChars: 1_024,
  passwordMinChars: 6,
  /** A policy may ask for so many at most: more is no password that a person types. */
  passwordMinCharsMost: 128,
  /** Shorter ones are told to be weak: all of them can be tried in hours once their hash is known. */
  passwordShortChars: 8,
  /** What people add to a word to make another password of it. */
  passwordAround: 4,
  /**
   * Imported hashes dearer than this are refused: bcrypt doubles per step (14 takes over a second), argon2 memory is in
   * KiB.
   */
  bcryptCost: 14,
  argon2MemoryKiB: 256 * 1024,
  argon2Passes: 10,
  argon2Lanes: 16,
  /** How long an access token lives, and how far the clocks of replicas may differ. */
  accessTokenMs: 24 * 60 * 60_000,
  clockToleranceMs: 60_000,
  /**
   * A login older than this gives the password again before it exports secrets or changes who is an admin: a token that
   * got out does neither.
   */
  freshLoginMs: 10 * 60_000,
  /**
   * Single tokens of one user revoked before all of the user's are: who logs out this often in a day does not do it by
   * hand.
   */
  revokedTokensPerUser: 1_000,
  /** Verified access tokens kept so that each request need not verify the signature again. */
  verifiedTokens: 10_000,
  /**
   * Anything longer in place of a token is none; ours have some 250 characters, those of other issuers with many claims
   * 4 000.
   */
  tokenChars: 8_192,
  /** Failed logins per window, from one address, and to one account from one address. */
  loginWindowMs: 15 * 60_000,
  loginFailuresPerAddress: 20,
  /**
   * After so many failures an account is tried from addresses that it does not know no more often than this, a few at
   * once: 130 guesses in a window however many addresses an attacker has, and its owner gets in from a new place half a
   * minute after the attack.
   */
  loginFailuresPerAccount: 100,
  loginSlowMs: 30_000,
  loginSlowBurst: 5,
  /**
   * Addresses, accounts and pairs of them with failures that are remembered; past it those whose window ends first go.
   */
  loginRecords: 50_000,
  /**
   * Failed logins and refused credentials that are logged one by one in a window, of all clients together; the rest is
   * counted.
   */
  strangersTold: 200,
  /**
   * The same of what one account does (logins, its keys): of one kind from one address, and of all kinds. The rest is
   * counted.
   */
  accountToldOfKind: 10,
  accountTold: 30,
  /**
   * Addresses from which logins to an account have succeeded: the places of one person, and as many accounts as may be
   * in use.
   */
  loginKnownAddresses: 20,
  loginKnownAccounts: 10_000,

  // logs/: the log

  /**
   * Configured values shorter than this are not hidden in logs: hiding every `true` or `3000` would make them
   * unreadable.
   */
  secretChars: 6,
  /** One log line; longer text is cut, with a mark. */
  logLineChars: 4_000,
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

  // logs/: the activity

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
  /** Results that the record of a search keeps; a model hardly looks further. */
  activityResults: 20,
  /** Uses of searches that one page of the activity tells. */
  activityUses: 1_000,

  // logs/: on the way to the database, and out of it

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

  // database/

  /** One SQL statement; a listing over a full log table takes well under a second. */
  databaseStatementMs: 30_000,
  /** Reaching PostgreSQL, and how long its answer to a ping may take before the connection counts as lost. */
  databaseConnectMs: 10_000,
  /** An idle connection is asked this often whether it still works: a broken network says nothing by itself. */
  databasePingMs: 10_000,
  /**
   * A ping that takes longer, twice in a row, is that of a slow database: it takes milliseconds, and tens of them on a
   * busy machine or a far network.
   */
  databaseSlowMs: 1_000,
  /** Connections per hub; several replicas share the 100 that PostgreSQL allows by default. */
  databaseConnections: 8,
  /** A transaction left open this long is rolled back: the embedded database serves no other request meanwhile. */
  databaseTxMs: 30_000,
  /** Statements that may wait for the embedded database; past it callers are refused instead of piling up. */
  databaseQueue: 10_000,
  /**
   * First and longest wait before the database is opened again. It is local or one hop away, hence shorter than for
   * servers.
   */
  databaseRetryFirstMs: 250,
  databaseRetryMaxMs: 10_000,
  /** A listing waits this long for a database that is being opened, which takes up to 10 s on a busy machine. */
  databaseFirstReadMs: 10_000,
  /** How long a listing waits for the database before memory answers instead. */
  databaseReadMs: 5_000,
  /** How long a closing database may take to end what runs. */
  databaseCloseMs: 5_000,
  /** PostgreSQL refuses longer NOTIFY payloads. */
  notifyBytes: 7_999,
  /**
   * How much lower the priority of the embedded database's thread is than that of the thread that relays calls
   * (`nice`): a third of its weight.
   */
  databaseNiceness: 5,

  // disk/: secrets in files, locks of folders, files that are half written

  /** What a full disk had no room for is tried again this often: an operator who frees some looks whether it helped. */
  diskRetryMs: 2_000,
  /**
   * A temporary file older than this was left by a process that was killed: writing one takes milliseconds, the largest
   * on the slowest disk seconds.
   */
  temporaryFileMs: 60_000,

  /** A file that holds one secret (`JWT_SECRET_FILE`, `${file:…}`): a long private key has 13 KB. */
  secretFileBytes: 64 * 1024,
  /** Texts of such files that logs hide, the newest of them: a token that changes every hour fills it in a month. */
  secretFileValues: 1_000,

  /** A hub answers at the socket beside its lock in milliseconds; one that does not counts as alive. */
  lockAnswerMs: 1_000,
  /**
   * Taking over the lock of a process that is gone takes milliseconds; a mark of it older than this was left by a
   * crash.
   */
  takeoverMs: 10_000,
} as const;
