/** Bounds of the search, with their reasons. Times in milliseconds, sizes in bytes. */
export const smartLimits = {
  // the search

  /**
   * The query of a tool search and its context. A user's whole request, told at length, stays under 4 000; more is a
   * document.
   */
  searchChars: 6_000,
  /** How long tools are read into the search index before other work gets its turn. */
  indexSliceMs: 8,
  /** Vectors and tools that are looked at before other work gets its turn: some microseconds each. */
  itemsInATurn: 2_000,
  /**
   * How long a search waits for new or changed tools that it may find to be read: 10 000 take some two seconds. Of more
   * it takes what is there, and says so.
   */
  indexWaitMs: 5_000,
  /**
   * How long a search that comes while the hub starts waits for the table of word vectors, which takes some 25 ms of
   * CPU. After that words alone are searched.
   */
  searchStartMs: 1_000,
  /** How long searches of many clients are answered before other work gets its turn. */
  searchTurnMs: 8,
  /** Stems of words kept: names of a catalogue repeat, hostile text does not. */
  stems: 50_000,

  // hosted/: embedding services

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

  // vectors/: vectors that are kept

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
} as const;
