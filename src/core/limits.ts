/** Every bound of the hub, with its reason. Times in milliseconds, sizes in bytes. */
export const limits = {
  /** A JSON-RPC request body from a client: base64 files as tool arguments fit, a memory attack does not. */
  requestBodyBytes: 16 * 1024 * 1024,
  /** One message from a server. Screenshots and database dumps reach 20 MB; more is a server gone wrong. */
  upstreamMessageBytes: 64 * 1024 * 1024,
  /** Bytes waiting for a child that does not read its stdin before calls to it are refused. */
  upstreamBacklogBytes: 64 * 1024 * 1024,
  /** Calls in flight to one server; past it the server is drowning and callers hear so at once. */
  upstreamInFlight: 10_000,
  /** Pages read of one upstream list; 1 000 pages of any sane size exceed what a client can show. */
  listPages: 1_000,
  /** Items kept of one upstream list. */
  listItems: 100_000,
  /** Servers that may be in the costly part of their start at once, per core. */
  startsPerCore: 4,
  /** How long a starting server holds its place in that queue: a hanging one must not delay the others. */
  startSlotMs: 1_000,
  /** First and longest wait before the next attempt to connect; doubled each time, with jitter. */
  backOffFirstMs: 1_000,
  backOffMaxMs: 60_000,
  /** A connection that held this long was good: the next failure starts the back-off anew. */
  backOffResetMs: 60_000,
  /** `list_changed` storms are answered by one list request per this time. */
  relistDebounceMs: 100,
  /** Time between pings of an idle remote server, and how long its answer may take. */
  keepAliveMs: 60_000,
  keepAliveAnswerMs: 15_000,
  /** A call to a server that is still connecting waits this long for it. */
  waitForConnectionMs: 15_000,
  /** How long a server that is away keeps its last known tools. */
  catalogueGraceMs: 10 * 60_000,
  /** Settings and catalogue changes are gathered this long before one reconcile acts on them. */
  reconcileDebounceMs: 50,
  /** The catalogue is written to disk at most this often. */
  catalogueSaveMs: 1_000,
  /** A stopping child gets this long after SIGTERM before SIGKILL. */
  killAfterMs: 2_000,
  /** A stopping hub lets running calls finish for this long. */
  drainMs: 10_000,
  /** Garbage lines of one server that reach the log per second; the rest is counted. */
  noiseLinesPerSecond: 20,
  /** Log entries kept in memory. */
  logRing: 1_000,
  /** One log line; longer text is cut, with a mark. */
  logLineChars: 4_000,
  /** A session of the old era ends after this long, used or not; clients then initialize again. */
  sessionMs: 7 * 24 * 60 * 60_000,
  /** Ended sessions remembered until they would have expired anyway. */
  endedSessions: 100_000,
  /** Opened session tokens kept so that each request need not decrypt again. */
  openedSessions: 20_000,
  /** Streams of one client session that may be open at once. */
  streamsPerSession: 8,
  /** Open legacy SSE connections and GET streams of the whole hub. */
  streams: 20_000,
  /** Bytes a slow reader may let pile up before its stream is dropped; it can come back and list again. */
  streamBacklogBytes: 4 * 1024 * 1024,
  /** Comment lines that keep proxies from closing an idle stream. */
  streamKeepAliveMs: 15_000,
  /** Views kept ready (one per principal and scope). */
  views: 2_000,
  /** Names the world accepts: letters, digits, `_`, `-`, at most this many. */
  exposedNameChars: 64,
  /** Resolution of call timeouts. */
  deadlineTickMs: 50,
  /** Configured values shorter than this are not hidden in logs: hiding every `true` or `3000` would make them unreadable. */
  secretChars: 6,
  /** A bundle file, the entries in it, and what they may unpack to (CONTRACT §4, MCPB upload). */
  bundleBytes: 200 * 1024 * 1024,
  bundleEntries: 10_000,
  bundleUnpackedBytes: 1024 * 1024 * 1024,
  /** An entry that inflates to more than this many times its size, once it is past the given bytes, is a bomb; source code reaches 20. */
  bundleRatio: 200,
  bundleRatioFromBytes: 16 * 1024 * 1024,
  /** A path inside a bundle; the folder it is unpacked to comes on top, and file systems end at 4 096. */
  bundlePathBytes: 1_024,
  /** `manifest.json` of a bundle; the largest known ones, with every tool described, stay under 100 kB. */
  bundleManifestBytes: 1024 * 1024,
  /** What an interrupted unpacking left is removed once it is this old: no unpacking takes that long. */
  bundleLeftoverMs: 60 * 60_000,
  /** A client configuration pasted for import, and the servers in it. */
  importChars: 2 * 1024 * 1024,
  importServers: 1_000,
  /** The settings file; inline API documents make it long, nothing honest makes it longer. */
  settingsBytes: 32 * 1024 * 1024,
  /** Nesting of the settings document, so that walking it can never exhaust the stack. API documents stay under 60. */
  settingsDepth: 200,
  /** Editors save in several steps: the file is read once they have been quiet for this long. */
  settingsDebounceMs: 100,
  /** The file's size and time are looked at this often too: bind mounts and network disks announce nothing. */
  settingsPollMs: 2_000,
  /** A file that cannot be parsed is read again after this long before anybody is told: it may be half saved. */
  settingsSettleMs: 150,
  /** Attempts to write a change while others keep changing the settings. */
  settingsAttempts: 20,
  /** Longest time a timer of Node can take; a longer one would fire at once. */
  timerMs: 2 ** 31 - 1,
  /** Largest `options.maxBufferSize` of a server: near the longest string the engine can hold. */
  messageBytesMost: 512 * 1024 * 1024,
  /** Taking over a dead hub's folder takes milliseconds; a mark of it older than this was left by a crash. */
  takeoverMs: 10_000,
} as const;
