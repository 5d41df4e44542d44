/** Bounds of the settings, read and kept, with their reasons. Times in milliseconds, sizes in bytes. */
export const settingsLimits = {
  // bodies of requests

  /**
   * What `routing.jsonBodyLimit` may say in place of `requestBodyBytes` and `apiBodyBytes`: no less than what is read
   * in one go (`wire/head.ts`), and so much at most that a few bodies at once do not take the machine's memory.
   */
  jsonBodyBytesLeast: 64 * 1024,
  jsonBodyBytesMost: 128 * 1024 * 1024,

  // the document

  /** The settings file; inline API documents make it long, nothing honest makes it longer. */
  settingsBytes: 32 * 1024 * 1024,
  /** Nesting of the settings document, so that walking it can never exhaust the stack. API documents stay under 60. */
  settingsDepth: 200,
  /** Problems of one settings document spelled out in an error's text; more is a file of another kind. */
  problemLines: 100,
  /** Nesting of defaults in `${A:-${B:-…}}`; past it a default is taken as it stands. */
  placeholderDepth: 8,
  /** Largest `options.maxBufferSize` of a server: near the longest string the engine can hold. */
  messageBytesMost: 512 * 1024 * 1024,

  // limits of calls: what is more than this is as good as no limit

  callsPerMinuteMost: 100_000,
  concurrentCallsMost: 10_000,
  callsPerDayMost: 100_000_000,
  /** How long an approval may wait: a week's holiday of the person who is asked, and a day. */
  approvalSecondsLeast: 10,
  approvalSecondsMost: 8 * 24 * 60 * 60,
  /** How long a guard may take for an answer, unless the settings say otherwise: a person waits for it. */
  guardMs: 5_000,
  guardMsLeast: 10,
  guardMsMost: 30_000,
  /** Files in a folder of policies that are read. */
  policyFiles: 1_000,

  // code of clients

  /** What `codeMode` may say: a run holds a thread, and its memory, for so long at most. */
  codeSecondsMost: 600,
  codeMemoryMbMost: 1_024,
  codeCallsMost: 1_000,

  // sandboxes

  /** What a program needs to start at all, and what no machine has. */
  sandboxMemoryLeastMb: 16,
  sandboxMemoryMostMb: 16_777_216,
  sandboxCpusLeast: 0.01,
  sandboxCpusMost: 4_096,
  sandboxProcessesMost: 4_194_304,

  // results in parts

  /** What `maxResultTokens` may say: less than this is no answer, more than this no limit. */
  resultTokensLeast: 50,
  resultTokensMost: 10_000_000,
  /** What MCPHub's `toolResultCompression` means where it says nothing else. */
  compressedResultTokens: 1_200,

  // overrides of tools

  /** One argument's override as JSON: a fixed value is an address or a number, and goes with each call. */
  overrideChars: 16_384,
  /** Arguments of one tool; tools of real servers have less than a hundred. */
  overriddenArguments: 200,

  // prompts and resources of the hub

  /** Of each kind; they are in every list. */
  ownItems: 1_000,
  /** A template or a resource; longer texts are for a server of files. */
  ownTextChars: 1024 * 1024,

  // skills of the hub

  /** Skills in the folder, and files of all together, which are looked at every two seconds. */
  skills: 200,
  skillFiles: 2_000,
  /** Files of one skill and their size, as the extension has it: more need no client take. Folders in folders. */
  filesOfSkill: 512,
  bytesOfSkill: 16 * 1024 * 1024,
  skillDepth: 8,
  /** One file, and all of all skills: they are kept in memory. */
  skillFileBytes: 1024 * 1024,
  skillBytes: 64 * 1024 * 1024,
  /** The YAML at the beginning of a `SKILL.md`; it is in every list of skills. */
  frontmatterChars: 16_384,

  // access keys

  /** How long a rotated token goes on: one that has to work longer needs no rotation. */
  keyOverlapSeconds: 30 * 24 * 60 * 60,

  // reading, watching and keeping it

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

  // people

  /** Trusted issuers: a company has one or two, and each costs memory for its keys. */
  issuers: 20,

  // servers

  /** Slots of one `credentialTemplate`, as MCPHub has it, and the longest value a user sets for one. */
  credentialSlots: 32,
  credentialChars: 8_192,
  /** Headers of clients that one server gets: each is looked at with every call. */
  passthroughHeaders: 32,
  /** Time between pings of an idle remote server whose entry does not say it. */
  keepAliveMs: 60_000,
  /** How long a server that starts on demand may be idle, whose entry does not say it. */
  idleMs: 5 * 60_000,
} as const;
