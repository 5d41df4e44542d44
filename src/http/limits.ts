/** Bounds of the management API and the dashboard, with their reasons. Times in milliseconds, sizes in bytes. */
export const httpLimits = {
  // streams

  /** How soon a stream, of the log or of an MCP endpoint, ends after the credential it was opened with. */
  streamCredentialMs: 1_000,

  // the management API and the dashboard

  /** Recorded calls that a simulation of policies looks at: half a second of work. */
  simulatedCalls: 5_000,
  /** Pins that are written into an answer before other work gets its turn: 50 µs each. */
  pinsInATurn: 200,
  /** The same of calls that wait for approval: 20 µs each. */
  approvalsInATurn: 500,

  /** A body of a route that takes a form, such as a login: thousands of characters in each of its fields. */
  smallBodyBytes: 16 * 1024,
  /** A body of any other route (`http/frame/large-bodies.ts`); an inline OpenAPI document of a large service fits. */
  apiBodyBytes: 8 * 1024 * 1024,
  /** Groups or servers created by one request; each is a change of the settings of its own. */
  batchItems: 200,
  /**
   * Entries of one page of a listing in the management API at most (reference: MCPHub §1.5), and when it does not say.
   */
  pageItems: 1_000,
  pageItemsUsual: 100,
  /** Pictures that a server has of itself: how many are looked at, and how large one may be that lists show. */
  serverIcons: 20,
  serverIconChars: 4_096,
  /** What tools are searched by, in a list of names. */
  queryChars: 200,
  /**
   * What a caller hears of a call before its answer: how many messages, how long each may be, and how much of it may
   * wait for a caller that does not read.
   */
  streamedMessages: 2_000,
  streamedMessageBytes: 64 * 1024,
  streamedBacklogBytes: 1024 * 1024,
  /** The `x-session-id` of a call; the id of an MCP session, which may stand there, has about 200. */
  sessionIdChars: 500,
  /** An uploaded form besides its file: fields, each of them, and all that with the boundaries. */
  formFields: 20,
  formFieldBytes: 256 * 1024,
  formBytes: 8 * 1024 * 1024,
  /** The path of the hub that a login leads to: pages of the dashboard with their filters. */
  returnPathChars: 2_000,
  /** The query of an answer to a sign-in: a code and a state of some hundred characters each. */
  callbackChars: 16_000,
  /** Sign-ins that wait in one browser, and characters of their cookies: Node takes 16 kB of head. */
  signInCookies: 3,
  signInCookieChars: 8_000,
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

  // logins

  /**
   * A login older than this gives the password again before it exports secrets or changes who is an admin or which
   * logins and keys count: a token that got out does neither.
   */
  freshLoginMs: 10 * 60_000,
} as const;
