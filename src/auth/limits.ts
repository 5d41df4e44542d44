/** Bounds of passwords, tokens and failed logins, with their reasons. Times in milliseconds, sizes in bytes. */
export const authLimits = {
  /**
   * Password hashes computed at once (19 MiB each) and waiting; both logins and the file system use the same four
   * threads of Node.
   */
  passwordsAtOnce: 2,
  passwordsWaiting: 200,
  /**
   * The cost of a hash that the hub makes: OWASP's first choice for argon2id. Also the defaults of the library, written
   * down so that an update of it changes nothing.
   */
  hashMemoryKiB: 19_456,
  hashPasses: 2,
  hashLanes: 1,
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
  /**
   * How often last uses of keys and grants are written down, the wait for a database that is away, and how long one is
   * remembered: no grant lives longer unused, and a key unused for a year is not in use.
   */
  lastUseWriteMs: 60_000,
  lastUseWaitMs: 1_000,
  lastUseKeptMs: 400 * 24 * 60 * 60_000,
  /** The access token of a client that a user let in: it is refreshed, or its user is asked again (CONTRACT §8). */
  appTokenMs: 60 * 60_000,
  /**
   * Of the authorization server (CONTRACT §8): a code, a login or a consent that a page waits for, a refresh token that
   * is used again because an answer was lost, a client that no user let in.
   */
  codeMs: 60_000,
  authorizePageMs: 15 * 60_000,
  refreshGraceMs: 60_000,
  unusedClientMs: 24 * 60 * 60_000,
  /** A client that asks for no token this long is forgotten, and asks its user again. */
  consentIdleMs: 90 * 24 * 60 * 60_000,
  /** Clients one user lets in; past it those used longest ago go. Ended ones count: their codes stay used. */
  consentsPerUser: 200,
  /** The wait for a database that is away. */
  consentWaitMs: 5_000,
  /** Registrations from one address in an hour (CONTRACT §8), addresses remembered for that, and what one may have. */
  registrations: 20,
  registrationWindowMs: 60 * 60_000,
  registrationAddresses: 10_000,
  registrationBytes: 64 * 1024,
  redirectUris: 10,
  redirectUriChars: 500,
  clientNameChars: 100,
  /**
   * Client id metadata documents: the time and size of one, how many are fetched at once and kept, and how long one
   * counts, whatever its headers say, and where they say nothing. Fetches that one address causes in an hour.
   */
  clientDocumentMs: 5_000,
  clientDocumentBytes: 64 * 1024,
  clientDocumentsAtOnce: 8,
  clientDocuments: 500,
  clientDocumentLeastMs: 60_000,
  clientDocumentFreshMs: 5 * 60_000,
  clientDocumentMostMs: 24 * 60 * 60_000,
  clientDocumentIdChars: 500,
  clientDocumentFetches: 60,
  /** The id of a client has its registration in it, and comes in a query: Node takes 16 kB of head. */
  clientIdChars: 4_000,
  /** Groups and servers that a consent names: they are in each of its tokens. */
  reachNames: 30,
  reachChars: 2_000,
  /** How long an access token and a session of a browser live, and how far the clocks of replicas may differ. */
  accessTokenMs: 24 * 60 * 60_000,
  clockToleranceMs: 60_000,
  /** A session of a browser without a request ends after this long. It is noted no more often that it was seen. */
  sessionIdleMs: 8 * 60 * 60_000,
  sessionSeenMs: 60_000,
  /** The wait for a database that is away. */
  sessionWaitMs: 5_000,
  /** Sessions of one user; past it those used longest ago go. Sessions a hub has read; past it they are read again. */
  sessionsPerUser: 50,
  knownSessions: 10_000,
  /** So long after a login a hub that does not know its account yet reads the settings for it. */
  youngSessionMs: 10_000,
  userAgentChars: 300,
  /**
   * Second factors: the time to confirm an authenticator app, and to answer with a code or passkey after the password;
   * recovery codes that are given, and passkeys of one user.
   */
  totpPendingMs: 15 * 60_000,
  factorChallengeMs: 5 * 60_000,
  recoveryCodes: 10,
  passkeysPerUser: 20,
  /**
   * Wrong codes in a row, from all addresses together, before the next has to wait, and that wait: it doubles up to the
   * longest. Who knows the password has 24 guesses a day then, each of which is right for 3 of a million codes.
   */
  factorWrongCodes: 5,
  factorWaitMs: 30_000,
  factorLongestWaitMs: 60 * 60_000,
  /**
   * Single tokens of one user revoked before all of the user's are: who logs out this often in a day does not do it by
   * hand.
   */
  revokedTokensPerUser: 1_000,
  /** The end of a token or a grant that could not be written down is tried again after this long, until it is. */
  revocationRetryMs: 5_000,
  /** Verified access tokens kept so that each request need not verify the signature again. */
  verifiedTokens: 10_000,
  /** Headers with a credential that are kept together with the token in them, so that no call reads them again. */
  headersReadLately: 256,
  /**
   * Anything longer in place of a token is none; ours have some 250 characters, those of other issuers with many claims
   * 4 000.
   */
  tokenChars: 8_192,
  /** Words of a header that is looked through for credentials, decoded too: each takes some microseconds. */
  headerPieces: 500,
  /** A request to a provider or a trusted issuer, and what it may answer: keys and metadata have a few kB. */
  providerRequestMs: 5_000,
  providerAnswerBytes: 256 * 1024,
  /** The metadata of a provider are asked for again after this. */
  providerFreshMs: 60 * 60_000,
  /** Logout tokens of providers: how old one may be, and how many ids are known so that none counts twice. */
  logoutTokenMs: 5 * 60_000,
  logoutTokens: 10_000,
  /** Answers of providers that are redeemed at once: each is a request to the provider, which strangers can cause. */
  providerLoginsAtOnce: 50,
  /** Answers from one address in an hour with which a provider let no person in: an office is one address. */
  providerLoginFailures: 60,
  /** Groups of people who use the hub are asked for again after this, and how long the refresh token for it may be. */
  providerRefreshMs: 10 * 60_000,
  refreshTokenChars: 8_192,
  /** What a login at a provider has to remember is in a cookie, of which browsers keep 4 kB. */
  loginRequestChars: 2_500,
  /** The way back from a provider to the page that asks for consent. */
  backFromProviderMs: 60_000,
  /**
   * Keys of an issuer are asked for again after this, at a key id that is not known no more often than that, and are
   * used this long while the issuer is away: it may be restarted, and must not take the tools with it.
   */
  issuerKeysFreshMs: 10 * 60_000,
  issuerKeysPauseMs: 30_000,
  issuerKeysKeptMs: 24 * 60 * 60_000,
  /** Issuers whose keys are in memory: those of the settings, and some of settings before. */
  issuers: 60,
  /** Verified tokens of trusted issuers that are kept, with their claims: 4 kB each, 16 kB at most. */
  issuedTokens: 3_000,
  /** The signature of a trusted issuer's token is checked again after this, since its key may have been withdrawn. */
  issuedTokenRecheckMs: 10 * 60_000,
  /** Values of a groups claim that are looked at (Entra sends 200 at most), and characters of a subject (OpenID). */
  groupValues: 500,
  subjectChars: 255,
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
} as const;
