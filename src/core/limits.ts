/**
 * Bounds that `core/` keeps itself, and bounds that several modules share, with their reasons. Times in milliseconds,
 * sizes in bytes.
 */
export const coreLimits = {
  // access/: who sees what, under which names

  /** Views kept ready (one per principal and scope). */
  views: 2_000,
  /** Characters that a prompt of the hub may become with its arguments. */
  ownPromptChars: 8 * 1024 * 1024,
  /** Items in all views that are kept, each of which costs some 200 bytes and its share of the list as bytes. */
  viewItems: 500_000,
  /** Names that other programs accept: letters, digits, `_`, `-`, at most this many. */
  exposedNameChars: 64,
  /** Servers named one by one in what the start says about anonymous callers. */
  exposedServers: 20,

  // guards/

  /** Guards of one hub: a call waits for each of them, one after the other. */
  guards: 20,
  /** Of what a guard has callers told. */
  guardMessageChars: 2_000,

  // policies/

  /** Policies of one hub: each is asked only of what it concerns, and reading a thousand takes 30 ms. */
  policies: 1_000,
  /** One text of policies; texts of this length are read in 10 ms. */
  policyChars: 32_768,
  /** All texts of one hub. */
  policiesChars: 1_048_576,
  /** Brackets within brackets: the engine's stack takes 100. */
  policyDepth: 64,
  /** `@message` of a policy. */
  policyMessageChars: 1_000,
  /** Tools for which it is known which policies concern them, and sets of policies that the engine has ready. */
  policySlices: 1_000,
  /** Verdicts that are kept, and the longest question of which one is, so that they take 20 MB at most. */
  policyVerdicts: 10_000,
  policyQuestionChars: 2_000,
  /** Of the arguments that policies read. */
  policyArgumentChars: 262_144,
  /** Characters of arguments times those of patterns (`like`) that are asked of Cedar at once, which takes 50 ms. */
  policyPatternSteps: 50_000_000,
  policyArgumentNodes: 10_000,
  policyArgumentDepth: 60,
  /** Cedar's `decimal` ends at 922 337 203 685 477.5807. */
  policyDecimalMost: 922_337_203_685_477,

  // schema/, arguments/ and protocol/

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
   * time. The watch goes by the clock: where the process computed nothing meanwhile, it is tried so often in all.
   */
  schemaCheckMs: 50,
  schemaCheckTries: 5,
  schemaRestMs: 60_000,
  /** Problems of one input that are reported; more do not help the caller. */
  problems: 20,
  /** Parts of one query parameter `a.b.c`, which stands for objects within objects. */
  queryDepth: 16,
  /**
   * A resource's URI, or a template of such, that the two are compared of; and templates kept ready, some 100 bytes
   * each.
   */
  uriChars: 8_192,
  uriTemplates: 10_000,

  // settings/ and input/

  /** Access keys of one user. */
  keysPerOwner: 100,
  /** Addresses and ranges that one access key may be used from. */
  keyAddresses: 1_000,
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
  /** The title of a tool, in lists of names alone. */
  titleChars: 200,
  /** A value in a sentence, given beside it: longer than names that people choose. What is longer is cut. */
  saidValueChars: 300,
  /** A password: longer ones are an attack on the hash function, not a sentence. */
  passwordChars: 1_024,
  passwordMinChars: 6,
  /** A policy may ask for so many at most: more is no password that a person types. */
  passwordMinCharsMost: 128,
  /** A client configuration pasted for import, and the servers in it. */
  importChars: 2 * 1024 * 1024,
  importServers: 1_000,

  // the tools of the search

  /** Results of a tool search when it does not say, and at most: a model reads few with care. */
  searchResults: 10,
  searchResultsMost: 100,
  /**
   * What the search tool's text says of the servers: each name, each description, all names, and all names with
   * descriptions. Every client pays for it in every conversation.
   */
  smartServerChars: 400,
  smartAboutChars: 200,
  smartServersChars: 2_000,
  smartServersFullChars: 6_000,

  // bodies and large messages

  /**
   * Nesting of the JSON of a request. Parsers that servers are built on stop at 64 (.NET), 512 (PHP) or 1 000 (Python,
   * Java); real arguments stay under 50.
   */
  nesting: 512,
  /**
   * A body of no more than this is small, as that of a plain request is (`wire/head.ts`): some of the memory for bodies
   * is for such alone (`byte-budget.ts`).
   */
  budgetSmallBytes: 64 * 1024,
  /**
   * A client that is refused for want of that memory comes back after this long: most bodies are there within a second.
   */
  budgetRetryMs: 2_000,
  /** One message from a server. Screenshots and database dumps reach 20 MB; a server that sends more is faulty. */
  upstreamMessageBytes: 64 * 1024 * 1024,
  /**
   * Of large messages, so many bytes are worked on in one turn of the event loop: to decode, parse and write a megabyte
   * as text takes 5 ms and more, in which nothing else moves.
   */
  largeTurnBytes: 256 * 1024,

  // what several modules share

  /** Items kept of one upstream list. */
  listItems: 100_000,
  /**
   * The number of a page that may be asked for: no listing has as many, and what it stands for is still an exact
   * number.
   */
  pageNumber: 1_000_000,
  /** One log line; longer text is cut, with a mark. */
  logLineChars: 4_000,
  /** A line of a server before secrets are looked for in it: one that is cut in two would not be found. */
  rawLogLineChars: 16_000,
  /** Comment lines that keep proxies from closing an idle stream, and a call that waits for longer than this. */
  streamKeepAliveMs: 15_000,
  /**
   * Notifications do not come through every pooler (PgBouncer), so the version in the database is also looked at this
   * often.
   */
  settingsVersionMs: 5_000,
  /** A connection that lasted this long was good: the next failure starts the back-off from the beginning. */
  backOffResetMs: 60_000,
  /** The longest time a Node timer accepts (31 bits); a longer one would fire at once. */
  timerMs: 2_147_483_647,
} as const;
